import { marksOf } from "../../src/model/annotated.ts";
import { annotatedFamily } from "../../src/model/record-types.ts";
import { FINALIZER } from "../../src/model/resource.ts";
import { checkCleaning } from "./cleaning.ts";
import { type DNSView, othersIn, shownIn } from "./dns-view.ts";
import type { SimCall } from "./faults.ts";
import { checkShownOpen } from "./firewall-invariants.ts";
import type { Monitor } from "./monitor.ts";
import { isInGrace, offersOf, publisherName } from "./offers.ts";
import type { Process } from "./process.ts";
import {
  claimants,
  isBeyond,
  isRecordSet,
  isSilent,
  nameKey,
  namesOnRecord,
  type Publisher,
  publishedKey,
  publishers,
} from "./publishers.ts";
import { checkSecondLook } from "./second-look.ts";
import { dropletOf, isNamedBy, managedBy, matches } from "./truth.ts";

/** How far a list of addresses may lag behind, and a few calls with their time, milliseconds. */
const LAG_MS = 5500;

/** One request that changed the records of a name. */
export interface DNSChange {
  readonly monitor: Monitor;
  readonly process: Process;
  readonly call: SimCall;
  /** The name, as a key of claims. */
  readonly key: string;
  readonly what: string;
  readonly shownBefore: readonly string[];
  readonly shownAfter: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** True when no object was made, edited, deleted or robbed of its status since the pass began to read. */
  readonly isSettled: boolean;
  /** Objects the name can belong to. */
  readonly owners: readonly Publisher[];
}

/** Holds one request that changed DNS against the promises. */
export function checkDNSChange(
  monitor: Monitor,
  process: Process,
  call: SimCall,
  before: DNSView,
  after: DNSView,
): void {
  const { provider, subject: fqdn } = call;
  const shownBefore = shownIn(before, provider, fqdn);
  const shownAfter = shownIn(after, provider, fqdn);
  const text = `${process.identity}: ${provider} ${call.operation} ${fqdn}: ${shownBefore.join(" ")} → ${shownAfter.join(" ")}`;
  monitor.simulation.note(`      ${text}`);
  const key = nameKey(provider ?? "", fqdn);
  const change: DNSChange = {
    monitor,
    process,
    call,
    key,
    what: text,
    shownBefore,
    shownAfter,
    removed: shownBefore.filter((ip) => !shownAfter.includes(ip)),
    added: shownAfter.filter((ip) => !shownBefore.includes(ip)),
    isSettled: monitor.records.lastChangeMs < process.passStartMs,
    owners: claimants(monitor.simulation.world, key),
  };
  if (othersIn(before, provider, fqdn) !== othersIn(after, provider, fqdn))
    monitor.violated("DNS-others", `${text} and something beside the A records of this name`);
  checkSecondLook(change);
  const [owner, ...rivals] = change.owners;
  if (owner !== undefined)
    monitor.records.written.set(key, { uid: rivals.length > 0 ? "" : owner.meta.uid, addresses: shownAfter });
  if (!monitor.records.everWished.has(key)) monitor.violated("P6", `${text}, a name nobody ever asked for`);
  monitor.voluntary.leave(process, call, change.removed, shownAfter);
  if (!change.isSettled) return;
  if (change.owners.length === 0) checkCleaning(change);
  else checkOwned(change);
}

function checkOwned(change: DNSChange): void {
  const { monitor, process, what: text } = change;
  if (isCleanedInVain(change)) return;
  if (change.owners.every((owner) => isSilent(monitor.simulation.world, owner) || isBeyond(process, owner)))
    monitor.violated(
      "blocked",
      `${text}, for ${change.owners.map(publisherName).join(", ")}, which may not be written`,
    );
  const [owner, ...rivals] = change.owners;
  if (change.added.length > 0 && owner !== undefined && !isRecordSet(owner) && rivals.length === 0)
    checkShownOpen(monitor, process, owner, text);
  checkEmptied(change);
  checkAdded(change);
  checkRemoved(change);
}

/**
 * True where an object that goes takes what it has on record out of a name that others ask for, and the oldest of them has nothing to publish: addresses that are
 * given back with a pool, or, where nothing may be written for the oldest, all.
 */
function isCleanedInVain({ monitor, process, call, key, added, removed, owners }: DNSChange): boolean {
  const { world } = monitor.simulation;
  const sinceMs = process.passStartMs - LAG_MS;
  const couldPublish = (owner: Publisher): boolean =>
    !isSilent(world, owner) &&
    [...offersOf(world, owner)].some(
      ([ip, verdict]) => verdict === "yes" && monitor.offers.of(owner, ip).sinceMs < sinceMs,
    );
  const firstMs = Math.min(...owners.map(({ meta }) => meta.createdAtMs));
  const oldest = owners.filter(({ meta }) => meta.createdAtMs === firstMs);
  // Of an address that stands there twice the first request takes nothing away.
  const isRemoval = removed.length > 0 || call.operation === "remove-record";
  if (added.length > 0 || !isRemoval || oldest.every(couldPublish)) return false;
  const isHeirless = oldest.some((owner) => isSilent(world, owner));
  return publishers(world).some(
    (object) =>
      object.meta.isDeleting &&
      object.spec.reclaimPolicy === "Delete" &&
      !isSilent(world, object) &&
      !isBeyond(process, object) &&
      (isHeirless || removed.every((ip) => isGivenBack(object, ip))) &&
      namesOnRecord(object).some(
        (name) => publishedKey(name) === key && removed.every((ip) => name.addresses.includes(ip)),
      ),
  );
}

/** True for an address that goes back to the provider with a pool: it may be a stranger's tomorrow. */
function isGivenBack(object: Publisher, ip: string): boolean {
  return (
    !isRecordSet(object) && object.status.acquired.some((acquired) => acquired.ip === ip && acquired.adopted !== true)
  );
}

/** P3: a name that had values is never emptied unless asked; a look and the second look that are both answered as it was before mislead anybody. */
function checkEmptied({ monitor, process, what, shownBefore, shownAfter, owners }: DNSChange): void {
  if (shownAfter.length > 0 || shownBefore.length === 0 || process.misled > 1) return;
  const isAsked = owners.some((owner) => isRecordSet(owner) && owner.spec.whenEmpty === "Delete");
  if (!isAsked) monitor.violated("P3", what);
}

/** Nothing is published that does not serve for the object whose name it is; and nothing that must be cleaned one day before the finalizer is set. */
function checkAdded({ monitor, process, what, added, owners, shownBefore }: DNSChange): void {
  if (added.length === 0) return;
  const isUnguarded = ({ spec, meta }: Publisher): boolean =>
    spec.reclaimPolicy === "Delete" && !meta.finalizers.includes(FINALIZER);
  if (shownBefore.length === 0 && !process.isMisled && owners.every(isUnguarded))
    monitor.violated("leak", `${what} before the finalizer is set`);
  if (process.isMisled) return;
  for (const ip of added) {
    const wrong = owners.every((owner) => {
      const isNo = (what: string): boolean => {
        const { verdict, sinceMs } = monitor.offers.of(owner, what);
        return verdict === "no" && sinceMs < process.passStartMs - LAG_MS;
      };
      // A list that lags behind shows an address where it was before somebody moved it.
      const isMoved = (monitor.records.handMoved.get(ip) ?? 0) >= process.passStartMs - LAG_MS;
      return isNo(ip) && carriersOf(monitor, ip).every(isNo) && !isMoved && !hasLostItsNode(monitor, process, ip);
    });
    if (wrong) monitor.violated("DNS-wrong", `${what}: ${ip} does not serve for ${owners.map(publisherName).join()}`);
  }
  checkVerified(monitor, process, what, added);
}

/** True when the node of the address's machine went, or got another machine, since the pass began to read. */
function hasLostItsNode({ records, simulation: { world } }: Monitor, { passStartMs }: Process, ip: string): boolean {
  const holder = world.address(ip)?.droplet_id ?? undefined;
  return (
    holder !== undefined &&
    !world.nodes().some((node) => dropletOf(node) === holder) &&
    (records.machineChangedMs.get(holder) ?? 0) >= passStartMs
  );
}

/** Names of the nodes that carry an address, in whatever way. */
function carriersOf({ simulation: { world } }: Monitor, ip: string): readonly string[] {
  const holder = world.address(ip)?.droplet_id ?? undefined;
  return world
    .nodes()
    .filter(
      (node) =>
        node.addresses.some(({ address }) => address === ip) || (holder !== undefined && dropletOf(node) === holder),
    )
    .map(({ name }) => name);
}

/** An address that a pool has is published only once it was read where it is. */
function checkVerified({ records }: Monitor, process: Process, what: string, added: readonly string[]): void {
  for (const ip of added) {
    const namers = records.namers(ip);
    const reading = process.readings.newest.get(ip);
    const isRead = reading !== undefined && reading !== "failed" && reading.holderID !== undefined;
    const { listed, seen } = process.readings;
    const isListed = listed.get(ip)?.holderID !== undefined || seen.get(ip)?.holderID !== undefined;
    if (namers.length > 0 && !isRead && !isListed)
      process.simulation.monitor.violated("DNS-verified", `${what}: ${ip} was last read as ${JSON.stringify(reading)}`);
  }
}

/** What serves stays, and so does what could not be read. */
function checkRemoved({ monitor, process, what, removed, owners }: DNSChange): void {
  const [owner, ...others] = owners;
  if (owner === undefined || others.length > 0 || process.isMisled) return;
  for (const ip of removed) {
    if (isServing(monitor, process, owner, ip))
      monitor.violated("DNS-lost", `${what}: ${ip} serves ${publisherName(owner)}`);
    if (isUnread(monitor, process, owner, ip)) monitor.violated("P2", `${what}: ${ip} was not read in this pass`);
  }
}

function isServing(monitor: Monitor, process: Process, owner: Publisher, ip: string): boolean {
  const sinceMs = process.passStartMs - LAG_MS;
  const healthy = monitor.health.of(ip);
  if (!isRecordSet(owner)) return healthy?.uid === owner.meta.uid && healthy.sinceMs < sinceMs;
  const isReserved = monitor.records.namers(ip).length > 0;
  const { verdict, sinceMs: since } = monitor.offers.of(owner, ip);
  if (verdict === "yes" && since < sinceMs) return !isReserved || (healthy !== undefined && healthy.sinceMs < sinceMs);
  return !isReserved && isInGrace(monitor.simulation.world, owner, ip, owner.spec.addressType);
}

/** True for an address that its pool has in use and the pass could not look at. */
function isUnread(
  { simulation: { world }, records }: Monitor,
  { readings, passStartMs }: Process,
  owner: Publisher,
  ip: string,
): boolean {
  const newest = readings.newest.get(ip);
  if (readings.seen.has(ip) || readings.everSingly.has(ip) || (newest !== undefined && newest !== "failed"))
    return false;
  // The answer to its purchase showed it.
  if (records.bought.get(ip)?.passStartMs === passStartMs) return false;
  const [pool, ...others] = world.pools().filter((candidate) => isNamedBy(candidate, ip));
  if (pool === undefined || others.length > 0) return false;
  const managed = managedBy(pool);
  const isInUse = managed.has(ip) && managed.size <= (pool.spec.desiredIPs || managed.size) && !pool.meta.isDeleting;
  if (!isRecordSet(owner)) return isInUse && owner.meta.uid === pool.meta.uid;
  const family = annotatedFamily(owner.spec.addressType);
  if (family === undefined) return false;
  const nodes = world.nodes().filter((node) => marksOf(node, family).addressAnnotation === ip);
  return isInUse && nodes.length > 0 && nodes.every((node) => matches(world, owner, node) === "match");
}
