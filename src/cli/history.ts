import { type LogRead, LogReader, MOST_CHANGES } from "../history/from-logs.ts";
import type { KeptObject } from "../history/from-status.ts";
import { historyOf } from "../history/history.ts";
import { mentions, placeOf } from "../history/texts.ts";
import { type ObjectRef, refKey } from "../model/action.ts";
import type { Change } from "../model/change.ts";
import { ConfigError, KubeError } from "../model/errors.ts";
import { type Progress, waitingFor } from "../model/progress.ts";
import { publishedNames } from "../model/record-types.ts";
import type { ObjectMeta, PoolStatus } from "../model/resource.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { isSelected } from "../plan/selection.ts";
import { EXIT } from "../report/exit-code.ts";
import { historyDocument } from "../report/json/history.ts";
import { renderHistory, type ToldHistory } from "../report/text/history.ts";
import { countText } from "../report/text/layout.ts";
import { resolveConfig } from "./config.ts";
import type { HistoryFlags } from "./history-flags.ts";
import { readLogFile } from "./log-files.ts";
import { writeResult } from "./output.ts";
import { pastGaps, readPast } from "./past.ts";
import { nothingSelected, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { isObjectTarget, type ObjectTarget, parseTarget, type Target } from "./target.ts";
import type { Reader } from "./wiring.ts";

/** Runs `history`: reads Events, objects, the Lease and logs, prints what they tell. Needs no provider token. Returns the exit code. */
export async function runHistory(session: Session, names: readonly string[], flags: HistoryFlags): Promise<number> {
  const targets = names.map(parseTarget);
  if (flags.logs === "-" && flags.from === "-")
    throw new ConfigError("usage", "--logs and --from cannot both read standard input. Give one of them a file.");
  const { withReader } = await session.loadWiring();
  const history = await withReader(resolveConfig(flags, session.env, session), (cluster) =>
    untilInterrupted(told(cluster, { targets, flags, progress: session.progress }), session.signal),
  );
  await writeResult(session, session.output, {
    document: () => historyDocument(history),
    names: () => history.changes.flatMap(({ object }) => (object === undefined ? [] : [refKey(object)])),
    text: () => renderHistory(history, session.layout),
    none: history.none,
  });
  return EXIT.done;
}

/** What a person asks for, and where it is told what is waited for. */
interface Request {
  readonly targets: readonly Target[];
  readonly flags: HistoryFlags;
  readonly progress: Progress;
}

async function told(cluster: Reader, request: Request): Promise<ToldHistory> {
  const { flags, progress } = request;
  const { leaseNamespace, leaseName, logs: file } = flags;
  const namespace = flags.allNamespaces ? undefined : flags.namespace;
  const [{ objects, lists }, past] = await Promise.all([
    readObjects(cluster),
    readPast(cluster, { namespace: leaseNamespace, name: leaseName }, namespace),
  ]);
  const asked = await resolveAsked(lists, objects, request);
  const log = file === undefined ? undefined : await readLog(file, asked.isMeant, progress);
  const nowMs = cluster.now();
  const sinceMs = nowMs - flags.since;
  const facts = { ...past, nowMs, objects, ...(log === undefined ? {} : { log }) };
  const query = { sinceMs, isFailedOnly: flags.failed ?? false, isMeant: asked.isMeant };
  const history = historyOf(facts, query);
  if (asked.gone.length + asked.loose.length > 0)
    await refuseUnknown(asked, historyOf(facts, { isMeant: asked.isMeant }).changes, cluster);
  const { none } = asked;
  return {
    cluster: cluster.server,
    nowMs,
    sinceMs,
    ...history,
    ...(log === undefined ? {} : { logs: log }),
    // What was deleted may be in none of the objects that there are.
    ...(none === undefined || history.changes.length > 0 ? {} : { none }),
    gaps: [...pastGaps(past), ...(log === undefined ? [] : logGaps(log, nameOf(file ?? "")))],
  };
}

/** An object with every address that it names or has. */
type ReadObject = KeptObject & { readonly meta: ObjectMeta; readonly addresses: readonly string[] };

/** The lists of a cluster, each read once. */
type Lists = Pick<Reader, "listPools" | "listRoutedIPs" | "listRecordSets" | "hasNamespace">;

async function readObjects(
  cluster: Reader,
): Promise<{ readonly objects: readonly ReadObject[]; readonly lists: Lists }> {
  const [pools, { objects: routedIPs }, { recordSets }] = await Promise.all([
    cluster.listPools(),
    orMissing(() => cluster.listRoutedIPs()),
    listRecordSets(cluster),
  ]);
  const ref = (kind: ObjectRef["kind"], { namespace, name }: ObjectMeta): ObjectRef => ({ kind, namespace, name });
  const lists = {
    hasNamespace: (name: string) => cluster.hasNamespace(name),
    listPools: async () => pools,
    listRoutedIPs: async () => routedIPs,
    listRecordSets: async () => recordSets,
  };
  const objects = [
    ...pools.map(({ meta, spec, status }) => {
      return { ref: ref("pool", meta), meta, status, addresses: [...spec.ips, ...addressesOf(status)] };
    }),
    ...routedIPs.map(({ meta, spec, status }) => {
      return { ref: ref("routedip", meta), meta, status, addresses: [spec.address, ...addressesOf(status)] };
    }),
    ...recordSets.map(({ meta, status }) => {
      return {
        ref: ref("dns", meta),
        meta,
        status,
        addresses: publishedNames(status).flatMap(({ addresses }) => addresses),
      };
    }),
  ];
  return { objects, lists };
}

function addressesOf({ ips, acquired }: PoolStatus): readonly string[] {
  return [...Object.keys(ips), ...acquired.map(({ ip }) => ip)];
}

/** What was asked for. */
interface Asked {
  readonly isMeant: (change: Change) => boolean;
  /** Targets that no object is, each with the error that says so: a change may still be known of them. */
  readonly gone: readonly { readonly key: string; readonly error: ConfigError }[];
  /** Nodes, and addresses that no object has: they may be unknown. */
  readonly loose: readonly Target[];
  /** Says that -n and -l select no object; undefined where they select one. */
  readonly none: string | undefined;
}

/** Whatever is about all objects is meant only where nothing narrows the history. */
async function resolveAsked(lists: Lists, objects: readonly ReadObject[], { targets, flags }: Request): Promise<Asked> {
  const selection = await resolveSelection([], flags, lists);
  const none = await nothingSelected(selection, lists);
  const found = await Promise.all(targets.filter(isObjectTarget).map((target) => resolveOne(lists, target, flags)));
  const keys = new Set(found.flatMap((one) => one.keys));
  const words = targets.flatMap((target) => (isObjectTarget(target) ? [] : [target.name]));
  const isNarrow = targets.length > 0 || Object.keys(selection).length > 0;
  const labelled =
    selection.labelSelector === undefined
      ? undefined
      : new Set(objects.filter(({ ref, meta }) => isSelected(selection, ref.kind, meta)).map(({ ref }) => refKey(ref)));
  const isMeant = (change: Change): boolean => {
    const { object } = change;
    if (object === undefined) return !isNarrow;
    const place = placeOf(change);
    if (selection.namespace !== undefined && object.namespace !== selection.namespace) return false;
    if (labelled?.has(place) === false) return false;
    return targets.length === 0 || keys.has(place) || words.some((word) => mentions(change, word));
  };
  const own = new Set(objects.flatMap(({ addresses }) => addresses));
  const loose = targets.filter(({ kind, name }) => kind === "node" || (kind === "ip" && !own.has(name)));
  return { isMeant, gone: found.flatMap(({ gone }) => gone), loose, none };
}

/** The objects of a target. One that was deleted has none, and may be known of the past where it is named in full. */
async function resolveOne(
  lists: Lists,
  target: ObjectTarget,
  flags: HistoryFlags,
): Promise<{ readonly keys: readonly string[]; readonly gone: Asked["gone"] }> {
  try {
    const { namespace, allNamespaces } = flags;
    const narrow = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(allNamespaces === undefined ? {} : { allNamespaces }),
    };
    const { objects = [] } = await resolveSelection([target], narrow, lists);
    return { keys: objects, gone: [] };
  } catch (error) {
    const { kind, namespace = flags.namespace, name } = target;
    const isGone = error instanceof ConfigError && error.kind === "invalid";
    if (!isGone || kind === "object" || namespace === undefined) throw error;
    const key = refKey({ kind, namespace, name });
    return { keys: [key], gone: [{ key, error }] };
  }
}

/** @throws ConfigError `invalid` for a target that there is not, and of which nothing is known either */
async function refuseUnknown({ gone, loose }: Asked, changes: readonly Change[], cluster: Reader): Promise<void> {
  const known = new Set(changes.map(placeOf));
  const unknown = gone.find(({ key }) => !known.has(key));
  if (unknown !== undefined) throw unknown.error;
  const silent = loose.filter(({ name }) => !changes.some((change) => mentions(change, name)));
  if (silent.length === 0) return;
  const nodes = await nodeNames(cluster);
  for (const { kind, name, text } of silent) {
    if (kind === "ip")
      throw new ConfigError("invalid", `No object has the address ${name}, and no change of it is known ('${text}').`);
    if (nodes?.has(name) === false)
      throw new ConfigError("invalid", `There is no node named ${name}, and no change of it is known ('${text}').`);
  }
}

/** Undefined where nodes may not be listed. */
async function nodeNames(cluster: Reader): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await cluster.listNodes()).map(({ name }) => name));
  } catch (error) {
    if (error instanceof KubeError && error.failure === "forbidden") return undefined;
    throw error;
  }
}

function nameOf(file: string): string {
  return file === "-" ? "stdin" : file;
}

async function readLog(file: string, isMeant: (change: Change) => boolean, progress: Progress): Promise<LogRead> {
  const reader = new LogReader(isMeant);
  await waitingFor(progress, { kind: "file", name: nameOf(file) }, () => readLogFile(file, reader));
  return reader.end();
}

/** What the logs lack, a sentence each. */
function logGaps({ lines, foreign, firstForeign, fromMs, isCut }: LogRead, file: string): readonly string[] {
  const none = `${file} has no log line of flipop. Runs write them with --log-format json, and in a pod by themselves.`;
  const are = foreign === 1 ? "is no log line" : "are no log lines";
  const some = `${foreign} of ${countText(lines, "line")} of ${file} ${are} of flipop, the first is line ${firstForeign}.`;
  return [
    ...(fromMs === undefined ? [none] : foreign === 0 ? [] : [some]),
    ...(isCut ? [`Of ${file} only the newest ${MOST_CHANGES} changes are told.`] : []),
  ];
}
