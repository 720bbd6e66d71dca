import { ACTIONS, actionKind } from "../model/action-kinds.ts";
import { sourceText } from "../model/address-source.ts";
import { eventAction } from "../model/change.ts";
import { GRANT_KINDS, grantAnnotation, isAddressGranted, type NamespaceGrants } from "../model/grants.ts";
import {
  ACQUISITIONS_ANNOTATION,
  ACQUISITIONS_IPV6_ANNOTATION,
  GRANTS_ANNOTATION,
  LAST_RESULT_ANNOTATION,
  LAST_RUN_ANNOTATION,
  LAST_SUCCESS_ANNOTATION,
  NOT_BEFORE_PREFIX,
} from "../model/lease-annotations.ts";
import { ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION } from "../model/node-annotations.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { REASONS } from "../model/reason.ts";
import { RECORD_TYPES, setNamed, setText } from "../model/record-types.ts";
import { FINALIZER, FOREIGN_RECORDS, GROUP } from "../model/resource.ts";
import { nodeBehind, ofRetryKind, type RetryKind, recordsBehind } from "../model/retry-subject.ts";
import { SHARD_LABEL } from "../model/shard.ts";
import { SUSPEND_ANNOTATION, suspensionText } from "../model/suspension.ts";
import { hasOnlySchedule } from "../model/workload.ts";
import { COUNT, Names, nameParts } from "./anonymous-names.ts";
import type { Renaming } from "./shape.ts";
import { type Snapshot, type WrittenSnapshot, writeSnapshot } from "./snapshot.ts";

/** A snapshot with other names. */
export interface Anonymized {
  readonly written: WrittenSnapshot;
  /** Gives other texts of the same world the same names. */
  readonly by: Renaming;
}

/**
 * Returns a snapshot as it is written, with other names: of namespaces, objects, nodes, addresses, machines, zones, firewalls, labels, people, and whatever else is a text that flipop
 * does not know beforehand. What was the same is the same, what came first comes first, so its plan is the plan of the snapshot with these names. Times, numbers and reasons stay. Pure.
 *
 *   name       worker-1, ingress/web    n2014-2003, n2009/n2012   part by part; see {@link Names}
 *   address    203.0.113.10             198.18.100.103
 *   sentence   words of flipop and short numbers stay, names are replaced, every other word is `…`
 *   Lease      flipop/flipop, as commands look for it
 *
 * Exceptions, in which the plan is another one: labels that a selector compares as numbers (`k>5`), addresses that are none (`203.0.113.001`) beside others, and what a person approved,
 * which is noted as a hash over names. Holds of one object may be told in another order.
 */
export function anonymize({ observation, stored }: Snapshot): Anonymized {
  const { registry } = observation;
  const parts = new Set<string>();
  const addresses = new Set<string>();
  writeSnapshot({ observation, stored }, (kind, text) => {
    if (kind !== "sentence") nameParts(kind === "dns" ? text.toLowerCase() : text, { parts, addresses });
    return text;
  });
  const isID = (part: string): boolean => registry.names.some((name) => registry.isZoneID(name, part));
  // The members of a family are known by how their names begin.
  const families = registry.names.filter((name) => registry.get(name)?.family !== undefined);
  // A region says by its name where an address can go.
  const regions = registry.names.flatMap((name) => [...(registry.get(name)?.addresses?.areas?.keys() ?? [])]);
  const names = new Names(parts, addresses, isID, [...families, ...regions]);
  const notes = leaseNotes(stored.lease?.annotations ?? {}, observation, sentencesOf(names, registry));
  const schedules = (stored.workloads ?? []).map(({ schedule }) => schedule).filter(hasOnlySchedule);
  const sources = registry.names.map((provider) => sourceText({ provider, family: "IPv6" }));
  const terms = new Set([...TERMS, ...registry.names, ...sources, ...Object.entries(notes).flat(), ...schedules]);
  const { lease } = stored;
  const by = renamingOf(names, terms, registry);
  const own = lease === undefined ? {} : { lease: { ...lease, annotations: notes } };
  const written = writeSnapshot(
    { observation: withoutNetworks(observation, addresses), stored: { ...stored, leaseKey: USUAL_LEASE, ...own } },
    by,
  );
  return { written, by };
}

function renamingOf(names: Names, terms: ReadonlySet<string>, registry: ProviderRegistry): Renaming {
  const sentence = sentencesOf(names, registry);
  const reserved = registry.names.flatMap((name) => registry.get(name)?.firewalls?.reservedPrefix ?? []);
  const schemes = registry.names.flatMap((name) => registry.get(name)?.addresses?.providerIDPrefix ?? []);
  const nameOf = (text: string): string => {
    const known = schemes.find((prefix) => text.startsWith(prefix)) ?? OWN_PREFIX.exec(text)?.[0] ?? "";
    return known + names.of(text.slice(known.length));
  };
  const firewall = (text: string): string => {
    const prefix = reserved.find((one) => text.startsWith(one)) ?? "";
    return prefix + nameOf(text.slice(prefix.length));
  };
  const dns = (text: string): string => {
    const { fqdn, type } = setNamed(text);
    return setText({ fqdn: nameOf(fqdn.toLowerCase()), type });
  };
  const records = (text: string): string => {
    const { provider, fqdn } = recordsBehind(text);
    return provider === "" ? dns(fqdn) : `${by.term(provider)}/${dns(fqdn)}`;
  };
  const node = (text: string): string => {
    const { nodeName, machineID } = nodeBehind(text);
    return machineID === "" ? nameOf(nodeName) : `${nameOf(nodeName)}/${nameOf(machineID)}`;
  };
  const noName = (): string => "";
  const subjects: Readonly<Record<RetryKind, (name: string) => string>> = {
    acquire: noName,
    finalizer: noName,
    ip: nameOf,
    "ip-relocation": nameOf,
    "ip-removal": nameOf,
    node,
    annotate: nameOf,
    firewall,
    "firewall-ports": firewall,
    "firewall-removal": firewall,
    dns: records,
    "dns-removal": records,
    "dns-ttl": records,
  };
  const by: Readonly<Record<Parameters<Renaming>[0], (text: string) => string>> = {
    name: nameOf,
    dns,
    firewall,
    sentence,
    subject: (text) => {
      const found = ofRetryKind(text, subjects);
      return found === undefined || found.name === "" ? by.term(text) : `${found.kind}/${found.entry(found.name)}`;
    },
    term: (text) => (terms.has(text) ? text : nameOf(text)),
    figure: (text) => {
      const [, name = "", more = ""] = /^(.*?)((?: \+\d{1,5})?)$/s.exec(text) ?? [];
      return (FIGURE.test(name) ? name : nameOf(name)) + more;
    },
  };
  return (kind, text) => by[kind](text);
}

const USUAL_LEASE = "flipop/flipop";

/** What flipop itself puts before names: of the endpoints of a Service, and of a RoutedIP on a node. */
const OWN_PREFIX = /^(?:endpoints\||routedip\/(?=[^/]+\/[^/]+$))/;

/** `3/5`, `8080`, `tcp/80`, `8000-8010`. A name may stand before ` +2`: how many more there are. */
const FIGURE = /^(?:(?:tcp|udp|sctp|icmp)\/)?\d{1,5}(?:[-/]\d{1,5})?$/i;

/** Words that mean the same everywhere. */
const TERMS: readonly string[] = [
  ...Object.keys(REASONS),
  ...["Ready", "Reconciling", "Stalled", "Granted"],
  ...["NoSchedule", "PreferNoSchedule", "NoExecute", "Exists", "Equal", "TCP", "UDP", "SCTP", "Normal", "Warning"],
  ...["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"],
  ...["UTC", "Etc/UTC"],
  ...["acquire", "annotate", "finalizer"],
  ...["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"],
  ...Object.keys(ACTIONS)
    .flatMap((name) => actionKind(name) ?? [])
    .map(eventAction),
  ...GRANT_KINDS.map(grantAnnotation),
  ...["ExternalIP", "InternalIP", ADDRESS_ANNOTATION, IPV6_ADDRESS_ANNOTATION],
  ...Object.values(RECORD_TYPES).map(({ family }) => family),
  ...FOREIGN_RECORDS,
  FINALIZER,
  SHARD_LABEL,
  `${GROUP}/flipop`,
  USUAL_LEASE,
];

/** What servers and flipop say beside the texts of reasons: no word of it names anybody. */
const OTHERS = `
  a able about accept accepted acquire acquired assign attach detach move publish published serve serves unassign unassigned action actions active after again ago all allowed already also an and annotated annotation annotations answer answered any api as asked assigned at attached away back bad
  be because been before beyond both broke broken but by call calls can cannot carries carry changed check code conflict connect connection could create created did dns do
  does done down error errors every exceeded exist exists expired failed failure few find firewall flipop follow for forbidden found from gateway get given gone grant had has have
  held http https id if in inside internal into invalid ip ips is it its kept kubernetes last later lease left less limit limited list listed longer longest lost machine machines made many matching
  may message method missing more moved must name named needs network next no nobody node nodes none nor not nothing now of off ok old on once one only open or other others out over own owned
  permission permitted pod pods pool port ports possible provider providers put rate read ready reason record records refused region released remaining removed request requested required reserved
  reserved_ip response retry routedip run said saw says scope scopes second seconds see seen selector sent server service services set shows since so some spec status still such taken tcp tell than
  that the their them then there they this through timeout time times to token too took tried try ttl udp unauthorized unavailable under unexpected unknown unprocessable until up update updated use
  add added allow allows although attempts began budget busy candidate candidates cause cleared clears client clients cordoned deletion desired drain drains either empty end ended expires free full
  grants itself known lets like limits lowered maximum meanwhile moving noschedule number obstacle others ours person persons present previous purchase purchases quota reading remains remember remembers replaces
  reservation resolver resolvers right running same sends serving spare stand stands starts stays still stop stopped stored succeeded sure tainted takes tells therefore times unfinished unless unpublished
  floating host link local
  waiting watched withdraw withdrawal withdrawn withdrew withdraws working written wrote
  used user verb wait waited waits wants was were what when where which while who whole will with within without write written wrong yet you zone zones`;

/** Words of sentences that name nobody, in lower case. */
const VOCABULARY: ReadonlySet<string> = new Set(
  [OTHERS, JSON.stringify(REASONS)]
    .flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [])
    .map((word) => word.toLowerCase()),
);

/** Returns what is left of a text for people: words that flipop itself has, times, short numbers, and names by their new ones. */
function sentencesOf(names: Names, registry: ProviderRegistry): (text: string) => string {
  const known = new Set([...VOCABULARY, ...registry.names]);
  return (text) =>
    names.inSentence(text, (part) => (known.has(part.toLowerCase()) || COUNT.test(part) ? part : undefined));
}

/** What flipop notes on the Lease, as far as `status` shows it. Every other annotation is left out. */
function leaseNotes(
  annotations: Readonly<Record<string, string>>,
  { lease: { suspension }, registry }: Observation,
  sentence: (text: string) => string,
): Readonly<Record<string, string>> {
  const times = [LAST_RUN_ANNOTATION, LAST_SUCCESS_ANNOTATION].concat(
    [ACQUISITIONS_ANNOTATION, ACQUISITIONS_IPV6_ANNOTATION],
    registry.names.map((name) => NOT_BEFORE_PREFIX + name),
  );
  const kept = Object.entries(annotations).flatMap(([key, text]): readonly (readonly [string, string])[] => {
    if (times.includes(key) && /^[\dTZ:.,-]*$/.test(text)) return [[key, text]];
    if (key === GRANTS_ANNOTATION && ["warn", "require"].includes(text)) return [[key, text]];
    const [, code, outcome = ""] = /^(\d{1,3}) (.*)$/s.exec(text) ?? [];
    return key === LAST_RESULT_ANNOTATION && code !== undefined ? [[key, `${code} ${sentence(outcome)}`]] : [];
  });
  const renamed =
    suspension === undefined || annotations[SUSPEND_ANNOTATION] === undefined
      ? []
      : [[SUSPEND_ANNOTATION, suspensionText({ ...suspension, by: "…", why: sentence(suspension.why) })] as const];
  return Object.fromEntries([...kept, ...renamed]);
}

/** The observation with the addresses of the world that are granted in the place of granted networks: other addresses are in other networks. */
function withoutNetworks(observation: Observation, addresses: ReadonlySet<string>): Observation {
  const { grants } = observation;
  if (grants === undefined) return observation;
  const listed = (granted: NamespaceGrants): NamespaceGrants => ({
    ...granted,
    addresses: new Set([...addresses].filter((ip) => isAddressGranted(ip, granted)).toSorted()),
    prefixLengths: [],
  });
  const namespaces = new Map([...grants.namespaces].map(([name, granted]) => [name, listed(granted)]));
  return { ...observation, grants: { ...grants, namespaces } };
}
