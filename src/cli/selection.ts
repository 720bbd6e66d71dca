import { type ObjectRef, refKey } from "../model/action.ts";
import { canonicalDNSName } from "../model/dns.ts";
import { ConfigError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import type { Remembering } from "../model/record-types.ts";
import type { DNSRecordSetSpec, ObjectMeta } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { isOfShard, parseShard, partOf, SHARD_LABEL, type Shard, shardText } from "../model/shard.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { isSelected } from "../plan/selection.ts";
import { shardOf } from "../plan/shards.ts";
import type { ClusterReader, NamespaceReader } from "../ports/cluster.ts";
import { listText } from "../report/text/layout.ts";
import { wantedFQDN } from "../report/text/written-name.ts";
import type { CommonFlags, ShardFlags } from "./flags.ts";
import { isObjectTarget, meantKind, type ObjectTarget, type Target } from "./target.ts";

/** The lists in which a named object is looked up. */
type ObjectLists = Pick<ClusterReader, "listPools" | "listRoutedIPs" | "listRecordSets">;

/**
 * Returns the selection that the flags mean. Objects are read only when one is named, and each must exist.
 * @throws ConfigError `usage` for a name that several have, `invalid` for an object that does not exist.
 */
export async function resolveSelection(
  targets: readonly Target[],
  flags: Pick<CommonFlags, "namespace" | "allNamespaces" | "selector"> & Partial<ShardFlags>,
  lists: ObjectLists,
): Promise<Selection> {
  const namespace = flags.allNamespaces ? undefined : flags.namespace;
  const named = targets.filter(isObjectTarget);
  const known = named.length === 0 ? [] : await listObjects(named, lists);
  const objects = named.flatMap((target) => findObjects(target, namespace, known).map(({ ref }) => refKey(ref)));
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(named.length === 0 ? {} : { objects: [...new Set(objects)].sort() }),
    ...(flags.shard === undefined ? {} : { shard: flags.shard }),
  };
}

/** An object that a person named, as it is now. */
export interface NamedObject {
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
  readonly spec: { readonly suspend: boolean };
}

/**
 * Reads the objects that are named, each once. One that is named in full is read by itself, so that the right to list is not needed.
 * @throws ConfigError as {@link resolveSelection}
 */
export async function readTargets(
  targets: readonly Target[],
  namespace: string | undefined,
  cluster: ObjectLists & SingleReads,
): Promise<readonly NamedObject[]> {
  const named = targets.filter(isObjectTarget);
  const short = named.filter((target) => fullName(target, namespace) === undefined);
  const known = short.length === 0 ? [] : await listObjects(short, cluster);
  const refs = named.flatMap(
    (target) => fullName(target, namespace) ?? findObjects(target, namespace, known).map(({ ref }) => ref),
  );
  const distinct = [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
  return await Promise.all(
    distinct.map(async (ref) => {
      const object = await readObject(ref, cluster);
      if (object === undefined)
        throw new ConfigError(
          "invalid",
          `There is no ${KIND_NAMES[ref.kind]} named ${ref.name} in the namespace ${ref.namespace}.`,
        );
      return { ref, meta: object.meta, spec: object.spec };
    }),
  );
}

/** Reads the one object of a reference; undefined when there is none. */
export function readObject(ref: ObjectRef, cluster: SingleReads): Promise<Omit<NamedObject, "ref"> | undefined> {
  if (ref.kind === "pool") return cluster.readPool(ref);
  return ref.kind === "dns" ? cluster.readRecordSet(ref) : cluster.readRoutedIP(ref);
}

type SingleReads = Pick<ClusterReader, "readPool" | "readRoutedIP" | "readRecordSet">;

function fullName({ kind, name, namespace = "" }: ObjectTarget, where: string | undefined): ObjectRef | undefined {
  const own = namespace || where;
  if (kind === "object" || own === undefined) return undefined;
  return where === undefined || own === where ? { kind, namespace: own, name } : undefined;
}

/**
 * Returns what to say where `-n` and `-l` choose none of the objects that there are, and which there are; undefined where they choose one, or choose nothing at all.
 * @throws ConfigError `invalid` for a namespace that does not exist, as far as that can be told
 */
export async function nothingSelected(
  selection: Selection,
  cluster: ObjectLists & NamespaceReader,
): Promise<string | undefined> {
  const { namespace, labelSelector, objects } = selection;
  if (namespace === undefined && labelSelector === undefined) return undefined;
  const all = await everyObject(cluster);
  if (all.some(({ ref, meta }) => isSelected(selection, ref.kind, meta))) return undefined;
  const there = whatThereIs(all.map(({ ref }) => ref));
  const isEmpty = namespace !== undefined && !all.some(({ meta }) => meta.namespace === namespace);
  if (isEmpty && (await cluster.hasNamespace(namespace)) === false)
    throw new ConfigError("invalid", `There is no namespace ${namespace}. ${there}`);
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const named = objects === undefined ? "" : " that was named";
  const labels = labelSelector === undefined || isEmpty ? "" : ` has the labels ${labelSelector}`;
  return `No object${where}${named}${labels}. ${there}`;
}

/** An object as far as a selection looks at it. */
interface Selectable {
  readonly kind: ObjectRef["kind"];
  readonly meta: ObjectMeta;
}

/**
 * Returns what to say where none of the objects that the other flags choose is of the shard of a selection, or of the process without one, and with which `--shard` they are seen;
 * undefined where one is, or none is chosen. `all` are the objects of the cluster. Pure.
 */
export function nothingOfShard(selection: Selection, all: readonly Selectable[]): string | undefined {
  const { namespace, labelSelector, objects } = selection;
  const shard = shardOf(selection);
  const { own, others } = chosenByShard(selection, all);
  if (others.length === 0 || own.length > 0) return undefined;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const named = objects === undefined ? "" : " that was named";
  const labels = labelSelector === undefined ? "" : ` with the labels ${labelSelector}`;
  const whose = shard === undefined ? `is without the label ${SHARD_LABEL}` : `is of the shard ${shardText(shard)}`;
  return [`No object${where}${named}${labels} ${whose}.`, ...flagTexts(others, shard)].join(" ");
}

/** Says how many of the chosen objects are of other shards, and with which `--shard` they are seen. Undefined where none are, or all. Pure. */
export function othersOfShard(selection: Selection, all: readonly Selectable[]): string | undefined {
  const { own, others } = chosenByShard(selection, all);
  if (others.length === 0 || own.length === 0) return undefined;
  const count = others.length === 1 ? "1 object is" : `${others.length} objects are`;
  return [`${count} of another shard, and not part of this plan.`, ...flagTexts(others, shardOf(selection))].join(" ");
}

/** The objects that the other flags choose: those of the selection's shard, and those of others. */
function chosenByShard(
  selection: Selection,
  all: readonly Selectable[],
): { readonly own: readonly Selectable[]; readonly others: readonly Selectable[] } {
  const shard = shardOf(selection);
  const chosen = all.filter(({ kind, meta }) => isSelected(selection, kind, meta));
  return {
    own: chosen.filter(({ meta }) => isOfShard(meta, shard)),
    others: chosen.filter(({ meta }) => !isOfShard(meta, shard)),
  };
}

/** Says with which flag objects are seen, one sentence for each. */
function flagTexts(objects: readonly Selectable[], asked: Shard | undefined): readonly string[] {
  const groups = [...Map.groupBy(objects, ({ meta }) => flagFor(meta, asked))].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const told = groups.slice(0, MOST_SHARDS).map(([flag, own]) => {
    const there = listText(own.map(({ kind, meta }) => refKey({ kind, ...meta })).toSorted(), MOST_OBJECTS);
    return flag === "" ? `The label ${SHARD_LABEL} of ${there} names no shard.` : `Use ${flag} for ${there}.`;
  });
  const untold = groups.length > MOST_SHARDS ? [untoldText(groups.length - MOST_SHARDS)] : [];
  return [...told, ...untold];
}

function untoldText(count: number): string {
  return count === 1 ? "1 more shard has objects." : `${count} more shards have objects.`;
}

/** So many shards are named at most. */
const MOST_SHARDS = 4;

/** Returns the flag with which an object is seen: `--shard web`, `no --shard`. Of numbered shards it is one of as many parts as were asked for. Empty for a label that no shard can have. */
function flagFor({ namespace, labels }: ObjectMeta, asked: Shard | undefined): string {
  const label = labels[SHARD_LABEL] ?? "";
  if (label !== "") return parseShard(label) === undefined ? "" : `--shard ${label}`;
  return asked?.kind === "numbered" ? `--shard ${partOf(namespace, asked.of)}/${asked.of}` : "no --shard";
}

/** An object of the cluster; `fqdn` is the name that it asks for, where that is known. */
interface Listed {
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
  readonly fqdn: string | undefined;
}

/** Lists every object of every kind that the cluster knows. @throws KubeError as the lists do */
export async function everyObject(lists: ObjectLists): Promise<readonly Listed[]> {
  const [pools, { objects: routedIPs }, { recordSets }] = await Promise.all([
    lists.listPools(),
    orMissing(() => lists.listRoutedIPs()),
    listRecordSets(lists),
  ]);
  return [...listed("pool", pools), ...listed("routedip", routedIPs), ...listed("dns", recordSets)];
}

function listed(
  kind: ObjectRef["kind"],
  objects: readonly {
    readonly meta: ObjectMeta;
    /** Of a record set the DNS provider may stand beside the name. */
    readonly spec: { readonly provider?: string; readonly dnsRecordSet?: DNSRecordSetSpec };
    readonly status: Remembering;
  }[],
): readonly Listed[] {
  return objects.map(({ meta, spec: { provider, dnsRecordSet }, status }) => ({
    ref: { kind, namespace: meta.namespace, name: meta.name },
    meta,
    fqdn: dnsRecordSet === undefined ? undefined : wantedFQDN(dnsRecordSet, status, kind === "dns" ? provider : ""),
  }));
}

/** Returns `There is pool/ingress/web and dns/ingress/nodes.`, or that there is none. */
export function whatThereIs(objects: readonly ObjectRef[]): string {
  return objects.length === 0 ? "There is none at all." : `There is ${listText(objects.map(refKey), MOST_OBJECTS)}.`;
}

/** The most objects that are named when none was selected. */
const MOST_OBJECTS = 5;

/** Reads only kinds that are named. A bare name may be of any kind, and objects of any kind publish DNS names; also where the cluster knows no record sets or routed IPs. */
async function listObjects(named: readonly ObjectTarget[], lists: ObjectLists): Promise<readonly Listed[]> {
  const names = (wanted: ObjectTarget["kind"]): boolean =>
    named.some(({ kind, name }) => kind === wanted || (wanted === "object" && kind === "dns" && name.includes(".")));
  const [pools, routedIPs, recordSets] = await Promise.all([
    names("pool") || names("object") ? lists.listPools() : [],
    names("routedip")
      ? lists.listRoutedIPs()
      : names("object")
        ? orMissing(() => lists.listRoutedIPs()).then(({ objects }) => objects)
        : [],
    names("dns")
      ? lists.listRecordSets()
      : names("object")
        ? listRecordSets(lists).then(({ recordSets }) => recordSets)
        : [],
  ]);
  return [...listed("pool", pools), ...listed("routedip", routedIPs), ...listed("dns", recordSets)];
}

const KIND_NAMES = {
  pool: "FloatingIPPool",
  routedip: "RoutedIP",
  dns: "NodeDNSRecordSet",
  object: "FloatingIPPool, RoutedIP or NodeDNSRecordSet",
} as const;

/** The one object of that name; else those that publish a DNS name which is written so, `dns/www.example.com` included. */
function findObjects(target: ObjectTarget, namespace: string | undefined, known: readonly Listed[]): readonly Listed[] {
  const wanted = target.namespace ?? namespace;
  if (target.namespace !== undefined && namespace !== undefined && target.namespace !== namespace) {
    throw new ConfigError("usage", `The target '${target.text}' is not in the namespace ${namespace} of -n.`);
  }
  const isThere = ({ ref }: Listed): boolean => wanted === undefined || ref.namespace === wanted;
  const ofKind = known.filter(({ ref }) => target.kind === "object" || ref.kind === target.kind);
  const found = ofKind.filter((one) => one.ref.name === target.name && isThere(one));
  if (found.length === 1) return found;
  if (found.length > 1) {
    throw new ConfigError(
      "usage",
      `The target '${target.text}' is ambiguous: ${listText(found.map(({ ref }) => refKey(ref)))} have that name.`,
    );
  }
  const name = canonicalDNSName(target.name);
  const publishing = known.filter((one) => one.fqdn !== undefined && one.fqdn === name && isThere(one));
  const isName = target.namespace === undefined && (target.kind === "object" || target.kind === "dns");
  if (isName && publishing.length > 0) return publishing;
  throw notFound(target, { wanted, ofKind, known, isName: isName && name?.includes(".") === true });
}

/** What a target that nothing is found for was looked for in. */
interface Searched {
  readonly wanted: string | undefined;
  readonly ofKind: readonly Listed[];
  readonly known: readonly Listed[];
  /** True for what may be a DNS name. */
  readonly isName: boolean;
}

function notFound(target: ObjectTarget, searched: Searched): ConfigError {
  const { wanted, ofKind, isName } = searched;
  const where = wanted === undefined ? "in any namespace" : `in the namespace ${wanted}`;
  const publishes = isName ? `, and no object publishes that name` : "";
  return new ConfigError(
    "invalid",
    `There is no ${KIND_NAMES[target.kind]} named ${target.name} ${where}${publishes} ('${target.text}'). ${whatThereIs(ofKind.map(({ ref }) => ref))}${meantKind(target) || meantName(target, searched)}`,
  );
}

/** Returns ` Did you mean www.example.com?`; how a node is written where nothing is written nearly so, and a bare word was. */
function meantName(target: ObjectTarget, { ofKind, known, isName }: Searched): string {
  const names = isName ? known.flatMap(({ fqdn }) => (fqdn === undefined ? [] : [[fqdn, fqdn] as const])) : [];
  const meant = new Map([...names, ...ofKind.map(({ ref }) => [ref.name, refKey(ref)] as const)]);
  const name = nearest(target.name.toLowerCase(), [...meant.keys()], MOST_LETTERS);
  if (name !== undefined) return name === target.name ? "" : ` Did you mean ${meant.get(name)}?`;
  return target.kind === "object" && target.namespace === undefined && !isName
    ? ` A node is written node/${target.name}.`
    : "";
}

/** In so many letters a name may differ from one that is meant. */
const MOST_LETTERS = 2;
