import { type ObjectRef, refKey } from "../model/action.ts";
import { annotatedOn } from "../model/annotated.ts";
import { addressesWithout } from "../model/dns.ts";
import { adviceFor, capital, isAboutObject, whyHeld } from "../model/hold.ts";
import type { LiveName, ServerAnswer } from "../model/live.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import { memoryOf, type RecordType, setText } from "../model/record-types.ts";
import type { DNSMemory, IPStatus, ObjectMeta, RetryStatus } from "../model/resource.ts";
import { retriedAddress, retriedRecords } from "../model/retry-subject.ts";
import { withoutSubjects } from "./causes.ts";
import { type AddressRow, addressRows, type Overview } from "./overview.ts";
import { listText } from "./text/layout.ts";
import { nameText, type WrittenName } from "./text/written-name.ts";

/** What everybody says now, beside what is stored: the providers and nodes as one pass reads them, and the names. */
export interface LiveFacts {
  readonly observation: Observation;
  readonly plan: Plan;
  /** The names that objects ask for, by {@link liveKey}. */
  readonly names: ReadonlyMap<string, LiveName>;
}

/** The key of an object's name with records of a type. Pure. */
export function liveKey(object: ObjectRef, type: RecordType): string {
  return setText({ fqdn: refKey(object), type });
}

/** What is stored of the selected objects beside what everybody says now. */
export interface Live {
  /** Pools, then routed IPs, then record sets. */
  readonly objects: readonly LiveObject[];
  /** In the order of objects. */
  readonly differences: readonly Difference[];
  /** What could not be read, one for each cause. */
  readonly unread: readonly Unread[];
}

/** An object, and its addresses; one with A and AAAA records stands there twice, once for each. */
export interface LiveObject {
  readonly object: ObjectRef;
  /** Absent where it asks for none. */
  readonly name?: LiveName;
  readonly addresses: readonly LiveAddress[];
}

/** An address as status has it, and what the others say. `agrees` = true or false, null where there is nothing to compare. */
export interface LiveAddress {
  readonly ip: string;
  /** `active worker-1`; `published` for an address of a record set. */
  readonly status: string;
  /** Absent for an address of a record set. */
  readonly provider?: Compared & { readonly seen: ProviderSight };
  /** The node that carries the annotation, if one does. Absent for an address of a record set. */
  readonly annotation?: Compared & { readonly nodeName?: string };
  /** Whether the records of the name have it. Absent without a name, or where they could not be read. */
  readonly record?: Compared & { readonly isShown: boolean };
}

interface Compared {
  readonly agrees: boolean | null;
}

/** Where an address is by its provider. */
export type ProviderSight =
  | { readonly kind: "attached"; readonly machineID: string; readonly nodeName?: string }
  | { readonly kind: "free" }
  | { readonly kind: "gone" }
  | { readonly kind: "unread"; readonly error: string };

/** Something that is otherwise than status says. */
export interface Difference {
  readonly object: ObjectRef;
  /** An address, or a name in full. */
  readonly subject: string;
  readonly kind: "provider" | "annotation" | "record" | "answer";
  readonly message: string;
  /** Why it stays, or what puts it right; `""` = nobody knows. */
  readonly why: string;
  /** True where the next run puts it right by itself. */
  readonly isDue: boolean;
}

/** Something that could not be read, and why. */
interface Unread {
  readonly subjects: readonly string[];
  readonly why: string;
  /** True for a server of a zone that did not answer while others did. */
  readonly isPartial: boolean;
}

/** Returns what is stored beside what everybody says now. Pure. */
export function liveOf(overview: Pick<Overview, "pools" | "routedIPs" | "recordSets">, facts: LiveFacts): Live {
  const found = objectsOf(overview).map((one) => lookAt(one, facts));
  const unread = found.flatMap((one) => one.unread);
  const named = new Set(unread.map(({ subject }) => subject));
  const causes = Map.groupBy(unread, ({ why }) => withoutSubjects(why, named));
  return {
    objects: found.map(({ live }) => live),
    differences: found.flatMap(({ differences }) => differences),
    unread: [...causes].map(([shared, of]) => {
      const subjects = [...new Set(of.map(({ subject }) => subject))];
      const [first] = of;
      const why = subjects.length === 1 && first !== undefined ? first.why : shared;
      return { subjects, why, isPartial: of.every(({ isPartial }) => isPartial === true) };
    }),
  };
}

/** Returns what `status --check` finds wrong: what the next run does not put right, and what nobody can tell. */
export function liveProblems({ differences, unread }: Live): readonly string[] {
  return [
    ...differences.filter(({ isDue }) => !isDue).map(({ message }) => message),
    ...unread
      .filter(({ isPartial }) => !isPartial)
      .map(({ subjects, why }) => `${listText(subjects, MOST_SUBJECTS)}: not known now: ${why}`),
  ];
}

/** How many subjects of one cause are named. */
export const MOST_SUBJECTS = 3;

/** An object as status has it. */
interface Stored {
  readonly object: ObjectRef;
  readonly addresses: readonly AddressRow[];
  readonly name: WrittenName | undefined;
  readonly memory: DNSMemory;
  readonly retries: readonly RetryStatus[];
}

function objectsOf({
  pools,
  routedIPs,
  recordSets,
}: Pick<Overview, "pools" | "routedIPs" | "recordSets">): readonly Stored[] {
  const ref = (kind: ObjectRef["kind"], { namespace, name }: ObjectMeta): ObjectRef => ({ kind, namespace, name });
  return [
    ...pools.map(({ pool: { meta, status }, addresses, name }) => {
      return { object: ref("pool", meta), addresses, name, memory: status, retries: status.retries };
    }),
    ...routedIPs.map(({ routedIP: { meta, status }, name }) => {
      const addresses = addressRows(status);
      return { object: ref("routedip", meta), addresses, name, memory: status, retries: status.retries };
    }),
    ...recordSets.flatMap(({ recordSet: { meta, status }, name: first, ipv6 }) =>
      [first, ipv6 ?? []].flat().map((name): Stored => {
        const memory = memoryOf(status, name.type);
        return { object: ref("dns", meta), addresses: [], name, memory, retries: status.retries };
      }),
    ),
  ];
}

interface Found {
  readonly live: LiveObject;
  readonly differences: readonly Difference[];
  readonly unread: readonly { readonly subject: string; readonly why: string; readonly isPartial?: true }[];
}

function lookAt(stored: Stored, facts: LiveFacts): Found {
  const { object, memory, name: wanted } = stored;
  const name = facts.names.get(liveKey(object, wanted?.type ?? "A"));
  const published = wanted?.isPublished === true ? memory.publishedDNS : undefined;
  const own = stored.addresses.map((row) => addressOf(row, { stored, facts, name, published: published?.addresses }));
  const known = new Set(own.map(({ address: { ip } }) => ip));
  // A record set has no addresses of its own: those that its name shows or showed are told.
  const shown = object.kind === "dns" && published !== undefined ? [...published.addresses, ...shownBy(name)] : [];
  const others = [...new Set(shown)].filter((ip) => !known.has(ip)).toSorted();
  const addresses = [
    ...own.map(({ address }) => address),
    ...others.map((ip) => publishedAddress(ip, published, name)),
  ];
  const told = own.flatMap(({ differences }) => differences);
  return {
    live: { object, ...(name === undefined ? {} : { name }), addresses },
    differences: [...told, ...nameDifferences(stored, { facts, name, published })],
    unread: [...own.flatMap(({ unread }) => unread), ...unreadNames(name, wanted)],
  };
}

function shownBy(name: LiveName | undefined): readonly string[] {
  return name?.kind === "read" ? name.addresses : [];
}

interface AddressContext {
  readonly stored: Stored;
  readonly facts: LiveFacts;
  readonly name: LiveName | undefined;
  /** The addresses that status has for the name; undefined where it has no records on record. */
  readonly published: readonly string[] | undefined;
}

function addressOf(
  { ip, status }: AddressRow,
  { stored, facts, name, published }: AddressContext,
): { readonly address: LiveAddress } & Pick<Found, "differences" | "unread"> {
  const { object } = stored;
  const provider = providerOf(object, facts);
  const seen = sightOf(ip, provider, facts);
  const agrees = agreesWith(status, seen, machineOf(status, provider, facts));
  const annotation = annotationOf(ip, status, facts.observation.nodes);
  const record = recordOf(ip, name, published);
  const judge = (kind: Difference["kind"], message: string): Difference =>
    difference({ object, subject: ip, kind, message }, stored, facts);
  const differences = [
    ...(agrees === false
      ? [judge("provider", `${ip}: status says ${placeText(status)}, ${provider} says ${sightText(seen)}`)]
      : []),
    ...(annotation.agrees === false
      ? [judge("annotation", `${ip}: it is active on ${status.nodeName}, ${carrierText(annotation)}`)]
      : []),
  ];
  const place = status.nodeName === undefined ? "" : ` ${status.nodeName}`;
  return {
    address: { ip, status: `${status.state}${place}`, provider: { agrees, seen }, annotation, ...record },
    differences,
    unread: seen.kind === "unread" ? [{ subject: ip, why: seen.error }] : [],
  };
}

function publishedAddress(ip: string, published: DNSMemory["publishedDNS"], name: LiveName | undefined): LiveAddress {
  const foreign = published?.foreign?.some(({ address }) => address === ip) ?? false;
  const isPublished = published?.addresses.includes(ip) ?? false;
  const status = isPublished ? "published" : foreign ? "foreign" : "-";
  return { ip, status, ...recordOf(ip, name, published?.addresses) };
}

function recordOf(
  ip: string,
  name: LiveName | undefined,
  published: readonly string[] | undefined,
): Pick<LiveAddress, "record"> {
  if (name?.kind !== "read") return {};
  const isShown = name.addresses.includes(ip);
  return { record: { isShown, agrees: published === undefined ? null : published.includes(ip) === isShown } };
}

/** The provider of the addresses of an object. */
function providerOf(object: ObjectRef, { plan }: LiveFacts): string {
  return plan.pools.find((one) => refKey(one.object) === refKey(object))?.provider ?? "the provider";
}

function sightOf(ip: string, provider: string, { observation }: LiveFacts): ProviderSight {
  const { providers, nodes, registry } = observation;
  const facts = providers.get(provider);
  const fact = facts?.addresses.get(ip);
  if (fact === undefined) return { kind: "unread", error: facts?.unusable?.message ?? "it was not read" };
  if (fact.kind === "gap") return { kind: "unread", error: fact.error };
  if (fact.kind === "gone") return fact;
  const { holderID } = fact.address;
  if (holderID === undefined) return { kind: "free" };
  const node = nodes.find(({ providerID }) => registry.machineID(provider, providerID) === holderID);
  return { kind: "attached", machineID: holderID, ...(node === undefined ? {} : { nodeName: node.name }) };
}

/** The machine that an address is on by its status; undefined where it is on none. */
function machineOf(
  { nodeName, providerID }: IPStatus,
  provider: string,
  { observation: { nodes, registry } }: LiveFacts,
): string | undefined {
  const node = nodes.find(({ name }) => name === nodeName);
  return registry.machineID(provider, providerID ?? node?.providerID ?? "");
}

/** Null while it is on its way, and where status itself says that it is not as it should be. */
function agreesWith({ state, fault }: IPStatus, seen: ProviderSight, machine: string | undefined): boolean | null {
  if (state === "in-progress" || seen.kind === "unread" || fault === "unread") return null;
  if (fault !== undefined) return fault === "gone" ? seen.kind === "gone" : null;
  if (seen.kind === "gone") return false;
  return (seen.kind === "attached" ? seen.machineID : undefined) === machine;
}

function annotationOf(
  ip: string,
  { state, nodeName }: IPStatus,
  nodes: readonly NodeFacts[],
): LiveAddress["annotation"] & object {
  const carriers = nodes.filter((node) => annotatedOn(node).some((shown) => shown.ip === ip)).map(({ name }) => name);
  const carrier = carriers.find((name) => name === nodeName) ?? carriers[0];
  const isThere = nodes.some(({ name }) => name === nodeName);
  const agrees = state === "active" && isThere ? carrier === nodeName : null;
  return { agrees, ...(carrier === undefined ? {} : { nodeName: carrier }) };
}

function placeText({ nodeName, providerID }: IPStatus): string {
  return nodeName ?? (providerID === undefined ? "no machine" : `machine ${providerID.replace(/^.*\//, "")}`);
}

function sightText(seen: ProviderSight): string {
  if (seen.kind === "attached") return seen.nodeName ?? `machine ${seen.machineID}, no node of this cluster`;
  return seen.kind === "gone" ? "that it does not exist" : "that it is on no machine";
}

function carrierText({ nodeName }: { readonly nodeName?: string }): string {
  return nodeName === undefined ? "and no node carries its annotation" : `and ${nodeName} carries its annotation`;
}

interface NameContext {
  readonly facts: LiveFacts;
  readonly name: LiveName | undefined;
  readonly published: DNSMemory["publishedDNS"];
}

/** What the records of a name have otherwise than status, and what its servers answer otherwise than the records. */
function nameDifferences(stored: Stored, { facts, name, published }: NameContext): readonly Difference[] {
  if (name?.kind !== "read") return [];
  const { fqdn, provider } = name;
  const say = (kind: "record" | "answer", message: string): Difference =>
    difference({ object: stored.object, subject: fqdn, kind, message: `${fqdn}: ${message}` }, stored, facts);
  const foreign = new Set((published?.foreign ?? []).map(({ address }) => address));
  const missing = addressesWithout(published?.addresses ?? [], name.addresses);
  const extra =
    published === undefined
      ? []
      : addressesWithout(name.addresses, published.addresses).filter((ip) => !foreign.has(ip));
  const unpublished = stored.addresses
    .filter(({ ip, status }) => isServing(status) && !name.addresses.includes(ip) && !missing.includes(ip))
    .map(({ ip }) => ip);
  const are = (ips: readonly string[]): string => (ips.length === 1 ? "is" : "are");
  return [
    ...(missing.length === 0
      ? []
      : [say("record", `status says that it shows ${listText(missing)}, ${provider} does not`)]),
    ...(extra.length === 0 ? [] : [say("record", `${provider} shows ${listText(extra)}, which status does not say`)]),
    ...(unpublished.length === 0
      ? []
      : [say("record", `${listText(unpublished)} ${are(unpublished)} active and not published`)]),
    // Of a name that several ask for the one is told that has it on record.
    ...(published === undefined ? [] : answersOtherwise(name)).map((text) => say("answer", text)),
  ];
}

/** True where an address is active and nothing keeps it from its name by its status. */
function isServing({ state, reason }: IPStatus): boolean {
  return state === "active" && reason === undefined;
}

/** What servers answer otherwise than the records, those that answer the same together. A proxied name answers with addresses of its provider. */
function answersOtherwise({ addresses, isProxied, answer }: Extract<LiveName, { kind: "read" }>): readonly string[] {
  if (isProxied || "error" in answer) return [];
  const others = answer.servers.flatMap((one) =>
    "error" in one || one.addresses.join() === addresses.join() ? [] : [one],
  );
  return [...Map.groupBy(others, (one) => one.addresses.join())].map(([, of]) => {
    const said = listText(of[0]?.addresses ?? []) || "no address";
    return `${listText(of.map(({ server }) => server))} ${of.length === 1 ? "answers" : "answer"} ${said}, the records have ${listText(addresses) || "none"}`;
  });
}

function unreadNames(name: LiveName | undefined, wanted: WrittenName | undefined): Found["unread"] {
  if (name === undefined) return [];
  const subject = wanted === undefined ? name.fqdn : nameText(wanted);
  if (name.kind === "unread") return [{ subject, why: name.error }];
  if ("error" in name.answer) return [{ subject, why: name.answer.error }];
  const { servers } = name.answer;
  const silent = servers.flatMap((one) => ("error" in one ? [`${one.server} did not answer: ${one.error}`] : []));
  if (silent.length < servers.length) return silent.map((why) => ({ subject, why, isPartial: true }));
  return [{ subject, why: silent.join("; ") || "its zone has no servers" }];
}

/** Whether the next run puts a difference right, and why not. */
function difference(
  what: Omit<Difference, "why" | "isDue">,
  { retries, object }: Stored,
  { plan }: LiveFacts,
): Difference {
  const { kind, subject } = what;
  const isOfName = kind === "record" || kind === "answer";
  const retry = retries.find((one) => (isOfName ? retriedRecords(one)?.fqdn : retriedAddress(one)) === subject);
  const holds = plan.holds.filter((hold) => refKey(hold.object) === refKey(object));
  const whole = holds.find((hold) => hold.kind === "reconcile" && isAboutObject(hold));
  const hold = whole ?? holds.find((one) => one.subject === subject && one.needsPerson);
  if (hold !== undefined)
    return { ...what, why: [whyHeld(hold), adviceFor(hold)].filter(Boolean).join(" "), isDue: false };
  if (retry !== undefined) return { ...what, why: capital(retry.error), isDue: false };
  if (kind !== "answer" || plan.actions.some((one) => "fqdn" in one && one.fqdn === subject))
    return { ...what, why: `The next run puts it right: flipop plan ${refKey(object)} shows how.`, isDue: true };
  return { ...what, why: "Servers may be late, or the zone is delegated to somebody else.", isDue: false };
}

/** The answers of the servers of a name that have an address, and of those that answered; undefined where nobody was asked. */
export function answeredBy(
  ip: string,
  name: LiveName | undefined,
): { readonly having: number; readonly of: number } | undefined {
  if (name?.kind !== "read" || "error" in name.answer) return undefined;
  const { servers } = name.answer;
  const has = (one: ServerAnswer): boolean => "addresses" in one && one.addresses.includes(ip);
  if (servers.every((one) => "error" in one)) return undefined;
  return { having: servers.filter(has).length, of: servers.length };
}
