import type { Observation } from "../model/observation.ts";
import { objectKey } from "../model/resource.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { orMissing } from "../observe/read-cluster.ts";
import { planWorld } from "../reconcile.ts";
import { EXIT } from "../report/exit-code.ts";
import { API_VERSION, type JSONObject } from "../report/json/document.ts";
import { rfc3339 } from "../report/text/times.ts";
import { anonymize } from "../snapshot/anonymize.ts";
import { readSnapshot, type StoredPart, type WrittenSnapshot, writeSnapshot } from "../snapshot/snapshot.ts";
import { resolveConfig } from "./config.ts";
import { digestOf, holdsSecret, refuseUnwritable, writeNewFile } from "./document-file.ts";
import { withEntryLines } from "./entry-lines.ts";
import { given, readVersion } from "./environment.ts";
import { writeLine, writeText } from "./output.ts";
import { readPast } from "./past.ts";
import type { Session } from "./session.ts";
import type { SnapshotFlags } from "./snapshot-flags.ts";
import { readLease, readWorkloads } from "./status.ts";
import type { Planner, Reader } from "./wiring.ts";
import { yamlText } from "./yaml-text.ts";

/** Runs `snapshot`: writes what one pass observes as YAML, to a new file or, without one and for `-`, to standard output. Never writes to the cluster or a provider. Returns the exit code. */
export async function runSnapshot(session: Session, name: string | undefined, flags: SnapshotFlags): Promise<number> {
  const file = name === "-" ? undefined : name;
  if (file !== undefined) await refuseUnwritable(file, flags.force ?? false);
  const { withPlanner } = await session.loadWiring();
  const config = resolveConfig(flags, session.env, session);
  const { text, gaps } = await withPlanner(config, (planner) =>
    untilInterrupted(takenFrom(planner, flags), session.signal),
  );
  if (holdsSecret(text, session)) {
    writeLine(session, "error", "The snapshot would hold a token, so none was written. Please report it as a bug.");
    return EXIT.unexpected;
  }
  if (file === undefined) writeText(session.streams, text);
  else await writeNewFile(file, text, flags.force ?? false);
  for (const gap of gaps) writeLine(session, "warn", gap);
  return gaps.length === 0 ? EXIT.done : EXIT.partly;
}

/** The snapshot of a world, and what it lacks because it could not be read. */
async function takenFrom(
  { cluster, plan }: Planner,
  { leaseNamespace, leaseName, events: mayHoldEvents, anonymize: isAnonymous, pods, nodeLabels }: SnapshotFlags,
): Promise<{ readonly text: string; readonly gaps: readonly string[] }> {
  const [pools, { objects: routedIPs }, past, workloads] = await Promise.all([
    cluster.listPools(),
    orMissing(() => cluster.listRoutedIPs()),
    mayHoldEvents
      ? readPast(cluster, { namespace: leaseNamespace, name: leaseName })
      : readLease(cluster, leaseNamespace, leaseName),
    readWorkloads(cluster, leaseNamespace),
  ]);
  const { observation, plan: planned } = await plan({}, { pods });
  const stored = {
    pools,
    routedIPs,
    ...(await referencesOf(routedIPs, cluster)),
    nodeLabels,
    leaseKey: `${leaseNamespace}/${leaseName}`,
    ...past,
    ...given({ workloads }),
  };
  const snapshot = { observation, stored };
  const written = isAnonymous ? anonymize(snapshot).written : writeSnapshot(snapshot);
  const document = {
    apiVersion: API_VERSION,
    kind: "Snapshot",
    takenAt: rfc3339(observation.observedAtMs),
    flipopVersion: readVersion(),
    planId: isAnonymous ? planIDOf(written, observation) : planned.planID,
    digest: digestOf([written.observed, written.stored]),
    ...written,
  };
  const gaps = planned.gaps.map(({ provider, subject, error }) => `not read: ${subject || provider}: ${error}`);
  return { text: withEntryLines(document, (short) => yamlText(short as JSONObject)), gaps };
}

/** What routed IPs refer to. Of Services only those that they name: others are nobody's business. */
async function referencesOf(
  routedIPs: readonly RoutedIP[],
  cluster: Pick<Reader, "listRoutedIPIssuers" | "listServices">,
): Promise<Pick<StoredPart, "issuers" | "services">> {
  const { objects: issuers } = await orMissing(() => cluster.listRoutedIPIssuers());
  if (routedIPs.length === 0) return { issuers, services: [] };
  const named = new Set(
    routedIPs.map(({ meta: { namespace }, spec: { serviceName: name } }) => objectKey({ namespace, name })),
  );
  return { issuers, services: (await cluster.listServices()).filter((service) => named.has(objectKey(service))) };
}

/** The id of the plan that others will make of what is written. */
function planIDOf(written: WrittenSnapshot, { cluster: name, registry }: Observation): string {
  return planWorld(readSnapshot(written, { name, registry }).observation, {}).plan.planID;
}
