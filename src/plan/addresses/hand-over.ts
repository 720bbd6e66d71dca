import type { Address } from "../../model/address.ts";
import type { ProviderFacts } from "../../model/observation.ts";
import type { Obstacle } from "../../model/plan.ts";
import { compareText, ownAddresses, ownerKey, ownerText, type Pool } from "../../model/resource.ts";
import { parseTime } from "../../model/time.ts";
import { type Drain, drainOf, lastServingIn, type ServingNames } from "../drain.ts";
import { obstacle } from "../holds.ts";
import { isNotOwn, isWritable, type MachineOf, type PoolView, type Released, storedDrain } from "../pool-view.ts";
import type { Claims } from "./claims.ts";
import type { MachineLedger } from "./machine-ledger.ts";

/*
 * An address that leaves one object and enters another. Clients of the names that the first one publishes may still have it: the second one does not take it from a
 * node that serves the first one until they have not. What the first one knows of it stays in its `status.released` for as long.
 */

/** What is known of the addresses that an object handed over. */
interface HandOverFacts {
  readonly provider: ProviderFacts | undefined;
  readonly claims: Claims;
  /** Whether clients of the object reach an address where it is. */
  readonly isServing: (address: Address) => boolean;
  readonly machineOf: MachineOf;
}

/** Returns the addresses that were the object's own, that another object manages now, and that serve clients of this one where it left them. Sorted by address text. Pure. */
export function handedOverBy(
  pool: Pool,
  { provider, claims, isServing, machineOf }: HandOverFacts,
): readonly Released[] {
  const { meta, status } = pool;
  if (meta.isDeleting) return [];
  const key = ownerKey({ kind: pool.kind, ...meta });
  const left = new Map([
    ...status.released.map(({ ip, providerID }) => [ip, providerID] as const),
    ...Object.entries(status.ips).flatMap(([ip, entry]) => (isNotOwn(entry) ? [] : [[ip, entry.providerID] as const])),
  ]);
  return [...left]
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([ip, providerID]): readonly Released[] => {
      const owner = claims.ownerOf(ip);
      const fact = provider?.addresses.get(ip);
      if (owner === undefined || owner === key || providerID === undefined || fact?.kind !== "known") return [];
      const isThere = machineOf(providerID) === fact.address.holderID && isServing(fact.address);
      return isThere ? [{ ip, fact, isServing: true }] : [];
    });
}

/** Returns the views, each with the objects that handed it addresses. Pure. */
export function withFormerOwners(views: readonly PoolView[]): readonly PoolView[] {
  const byIP = new Map<string, PoolView[]>();
  for (const view of views) for (const { ip } of view.handedOver) byIP.set(ip, [...(byIP.get(ip) ?? []), view]);
  if (byIP.size === 0) return views;
  return views.map((view) => {
    const own = view.managed.flatMap(({ ip }) => {
      const former = (byIP.get(ip) ?? []).filter(({ key }) => key !== view.key);
      return former.length === 0 ? [] : [[ip, former] as const];
    });
    return own.length === 0 ? view : { ...view, formerOwners: new Map(own) };
  });
}

/** Why an address that was handed to an object does not move yet. Undefined = nobody needs it where it is. */
export function handOverObstacle(
  view: PoolView,
  ip: string,
  facts: ServingNames,
  ledger: MachineLedger,
): Obstacle | undefined {
  const [former] = view.formerOwners?.get(ip) ?? [];
  if (former === undefined) return undefined;
  const going = new Set([...ledger.leaving].filter((other) => other !== ip));
  const drain = drainOf(view, ip, facts, going);
  const kept = keptName(former, ip, drain, facts);
  const untilMs = drain.kind === "unwritable" || kept !== undefined ? undefined : drain.untilMs;
  if (untilMs !== undefined && untilMs > view.nowMs) {
    const detail = `resolvers may still hand it out for ${ownerText(former.key)}, whose it was`;
    return obstacle("Draining", detail, { waitsFor: "turn", notBeforeMs: untilMs });
  }
  const isAwaited = isComing(former, ledger) || former.handedOver.some((other) => isDraining(former, other.ip, going));
  const last = isAwaited ? lastServingIn(ip, facts, going) : undefined;
  if (last !== undefined) return obstacle("LastServing", last, { waitsFor: "turn" });
  const name = kept ?? ledger.nameOf(ip);
  return name === undefined ? undefined : obstacle("StillPublished", name, { waitsFor: "turn" });
}

/** Returns the name that an address does not leave in this plan: it cannot be written just now, or a person has to approve it. */
function keptName({ withheld }: PoolView, ip: string, drain: Drain, { names }: ServingNames): string | undefined {
  if (drain.kind === "unwritable") return drain.name;
  if (drain.kind !== "shown" || !withheld.has(ip)) return undefined;
  return names.find(({ addresses }) => addresses.includes(ip))?.fqdn;
}

/** True for an address that has left the names of the object that handed it over, or leaves them now. */
function isDraining({ pool, nowMs }: PoolView, ip: string, going: ReadonlySet<string>): boolean {
  return going.has(ip) || (parseTime(storedDrain(pool, ip) ?? "") ?? 0) > nowMs;
}

/** True for an address that the object's name shows as its own, by status. */
export function isShownByName({ status: { publishedDNS } }: Pool, ip: string): boolean {
  return publishedDNS !== undefined && ownAddresses(publishedDNS).includes(ip);
}

/** True while an address of the object is on its way to a machine, or can be sent to one now. */
function isComing(view: PoolView, ledger: MachineLedger): boolean {
  if (!isWritable(view)) return false;
  if (ledger.isPromisedTo(view.key)) return true;
  const isFree = view.managed.some(({ ip, standing }) => standing.kind === "free" && view.inUse.has(ip));
  return isFree && view.matches.some(({ providerID }) => hasRoom(ledger, view.machineOf(providerID)));
}

function hasRoom(ledger: MachineLedger, machine: string | undefined): boolean {
  return machine !== undefined && ledger.availability(machine).kind === "free";
}
