import { type ObjectRef, refKey } from "../model/action.ts";
import { canonicalIPv4 } from "../model/address.ts";
import { ConfigError } from "../model/errors.ts";
import type { ObjectMeta } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { isSelected } from "../plan/selection.ts";
import type { ClusterReader, NamespaceReader } from "../ports/cluster.ts";
import { listText } from "../report/text/layout.ts";
import type { CommonFlags } from "./flags.ts";

/** The lists in which a named object is looked up. */
type ObjectLists = Pick<ClusterReader, "listPools" | "listRoutedIPs" | "listRecordSets">;

/**
 * Returns the selection that the flags mean. Objects are read only when one is named, and each must exist.
 * @throws ConfigError `usage` for a name that several have, `invalid` for an object that does not exist.
 */
export async function resolveSelection(
  targets: readonly Target[],
  flags: Pick<CommonFlags, "namespace" | "allNamespaces" | "selector">,
  lists: ObjectLists,
): Promise<Selection> {
  const namespace = flags.allNamespaces ? undefined : flags.namespace;
  const named = targets.filter(isObjectTarget);
  const known = named.length === 0 ? [] : await listObjects(named, lists);
  const objects = named.map((target) => refKey(findObject(target, namespace, known)));
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(named.length === 0 ? {} : { objects: [...new Set(objects)].sort() }),
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
  const refs = named.map((target) => fullName(target, namespace) ?? findObject(target, namespace, known));
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

/** An object of the cluster. */
interface Listed {
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
}

async function everyObject(lists: ObjectLists): Promise<readonly Listed[]> {
  const [pools, { objects: routedIPs }, { recordSets }] = await Promise.all([
    lists.listPools(),
    orMissing(() => lists.listRoutedIPs()),
    listRecordSets(lists),
  ]);
  return [...listed("pool", pools), ...listed("routedip", routedIPs), ...listed("dns", recordSets)];
}

function listed(kind: ObjectRef["kind"], objects: readonly { readonly meta: ObjectMeta }[]): readonly Listed[] {
  return objects.map(({ meta }) => ({ ref: { kind, namespace: meta.namespace, name: meta.name }, meta }));
}

/** Returns `There is pool/ingress/web and dns/ingress/nodes.`, or that there is none. */
export function whatThereIs(objects: readonly ObjectRef[]): string {
  return objects.length === 0 ? "There is none at all." : `There is ${listText(objects.map(refKey), MOST_OBJECTS)}.`;
}

/** The most objects that are named when none was selected. */
const MOST_OBJECTS = 5;

/** Reads only kinds that are named. A bare name may be of any kind, also where the cluster knows no record sets or routed IPs. */
async function listObjects(named: readonly ObjectTarget[], lists: ObjectLists): Promise<readonly ObjectRef[]> {
  const names = (kind: ObjectTarget["kind"]): boolean => named.some((target) => target.kind === kind);
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
  const all = [...listed("pool", pools), ...listed("routedip", routedIPs), ...listed("dns", recordSets)];
  return all.map(({ ref }) => ref);
}

const KIND_NAMES = {
  pool: "FloatingIPPool",
  routedip: "RoutedIP",
  dns: "NodeDNSRecordSet",
  object: "FloatingIPPool, RoutedIP or NodeDNSRecordSet",
} as const;

function findObject(target: ObjectTarget, namespace: string | undefined, known: readonly ObjectRef[]): ObjectRef {
  const wanted = target.namespace ?? namespace;
  if (target.namespace !== undefined && namespace !== undefined && target.namespace !== namespace) {
    throw new ConfigError("usage", `The target '${target.text}' is not in the namespace ${namespace} of -n.`);
  }
  const ofKind = known.filter(({ kind }) => target.kind === "object" || kind === target.kind);
  const found = ofKind.filter(
    ({ name, namespace: where }) => name === target.name && (wanted === undefined || where === wanted),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) {
    throw new ConfigError(
      "usage",
      `The target '${target.text}' is ambiguous: ${listText(found.map(refKey))} have that name.`,
    );
  }
  const hint = whatThereIs(ofKind);
  const where = wanted === undefined ? "in any namespace" : `in the namespace ${wanted}`;
  throw new ConfigError(
    "invalid",
    `There is no ${KIND_NAMES[target.kind]} named ${target.name} ${where} ('${target.text}'). ${hint}`,
  );
}

/** An object that a person named: one of a kind, or of any kind where the name is enough. Without a namespace it is looked up. */
interface ObjectTarget {
  readonly kind: "pool" | "dns" | "routedip" | "object";
  readonly text: string;
  readonly namespace?: string;
  readonly name: string;
}

/** An object, node or address that a person named on the command line. */
export type Target =
  | ObjectTarget
  | { readonly kind: "node"; readonly text: string; readonly name: string }
  | { readonly kind: "ip"; readonly text: string; readonly name: string };

/**
 * Returns what `pool/[NAMESPACE/]NAME`, `routedip/[NAMESPACE/]NAME`, `dns/[NAMESPACE/]NAME`, `[NAMESPACE/]NAME`, `node/NAME` or `ip/ADDRESS` names.
 * @throws ConfigError `usage` when it is none of them.
 */
export function parseTarget(text: string): Target {
  const parts = text.split("/");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length > 3 || parts.some((part) => !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(part))) {
    throw notATarget(text, "it is not of that form");
  }
  if (parts.length === 3) {
    if (!isObjectKind(first)) throw notATarget(text, `this version knows no ${first}`);
    return { kind: first, text, namespace: second, name: third };
  }
  if (parts.length === 1) return { kind: "object", text, name: first };
  if (isObjectKind(first)) return { kind: first, text, name: second };
  switch (first) {
    case "node":
      return { kind: "node", text, name: second };
    case "ip":
      if (canonicalIPv4(second) === undefined) throw notATarget(text, `${second} is no IPv4 address`);
      return { kind: "ip", text, name: second };
    default:
      return { kind: "object", text, namespace: first, name: second };
  }
}

function isObjectKind(word: string): word is ObjectRef["kind"] {
  return word === "pool" || word === "routedip" || word === "dns";
}

function notATarget(text: string, why: string): ConfigError {
  return new ConfigError(
    "usage",
    `Unknown target '${text}': ${why}. Write pool/[NAMESPACE/]NAME, routedip/[NAMESPACE/]NAME, dns/[NAMESPACE/]NAME, [NAMESPACE/]NAME, node/NAME or ip/ADDRESS.`,
  );
}

/** True for a target that is a pool, a routed IP or a record set. */
export function isObjectTarget(target: Target): target is ObjectTarget {
  return target.kind !== "node" && target.kind !== "ip";
}

/**
 * Returns the targets of a command that works on pools, routed IPs and record sets only.
 * @throws ConfigError `usage` for a node or an address.
 */
export function objectTargets(names: readonly string[], command: string): readonly Target[] {
  const targets = names.map(parseTarget);
  const other = targets.find((target) => !isObjectTarget(target));
  if (other === undefined) return targets;
  throw new ConfigError(
    "usage",
    `The target '${other.text}' is no pool, routed IP or record set: ${command} takes nothing else. flipop plan ${other.text} shows what concerns it.`,
  );
}
