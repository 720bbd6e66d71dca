import { type ObjectRef, refKey } from "../model/action.ts";
import type { Gate } from "../model/explanation.ts";
import type { NodeFacts } from "../model/node.ts";
import { isSamePlace } from "../plan/addresses/assign.ts";
import type { Obstacle, Statement } from "./counterfactual.ts";
import {
  acquiringGates,
  addressGates,
  approvalGates,
  ipOf,
  maxPerNode,
  nameGates,
  nodeGates,
  objectGates,
  type Planned,
  poolOf,
  raisedMaxPerNode,
  type Seen,
  seenIn,
  takingGates,
} from "./gates.ts";
import { type Concern, remediesOf } from "./remedies.ts";

/** From when and how far ahead a statement is looked for, milliseconds. */
export interface Ahead {
  readonly fromMs: number;
  readonly horizonMs: number;
}

/** "The address is active on the node." */
export function pairStatement(ref: ObjectRef, ip: string, node: string, ahead: Ahead): Statement {
  return about(ref, ahead, {
    isTrue: (seen) => isActive(seen, ip) && ipOf(seen, ip)?.nodeName === node,
    gates: (seen) => [
      ...shutGates(objectGates(seen)),
      ...onlyOf(addressGates(seen, ip), "address", "in-use").map((gate) => ({ gate, ip })),
      ...obstaclesOfNode(seen, node, ip),
      ...shutOf(addressGates(seen, ip, node)).map((gate) => ({ gate, ip, node })),
    ],
  });
}

/** "The address is active." */
export function addressStatement(ref: ObjectRef, ip: string, ahead: Ahead): Statement {
  return about(ref, ahead, { isTrue: (seen) => isActive(seen, ip), gates: (seen) => addressObstacles(seen, ip) });
}

/** "The node matches." */
export function nodeStatement(ref: ObjectRef, node: string, ahead: Ahead): Statement {
  return about(ref, ahead, {
    isTrue: ({ assessment }) => assessment.matching.includes(node),
    gates: (seen) => [
      ...onlyOf(objectGates(seen), "spec").map((gate) => ({ gate })),
      ...obstaclesOfNode(seen, node).filter(({ gate }) => gate.id !== "free"),
    ],
  });
}

/** "As many addresses are active as the object is to have", and its name shows them; of a record set only the name. */
export function objectStatement(ref: ObjectRef, ahead: Ahead): Statement {
  return about(ref, ahead, { isTrue: isAsDesired, gates: objectObstacles });
}

/** "The name's records are as desired, and there are some." */
export function nameStatement(ref: ObjectRef, ahead: Ahead): Statement {
  return about(ref, ahead, { isTrue: isPublished, gates: objectObstacles });
}

/** Returns the gates that keep an object's addresses from being active, each once, with the first address that it is shut for. Pure. */
export function shortAddressGates(seen: Seen): readonly Gate[] {
  const gates = shutOf(objectGates(seen)).length > 0 ? [] : inactiveOf(seen).flatMap((ip) => shutAbout(seen, ip));
  return gates.filter(({ id }, at) => id !== "approval" && gates.findIndex((gate) => gate.id === id) === at);
}

function shutAbout(seen: Seen, ip: string): readonly Gate[] {
  return shutOf(addressGates(seen, ip)).map((gate) => ({ ...gate, about: ip }));
}

/** The addresses in use that are not active. */
function inactiveOf(seen: Seen): readonly string[] {
  const ips = Object.keys(poolOf(seen)?.status.ips ?? {});
  return ips.filter((ip) => !isActive(seen, ip) && ipOf(seen, ip)?.state !== "disabled");
}

/** True where the address serves on a node that matches. Pure. */
export function isActive(seen: Pick<Seen, "assessment">, ip: string): boolean {
  const entry = ipOf(seen, ip);
  return (
    entry?.state === "active" &&
    (entry.nodeName === undefined || (poolOf(seen)?.matching ?? []).includes(entry.nodeName))
  );
}

/** Returns how many addresses of a pool serve on nodes that match. Pure. */
export function activeCount(seen: Seen): number {
  return Object.keys(poolOf(seen)?.status.ips ?? {}).filter((ip) => isActive(seen, ip)).length;
}

/** True where the object has what its spec asks for. Pure. */
function isAsDesired(seen: Seen): boolean {
  const pool = poolOf(seen);
  if (pool === undefined) return isPublished(seen);
  const isServed = pool.blocked === undefined && activeCount(seen) >= pool.desired;
  return isServed && (pool.dns === undefined || isPublished(seen));
}

/** True where the records of the object's name are as they should be, and there are some. Pure. */
function isPublished(seen: Seen): boolean {
  const { assessment, object } = seen;
  const others = "desired" in assessment ? undefined : assessment.ipv6;
  const isRight = assessment.drift === 0 && (others === undefined || others.drift === 0);
  if (object.spec.dnsRecordSet === undefined || !isRight) return false;
  const pool = poolOf(seen);
  return pool === undefined ? assessment.matching.length > 0 : activeCount(seen) > 0;
}

/** Returns the names that an object publishes, with how many records of each differ; none where they are not known. Pure. */
export function namesOf({ assessment }: Pick<Seen, "assessment">): readonly ShownSet[] {
  const sets =
    "desired" in assessment
      ? [{ fqdn: assessment.dns?.fqdn, drift: assessment.drift }]
      : [assessment, assessment.ipv6 ?? []].flat();
  return sets.flatMap(({ fqdn, drift }) => (fqdn === undefined ? [] : [{ fqdn, drift }]));
}

/** A set of records that an object publishes. */
interface ShownSet {
  /** As `setText` has it. */
  readonly fqdn: string;
  /** How many of its records differ from what they should be; undefined when that is not known. */
  readonly drift: number | undefined;
}

interface Found {
  readonly gate: Gate;
  readonly ip?: string;
  readonly node?: string;
}

function about(
  ref: ObjectRef,
  ahead: Ahead,
  of: { readonly isTrue: (seen: Seen) => boolean; readonly gates: (seen: Seen) => readonly Found[] },
): Statement {
  return {
    isTrue: (planned: Planned) => {
      const seen = seenIn(planned, ref);
      return seen !== undefined && of.isTrue(seen);
    },
    obstacles: (planned) => {
      const seen = seenIn(planned, ref);
      return seen === undefined ? [] : of.gates(seen).map((found) => obstacleOf(found, seen, ahead));
    },
  };
}

function obstacleOf({ gate, ...about }: Found, seen: Seen, ahead: Ahead): Obstacle {
  const concern: Concern = { seen, ...ahead, ...about };
  return { gate, remedies: remediesOf(gate, concern) };
}

function shutGates(gates: readonly Gate[]): readonly Found[] {
  return shutOf(gates).map((gate) => ({ gate }));
}

function shutOf(gates: readonly Gate[]): readonly Gate[] {
  return gates.filter(({ pass, isUnread }) => pass === false || isUnread === true);
}

function onlyOf(gates: readonly Gate[], ...ids: readonly Gate["id"][]): readonly Gate[] {
  return shutOf(gates).filter(({ id }) => ids.includes(id));
}

function obstaclesOfNode(seen: Seen, name: string, ip?: string): readonly Found[] {
  const node = seen.world.nodes.find((one) => one.name === name);
  return node === undefined ? [] : nodeObstacles(seen, node, ip);
}

function nodeObstacles(seen: Seen, node: NodeFacts, ip?: string): readonly Found[] {
  const { name } = node;
  const gates = shutOf([...nodeGates(seen, node), ...takingGates(seen, name, ip)]);
  // A machine that can never have an address comes first: whatever else its node lacks would be mended for nothing.
  const sorted = gates.toSorted((a, b) => Number(b.id === "machine") - Number(a.id === "machine"));
  return sorted.map((gate) => ({ gate, node: name, ...(ip === undefined ? {} : { ip }) }));
}

/** What keeps an address from being active anywhere: its own gates, else those of the node that lacks least. A node in the address's region opens the gate `region`. */
function addressObstacles(seen: Seen, ip: string): readonly Found[] {
  const own = [...shutGates(objectGates(seen)), ...shutOf(addressGates(seen, ip)).map((gate): Found => ({ gate, ip }))];
  return own.some(({ gate }) => gate.id !== "region") ? own : [...nearestNode(seen, ip), ...own];
}

/**
 * The obstacles of the node whose gates are opened most easily, of those first that are not full with addresses of other objects; nodes that have another address of the object are
 * no use unless the object can allow them more, and nodes where the address cannot go are none.
 */
function nearestNode(seen: Seen, ip?: string): readonly Found[] {
  const used = new Set(
    Object.entries(poolOf(seen)?.status.ips ?? {}).flatMap(([other, { state, nodeName }]) =>
      other !== ip && state === "active" && nodeName !== undefined ? [nodeName] : [],
    ),
  );
  const canStack = raisedMaxPerNode(seen) !== undefined;
  const isTaken = takenByOthers(seen, ip);
  const ranked = seen.world.nodes
    .filter((node) => (canStack || !used.has(node.name)) && (ip === undefined || isWithinReach(seen, ip, node)))
    .map((node) => ({ found: nodeObstacles(seen, node, ip), cost: costOf(seen, node, ip), isTaken: isTaken(node) }))
    .filter(({ found, cost }) => found.length > 0 && cost < Number.POSITIVE_INFINITY)
    .toSorted((a, b) => Number(a.isTaken) - Number(b.isTaken) || a.cost - b.cost);
  return ranked[0]?.found ?? [];
}

/** Returns what says of a node whether its machine has as many addresses of other objects as it may: one of these would have to go first, whether the node matches or not. */
function takenByOthers(seen: Seen, ip: string | undefined): (node: NodeFacts) => boolean {
  const { world, ref, object } = seen;
  const { provider } = object.spec;
  const others = world.pools.filter(({ kind, meta }) => refKey({ ...meta, kind }) !== refKey(ref));
  const named = new Set(others.flatMap(({ spec, status }) => [...spec.ips, ...Object.keys(status.ips)]));
  const counts = new Map<string, number>();
  for (const [address, fact] of world.providers.get(provider)?.addresses ?? []) {
    const holder = fact.kind === "known" && address !== ip && named.has(address) ? fact.address.holderID : undefined;
    if (holder !== undefined) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  }
  const most = maxPerNode(seen);
  return ({ providerID }) => (counts.get(world.registry.machineID(provider, providerID) ?? "") ?? 0) >= most;
}

/** True where the provider lets the address go to the node, or one of their regions is not known. */
function isWithinReach({ world, object }: Seen, ip: string, node: NodeFacts): boolean {
  const { provider } = object.spec;
  const fact = world.providers.get(provider)?.addresses.get(ip);
  const region = fact?.kind === "known" ? fact.address.region : "";
  const areaOf = (place: string): string => world.registry.areaOf(provider, place);
  return isSamePlace(areaOf(region), { region: areaOf(world.registry.regionOf(provider, node)) });
}

function costOf(seen: Seen, node: NodeFacts, ip?: string): number {
  const costs = nodeObstacles(seen, node, ip).map(({ gate, ...about }) => {
    const [cheapest] = remediesOf(gate, { seen, ...about, fromMs: 0, horizonMs: Number.POSITIVE_INFINITY });
    return cheapest === undefined ? Number.POSITIVE_INFINITY : cheapest.cost + 1;
  });
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** Looks no further than to the first: a world may have a thousand nodes for each address. */
function firstObstacle(seen: Seen, ips: readonly string[]): readonly Found[] {
  for (const ip of ips) {
    const [found] = addressObstacles(seen, ip);
    if (found !== undefined) return [found];
  }
  return [];
}

function objectObstacles(seen: Seen): readonly Found[] {
  const own = shutGates(objectGates(seen));
  if (own.some(({ gate }) => gate.id !== "selects")) return own;
  const pool = poolOf(seen);
  if (pool !== undefined && activeCount(seen) < pool.desired) {
    const acquiring = shutGates(acquiringGates(seen));
    // A node that can take the new address opens the gate `region`.
    const nearest = acquiring.some(({ gate }) => gate.id === "region") ? nearestNode(seen) : [];
    return [...firstObstacle(seen, inactiveOf(seen)), ...nearest, ...acquiring];
  }
  const named = shutGates([...nameGates(seen, namesOf(seen)), ...approvalGates(seen)]);
  // One node that matches would take the others from the name, which serve: the selector is what is wrong.
  if (pool === undefined && own.length > 0) return [...own, ...named];
  return [...(seen.assessment.matching.length === 0 ? nearestNode(seen) : []), ...named];
}
