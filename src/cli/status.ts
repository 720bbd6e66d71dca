import { KubeError } from "../model/errors.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { isSelected } from "../plan/selection.ts";
import { EXIT } from "../report/exit-code.ts";
import { overviewDocument } from "../report/json/status.ts";
import { namedRows, type Overview, overviewOf, type StoredFacts } from "../report/overview.ts";
import { renderStatus } from "../report/text/status.ts";
import { resolveConfig } from "./config.ts";
import { writeDocument, writeLine, writeLines, writeText } from "./output.ts";
import { selectionFlags } from "./plan.ts";
import type { StatusFlags } from "./program.ts";
import { nothingSelected, objectTargets, resolveSelection } from "./selection.ts";
import { isDocument, type Session } from "./session.ts";
import type { StatusWorld } from "./wiring.ts";

/** Runs `status`: reads pools, routed IPs, record sets and Lease, prints. Needs no provider token. Returns the exit code. */
export async function runStatus(session: Session, names: readonly string[], flags: StatusFlags): Promise<number> {
  const { invocation, lines } = session;
  const targets = objectTargets(names, "status");
  const config = resolveConfig(flags, invocation.env, session);
  const backend = await invocation.loadBackend();
  const { overview, none } = await backend.withStatusWorld(config, (world) =>
    untilInterrupted(read(world), invocation.signal),
  );
  await printStatus(session, overview, none);
  if (!flags.check || overview.problems.length === 0) return EXIT.done;
  for (const problem of overview.problems) writeLine(invocation.streams, lines, "error", problem);
  return EXIT.unhealthy;

  async function read({
    cluster,
  }: StatusWorld): Promise<{ readonly overview: Overview; readonly none: string | undefined }> {
    const { namespace, name } = config.lease;
    const [pools, { objects: routedIPs }, { recordSets }, lease] = await Promise.all([
      cluster.listPools(),
      orMissing(() => cluster.listRoutedIPs()),
      listRecordSets(cluster),
      readLease(cluster, config.lease),
    ]);
    const lists = {
      hasNamespace: (namespaceName: string) => cluster.hasNamespace(namespaceName),
      listPools: async () => pools,
      listRoutedIPs: async () => routedIPs,
      listRecordSets: async () => recordSets,
    };
    const selection = await resolveSelection(selectionFlags(targets, flags), lists);
    const none = await nothingSelected(selection, lists);
    const facts = {
      cluster: cluster.server,
      nowMs: cluster.now(),
      pools: pools.filter(({ meta }) => isSelected(selection, "pool", meta)),
      routedIPs: routedIPs.filter(({ meta }) => isSelected(selection, "routedip", meta)),
      recordSets: recordSets.filter(({ meta }) => isSelected(selection, "dns", meta)),
      leaseKey: `${namespace}/${name}`,
      ...lease,
    };
    return { overview: overviewOf(facts, flags.maxAge), none };
  }
}

/** The Lease, or why it may not be read: whoever may see pools sees them without it. */
async function readLease(
  cluster: StatusWorld["cluster"],
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Pick<StoredFacts, "lease" | "leaseError">> {
  try {
    const lease = await cluster.readLease(namespace, name);
    return lease === undefined ? {} : { lease };
  } catch (error) {
    if (error instanceof KubeError && error.failure === "forbidden") return { leaseError: error.message };
    throw error;
  }
}

async function printStatus(
  { invocation, output, palette, width, lines }: Session,
  overview: Overview,
  none: string | undefined,
): Promise<void> {
  const { streams } = invocation;
  if (none !== undefined && (isDocument(output) || output === "name")) writeLine(streams, lines, "warn", none);
  if (isDocument(output)) return writeDocument(streams, overviewDocument(overview), output);
  if (output === "name") {
    const names = namedRows(overview).map(({ name }) => name);
    return writeLines(streams, names);
  }
  const layout = {
    palette,
    wide: output === "wide",
    ...(width === undefined ? {} : { width }),
    ...(none === undefined ? {} : { none }),
  };
  writeText(streams, renderStatus(overview, layout));
}
