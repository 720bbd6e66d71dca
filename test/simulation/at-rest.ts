import { marksOf } from "../../src/model/annotated.ts";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import { ipFamilyOf, objectKey, type Pool } from "../../src/model/resource.ts";
import type { AddressState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { dnsAtRest, isStuck } from "./dns-at-rest.ts";
import { firewallsAtRest } from "./firewall-at-rest.ts";
import { isHeldByFirewall } from "./firewall-truth.ts";
import type { Violation } from "./monitor.ts";
import type { Simulation } from "./simulation.ts";
import {
  annotationOf,
  dropletOf,
  isBlocked,
  isNamedBy,
  isValid,
  managedBy,
  mayBeAnswer,
  serves,
  stillServes,
} from "./truth.ts";
import type { World } from "./world.ts";

/** What is wrong with a world in which the program had all the time it needs. */
export function atRest(simulation: Simulation): readonly Violation[] {
  const { world } = simulation;
  const pools = world.pools().filter((pool) => !isBlocked(pool) && !pool.meta.isDeleting);
  const free = pools.filter((pool) => !isHeldByFirewall(world, pool));
  return [
    ...free.flatMap((pool) => unserved(simulation, pool)),
    ...pools.flatMap((pool) => wrongStates(world, pool)),
    ...free.flatMap((pool) => shortfall(world, pool)),
    ...free.flatMap((pool) => staleErrors(world, pool)),
    ...annotations(world),
    ...leaks(simulation),
    ...stuckDeletions(world),
    ...dnsAtRest(simulation),
    ...firewallsAtRest(simulation),
  ];
}

interface Match {
  readonly name: string;
  readonly droplet: number;
  readonly region: string;
}

/** Nodes that match and whose droplet exists where their label says it is. */
function matchesOf(world: World, pool: Pool): readonly Match[] {
  return world.nodes().flatMap((node) => {
    const droplet = dropletOf(node);
    const state = world.cloud.state.droplets.find(({ id }) => id === droplet);
    const isTrue = state !== undefined && node.labels["topology.kubernetes.io/region"] === state.region;
    return isTrue && serves(world, pool, node) === "match"
      ? [{ name: node.name, droplet: state.id, region: state.region }]
      : [];
  });
}

/** Addresses of a pool that are its own by every rule: known, managed by nobody else, not with a stranger. */
function usable({ world, monitor }: Simulation, pool: Pool): readonly AddressState[] {
  const { records } = monitor;
  const rivals = rivalsOf(world, pool);
  const nodes = new Set(world.nodes().map(dropletOf));
  return [...managedBy(pool)].flatMap((ip) => {
    const address = world.address(ip);
    if (address === undefined || rivals.some((rival) => isNamedBy(rival, ip))) return [];
    const holder = address.droplet_id;
    const isWiped = records.touchedAtMs.has(objectKey(pool.meta)) || records.handMoved.has(ip);
    const isFormer = records.wasActive.has(`${pool.meta.uid} ${ip} ${holder}`) && !isWiped;
    const isForeign = holder !== null && !nodes.has(holder) && !isFormer;
    return isForeign && pool.spec.foreignHolder !== "TakeOver" ? [] : [address];
  });
}

/** True for an address that never served this pool and that the name of another object has to go on showing: it stays where its clients reach it. */
function isKeptByName({ world, monitor }: Simulation, { meta }: Pool, ip: string): boolean {
  const { droplet_id: holder } = world.address(ip) ?? {};
  return !monitor.records.wasActive.has(`${meta.uid} ${ip} ${holder}`) && isStuck(world, ip, meta.uid);
}

function rivalsOf(world: World, { meta }: Pool): readonly Pool[] {
  return world.pools().filter((other) => other.meta.uid !== meta.uid);
}

/** A node waits, an address could serve it, and nothing happens. */
function unserved(simulation: Simulation, pool: Pool): readonly Violation[] {
  const { world } = simulation;
  const matches = matchesOf(world, pool);
  const addresses = usable(simulation, pool);
  const held = new Map(world.addressesOf(ipFamilyOf(pool.spec)).map((address) => [address.droplet_id, address]));
  const active = new Set(
    Object.entries(pool.status.ips).flatMap(([ip, { state }]) => (state === "active" ? [ip] : [])),
  );
  const serving = world.addresses().filter(({ ip }) => active.has(ip));
  const listed = new Set(pool.spec.ips).size;
  const desired = pool.spec.desiredIPs > 0 ? pool.spec.desiredIPs : listed;
  // Those that another pool names too may fill a place, and are not asked for here.
  const free = [...managedBy(pool)]
    .filter(
      (ip) =>
        addresses.some((address) => address.ip === ip) || rivalsOf(world, pool).some((rival) => isNamedBy(rival, ip)),
    )
    .filter((ip) => !serving.some((address) => address.ip === ip))
    .filter((ip) => !isKeptByName(simulation, pool, ip))
    .slice(0, Math.max(0, desired - serving.length))
    .flatMap((ip) => addresses.filter((address) => address.ip === ip));
  const claimed = new Set(
    world
      .pools()
      .flatMap((other) =>
        isBlocked(other)
          ? Object.values(other.status.ips).flatMap(({ nodeName, providerID }) => [nodeName, providerID])
          : [],
      ),
  );
  const isShared = (droplet: number): boolean => world.nodes().filter((node) => dropletOf(node) === droplet).length > 1;
  const waiting = matches.filter(
    ({ droplet, name }) =>
      !isShared(droplet) &&
      held.get(droplet) === undefined &&
      !claimed.has(name) &&
      !claimed.has(`digitalocean://${droplet}`),
  );
  return free.flatMap((address) => {
    const node = waiting.find(({ region }) => region === address.region);
    return node === undefined || serving.length >= desired
      ? []
      : [
          {
            invariant: "P12",
            text: `${objectKey(pool.meta)}: ${address.ip} on ${address.droplet_id ?? "nothing"} is not given to ${node.name}`,
          },
        ];
  });
}

/** Status says active where it is not so. */
function wrongStates(world: World, pool: Pool): readonly Violation[] {
  const matches = world.nodes().filter((node) => serves(world, pool, node) === "match");
  const staying = world.nodes().filter((node) => stillServes(world, pool, node));
  return Object.entries(pool.status.ips).flatMap(([ip, entry]): readonly Violation[] => {
    if (entry.state === "in-progress")
      return [{ invariant: "P12", text: `${objectKey(pool.meta)}: ${ip} is in progress for ever` }];
    if (entry.state !== "active") return [];
    const holder = world.address(ip)?.droplet_id;
    // What says why it has not gone may stay where it still serves.
    const able = entry.reason === undefined ? matches : [...matches, ...staying];
    const node = able.find((match) => dropletOf(match) === holder);
    const own = world.nodes().find(({ name }) => name === node?.name);
    const shown = own && marksOf(own, ipFamilyOf(pool.spec));
    if (node?.name !== entry.nodeName)
      return [
        {
          invariant: "P12",
          text: `${objectKey(pool.meta)}: ${ip} is active on ${entry.nodeName} by status, and on ${holder}`,
        },
      ];
    return shown !== undefined && shown.addressAnnotation === ip && shown.poolAnnotation === annotationOf(pool)
      ? []
      : [
          {
            invariant: "annotation",
            text: `${node?.name} holds ${ip} and is annotated ${shown?.addressAnnotation} of ${shown?.poolAnnotation}`,
          },
        ];
  });
}

/** A pool that has all it wants, and an error; or an error about a node that is none. */
function staleErrors(world: World, pool: Pool): readonly Violation[] {
  const { status, spec } = pool;
  const entries = Object.values(status.ips);
  const hasAll = entries.length >= spec.desiredIPs && entries.every(({ state }) => state === "active");
  const nodes = new Set(world.nodes().map(({ name }) => name));
  const lost = status.nodeErrors.filter((text) => /^n\d: /.test(text) && !nodes.has(text.slice(0, 2)));
  // What is wrong with a name is for a person to mend, and no affair of the addresses.
  // Nobody knows what became of a creation, though nothing is missing any more.
  const isOpen = status.pendingAcquisitions.length > 0;
  const isStale = hasAll && !isOpen && status.error !== undefined && spec.dnsRecordSet === undefined;
  const found = [...lost, ...(isStale && status.error !== undefined ? [status.error] : [])];
  return found.map((text) => ({ invariant: "status", text: `${objectKey(pool.meta)} still says: ${text}` }));
}

/** What an error says of a creation whose address only a person can tell. */
const UNTELLABLE = /several new addresses|status was lost while/;

/** What an error says where the last free addresses are kept for a pool that has none, also while that pool's node is unknown to the provider. */
const KEPT = /free address(es)? of the account (is|are) kept for /;

function hasNone({ status }: Pool): boolean {
  return status.acquired.length === 0;
}

/** A pool that could buy what it lacks, and does not. */
function shortfall(world: World, pool: Pool): readonly Violation[] {
  const { account, reserved_ips, reserved_ipv6 } = world.cloud.state;
  const bought = ipFamilyOf(pool.spec) === "IPv6" ? reserved_ipv6 : reserved_ips;
  const has = new Set([...pool.spec.ips, ...pool.status.acquired.map(({ ip }) => ip)]).size;
  const isHeld = pool.status.pendingAcquisitions.length > 0;
  const isAmbiguous = UNTELLABLE.test(pool.status.error ?? "") || pool.spec.suspend;
  if (isHeld && !isAmbiguous)
    return [{ invariant: "P12", text: `${objectKey(pool.meta)} waits for ever for the answer of a creation` }];
  const canBuy = bought.length < account.reserved_ip_limit && pool.spec.region !== "";
  const isKept = has > 0 && KEPT.test(pool.status.error ?? "") && world.pools().some(hasNone);
  if (isHeld || !canBuy || isKept || has >= pool.spec.desiredIPs) return [];
  return [
    { invariant: "P12", text: `${objectKey(pool.meta)} has ${has} of ${pool.spec.desiredIPs} addresses and buys none` },
  ];
}

/** Annotations that nobody's status stands behind. */
function annotations(world: World): readonly Violation[] {
  const pools = world.pools();
  const marks = IP_FAMILIES.flatMap((family) =>
    world.nodes().map((node) => ({ name: node.name, ...marksOf(node, family) })),
  );
  return marks.flatMap(({ name, addressAnnotation, poolAnnotation }) => {
    if (addressAnnotation === undefined || poolAnnotation === undefined) return [];
    const pool = pools.find((one) => annotationOf(one) === poolAnnotation);
    const isProtected = pools.some(
      (other) => isBlocked(other) && (isNamedBy(other, addressAnnotation) || annotationOf(other) === poolAnnotation),
    );
    const isShown = isStuck(world, addressAnnotation);
    const entry = pool?.status.ips[addressAnnotation];
    const isRight = entry?.state === "active" && entry.nodeName === name;
    return isRight || isProtected || isShown || pool?.meta.isDeleting === true
      ? []
      : [
          {
            invariant: "annotation",
            text: `${name} says ${addressAnnotation} of ${poolAnnotation}, where it is ${entry?.state}`,
          },
        ];
  });
}

/** Addresses the program bought, that exist, and that no object knows of. */
function leaks(simulation: Simulation): readonly Violation[] {
  const { world, monitor } = simulation;
  return [...monitor.records.bought.values()].flatMap(({ ip, key, uid }) => {
    const owner = world.pools().find(({ meta }) => meta.uid === uid);
    const isWaitedFor = owner !== undefined && mayBeAnswer(owner, ip);
    // By the manual another address on the machine of a lost answer is the answer's, also one that somebody moved there.
    const isMistaken = monitor.records.mistaken.has(uid);
    const isNamed =
      isMistaken ||
      monitor.records.told.has(ip) ||
      isWaitedFor ||
      world.pools().some((pool) => isNamedBy(pool, ip) || pool.status.error?.includes(ip) === true);
    if (world.address(ip) === undefined || owner === undefined || isNamed || monitor.records.handMoved.has(ip))
      return [];
    return [{ invariant: "leak", text: `${ip}, bought for ${key}, is named by no object` }];
  });
}

/** Objects that wait for their deletion although nothing is in the way. */
function stuckDeletions(world: World): readonly Violation[] {
  return world.pools().flatMap((pool) => {
    if (!pool.meta.isDeleting || isBlocked(pool) || !isValid(pool)) return [];
    const isForeign = pool.status.acquired.some(({ ip }) => {
      const holder = world.address(ip)?.droplet_id ?? undefined;
      return holder !== undefined && !world.nodes().some((node) => dropletOf(node) === holder);
    });
    const isOpen = pool.status.pendingAcquisitions.length > 0;
    const isShown = pool.status.acquired.some(({ ip }) => isStuck(world, ip));
    return isForeign || isOpen || isShown ? [] : [{ invariant: "P12", text: `${objectKey(pool.meta)} is never gone` }];
  });
}
