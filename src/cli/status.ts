import { KubeError } from "../model/errors.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { isSelected } from "../plan/selection.ts";
import { EXIT } from "../report/exit-code.ts";
import { overviewDocument } from "../report/json/status.ts";
import { namedRows, type Overview, overviewOf, type StoredFacts } from "../report/overview.ts";
import { renderStatus } from "../report/text/status.ts";
import { resolveConfig } from "./config.ts";
import { given } from "./environment.ts";
import type { StatusFlags } from "./flags.ts";
import { writeLine, writeResult } from "./output.ts";
import { nothingSelected, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { objectTargets, type Target } from "./target.ts";
import type { Reader } from "./wiring.ts";

/** Runs `status`: reads pools, routed IPs, record sets, nodes and Lease, prints. Needs no provider token. Returns the exit code. */
export async function runStatus(session: Session, names: readonly string[], flags: StatusFlags): Promise<number> {
  const targets = objectTargets(names, "status");
  const { withReader } = await session.loadWiring();
  const { overview, none } = await withReader(resolveConfig(flags, session.env, session), (cluster) =>
    untilInterrupted(read(cluster, targets, flags), session.signal),
  );
  await writeResult(session, session.output, {
    document: () => overviewDocument(overview),
    names: () => namedRows(overview).map(({ name }) => name),
    text: () => renderStatus(overview, { ...session.layout, ...(none === undefined ? {} : { none }) }),
    none,
  });
  if (!flags.check || overview.problems.length === 0) return EXIT.done;
  for (const problem of overview.problems) writeLine(session, "error", problem);
  return EXIT.unhealthy;
}

async function read(
  cluster: Reader,
  targets: readonly Target[],
  flags: StatusFlags,
): Promise<{ readonly overview: Overview; readonly none: string | undefined }> {
  const { leaseNamespace, leaseName } = flags;
  const [pools, { objects: routedIPs }, { recordSets }, lease, nodes] = await Promise.all([
    cluster.listPools(),
    orMissing(() => cluster.listRoutedIPs()),
    listRecordSets(cluster),
    readLease(cluster, leaseNamespace, leaseName),
    readNodes(cluster),
  ]);
  const lists = {
    hasNamespace: (name: string) => cluster.hasNamespace(name),
    listPools: async () => pools,
    listRoutedIPs: async () => routedIPs,
    listRecordSets: async () => recordSets,
  };
  const selection = await resolveSelection(targets, flags, lists);
  const none = await nothingSelected(selection, lists);
  const facts = {
    cluster: cluster.server,
    nowMs: cluster.now(),
    pools: pools.filter(({ meta }) => isSelected(selection, "pool", meta)),
    routedIPs: routedIPs.filter(({ meta }) => isSelected(selection, "routedip", meta)),
    recordSets: recordSets.filter(({ meta }) => isSelected(selection, "dns", meta)),
    leaseKey: `${leaseNamespace}/${leaseName}`,
    ...given({ grants: flags.grants }),
    ...lease,
    ...nodes,
  };
  return { overview: overviewOf(facts, flags.maxAge), none };
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
