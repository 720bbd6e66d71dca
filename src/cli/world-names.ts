import { type ObjectRef, refKey } from "../model/action.ts";
import type { IPStatus, Pool, RecordSet } from "../model/resource.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
import { listRecordSets, orMissing } from "../observe/read-cluster.ts";
import { routedAddress } from "../report/overview.ts";
import { wantedFQDN } from "../report/text/written-name.ts";
import type { Reader } from "./wiring.ts";

/** A word that a shell may offer, and a few words about it. */
export interface Candidate {
  readonly text: string;
  readonly about: string;
}

/** The lists that names are taken from. */
export type NameLists = Pick<Reader, "listPools" | "listRoutedIPs" | "listRecordSets" | "listNodes">;

/** What a person has typed of a name, and the namespace of `-n` before. */
interface Typed {
  readonly typed: string;
  readonly namespace?: string;
}

/** Returns the names that fit; they may be more than those that begin with what is typed. */
export type Ask = (lists: NameLists, typed: Typed) => Promise<readonly Candidate[]>;

/** How names of the cluster are found. */
export const NAMES: Readonly<Record<"object" | "node" | "address" | "name" | "namespace" | "edited", Ask>> = {
  object: objectNames,
  node: async (lists) =>
    (await lists.listNodes()).map(({ name, ready }) => ({
      text: `node/${name}`,
      about: ready.isReady ? "Ready" : "NotReady",
    })),
  address: addressNames,
  name: async (lists) => {
    const [objects, { recordSets }] = await Promise.all([poolLikes(lists), listRecordSets(lists)]);
    const names = [
      ...objects.map(({ spec, status }) => spec.dnsRecordSet && wantedFQDN(spec.dnsRecordSet, status)),
      ...recordSets.map(({ spec, status }) => wantedFQDN(spec.dnsRecordSet, status, spec.provider)),
    ];
    return [...new Set(names)].flatMap((name) => (name === undefined ? [] : [{ text: name, about: "DNS name" }]));
  },
  namespace: async (lists) => {
    const objects = await namedObjects(lists, { typed: "" });
    return [...Map.groupBy(objects, ({ ref }) => ref.namespace)].map(([text, of]) => ({
      text,
      about: of.length === 1 ? "1 object" : `${of.length} objects`,
    }));
  },
  edited: async (lists, { typed }) => {
    const names = await (typed.startsWith("ip/") ? addressNames(lists) : NAMES.node(lists, { typed }));
    return names.map(({ text, about }) => ({ text: `${text}=`, about }));
  },
};

/** Returns the same lists; each is read once, however many ask. */
export function readOnce(lists: NameLists): NameLists {
  const once = <T>(read: () => Promise<T>): (() => Promise<T>) => {
    let reading: Promise<T> | undefined;
    return () => {
      reading ??= read();
      return reading;
    };
  };
  return {
    listPools: once(() => lists.listPools()),
    listRoutedIPs: once(() => lists.listRoutedIPs()),
    listRecordSets: once(() => lists.listRecordSets()),
    listNodes: once(() => lists.listNodes()),
  };
}

/** In full, `pool/ingress/web`; where none begins with what is typed, as it may be shortened: `ingress/web`, `web`. */
async function objectNames(lists: NameLists, typed: Typed): Promise<readonly Candidate[]> {
  const objects = await namedObjects(lists, typed);
  const forms: readonly ((ref: ObjectRef) => string)[] = [
    refKey,
    ({ namespace, name }) => `${namespace}/${name}`,
    ({ name }) => name,
  ];
  const named = forms.map((form) => objects.map(({ ref, about }) => ({ text: form(ref), about })));
  const fitting = named.find((names) => names.some(({ text }) => text.startsWith(typed.typed))) ?? [];
  const times = Map.groupBy(fitting, ({ text }) => text);
  return fitting.filter(({ text }) => times.get(text)?.length === 1);
}

interface NamedObject {
  readonly ref: ObjectRef;
  readonly about: string;
}

/** Reads only the kind that is typed, once it is. */
async function namedObjects(lists: NameLists, { typed, namespace }: Typed): Promise<readonly NamedObject[]> {
  const [, kind] = /^(pool|routedip|dns)\//.exec(typed) ?? [];
  const mayBe = (one: ObjectRef["kind"]): boolean => kind === undefined || kind === one;
  const [pools, routedIPs, recordSets] = await Promise.all([
    mayBe("pool") ? lists.listPools() : [],
    mayBe("routedip") ? orMissing(() => lists.listRoutedIPs()).then(({ objects }) => objects) : [],
    mayBe("dns") ? listRecordSets(lists).then(({ recordSets: found }) => found) : [],
  ]);
  return [...named("pool", pools), ...named("routedip", routedIPs), ...named("dns", recordSets)].filter(
    ({ ref }) => namespace === undefined || ref.namespace === namespace,
  );
}

function named(kind: ObjectRef["kind"], objects: readonly (Pool | RoutedIP | RecordSet)[]): readonly NamedObject[] {
  return objects.map(({ meta, status }) => {
    const ready = status.conditions.find(({ type }) => type === "Ready");
    const ref = { kind, namespace: meta.namespace, name: meta.name };
    return { ref, about: ready === undefined ? "no run has looked at it yet" : ready.reason || ready.status };
  });
}

async function poolLikes(lists: NameLists): Promise<readonly (Pool | RoutedIP)[]> {
  const [pools, { objects }] = await Promise.all([lists.listPools(), orMissing(() => lists.listRoutedIPs())]);
  return [...pools, ...objects];
}

async function addressNames(lists: NameLists): Promise<readonly Candidate[]> {
  const [pools, { objects }] = await Promise.all([lists.listPools(), orMissing(() => lists.listRoutedIPs())]);
  const wished = pools.flatMap(({ spec }) => spec.ips.map((ip) => [ip, undefined] as const));
  const stored = pools.flatMap(({ status }) => Object.entries(status.ips));
  const routed = objects.flatMap(({ spec, status }) => {
    const used = routedAddress(status);
    return [[used?.ip ?? spec.address, used?.entry] as const];
  });
  const known = new Map<string, IPStatus | undefined>([...wished, ...stored, ...routed]);
  return [...known].filter(([ip]) => ip !== "").map(([ip, entry]) => ({ text: `ip/${ip}`, about: addressText(entry) }));
}

function addressText(entry: IPStatus | undefined): string {
  if (entry === undefined) return "not looked at";
  return entry.nodeName === undefined ? entry.state : `${entry.state}, ${entry.nodeName}`;
}
