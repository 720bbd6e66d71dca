import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, the longest first. Half of them keep a core busy and half wait for processes and deadlines, so
 * that those which run side by side fill each other's gaps. A size says nothing: some of the longest have four lines.
 */
export const LONG_FILES: readonly string[] = [
  "test/scenario/scenarios.cluster.test.ts",
  "test/scenario/sandbox.loopback.test.ts",
  "test/wire/real-processes.cluster.test.ts",
  "test/cli/permissions.cluster.test.ts",
  "test/simulation/exhaustive.loopback.test.ts",
  "test/cli/killed-runs.cluster.test.ts",
  "test/simulation/caught.loopback.test.ts",
  "test/programs/release.loopback.test.ts",
  "test/campaign/tours.cluster.test.ts",
  "test/wire/expired-tokens.loopback.test.ts",
  "test/cli/repeated-secrets.loopback.test.ts",
  "test/campaign/survive.loopback.test.ts",
  "test/cli/bundle.loopback.test.ts",
  "test/programs/package.loopback.test.ts",
  "test/stories/stories.loopback.test.ts",
  "test/cli/snapshot.loopback.test.ts",
  "test/cli/imagined.loopback.test.ts",
  "test/cli/explain.loopback.test.ts",
  "test/simulation/shared-name-bugs.loopback.test.ts",
  "test/programs/shells.loopback.test.ts",
  "test/programs/kubectl-story.cluster.test.ts",
  "test/doctor/worlds.loopback.test.ts",
  "test/watch/watch.cluster.test.ts",
  "test/wire/broken-answers-first-fill.loopback.test.ts",
  "test/wire/gone-api-server.loopback.test.ts",
  "test/wire/broken-answers-deletion.loopback.test.ts",
  "test/pushgateway/pushgateway.loopback.test.ts",
  "test/cli/in-pod.cluster.test.ts",
  "test/wire/broken-answers-failover.loopback.test.ts",
  "test/cluster/cluster.test.ts",
  "test/cli/cronjob.cluster.test.ts",
  "test/campaign/campaigns.loopback.test.ts",
  "test/wire/run-time.loopback.test.ts",
  "test/adapters/kube/watch/warm-cluster.cluster.test.ts",
  "test/watch/killed-leaders.cluster.test.ts",
  "test/watch/churn.cluster.test.ts",
  "test/watch/soak.loopback.test.ts",
  "test/monitoring/promtool.cluster.test.ts",
  "test/manifests/crd-rules.cluster.test.ts",
  "test/scenario/sandbox-watched.loopback.test.ts",
  "test/model/label-selector.cluster.test.ts",
  "test/cli/status-watch.loopback.test.ts",
  "test/cli/live-status.loopback.test.ts",
  "test/cli/waiting.loopback.test.ts",
  "test/cli/history.cluster.test.ts",
  "test/cli/simulate.loopback.test.ts",
  "test/scenario/memory-odd.long.test.ts",
  "test/scenario/memory-even.long.test.ts",
  "test/watch/standing-faults.long.test.ts",
  "test/rehearse/counterfactual.long.test.ts",
  "test/simulation/simulation.long.test.ts",
  "test/campaign/campaign.long.test.ts",
  "test/simulation/lasting.long.test.ts",
  "test/scenario/told-stories.long.test.ts",
  "test/simulation/shared-names.long.test.ts",
  "test/scenario/memory-saved.long.test.ts",
  "test/scenario/memory-watched.long.test.ts",
  "test/scenario/hetzner-watched.long.test.ts",
  "test/simulation/contested-names.long.test.ts",
  "test/watch/churn.long.test.ts",
  "test/sandbox/start.long.test.ts",
];

/** Puts the long files of `loopback` and `cluster` first, then their other files, then `long`, then `quick`. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => block(a) - block(b) || place(a) - place(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** Files of `long` and `quick` share what they have loaded only while they follow one another, so each is one block at the end. */
function block({ project }: TestSpecification): number {
  return ["long", "quick"].indexOf(project.name);
}

function place({ moduleId }: TestSpecification): number {
  const found = LONG_FILES.findIndex((file) => moduleId.endsWith(`/${file}`));
  return found < 0 ? LONG_FILES.length : found;
}
