import { marksOf } from "../../src/model/annotated.ts";
import { FINALIZER, ipFamilyOf, objectKey, type Pool, type PoolStatus } from "../../src/model/resource.ts";
import type { SimCall } from "./faults.ts";
import type { Monitor, Violation } from "./monitor.ts";
import type { Process } from "./process.ts";
import { annotationOf, dropletOf, isNamedBy } from "./truth.ts";
import type { World } from "./world.ts";

/** How long after its birth every list shows an address, milliseconds. */
const LAG_MS = 4000;

/** What writing a status breaks: an address on record as acquired was bought for the pool, or is the only one it can be; and none is called lost that nobody lost. */
export function checkMemory(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { records, simulation } = monitor;
  const [status] = call.args as readonly [PoolStatus];
  const pool = simulation.world.pool(call.subject);
  if (pool === undefined) return [];
  const before = new Set(pool.status.acquired.map(({ ip }) => ip));
  const isTakenForLost = status.pendingAcquisitions.some(({ restored }) => restored === true);
  if (isTakenForLost && !records.touchedAtMs.has(call.subject))
    return [{ invariant: "memory", text: `${process.identity}: takes the status of ${call.subject} for lost` }];
  const taken = status.acquired.filter(({ ip }) => !before.has(ip));
  return taken.flatMap(({ ip, adopted }) => {
    const fault = adopted === true ? adoptionFault(monitor, process, pool, ip) : purchaseFault(monitor, pool, ip);
    const what = `${process.identity}: takes ${ip} for its own in ${call.subject}`;
    return fault === undefined ? [] : [{ invariant: "P6", text: `${what}, ${fault}` }];
  });
}

function purchaseFault({ records, simulation }: Monitor, pool: Pool, ip: string): string | undefined {
  if (records.bought.get(ip)?.uid === pool.meta.uid) return undefined;
  if (!isOnTarget(simulation.world, pool, ip)) return "and did not buy it";
  records.takenOnTarget(ip, pool);
  return undefined;
}

function adoptionFault(monitor: Monitor, process: Process, pool: Pool, ip: string): string | undefined {
  const { records, simulation } = monitor;
  if (isOnNotedTarget(simulation.world, pool, ip)) records.takenOnTarget(ip, pool);
  const rival = rivalOf(monitor, process, pool, ip);
  return rival === undefined ? undefined : `though it could as well be ${rival}`;
}

/** By the manual an unknown address on the machine of a lost answer is the answer's. */
function isOnTarget(world: World, pool: Pool, ip: string): boolean {
  const holder = holderOf(world, ip);
  return pool.status.pendingAcquisitions.some(({ providerID }) => providerID === holder);
}

/** The same where only the object's annotation tells of it, its status being lost. */
function isOnNotedTarget(world: World, pool: Pool, ip: string): boolean {
  return pool.meta.note?.pending.includes(holderOf(world, ip)) === true;
}

/** The machine that has the address, as a node's `providerID`. */
function holderOf(world: World, ip: string): string {
  return `digitalocean://${world.address(ip)?.droplet_id}`;
}

function isUnderWay(world: World, ip: string): boolean {
  return world.cloud.state.actions.some((action) => action.ip === ip && action.status === "in-progress");
}

/** Another address that the lost answer could have been about; undefined where an annotation or the status says which it is. */
function rivalOf({ records, simulation }: Monitor, process: Process, pool: Pool, ip: string): string | undefined {
  const { world } = simulation;
  const family = ipFamilyOf(pool.spec);
  const marks = world.nodes().map((node) => marksOf(node, family));
  if (marks.some((one) => one.addressAnnotation === ip && one.poolAnnotation === annotationOf(pool))) return undefined;
  // What was bought for the pool, and its status or its annotation goes on to show, is no guess.
  const isShown = Object.hasOwn(pool.status.ips, ip) || pool.meta.note?.ips.includes(ip) === true;
  const wasOwn = records.bought.get(ip)?.uid === pool.meta.uid || records.namerKeys.get(ip)?.has(objectKey(pool.meta));
  if (isShown && wasOwn === true) return undefined;
  if (isOnNotedTarget(world, pool, ip)) return undefined;
  const known = new Set(pool.status.pendingAcquisitions.flatMap(({ knownIPs }) => knownIPs));
  // With another pool's answer lost, too, which address belongs to which may follow from what each knew.
  if (world.pools().some((other) => other.meta.uid !== pool.meta.uid && other.status.pendingAcquisitions.length > 0))
    return undefined;
  // What an object that went during the pass was waiting for, nobody can tell any more; nor what the annotation of a node said that did.
  const changedMs = Math.max(records.lastChangeMs, ...records.nodeChangedMs.values());
  if (changedMs >= process.passStartMs) return undefined;
  // What came when the candidates were on record already was made for somebody else.
  const told = pool.status.pendingAcquisitions.flatMap(({ candidates = [] }) => candidates);
  const region = world.address(ip)?.region;
  const pools = world.pools();
  const { reserved_ips, reserved_ipv6 } = world.cloud.state;
  return (family === "IPv6" ? reserved_ipv6 : reserved_ips).find(
    (address) =>
      address.ip !== ip &&
      address.droplet_id === null &&
      address.region === region &&
      !known.has(address.ip) &&
      (!told.includes(ip) || told.includes(address.ip)) &&
      !pools.some((other) => isNamedBy(other, address.ip) || other.meta.note?.ips.includes(address.ip) === true) &&
      !records.handMoved.has(address.ip) &&
      (records.bornMs.get(address.ip) ?? 0) < process.passStartMs - LAG_MS,
  )?.ip;
}

/** What letting go of an object breaks: nothing that was bought for it may be left behind, if it is to be given back. */
export function checkFarewell(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { records, simulation } = monitor;
  const { world } = simulation;
  const pool = world.pool(call.subject);
  if (call.args[0] !== false || pool?.meta.isDeleting !== true || !pool.meta.finalizers.includes(FINALIZER)) return [];
  if (pool.spec.reclaimPolicy !== "Delete" || !monitor.isStable(process, pool)) return [];
  const others = world.pools().filter(({ meta }) => meta.uid !== pool.meta.uid);
  const nodes = new Set(world.nodes().map(dropletOf));
  return [...records.bought.values()].flatMap(({ ip, uid, passStartMs }) => {
    const address = world.address(ip);
    const isForgotten = (records.touchedAtMs.get(call.subject) ?? 0) >= passStartMs || records.handMoved.has(ip);
    const isElsewhere =
      address === undefined || pool.spec.ips.includes(ip) || others.some((other) => isNamedBy(other, ip));
    const entry = pool.status.acquired.find((acquired) => acquired.ip === ip);
    // After a lost answer an unattached address may be anybody's, and is left.
    const isUnsure = entry === undefined && address?.droplet_id === null && !isUnderWay(world, ip);
    const isAdopted = entry?.adopted === true || isUnsure;
    const isOnStranger = typeof address?.droplet_id === "number" && !nodes.has(address.droplet_id);
    if (uid !== pool.meta.uid || isForgotten || isElsewhere || isAdopted || isOnStranger) return [];
    return [{ invariant: "leak", text: `${process.identity}: lets go of ${call.subject} and leaves ${ip} behind` }];
  });
}
