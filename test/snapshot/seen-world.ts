import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { parse } from "yaml";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { createWiring, type Planner, type Reader, type Wiring } from "../../src/cli/wiring.ts";
import { refKey } from "../../src/model/action.ts";
import type { PastEvent } from "../../src/model/change.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../src/model/routed-ip.ts";
import type { ServiceFacts } from "../../src/model/service.ts";
import type { ScheduledWorkload } from "../../src/model/workload.ts";
import type { ClusterReader, LeaseRecord } from "../../src/ports/cluster.ts";
import { type PlannedWorld, planWorld } from "../../src/reconcile.ts";

/** A world at one moment, as commands read it. */
export interface SeenWorld extends PlannedWorld {
  readonly pools: readonly Pool[];
  readonly routedIPs: readonly RoutedIP[];
  readonly issuers: readonly RoutedIPIssuer[];
  readonly services: readonly ServiceFacts[];
  readonly lease: LeaseRecord | undefined;
  readonly events: readonly PastEvent[];
}

const LEASE = { namespace: "shop", name: "flipop" };

/** Reads what commands read beside what is planned. */
export async function seeWorld(
  planned: PlannedWorld,
  cluster: ClusterReader,
  events: readonly PastEvent[],
): Promise<SeenWorld> {
  const [pools, routedIPs, issuers, services, lease] = await Promise.all([
    cluster.listPools(),
    cluster.listRoutedIPs(),
    cluster.listRoutedIPIssuers(),
    cluster.listServices(),
    cluster.readLease(LEASE.namespace, LEASE.name),
  ]);
  return { ...planned, pools, routedIPs, issuers, services, lease, events };
}

/** The command lines whose answers are compared: every kind of answer, about something that the world has. */
export function questionsOf({ plan, observation }: PlannedWorld): readonly string[] {
  const { nodes, pools } = observation;
  const [object] = [...plan.pools, ...plan.recordSets].map(({ object: ref }) => refKey(ref));
  const node = nodes.at(-1)?.name;
  const ip = pools
    .flatMap(({ spec, status }) => [...spec.ips, ...Object.keys(status.ips)])
    .find((one) => /^[\d.]+$/.test(one));
  const name = [...pools, ...observation.recordSets].flatMap(({ status }) => status.publishedDNS?.name ?? [])[0];
  const about = [
    object === undefined
      ? []
      : [`explain ${object}`, `explain ${object} -o json`, `status ${object}`, `plan ${object}`],
    node === undefined
      ? []
      : [
          `explain node/${node} -o json`,
          `explain node/${node}`,
          `simulate --drain ${node}`,
          `plan --if node/${node}=NotReady`,
        ],
    ip === undefined ? [] : [`explain ip/${ip} -o json`, `explain ip/${ip}`, `history ip/${ip}`],
    ip === undefined || node === undefined
      ? []
      : [`explain ip/${ip} node/${node}`, `explain node/${node} ip/${ip} -o json`],
    name === undefined ? [] : [`explain ${name}`, `explain ${name} -o json`],
  ].flat();
  return [...EVERYWHERE, ...about];
}

const EVERYWHERE: readonly string[] = [
  ..."status,status -o wide,status -o json,status --check,status -o name".split(","),
  ..."history,history -o json,history --failed".split(","),
  ..."plan -o wide --all,plan -o json,plan --detailed-exitcode".split(","),
  ..."simulate,simulate -o json,simulate --n-1,simulate --n-1 -o json".split(","),
];

/**
 * Takes a snapshot of a world with `flipop snapshot`, and checks that each command prints of it, byte for byte, what it printed of the world, and exits the same.
 * @param lines - command lines without the program's name
 */
export async function checkAnswers(seen: SeenWorld, lines: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flipop-seen-"));
  try {
    const live = (line: string): Promise<Printed> => printed(line, liveWiring(seen));
    const { stdout, stderr, exitCode } = await live("snapshot");
    expect([0, 3], stderr).toContain(exitCode);
    // JSON is YAML, too, and is read a hundred times sooner.
    writeFileSync(join(folder, NAME), JSON.stringify(parse(stdout)));
    const from = (line: string): Promise<Printed> =>
      printed(`${line} --from ${join(folder, NAME)}`, createWiring({ clock: SYSTEM_CLOCK }));
    for (const line of lines) expect({ line, ...(await from(line)) }).toEqual({ line, ...(await live(line)) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a snapshot, and so its world, is called in texts. */
const NAME = "world.json";

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

async function printed(line: string, wiring: Wiring): Promise<Printed> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    isTTY: false,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exitCode = await runCommandLine({
    argv: [...line.split(" "), "-q", "--lease-namespace", LEASE.namespace],
    env: {},
    streams: { stdout: stream("stdout"), stderr: stream("stderr") },
    signal: new AbortController().signal,
    runID: "seen",
    identity: "seen",
    wallMs: () => 0,
    loadWiring: async () => wiring,
  });
  return { ...written, exitCode };
}

/** The way to a world that stands still. */
function liveWiring(seen: SeenWorld): Wiring {
  const nobody = async (): Promise<never> => {
    throw new Error("nothing but reading was asked for");
  };
  const cluster = readerOf(seen);
  const world: Observation = { ...seen.observation, cluster: NAME };
  const planner: Planner = { cluster, plan: async (selection, options) => planWorld(world, selection, options) };
  return {
    clock: SYSTEM_CLOCK,
    withReader: (_, work) => work(cluster),
    withPlanner: (_, work) => work(planner),
    withLive: nobody,
    withWatcher: nobody,
    withTrial: nobody,
    withAnnotator: nobody,
    withHost: nobody,
    withSources: nobody,
    withReconciler: nobody,
  };
}

/** What runs flipop in every world. */
const WORKLOADS: readonly ScheduledWorkload[] = [
  { kind: "CronJob", name: "nightly", schedule: "0 3 * * 1-5", timeZone: "Europe/Vienna", isSuspended: false },
  { kind: "CronJob", name: "flipop", schedule: "*/5 * * * *", isSuspended: false },
];

function readerOf({ observation, pools, routedIPs, issuers, services, lease, events }: SeenWorld): Reader {
  return {
    server: NAME,
    now: () => observation.observedAtMs,
    listPools: async () => pools,
    listRoutedIPs: async () => routedIPs,
    listRoutedIPIssuers: async () => issuers,
    listServices: async () => services,
    listRecordSets: async () => observation.recordSets,
    listNodes: async () => observation.nodes,
    readLease: async () => lease,
    hasNamespace: async () => undefined,
    listEvents: async (namespace) =>
      events.filter(({ object }) => object.namespace === (namespace ?? object.namespace)),
    clusterUID: async () => "",
    listWorkloads: async () => WORKLOADS,
  };
}
