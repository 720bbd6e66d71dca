import { IPV6_ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { setText } from "../../src/model/record-types.ts";
import { generate } from "./generate.ts";
import type { History, WorldEvent } from "./history.ts";
import type { PoolSpecText, RecordSetSpecText } from "./pool-spec-text.ts";
import { Random } from "./random.ts";
import { POOLS } from "./random-pool.ts";

const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";

/** By the name of a pool that of its twin, which has IPv6 addresses. */
const TWINS: Readonly<Record<string, string>> = { p0: "v0", p1: "v1", p2: "v2" };

/**
 * Returns the history of {@link generate} in which most pools have a twin of IPv6 with the same match and the same name in DNS. Each is edited, deleted and robbed of its
 * status on its own; people move, delete and lock addresses of both families, write annotations and records of both, and buy of both. Calls fail and processes die
 * whichever family a call is about. Some record sets publish the IPv6 addresses that nodes are annotated with.
 */
export function familiesHistory(seed: number): History {
  const history = generate(seed);
  const random = new Random(seed ^ 0x51ed270b);
  const chosen = POOLS.filter(() => random.chance(0.75));
  const twins = new Set<string>(chosen.length === 0 ? ["p0"] : chosen);
  const events = history.events.flatMap((event) => [annotatedSet(event, random), ...twinOf(event, twins, random)]);
  return { ...history, events };
}

/** What happens to IPv6 beside an event. */
function twinOf(event: WorldEvent, twins: ReadonlySet<string>, random: Random): readonly WorldEvent[] {
  switch (event.kind) {
    case "pool":
      return named(event, twins, { ...inIPv6(event.spec), ipFamily: "IPv6" });
    case "edit":
      return isShared(event.spec) || random.chance(0.5) ? named(event, twins, inIPv6(event.spec)) : [];
    case "delete-pool":
    case "wipe-status":
    case "touch-status":
    case "spoil-status":
      return random.chance(0.5) ? named(event, twins) : [];
    default:
      return beside(event, random);
  }
}

/** A pool and its twin have one match and one name. */
function isShared(spec: object): boolean {
  return "dnsRecordSet" in spec || "match" in spec;
}

/** What happens to an IPv6 address where something happens to an IPv4 address. */
function beside(event: WorldEvent, random: Random): readonly WorldEvent[] {
  switch (event.kind) {
    case "address": {
      const on = random.chance(0.7) ? event.on : null;
      return random.chance(0.8) ? [{ ...event, ip: ipv6Of(event.ip), on, isBYOIP: false }] : [];
    }
    case "annotate":
      return random.chance(0.5) ? [{ ...event, ...written(event), family: "IPv6" }] : [];
    case "other-buys":
      return random.chance(0.5) ? [{ ...event, family: "IPv6" }] : [];
    case "hand-record":
      return random.chance(0.5) ? [{ ...event, fqdn: setText({ fqdn: event.fqdn, type: "AAAA" }) }] : [];
    default:
      return [];
  }
}

function written({ address, pool }: Annotated): Annotated {
  return { address: address && ipv6Of(address), pool: pool?.replace("/p", "/v") ?? null };
}

type Annotated = { readonly address: string | null; readonly pool: string | null };

/** The same event of the twin, where the pool has one. */
function named(
  event: Extract<WorldEvent, { readonly name: string }>,
  twins: ReadonlySet<string>,
  spec?: object,
): readonly WorldEvent[] {
  const twin = TWINS[event.name];
  if (twin === undefined || !twins.has(event.name)) return [];
  return [{ ...event, name: twin, ...(spec === undefined ? {} : { spec }) } as WorldEvent];
}

function inIPv6<S extends Partial<Record<keyof PoolSpecText, unknown>>>(spec: S): S {
  const { ips } = spec;
  return Array.isArray(ips) ? { ...spec, ips: ips.map(ipv6Of) } : spec;
}

/** 203.0.113.1 has 2001:db8:66:1::1 beside it; what is no canonical IPv4 address has another form of one. */
function ipv6Of(ip: string): string {
  const last = ip.slice(ip.lastIndexOf(".") + 1);
  return last.startsWith("0") ? `2001:DB8:66:${last}::1` : `2001:db8:66:${last}::1`;
}

function annotatedSet(event: WorldEvent, random: Random): WorldEvent {
  if (event.kind !== "record-set" && event.kind !== "edit-record-set") return event;
  const { addressType } = event.spec as Partial<RecordSetSpecText>;
  if (addressType !== ANNOTATION || random.chance(0.5)) return event;
  return { ...event, spec: { ...event.spec, addressType: IPV6_ADDRESS_ANNOTATION } } as WorldEvent;
}
