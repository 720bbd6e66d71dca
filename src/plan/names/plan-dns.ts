import { type Action, refKey, type WriteDNS } from "../../model/action.ts";
import { type DNSFacts, recordAddresses } from "../../model/dns.ts";
import type { Hold } from "../../model/plan.ts";
import type { DNSMemory, Pool, PublishedName, RecordSet } from "../../model/resource.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer.ts";
import { type FormerPlan, type NameChange, planFormerNames } from "./former-names.ts";
import { type NameClaims, nameKey, publishedKey } from "./name-claims.ts";
import { type NamePlan, ownTarget, planName } from "./name-plan.ts";
import { isTaken, type NameTarget } from "./name-target.ts";
import type { Publisher, ServedAddresses } from "./publishers.ts";

/** What is done about all names of one object. */
export interface ObjectNames {
  readonly publisher: Publisher;
  readonly present: NamePlan;
  readonly former: FormerPlan;
  readonly holds: readonly Hold[];
  /** What its status should remember. */
  readonly memory: DNSMemory;
  readonly cleaning: Cleaning;
}

/** Plans the names of every object that has an entry in `served`, by {@link refKey}. Pure. */
export function planDNS(
  publishers: readonly Publisher[],
  served: ReadonlyMap<string, ServedAddresses>,
  claims: NameClaims,
  dns: ReadonlyMap<string, DNSFacts>,
  nowMs: number,
): readonly ObjectNames[] {
  const written = new Set<string>();
  const planned = publishers.flatMap((publisher) => {
    const own = served.get(refKey(publisher.ref));
    return own === undefined ? [] : [{ publisher, present: planName(publisher, own, claims, nowMs) }];
  });
  const changing = new Map([
    ...publishers.filter(({ ref }) => !served.has(refKey(ref))).flatMap((publisher) => awaited(publisher, claims)),
    ...planned.flatMap(({ publisher, present }) => changeOf(publisher, present)),
  ]);
  // What objects that go clean is known first: it may be the new name of another, whose old one stays then.
  const formers = new Map(
    planned
      .toSorted((a, b) => Number(b.publisher.meta.isDeleting) - Number(a.publisher.meta.isDeleting))
      .map(({ publisher, present }) => [
        refKey(publisher.ref),
        planFormerNames(publisher, present, { claims, dns, nowMs, changing, written }),
      ]),
  );
  const bequeathed = new Set([...formers.values()].flatMap((former) => former.bequeathed));
  return planned.flatMap(({ publisher, present }): readonly ObjectNames[] => {
    const former = formers.get(refKey(publisher.ref));
    if (former === undefined) return [];
    const memory = dnsMemory(publisher, present, former, bequeathed);
    return [
      {
        publisher,
        present,
        former,
        holds: [...present.holds, ...former.holds],
        memory,
        cleaning: publisher.isWritable ? cleaning(publisher, present, former, memory) : NOTHING_TO_CLEAN,
      },
    ];
  });
}

/** The name of an object that cannot be worked on for its provider's sake: whoever leaves it waits, as the object may have to write there once it can. */
function awaited(publisher: Publisher, claims: NameClaims): readonly (readonly [string, NameChange])[] {
  const target = ownTarget(publisher, claims);
  if (!publisher.mayPublish || target.kind === "none" || target.name === undefined || isTaken(target)) return [];
  return [
    [nameKey(target.name), { kind: "later", hold: { ...FIRST, object: publisher.ref, subject: target.name.fqdn } }],
  ];
}

/** How a name is changed for the object it belongs to, by its key; empty when nothing is to change, and that is on record. */
function changeOf(publisher: Publisher, present: NamePlan): readonly (readonly [string, NameChange])[] {
  const { target, actions, holds, waitsFor, isRight, drift = 0 } = present;
  if (!publisher.mayPublish || target.kind === "none" || target.name === undefined || isTaken(target)) return [];
  const key = nameKey(target.name);
  const [action] = actions;
  if (action !== undefined) return [[key, { kind: "now", actionID: action.id }]];
  const hold = waitsFor === undefined ? undefined : holds[0];
  // What is right already, or is to stay, is on record once this pass has written its status.
  const first: Hold = { ...FIRST, object: publisher.ref, subject: target.name.fqdn };
  if (hold === undefined && !isRight && drift === 0)
    return [[key, { kind: "none", hold: first, addresses: publisher.managed }]];
  return [[key, { kind: "later", hold: hold ?? first }]];
}

const FIRST: Pick<Hold, "kind" | "reason" | "detail" | "needsPerson"> = {
  kind: "update-dns",
  reason: "NewNameFirst",
  detail: "",
  needsPerson: false,
};

function cleaning(
  { reclaimPolicy }: Publisher,
  present: NamePlan,
  former: FormerPlan,
  { publishedDNS }: DNSMemory,
): Cleaning {
  if (reclaimPolicy !== "Delete") return NOTHING_TO_CLEAN;
  const isPublished = publishedDNS !== undefined && publishedDNS.addresses.length > 0;
  return {
    isNeeded: isPublished || former.names.length > 0 || present.actions.some(({ kind }) => kind === "update-dns"),
    isStuck: former.holds.length > 0,
    after: [...former.actions.map(({ id }) => id), ...former.heirs],
  };
}

/** Address → a name that shows it, and goes on showing it after what is planned. Pure. */
export function stayingAddresses(names: readonly ObjectNames[]): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap(({ present: { target, actions } }) => {
      if (target.kind !== "ready") return [];
      const [write] = actions;
      return target.records.addresses
        .filter((ip) => write === undefined || write.after.addresses.includes(ip))
        .map((ip) => [ip, target.name.fqdn] as const);
    }),
  );
}

/** The names of an object for which nothing may be planned in this pass: all stays as it is. Pure. */
export function untouchedNames(publisher: Publisher): ObjectNames {
  const { publishedDNS, formerDNS } = publisher.memory;
  return {
    publisher,
    present: { target: { kind: "none" }, actions: [], holds: [], isInPlace: false, isRight: false },
    former: { actions: [], holds: [], names: formerDNS, heirs: [], bequeathed: [] },
    holds: [],
    memory: { ...(publishedDNS === undefined ? {} : { publishedDNS }), formerDNS },
    cleaning: NOTHING_TO_CLEAN,
  };
}

/**
 * Adds to each write those of the addresses leaving the name that no object has on record there: flipop did not write them. What an object manages counts as
 * its own even where its record is lost. Pure.
 */
export function withUnrecorded(writes: readonly WriteDNS[], names: readonly ObjectNames[]): readonly WriteDNS[] {
  const recorded = new Map<string, Set<string>>();
  const enter = (key: string, addresses: readonly string[]): void => {
    recorded.set(key, new Set([...(recorded.get(key) ?? []), ...addresses]));
  };
  for (const { publisher } of names) {
    const { memory, target, managed } = publisher;
    for (const name of [...(memory.publishedDNS === undefined ? [] : [memory.publishedDNS]), ...memory.formerDNS])
      enter(publishedKey(name), [...name.addresses, ...managed]);
    if (target.kind !== "none" && target.name !== undefined) enter(nameKey(target.name), managed);
  }
  return writes.map((write) => {
    const known = recorded.get(nameKey({ provider: write.dnsProvider, fqdn: write.fqdn }));
    const unrecorded = leaving(write).filter((address) => known?.has(address) !== true);
    return unrecorded.length === 0 ? write : { ...write, unrecorded };
  });
}

function leaving({ before, after }: WriteDNS): readonly string[] {
  return before.addresses.filter((address) => !after.addresses.includes(address));
}

/**
 * What an object's status should remember of DNS; what it stores, where nothing may be changed for it. Pure.
 * @param bequeathed - keys of the names that their owners get as they are
 */
function dnsMemory(
  publisher: Publisher,
  present: NamePlan,
  former: FormerPlan,
  bequeathed: ReadonlySet<string>,
): DNSMemory {
  if (!publisher.isWritable) {
    const { publishedDNS, formerDNS } = publisher.memory;
    return { ...(publishedDNS === undefined ? {} : { publishedDNS }), formerDNS };
  }
  const published = publishedName(publisher, present, bequeathed);
  return { ...(published === undefined ? {} : { publishedDNS: published }), formerDNS: former.names };
}

function publishedName(
  { memory, wish }: Publisher,
  { target, isRight }: NamePlan,
  bequeathed: ReadonlySet<string>,
): PublishedName | undefined {
  if (target.kind === "none" || wish.kind === "none") return undefined;
  if (target.name === undefined) return memory.publishedDNS;
  const stored = storedName(memory, target);
  if (target.kind === "blocked") return stored;
  if (stored === undefined && !isRight && !bequeathed.has(nameKey(target.name))) return undefined;
  const { provider, zone, fqdn } = target.name;
  return { provider, zone, name: fqdn, addresses: target.records.addresses };
}

/** What is on record of the present name; an object that comes back to a former name still has its records. */
function storedName(
  { publishedDNS, formerDNS }: DNSMemory,
  target: Exclude<NameTarget, { readonly kind: "none" }>,
): PublishedName | undefined {
  const names = isTaken(target) ? [publishedDNS ?? []] : [publishedDNS ?? [], formerDNS];
  return names.flat().find((name) => target.name !== undefined && publishedKey(name) === nameKey(target.name));
}

/**
 * What an object must have on record of names before its actions are carried out: the name that is about to be written for the first time, and the names before it.
 * Where records are to be cleaned one day, also what is about to be added to a known name: only addresses on record are ever taken out of a former one. Empty when
 * status knows all of it. Pure.
 *
 * @param planned - the status that the plan has for the object
 */
export function recordedNames(
  actions: readonly Action[],
  planned: DNSMemory,
  { spec, status }: Pick<Pool | RecordSet, "spec" | "status">,
): Partial<DNSMemory> {
  const write = actions.find((action): action is WriteDNS => action.kind === "update-dns");
  if (write === undefined) return {};
  const { dnsProvider: provider, zoneText: zone, fqdn: name } = write;
  const { addresses } = write.after;
  // What another object left there is this one's from now on: it may prove impossible to take out.
  const shown = recordAddresses([...write.before.addresses, ...addresses]);
  const known = status.publishedDNS;
  if (known?.provider !== provider || known.name !== name)
    return { publishedDNS: { provider, zone, name, addresses: shown }, formerDNS: planned.formerDNS };
  const isKnown = addresses.every((address) => known.addresses.includes(address));
  if (isKnown || spec.reclaimPolicy !== "Delete") return {};
  return { publishedDNS: { ...known, addresses: recordAddresses([...known.addresses, ...addresses]) } };
}
