import { ConfigError, KubeError } from "../model/errors.ts";
import type { Selection } from "../model/run.ts";
import { parseShard, shardLabels, shardName } from "../model/shard.ts";
import { readHostPods } from "../observe/host-pods.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { isAskedFor } from "../plan/selection.ts";
import { EXIT } from "../report/exit-code.ts";
import { overviewDocument } from "../report/json/status.ts";
import { statusMarkdown } from "../report/markdown/status.ts";
import { namedRows, overviewOf, type StoredFacts } from "../report/overview.ts";
import { renderLive } from "../report/text/live.ts";
import { renderStatus } from "../report/text/status.ts";
import { readableTimes } from "../report/text/times.ts";
import { leaseOfFlags, resolveConfig } from "./config.ts";
import { given } from "./environment.ts";
import { type Result, writeLine, writeResult } from "./output.ts";
import { nothingOfShard, nothingSelected, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import type { StatusFlags } from "./status-flags.ts";
import type { Look } from "./status-watch.ts";
import { objectTargets, type Target } from "./target.ts";
import type { Reader } from "./wiring.ts";

/** Adds to a look what everybody says now. */
type LiveLook = (found: Look) => Promise<Look>;

/** Runs `status`: reads pools, routed IPs, record sets, nodes and Lease, with `--live` also providers and DNS, and prints. Needs no provider token without `--live`. Returns the exit code. */
export async function runStatus(session: Session, names: readonly string[], flags: StatusFlags): Promise<number> {
  checkFlags(flags);
  const targets = objectTargets(names, "status");
  const { clock, withReader, withLive } = await session.loadWiring();
  const resolved = resolveConfig(flags, session.env, session);
  const config = { ...resolved, ...given({ resolver: flags.resolver }) };
  const withWorld = async <T>(work: (cluster: Reader, live?: LiveLook) => Promise<T>): Promise<T> => {
    if (!flags.live) return await withReader(config, work);
    const { lookLive } = await import("./live.ts");
    return await withLive(config, (planner, servers) =>
      work(planner.cluster, (found) => lookLive(found, planner, servers)),
    );
  };
  return await withWorld(async (cluster, live) => {
    const look = async (selection?: Selection): Promise<Look> => {
      const request = { targets, flags, selection };
      return await untilInterrupted(
        read(cluster, request).then((found) => (live === undefined ? found : live(found))),
        session.signal,
      );
    };
    const show = (found: Look): Promise<void> => writeResult(session, session.output, formsOf(session, found));
    if (flags.watch) return await (await import("./status-watch.ts")).watchStatus({ session, clock, look }, show);
    const found = await (flags.wait === undefined
      ? look()
      : (await import("./status-watch.ts")).lookUntilFine({ session, clock, look }, flags.wait));
    await show(found);
    const { problems, nowMs } = found.overview;
    if (!flags.check || problems.length === 0) return EXIT.done;
    for (const problem of problems) writeLine(session, "error", readableTimes(problem, nowMs));
    return EXIT.unhealthy;
  });
}

/** @throws ConfigError `usage` for flags that contradict each other */
function checkFlags({ check, wait, watch, from, live, output }: StatusFlags): void {
  const isAgain = watch || wait !== undefined;
  const again = watch ? "--watch" : "--wait";
  const refused: readonly (readonly [boolean | undefined, string])[] = [
    [watch && wait !== undefined, "--watch goes on and --wait ends: leave out one of them."],
    [
      watch && check,
      "--check tells how it is at the end, and --watch has none. Use --check --wait 2m, or leave out one of them.",
    ],
    [wait !== undefined && !check, "--wait waits until --check finds nothing wrong. Add --check."],
    [live && from !== undefined, "A snapshot says nothing of now: leave out --from or --live."],
    [live && isAgain, `--live asks everybody once, to spare their limits: leave out --live or ${again}.`],
    [output === "markdown" && watch, "-o markdown is one comment, and --watch goes on: leave out one of them."],
    [output === "markdown" && live, "-o markdown shows what is stored: leave out --live, or print it with -o table."],
    [from !== undefined && isAgain, `A snapshot never changes: leave out --from or ${again}.`],
  ];
  const why = refused.find(([isSo]) => isSo)?.[1];
  if (why !== undefined) throw new ConfigError("usage", why);
}

function formsOf({ layout }: Session, { overview, none }: Look): Result {
  return {
    document: () => overviewDocument(overview),
    names: () => namedRows(overview).map(({ name }) => name),
    text: () => (overview.live === undefined ? renderStatus : renderLive)(overview, { ...layout, ...given({ none }) }),
    markdown: () => statusMarkdown(overview, none),
    none,
  };
}

async function read(
  cluster: Reader,
  {
    targets,
    flags,
    selection: known,
  }: { readonly targets: readonly Target[]; readonly flags: StatusFlags; readonly selection: Selection | undefined },
): Promise<Look> {
  const { namespace: leaseNamespace, name: leaseName } = leaseOfFlags(flags);
  const [pools, { objects: routedIPs }, { recordSets }, lease, nodes, workloads] = await Promise.all([
    cluster.listPools(),
    orMissing(() => cluster.listRoutedIPs()),
    listRecordSets(cluster),
    readLease(cluster, leaseNamespace, leaseName),
    readNodes(cluster),
    readWorkloads(cluster, leaseNamespace),
  ]);
  const lists = {
    hasNamespace: (name: string) => cluster.hasNamespace(name),
    listPools: async () => pools,
    listRoutedIPs: async () => routedIPs,
    listRecordSets: async () => recordSets,
  };
  const hostPods = await readHostPods(cluster, nodes.nodes ?? []);
  const labels = shardLabels([...pools, ...routedIPs, ...recordSets]);
  const unusedShards = await readUnusedShards(cluster, flags, labels);
  const selection = known ?? (await resolveSelection(targets, flags, lists));
  const none =
    known === undefined
      ? ((await nothingSelected(selection, lists)) ?? noneOfShard(selection, { pools, routedIPs, recordSets }))
      : undefined;
  const facts = {
    cluster: cluster.server,
    nowMs: cluster.now(),
    pools: pools.filter(({ meta }) => isAskedFor(selection, "pool", meta)),
    routedIPs: routedIPs.filter(({ meta }) => isAskedFor(selection, "routedip", meta)),
    recordSets: recordSets.filter(({ meta }) => isAskedFor(selection, "dns", meta)),
    leaseKey: `${leaseNamespace}/${leaseName}`,
    ...given({ grants: flags.grants }),
    ...lease,
    ...nodes,
    ...given({ hostPods, workloads }),
    unusedShards,
  };
  return { overview: overviewOf(facts, flags.maxAge), none, selection };
}

/** Without a shard `status` shows the objects of all of them. */
function noneOfShard(
  selection: Selection,
  { pools, routedIPs, recordSets }: Pick<StoredFacts, "pools" | "routedIPs" | "recordSets">,
): string | undefined {
  if (selection.shard === undefined) return undefined;
  return nothingOfShard(selection, [
    ...pools.map(({ meta }) => ({ kind: "pool" as const, meta })),
    ...routedIPs.map(({ meta }) => ({ kind: "routedip" as const, meta })),
    ...recordSets.map(({ meta }) => ({ kind: "dns" as const, meta })),
  ]);
}

/** Returns the labels of shards that no process has run for. Such a label names no shard, or its shard has no Lease. A Lease that may not be read counts as there. */
async function readUnusedShards(
  cluster: Pick<Reader, "readLease">,
  flags: Pick<StatusFlags, "leaseNamespace" | "leaseName">,
  labels: readonly string[],
): Promise<ReadonlySet<string>> {
  const unused = labels.map(async (label) => {
    const shard = parseShard(label);
    if (shard === undefined) return [label];
    const { lease, leaseError } = await readLease(cluster, flags.leaseNamespace, shardName(flags.leaseName, shard));
    return lease === undefined && leaseError === undefined ? [label] : [];
  });
  return new Set((await Promise.all(unused)).flat());
}

/** The nodes, or why they cannot be listed: what is stored is shown without them. */
async function readNodes(cluster: Reader): Promise<Pick<StoredFacts, "nodes" | "nodesError">> {
  try {
    return { nodes: await cluster.listNodes() };
  } catch (error) {
    if (error instanceof KubeError) return { nodesError: error.message };
    throw error;
  }
}

/** What runs flipop; undefined where nobody says. Not everybody may look, and it is no trouble of theirs. */
export async function readWorkloads(cluster: Reader, namespace: string): Promise<StoredFacts["workloads"]> {
  try {
    return await cluster.listWorkloads?.(namespace);
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

/** The Lease, or why it may not be read: whoever may see pools sees them without it. */
export async function readLease(
  cluster: Pick<Reader, "readLease">,
  namespace: string,
  name: string,
): Promise<Pick<StoredFacts, "lease" | "leaseError">> {
  try {
    const lease = await cluster.readLease(namespace, name);
    return lease === undefined ? {} : { lease };
  } catch (error) {
    if (error instanceof KubeError && error.failure === "forbidden") return { leaseError: error.message };
    throw error;
  }
}
