import { zoneIDOf } from "../../src/sandbox/cloudflare/account-state.ts";
import type { HandEdit } from "./dns-event.ts";
import type { DNSProviderName, WorldEvent } from "./history.ts";
import type { DNSSpecText, RecordSetSpecText } from "./pool-spec-text.ts";
import type { Random } from "./random.ts";
import { LISTED, POOLS } from "./random-pool.ts";

/** Names of the record sets, all in namespace shop. */
export const RECORD_SETS = ["r0", "r1", "r2"] as const;

const PROVIDERS: readonly DNSProviderName[] = ["digitalocean", "cloudflare"];
const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";
/** What Cloudflare calls the zone example.com. */
const ZONE_ID = zoneIDOf("example.com");
const EDITS: readonly HandEdit[] = ["add", "remove", "remove-all", "replace", "double", "ttl", "others", "cname"];
const NAMES = ["www", "www", "nodes", "@"] as const;

/** Where somebody could publish; few names, so that objects meet. */
export function dnsSpec(random: Random): DNSSpecText {
  const provider = random.pick(PROVIDERS);
  const zone = random.chance(0.8) ? "example.com" : "example.org";
  const name = random.pick(NAMES);
  const isID = provider === "cloudflare" && zone === "example.com" && random.chance(0.2);
  return {
    ...(provider === "digitalocean" && random.chance(0.5) ? {} : { provider }),
    zone: isID ? ZONE_ID : random.chance(0.03) ? "elsewhere.example" : zone,
    recordName: name === "www" && random.chance(0.2) ? `www.${zone}` : name,
    ...(random.chance(0.5) ? { ttl: random.pick([5, 30, 60, 300]) } : {}),
  };
}

/** The spec of a record set as somebody could write it. */
export function recordSetSpec(random: Random): RecordSetSpecText {
  const { provider, ...dnsRecordSet } = dnsSpec(random);
  const place = random.chance(0.5) ? { dnsRecordSet: { ...dnsRecordSet, ...(provider && { provider }) } } : undefined;
  return {
    ...(place ?? { ...(provider && { provider }), dnsRecordSet }),
    ...(random.chance(0.7) ? { addressType: addressType(random) } : {}),
    ...(random.chance(0.4) ? { whenEmpty: random.pick(["Keep", "Delete"] as const) } : {}),
    ...(random.chance(0.3) ? { gracePeriodSeconds: random.pick([5, 30, 90]) } : {}),
    ...(random.chance(0.6) ? { reclaimPolicy: random.pick(["Retain", "Delete", "Delete"] as const) } : {}),
    ...(random.chance(0.05) ? { suspend: true } : {}),
    ...(random.chance(0.5) ? { match: { nodeLabel: "role=edge" } } : {}),
  };
}

function addressType(random: Random): string {
  return random.pick([
    "ExternalIP",
    "InternalIP",
    ANNOTATION,
    ANNOTATION,
    random.chance(0.1) ? "Nothing" : "ExternalIP",
  ]);
}

/** A change of the spec of a record set. */
function recordSetEdit(random: Random): Readonly<Partial<Record<keyof RecordSetSpecText, unknown>>> {
  const roll = random.between(1, 10);
  if (roll <= 4) return { dnsRecordSet: { ...dnsSpec(random) }, provider: null };
  if (roll === 5) return { dnsRecordSet: { ttl: random.pick([5, 30, 60, 300, 1]) } };
  if (roll === 6) return { suspend: random.chance(0.5) };
  if (roll === 7) return { reclaimPolicy: random.pick(["Retain", "Delete"]) };
  if (roll === 8) return { whenEmpty: random.pick(["Keep", "Delete"]) };
  if (roll === 9) return { addressType: addressType(random), gracePeriodSeconds: random.pick([0, 30]) };
  return { match: { nodeLabel: random.pick(["role=edge", "", "role in (", "role=nobody"]) } };
}

/** A change of where a pool publishes. */
function poolDNSEdit(random: Random): { readonly dnsRecordSet: unknown } {
  const roll = random.between(1, 10);
  if (roll <= 5) return { dnsRecordSet: { ...dnsSpec(random) } };
  if (roll === 6) return { dnsRecordSet: { provider: random.pick(["nowhere", "cloudflare", "digitalocean"]) } };
  if (roll <= 8) return { dnsRecordSet: { ttl: random.pick([5, 30, 60, 300]) } };
  return { dnsRecordSet: null };
}

/** Something that happens to objects that publish, or to records. */
export function dnsHappening(random: Random, endsAtMs: number): readonly WorldEvent[] {
  const atMs = random.between(1, endsAtMs);
  const set = random.pick(RECORD_SETS);
  const roll = random.between(1, 100);
  if (roll <= 22) return [{ atMs, kind: "edit-record-set", name: set, spec: recordSetEdit(random) }];
  if (roll <= 40) return [{ atMs, kind: "edit", name: random.pick(POOLS), spec: poolDNSEdit(random) }];
  if (roll <= 45) return [{ atMs, kind: "delete-record-set", name: set }];
  if (roll <= 50) return [{ atMs, kind: "record-set", name: set, spec: recordSetSpec(random) }];
  if (roll <= 52) return [{ atMs, kind: "wipe-record-set", name: set }];
  if (roll <= 58)
    return [{ atMs, kind: "node-addresses", name: `n${random.between(1, 7)}`, external: external(random) }];
  if (roll <= 60) return zoneGone(random, atMs);
  if (roll <= 64) return [{ atMs, kind: "automatic-ttl", ...recordName(random), value: random.chance(0.6) }];
  if (roll <= 70) return shortage(random, atMs);
  return [{ atMs, kind: "hand-record", ...recordName(random), edit: random.pick(EDITS), pick: random.between(0, 9) }];
}

function recordName(random: Random): {
  readonly provider: DNSProviderName;
  readonly zone: string;
  readonly fqdn: string;
} {
  const zone = random.chance(0.8) ? "example.com" : "example.org";
  const name = random.pick(NAMES);
  return { provider: random.pick(PROVIDERS), zone, fqdn: name === "@" ? zone : `${name}.${zone}` };
}

function external(random: Random): readonly string[] {
  return [`198.51.100.${random.between(101, 107)}`, "not an address", "198.51.100.250"].filter(() =>
    random.chance(0.5),
  );
}

function zoneGone(random: Random, atMs: number): readonly WorldEvent[] {
  const zone = { provider: random.pick(PROVIDERS), zone: random.pick(["example.com", "example.org"]) };
  return [
    { atMs, kind: "zone", ...zone, isThere: false },
    { atMs: atMs + random.between(1, 60) * 1000, kind: "zone", ...zone, isThere: true },
  ];
}

/** Nothing matches for a while, or an address of a pool's comes and goes. */
function shortage(random: Random, atMs: number): readonly WorldEvent[] {
  const backMs = atMs + random.pick([2000, 15_000, 60_000]);
  const ips = LISTED.filter(() => random.chance(0.5));
  const name = random.pick(POOLS);
  if (random.chance(0.5))
    return [
      { atMs, kind: "edit", name, spec: { ips } },
      { atMs: backMs, kind: "edit", name, spec: { ips: LISTED } },
    ];
  return [1, 2, 3, 4, 5, 6, 7].flatMap((number): readonly WorldEvent[] => [
    { atMs, kind: "ready", name: `n${number}`, value: false },
    { atMs: backMs, kind: "ready", name: `n${number}`, value: true },
  ]);
}
