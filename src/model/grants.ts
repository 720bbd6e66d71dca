import { addressNumber, addressText, canonicalAddress } from "./address.ts";
import { canonicalDNSName } from "./dns.ts";
import { ipv6NetworkOf } from "./ipv6-network.ts";
import { GROUP, shownText } from "./resource.ts";

/*
 * Grants: what the objects of a namespace may ask of the account. Annotations of the Namespace say it, because who works inside a namespace cannot change them.
 *
 *   flipop.digitalocean.com/names        www.example.com, *.edge.example.com   names that may be written; `*` stands for one label, as in a certificate
 *   flipop.digitalocean.com/firewalls    web, 0d1e-…                           firewalls that may be changed, by name or id
 *   flipop.digitalocean.com/addresses    203.0.113.7, 198.51.100.0/28          addresses that may be used, of both families: 2001:db8::/64, too
 *   flipop.digitalocean.com/purchases    3                                     how many addresses may be acquired and held, over all objects
 *   flipop.digitalocean.com/take-over    true                                  addresses may be taken off machines outside the cluster
 *
 * Entries of a list are separated by commas, blanks, tabs or line breaks. Without an annotation nothing is granted. An entry that cannot be read grants nothing; the others count.
 */

/** What can be granted: the last part of the annotation. */
export type GrantKind = "names" | "firewalls" | "addresses" | "purchases" | "take-over";

/** What the annotations of one namespace grant. */
export interface NamespaceGrants {
  readonly namespace: string;
  /** In full, lower case; `*.edge.example.com` stands for every name with one label more than `edge.example.com`. */
  readonly names: ReadonlySet<string>;
  /** Names and ids. */
  readonly firewalls: ReadonlySet<string>;
  /** In canonical form: `203.0.113.7`, `198.51.100.0/28`, `2001:db8::/64`. */
  readonly addresses: ReadonlySet<string>;
  /** The lengths of the prefixes among them, of both families, each once: an address is looked for in a network of each. */
  readonly prefixLengths: readonly number[];
  readonly purchases: number;
  readonly mayTakeOver: boolean;
  /** What cannot be read and so grants nothing: at most {@link MOST_PROBLEMS} entries, of each annotation one before a second of any; then how many more there are. */
  readonly problems: readonly GrantProblem[];
}

/** How grants count: `warn` tells what `require` would hold. A run without grants has no mode. */
export type GrantMode = "warn" | "require";

/** The grants of a cluster, as one pass read them. */
export interface GrantFacts {
  readonly mode: GrantMode;
  /** By namespace. */
  readonly namespaces: ReadonlyMap<string, NamespaceGrants>;
  /** Why the namespaces could not be listed: the permission that is missing. Absent = they were. */
  readonly refusal?: string;
}

/** An entry of an annotation that grants nothing. */
export interface GrantProblem {
  /** The annotation in full. */
  readonly annotation: string;
  /** The entry, for people. */
  readonly entry: string;
  readonly why: string;
  /** For how many entries it stands; absent = one. */
  readonly count?: number;
}

/** So many entries of one annotation are read: a list that is longer does not slow down every run. */
export const MOST_GRANTED = 1000;
/** So many entries that cannot be read are told of. */
export const MOST_PROBLEMS = 5;

/** The annotation of a grant, in full. */
export function grantAnnotation(kind: GrantKind): string {
  return `${GROUP}/${kind}`;
}

/** The annotations of all grants; no other one of a Namespace means anything. */
export const GRANT_KINDS: readonly GrantKind[] = ["names", "firewalls", "addresses", "purchases", "take-over"];

const OWN_PREFIX = `${GROUP}/`;
const ANNOTATIONS: ReadonlySet<string> = new Set(GRANT_KINDS.map(grantAnnotation));

/** Reads the annotations of a namespace. Never throws; pure. */
export function parseGrants(namespace: string, annotations: Readonly<Record<string, string>>): NamespaceGrants {
  const textOf = (kind: GrantKind): string => {
    const annotation = grantAnnotation(kind);
    return Object.hasOwn(annotations, annotation) ? (annotations[annotation] ?? "") : "";
  };
  const names = entriesOf("names", textOf("names"), nameProblem);
  const firewalls = entriesOf("firewalls", textOf("firewalls"), () => undefined);
  const addresses = entriesOf("addresses", textOf("addresses"), addressProblem, inOneForm);
  const purchases = readValue("purchases", textOf("purchases"), purchasesProblem);
  const takeOver = readValue("take-over", textOf("take-over"), takeOverProblem);
  const unknown = unknownAnnotations(annotations).map((problem): Unreadable => ({ problems: [problem], more: 0 }));
  return {
    namespace,
    names: names.entries,
    firewalls: firewalls.entries,
    addresses: addresses.entries,
    prefixLengths: prefixLengthsOf(addresses.entries),
    purchases: Number(purchases.value ?? 0),
    mayTakeOver: takeOver.value === "true",
    problems: toldOf([names, firewalls, addresses, purchases, takeOver, ...unknown]),
  };
}

/** What of one annotation cannot be read: the first entries, and how many more. */
interface Unreadable {
  readonly problems: readonly GrantProblem[];
  readonly more: number;
}

/** Of each annotation its first entry, then the second ones, and so on; and how many are not told. */
function toldOf(all: readonly Unreadable[]): readonly GrantProblem[] {
  if (all.every(({ problems }) => problems.length === 0)) return [];
  const found = all.flatMap(({ problems }) => problems.map((problem, at) => ({ problem, at })));
  const inTurn = found.toSorted((a, b) => a.at - b.at).map(({ problem }) => problem);
  const told = inTurn.slice(0, MOST_PROBLEMS);
  const rest = inTurn.slice(MOST_PROBLEMS);
  const count = rest.length + all.reduce((sum, { more }) => sum + more, 0);
  const crowded = all.flatMap(({ problems: [first], more }) => (more > 0 && first !== undefined ? [first] : []));
  const [annotation, ...others] = new Set([...rest, ...crowded].map((problem) => problem.annotation));
  if (annotation === undefined) return told;
  const grant = count === 1 ? "1 more entry grants" : `${count} more entries grant`;
  const where = others.length === 0 ? "" : ", of this annotation and others";
  return [...told, { annotation, entry: "", why: `${grant} nothing${where}`, count }];
}

const NO_ENTRIES: Unreadable & { readonly entries: ReadonlySet<string> } = {
  entries: new Set(),
  problems: [],
  more: 0,
};

/** The entries of a list that can be read, each as `stored` returns it, and what is wrong with the others. */
function entriesOf(
  kind: GrantKind,
  text: string,
  problemOf: (entry: string) => string | undefined,
  stored: (entry: string) => string = (entry) => entry,
): Unreadable & { readonly entries: ReadonlySet<string> } {
  if (text === "") return NO_ENTRIES;
  const annotation = grantAnnotation(kind);
  const entries = new Set<string>();
  const problems: GrantProblem[] = [];
  let count = 0;
  let more = 0;
  for (const [entry] of text.matchAll(/[^ \t\r\n,]+/g)) {
    count += 1;
    if (count > MOST_GRANTED) {
      problems.unshift({ annotation, entry: shownText(entry), why: `only the first ${MOST_GRANTED} entries are read` });
      break;
    }
    const why = problemOf(entry);
    if (why === undefined) entries.add(stored(entry));
    else if (problems.length < MOST_PROBLEMS) problems.push({ annotation, entry: shownText(entry), why });
    else more += 1;
  }
  return { entries, problems, more };
}

/** The one value of an annotation; undefined where it has none that can be read. */
function readValue(
  kind: GrantKind,
  text: string,
  problemOf: (value: string) => string | undefined,
): Unreadable & { readonly value?: string } {
  if (text === "") return NO_ENTRIES;
  const value = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  const why = value === "" ? undefined : problemOf(value);
  const problems = why === undefined ? [] : [{ annotation: grantAnnotation(kind), entry: shownText(value), why }];
  return value === "" || why !== undefined ? { problems, more: 0 } : { value, problems, more: 0 };
}

function nameProblem(entry: string): string | undefined {
  if (/[^\x20-\x7e]/.test(entry)) return "write it as DNS has it, in ASCII (xn--…)";
  if (entry !== entry.toLowerCase()) return "write it in lower case";
  if (entry.endsWith(".")) return "write it without the last dot";
  if (canonicalDNSName(entry) === undefined) return "it is not a DNS name";
  return entry.includes(".") ? undefined : "write the name in full, with its zone";
}

function addressProblem(entry: string): string | undefined {
  const [base = "", bits, ...more] = entry.split("/");
  const ip = canonicalAddress(base);
  if (ip === undefined || more.length > 0)
    return `it is not ${base.includes(":") ? "an IPv6" : "a canonical IPv4"} address or CIDR`;
  if (bits === undefined) return undefined;
  const most = addressBits(ip);
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > most) return `the length of the prefix is not 0 to ${most}`;
  const network = networkOf(ip, Number(bits));
  return network === `${ip}/${bits}` ? undefined : `it has host bits; the network is ${network}`;
}

/** An entry that is an address or a CIDR; those of IPv6 may be written in many ways. */
function inOneForm(entry: string): string {
  const [base = "", bits] = entry.split("/");
  const ip = canonicalAddress(base) ?? base;
  return bits === undefined ? ip : `${ip}/${bits}`;
}

function purchasesProblem(value: string): string | undefined {
  return /^(0|[1-9]\d{0,5})$/.test(value) ? undefined : "it is not a number from 0 to 999999";
}

function takeOverProblem(value: string): string | undefined {
  return value === "true" || value === "false" ? undefined : "it is neither true nor false";
}

function unknownAnnotations(annotations: Readonly<Record<string, string>>): readonly GrantProblem[] {
  return Object.keys(annotations)
    .filter((key) => key.startsWith(OWN_PREFIX) && !ANNOTATIONS.has(key))
    .toSorted()
    .map((key) => ({
      annotation: shownText(key),
      entry: "",
      why: `no such grant; there are ${GRANT_KINDS.join(", ")}`,
    }));
}

function prefixLengthsOf(addresses: ReadonlySet<string>): readonly number[] {
  const lengths = new Set<number>();
  for (const entry of addresses) {
    const slash = entry.indexOf("/");
    if (slash > 0) lengths.add(Number(entry.slice(slash + 1)));
  }
  return [...lengths];
}

/** How many bits a canonical address has. */
function addressBits(ip: string): number {
  return ip.includes(":") ? 128 : 32;
}

/** The network of so many bits that a canonical address is in: `198.51.100.0/28`. */
function networkOf(ip: string, bits: number): string {
  if (addressBits(ip) === 128) return ipv6NetworkOf(ip, bits);
  const number = addressNumber(ip);
  return `${addressText(number - (number % 2 ** (32 - bits)))}/${bits}`;
}

/** One thing of the account that an object asks for. */
export type GrantWish =
  /** A name in full, lower case without last dot. */
  | { readonly grant: "names"; readonly name: string }
  /** As the issuer writes it; then what else it is known by, its name and its id, where the provider was asked. */
  | { readonly grant: "firewalls"; readonly known: readonly string[] }
  /** A canonical address. */
  | { readonly grant: "addresses"; readonly ip: string }
  /** So many addresses acquired and held, by all objects that count. */
  | { readonly grant: "purchases"; readonly count: number }
  | { readonly grant: "take-over" };

/** The fields of a spec that name something of the account. */
export interface AskingSpec {
  /** `spec.ips`, or `spec.address` of a RoutedIP; entries that are no addresses ask for nothing. */
  readonly ips?: readonly string[];
  /** `spec.desiredIPs`; 1 for a RoutedIP. */
  readonly desiredIPs?: number;
  readonly foreignHolder?: string;
  /** The name that `dnsRecordSet` means, in full. */
  readonly name?: string;
  /** `routedIPFirewallName` of an issuer, and what else it is known by. */
  readonly firewall?: readonly string[];
}

/** What a spec by itself asks of the account, each thing once; other objects of its namespace do not count. Pure. */
export function wishesOf(spec: AskingSpec): readonly GrantWish[] {
  const { ips = [], desiredIPs = 0, foreignHolder, name, firewall } = spec;
  const listed = [...new Set(ips)];
  const lacking = desiredIPs - listed.length;
  return [
    ...(name === undefined ? [] : [{ grant: "names" as const, name }]),
    ...(firewall === undefined ? [] : [{ grant: "firewalls" as const, known: firewall }]),
    ...listed.filter((entry) => canonicalAddress(entry) === entry).map((ip) => ({ grant: "addresses" as const, ip })),
    ...(lacking > 0 ? [{ grant: "purchases" as const, count: lacking }] : []),
    ...(foreignHolder === "TakeOver" ? [{ grant: "take-over" as const }] : []),
  ];
}

/** What the grants of a namespace say of one wish. */
export interface GrantVerdict {
  readonly wish: GrantWish;
  readonly isGranted: boolean;
  /** Says what is missing; absent where it is granted. The admission policy says the same. */
  readonly sentence?: string;
}

/** Judges each wish by itself. A namespace that is not known grants nothing. Pure. */
export function judgeWishes(
  wishes: readonly GrantWish[],
  namespace: string,
  grants: NamespaceGrants | undefined,
): readonly GrantVerdict[] {
  return wishes.map((wish) => {
    const isGranted = grants !== undefined && isWishGranted(wish, grants);
    return isGranted ? { wish, isGranted } : { wish, isGranted, sentence: missingGrant(wish, namespace, grants) };
  });
}

/** True when the annotations grant it. Pure. */
export function isWishGranted(wish: GrantWish, grants: NamespaceGrants): boolean {
  switch (wish.grant) {
    case "names":
      return isNameGranted(wish.name, grants);
    case "firewalls":
      return wish.known.some((known) => grants.firewalls.has(known));
    case "addresses":
      return isAddressGranted(wish.ip, grants);
    case "purchases":
      return wish.count <= grants.purchases;
    case "take-over":
      return grants.mayTakeOver;
  }
}

/** True where a name is granted; `*` stands for its first label alone, as in a certificate and in an Ingress. Pure. */
export function isNameGranted(name: string, { names }: NamespaceGrants): boolean {
  const dot = name.indexOf(".");
  return names.has(name) || (dot > 0 && names.has(`*${name.slice(dot)}`));
}

/** True where a canonical address is granted, by itself or in a network of its family. Pure. */
export function isAddressGranted(ip: string, { addresses, prefixLengths }: NamespaceGrants): boolean {
  if (addresses.has(ip)) return true;
  const most = addressBits(ip);
  return prefixLengths.some((bits) => bits <= most && addresses.has(networkOf(ip, bits)));
}

/** Says which grant is missing: one sentence. Pure. */
export function missingGrant(wish: GrantWish, namespace: string, grants: NamespaceGrants | undefined): string {
  const without = `namespace ${namespace} is not granted`;
  switch (wish.grant) {
    case "names":
      return `${without} the name ${wish.name}`;
    case "firewalls":
      return `${without} the firewall ${wish.known[0] ?? ""}`;
    case "addresses":
      return `${without} the address ${wish.ip}`;
    case "purchases": {
      const allowed = grants?.purchases ?? 0;
      const held = allowed === 1 ? "1 acquired address" : `${allowed} acquired addresses`;
      return `namespace ${namespace} may hold ${held}, and ${wish.count} ${wish.count === 1 ? "is" : "are"} asked for`;
    }
    case "take-over":
      return `${without} take-overs (foreignHolder: TakeOver)`;
  }
}

/** So many entries of a list are repeated in a command. */
const MOST_REPEATED = 10;

/**
 * Returns what whoever may change the namespace can do about missing grants of one kind: one command for all of them, with what is granted already. A command for each
 * would take back what the one before granted. Pure.
 *
 * @param wishes - those of the namespace that are not granted, of one kind; at least one
 */
export function grantAdvice(
  wishes: readonly [GrantWish, ...GrantWish[]],
  namespace: string,
  grants: NamespaceGrants | undefined,
): string {
  const [first] = wishes;
  const annotation = grantAnnotation(first.grant);
  const granted = grantedEntries(first, grants);
  const entries = neededEntries(wishes).filter((entry) => !granted.includes(entry));
  if (granted.length + entries.length > MOST_REPEATED) {
    const all =
      entries.length <= MOST_REPEATED ? entries : [...entries.slice(0, MOST_REPEATED), "the others that are missing"];
    return `Whoever may change namespaces can grant it: kubectl edit namespace ${namespace}, and add ${all.join(", ")} to ${annotation}.`;
  }
  const value = [...granted, ...entries].join(",");
  return `Whoever may change namespaces can grant it: kubectl annotate --overwrite namespace ${namespace} ${annotation}='${value}'`;
}

/** The entries that would grant all of it; of numbers the highest. */
function neededEntries(wishes: readonly GrantWish[]): readonly string[] {
  const counts = wishes.flatMap((wish) => (wish.grant === "purchases" ? [wish.count] : []));
  return counts.length > 0 ? [String(Math.max(...counts))] : [...new Set(wishes.map(grantedBy))].toSorted();
}

/** The entry that would grant it. */
function grantedBy(wish: GrantWish): string {
  switch (wish.grant) {
    case "names":
      return wish.name;
    case "firewalls":
      return wish.known[0] ?? "";
    case "addresses":
      return wish.ip;
    case "purchases":
      return String(wish.count);
    case "take-over":
      return "true";
  }
}

function grantedEntries({ grant }: GrantWish, grants: NamespaceGrants | undefined): readonly string[] {
  if (grants === undefined || grant === "purchases" || grant === "take-over") return [];
  return [...grants[grant]];
}
