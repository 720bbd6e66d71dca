import { entryProblem } from "../model/address.ts";
import { type IPFamily, sourceText } from "../model/address-source.ts";
import { ANY_TTL, acceptedTTL, canonicalDNSName, recordFQDN } from "../model/dns.ts";
import type { FindingCode, Severity } from "../model/finding.ts";
import { portRange } from "../model/firewall.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { ipFamilyOf, type MatchSpec, type Pool, type RecordSet, shownText } from "../model/resource.ts";
import { type RoutedIP, type RoutedIPIssuer, routedFamily } from "../model/routed-ip.ts";
import { type DNSWish, type NamedWish, poolWish, statedWish } from "../plan/names/name-target.ts";
import {
  addressProviderViolations,
  poolViolations,
  recordSetViolations,
  type SpecRule,
  selectorViolations,
  type Violation,
  wishViolations,
} from "../plan/validate.ts";
import { shownValue } from "./schema.ts";

/** One of flipop's objects, as the planner reads it. */
export type SpecObject =
  | { readonly of: "pool"; readonly object: Pool }
  | { readonly of: "dns"; readonly object: RecordSet }
  | { readonly of: "routedip"; readonly object: RoutedIP }
  | { readonly of: "issuer"; readonly object: RoutedIPIssuer };

/** What is to be said of one field of an object. */
export interface Remark {
  readonly code: FindingCode;
  /** Absent = that of the code. */
  readonly severity?: Severity;
  /** As texts have it: `spec.ips[0]`. */
  readonly path: string;
  readonly message: string;
  /** Where inside the text at the path, from 0. */
  readonly offset?: number;
  /** Paths whose faults make this one a mere consequence; absent = its own. */
  readonly from?: readonly string[];
}

/** Returns what the planner would refuse of an object, and what works and may not be meant. Pure. */
export function remarksOn(one: SpecObject, registry: ProviderRegistry): readonly Remark[] {
  switch (one.of) {
    case "pool":
      return poolRemarks(one.object, registry);
    case "dns":
      return recordSetRemarks(one.object, registry);
    case "routedip":
      return routedIPRemarks(one.object, registry);
    case "issuer":
      return issuerRemarks(one.object, registry);
  }
}

/** Where an object asks to be published, without a cluster. Pure. */
export function wishOf(one: SpecObject, registry: ProviderRegistry): DNSWish {
  if (one.of === "dns") return statedWish(one.object, registry);
  if (one.of === "pool") return poolWish(one.object, registry);
  return one.of === "issuer" ? { kind: "none" } : routedWish(one.object, registry);
}

/** Its issuer says the rest, and stands elsewhere. */
function routedWish(routedIP: RoutedIP, registry: ProviderRegistry): DNSWish {
  const provider = sourceText({ provider: "", family: routedFamily(routedIP) });
  return poolWish({ meta: routedIP.meta, spec: { ...routedIP.spec, provider } }, registry);
}

function poolRemarks(pool: Pool, registry: ProviderRegistry): readonly Remark[] {
  const { ips, desiredIPs, region, match, assignmentCoolOffSeconds: coolOff } = pool.spec;
  const wish = poolWish(pool, registry);
  return [
    ...poolViolations(pool, registry).map(remarkOf),
    ...ips.flatMap((ip, at) => entryRemarks(ip, ipFamilyOf(pool.spec), `spec.ips[${at}]`)),
    ...ips.flatMap((ip, at) => {
      const first = ips.indexOf(ip);
      return first === at
        ? []
        : [remark("FLP215", `spec.ips[${at}]`, `${shownText(ip)} stands in spec.ips[${first}] already`)];
    }),
    ...amountRemarks(new Set(ips).size, desiredIPs, region),
    ...(coolOff >= LONG_COOL_OFF_SECONDS
      ? [
          remark(
            "FLP224",
            "spec.assignmentCoolOffSeconds",
            `after each assignment the next failover of the pool may wait for ${coolOff} s`,
          ),
        ]
      : []),
    ...perNodeRemarks(pool.spec, registry),
    ...hostRemarks(pool.spec, registry),
    ...podRemarks(match),
    ...wishViolations(wish).map(remarkOf),
    ...nameRemarks(wish, registry),
  ];
}

/** Of a provider that has no addresses something else is said. */
function perNodeRemarks(
  { provider, maxPerNode: asked = 1 }: Pool["spec"],
  registry: ProviderRegistry,
): readonly Remark[] {
  const most = registry.maxPerNode(provider, asked);
  if (asked <= most || registry.get(provider)?.addresses === undefined) return [];
  const text = `${provider} gives a machine ${most === 1 ? "one address" : `${most} addresses`}, so maxPerNode counts as ${most}`;
  return [remark("FLP227", "spec.maxPerNode", text)];
}

/** Where packets arrive at an address that the machine has anyway, there is nothing to put on it. */
function hostRemarks(
  { provider, hostAddress }: Pick<Pool["spec"], "provider" | "hostAddress">,
  registry: ProviderRegistry,
): readonly Remark[] {
  const traits = registry.get(provider)?.addresses;
  if (hostAddress !== "Managed" || traits === undefined || traits.needsHost === true) return [];
  const text = `at ${provider} packets arrive at an address that the machine has already: nothing is put on the host, and Managed counts as External`;
  return [remark("FLP228", "spec.hostAddress", text)];
}

/** A failover that waits so long is seen by clients. */
const LONG_COOL_OFF_SECONDS = 60;

function amountRemarks(given: number, desired: number, region: string): readonly Remark[] {
  if (desired === 0 || desired === given) return [];
  if (given > desired) {
    const spares = given - desired;
    const text = `${desired} of ${given} addresses are used; the other ${spares === 1 ? "one is a spare" : `${spares} are spares`}`;
    return [remark("FLP217", "spec.desiredIPs", text)];
  }
  if (region !== "") return [];
  const text = `${desired} addresses are wanted and ${given} given; without spec.region one is acquired only when a node waits for it, in that node's region`;
  return [remark("FLP218", "spec.desiredIPs", text)];
}

function recordSetRemarks(recordSet: RecordSet, registry: ProviderRegistry): readonly Remark[] {
  return [
    ...recordSetViolations(recordSet, registry).map(remarkOf),
    ...podRemarks(recordSet.spec.match),
    ...nameRemarks(statedWish(recordSet, registry), registry),
  ];
}

function routedIPRemarks(routedIP: RoutedIP, registry: ProviderRegistry): readonly Remark[] {
  const { decodeError, spec } = routedIP;
  const { address, ports } = spec;
  const wish = routedWish(routedIP, registry);
  return [
    ...(decodeError === undefined ? [] : [decodingRemark(decodeError)]),
    ...(address === "" ? [] : entryRemarks(address, routedFamily(routedIP), "spec.address")),
    ...ports.flatMap(({ protocol, port }, at) =>
      portRange(protocol, port) === undefined
        ? [
            remark(
              "FLP226",
              `spec.ports[${at}].port`,
              `${shownValue(port)} is neither a port, nor a range of ports, nor all`,
            ),
          ]
        : [],
    ),
    ...wishViolations(wish).map(remarkOf),
    ...nameRemarks(wish, registry),
  ];
}

function issuerRemarks({ decodeError, spec }: RoutedIPIssuer, registry: ProviderRegistry): readonly Remark[] {
  const { nodeLabel, tolerations } = spec;
  const selectors = selectorViolations({ nodeLabel, tolerations, podLabel: "", podNamespace: "" });
  return [
    ...(decodeError === undefined ? [] : [decodingRemark(decodeError)]),
    ...addressProviderViolations(spec.provider, registry).map(remarkOf),
    ...selectors.map((violation) => remarkOf({ ...violation, path: violation.path.replace("spec.match.", "spec.") })),
    ...hostRemarks(spec, registry),
  ];
}

const CODES: Readonly<Record<Exclude<SpecRule, "decoding">, FindingCode>> = {
  provider: "FLP211",
  amount: "FLP212",
  selector: "FLP213",
  toleration: "FLP202",
  addressType: "FLP202",
  ipFamilies: "FLP202",
  ipFamily: "FLP211",
  completeness: "FLP219",
  zone: "FLP220",
  foreignRecords: "FLP202",
};

/** What breaks a rule may only follow from these fields having no value that can be read. */
const FROM: Partial<Readonly<Record<SpecRule, readonly string[]>>> = {
  amount: ["spec.ips", "spec.desiredIPs"],
  completeness: ["spec.dnsRecordSet"],
};

function remarkOf({ rule, path, text, offset }: Violation): Remark {
  if (rule === "decoding") return decodingRemark(text);
  const from = FROM[rule];
  return {
    code: CODES[rule],
    path,
    message: offset === undefined ? text : `${text} (column ${offset + 1} of it)`,
    ...(offset === undefined ? {} : { offset }),
    ...(from === undefined ? {} : { from }),
  };
}

/** What the schema lets through and the planner cannot read. Its text begins with the path of the first field that is wrong. */
function decodingRemark(text: string): Remark {
  const [path = "spec"] = /^spec[^ ]*/.exec(text) ?? [];
  const code = /^spec\.ports\[\d+\]\.port$/.test(path) ? "FLP226" : "FLP202";
  return remark(code, path, text.startsWith(`${path} `) ? text.slice(path.length + 1) : text);
}

/** Says why a text is no address that an object can have. */
function entryRemarks(text: string, family: IPFamily, path: string): readonly Remark[] {
  const problem = entryProblem(text, family, "spec.ipFamily");
  return problem === undefined
    ? []
    : [
        remark(
          "FLP214",
          path,
          problem.replace(`"${text}"`, () => shownValue(text)),
        ),
      ];
}

function podRemarks({ podLabel, podNamespace }: MatchSpec): readonly Remark[] {
  if (podLabel === "" || podNamespace !== "") return [];
  return [remark("FLP223", "spec.match.podLabel", "without podNamespace pods of all namespaces count")];
}

function nameRemarks(wish: DNSWish, registry: ProviderRegistry): readonly Remark[] {
  if (wish.kind !== "named") return [];
  const { recordName, zone, isZoneID, provider, ttlSeconds } = wish;
  const problem = nameProblem(wish);
  const path = "spec.dnsRecordSet.recordName";
  const accepted = acceptedTTL(ttlSeconds, registry.get(provider)?.dns?.ttlRules ?? ANY_TTL);
  const change = accepted > ttlSeconds ? "raised" : "lowered";
  const published = `${recordName.replace(/\.$/, "")}.${zone}`;
  const foreign = `${recordName} seems to be a full name, and the zone is ${zone}: it would be published as ${published}`;
  return [
    ...(problem === undefined ? [] : [remark("FLP220", path, problem)]),
    ...(problem === undefined && !isZoneID && seemsForeign(recordName, zone)
      ? [{ ...remark("FLP220", path, foreign), severity: "warning" as const }]
      : []),
    ...(accepted === ttlSeconds
      ? []
      : [remark("FLP221", "spec.dnsRecordSet.ttl", `${ttlSeconds} is ${change} to ${accepted} at ${provider}`)]),
  ];
}

/** Why no name can be made of a record's name; of a zone that is given by its id the name is not known here. */
function nameProblem({ recordName, zone, isZoneID }: NamedWish): string | undefined {
  if (isZoneID && (recordName === "@" || canonicalDNSName(recordName) !== undefined)) return undefined;
  const resolved = recordFQDN(recordName, isZoneID ? undefined : zone);
  return resolved.kind === "invalid" ? resolved.error : undefined;
}

/** True for `nodes.example.net` in the zone `exmaple.net`: a name of several parts that ends as the zone does and is not inside of it. */
function seemsForeign(recordName: string, zone: string): boolean {
  const [parts, zoneParts] = [recordName.toLowerCase().replace(/\.$/, "").split("."), zone.split(".")];
  const isInside = `.${parts.join(".")}`.endsWith(`.${zone}`);
  return !isInside && parts.length > zoneParts.length - 1 && parts.length > 1 && parts.at(-1) === zoneParts.at(-1);
}

function remark(code: FindingCode, path: string, message: string): Remark {
  return { code, path, message };
}
