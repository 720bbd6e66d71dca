import type { ObjectRef, Place } from "../../model/action.ts";
import { type AcquiredIP, type AddressFact, canonicalIPv4 } from "../../model/address.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation, ProviderFacts } from "../../model/observation.ts";
import type { NodeVerdict } from "../../model/plan.ts";
import { compareText, ownerKey, type Pool } from "../../model/resource.ts";
import { timestamp } from "../../model/time.ts";
import { type FirewallContext, type FirewallTarget, firewallTarget } from "../firewalls/firewall-target.ts";
import { judgeNodes, type MachineNodes, nodeByMachine } from "../nodes/judge-nodes.ts";
import { type Validation, validatePool } from "../validate.ts";
import { type IntentResolution, resolveIntent } from "./acquisition-intent.ts";
import { type Claims, type ManagedIP, managedIPs, type Released, releasedOf, selectInUse } from "./claims.ts";
import { type Succession, successionOf } from "./named-address.ts";
import { type MachineOf, standingOf } from "./position.ts";

/** An entry of `spec.ips` that cannot be used. */
export interface BadEntry {
  readonly entry: string;
  readonly fault: "invalid" | "duplicate";
}

/** Everything the planner works out about one pool before it decides who gets what. */
export interface PoolView {
  readonly pool: Pool;
  /** As {@link ownerKey} names it. */
  readonly key: string;
  readonly object: ObjectRef;
  /** False when the run may not write for it: other namespace, other target. */
  readonly isSelected: boolean;
  readonly validation: Validation;
  /** Undefined when the provider is unknown or not usable in this pass. */
  readonly provider: ProviderFacts | undefined;
  /** Why the provider is not usable, when it is not. */
  readonly unusable: ProviderFacts["unusable"];
  /** Nodes that match, sorted by name. */
  readonly matches: readonly NodeFacts[];
  readonly notMatching: readonly NodeVerdict[];
  /** When time alone may change which nodes match, or end a grace, milliseconds; `Infinity` = never. */
  readonly judgedUntilMs: number;
  readonly managed: readonly ManagedIP[];
  readonly badEntries: readonly BadEntry[];
  readonly released: readonly Released[];
  /** Managed addresses in use. */
  readonly inUse: ReadonlySet<string>;
  /** Set while a RoutedIP uses the address that was bought for it although its spec names another one. */
  readonly succession?: Succession;
  readonly desired: number;
  /** Acquired addresses, those just found again included; the ones that are gone excluded. */
  readonly acquired: readonly AcquiredIP[];
  /** One per pending acquisition of the status, in its order. */
  readonly intents: readonly IntentResolution[];
  readonly firewall: FirewallTarget;
  /** The machine of a provider ID; undefined if the id is none of the pool's provider. */
  readonly machineOf: MachineOf;
  /** The provider ID of a machine of the pool's provider. */
  readonly providerIDOf: (machineID: string) => string;
  /** The region or zone of a node, as the pool's provider tells them apart; `""` if the node does not say. */
  readonly regionOf: (node: NodeFacts) => string;
  /** Names a machine of the pool's provider, with its node where it is one. */
  readonly placeOf: (machineID: string) => Place;
}

/** What all views of a pass share. */
interface ViewContext {
  readonly observation: Observation;
  readonly claims: Claims;
  /** The nodes of each machine of a provider. */
  readonly machinesOf: (provider: string) => MachineNodes;
  readonly isSelected: (pool: Pool) => boolean;
  readonly firewalls: FirewallContext;
  /** Addresses that pools viewed earlier in this pass found again: each belongs to one of them. */
  readonly found: Set<string>;
}

const UNREAD: AddressFact = { kind: "gap", error: "it was not read" };

/** Builds the view of one pool. Pure. */
export function viewPool(pool: Pool, context: ViewContext): PoolView {
  const { observation, claims } = context;
  const object: ObjectRef = { kind: pool.kind, namespace: pool.meta.namespace, name: pool.meta.name };
  const key = ownerKey(object);
  const validation = validatePool(pool, observation);
  const facts = observation.providers.get(pool.spec.provider);
  const provider = validation.kind === "valid" && facts?.unusable === undefined ? facts : undefined;
  const found = findAgain(pool, provider, context);
  const verdicts = judgeNodes(pool, validation, observation);
  const machines = context.machinesOf(pool.spec.provider);
  const nodes = nodeByMachine(machines, verdicts.of);
  const machineOf = (id: string): string | undefined => observation.registry.machineID(pool.spec.provider, id);
  const written = new Set(pool.spec.ips);
  const managed = managedIPs({ ...pool, status: { ...pool.status, acquired: found.acquired } }).map((ip) => {
    const acquired = written.has(ip) ? undefined : found.acquired.find((entry) => entry.ip === ip);
    const standing = standingOf(ip, provider?.addresses.get(ip) ?? goneOrUnread(ip, facts), {
      pool,
      machineOf,
      key,
      nowMs: observation.nodesReadAtMs,
      nodeByMachine: nodes,
      machineless: machines.machineless,
      verdictOf: verdicts.of,
      ownerOf: (address) => claims.ownerOf(address) ?? key,
    });
    return acquired === undefined
      ? { ip, standing }
      : { ip, standing, acquired: { isAdopted: acquired.adopted === true } };
  });
  const isForgotten = ({ acquired, standing }: ManagedIP): boolean =>
    acquired !== undefined && standing.kind === "gone" && provider?.isComplete === true;
  const remaining = managed.filter((address) => !isForgotten(address));
  const badEntries = findBadEntries(pool.spec.ips);
  const isValid = validation.kind === "valid";
  const listed = new Set(pool.spec.ips.map((entry) => canonicalIPv4(entry) ?? entry)).size;
  const succession = isValid ? successionOf(pool, remaining) : undefined;
  const desired = !isValid ? 0 : pool.spec.desiredIPs > 0 ? pool.spec.desiredIPs : listed;
  return {
    pool,
    key,
    object,
    isSelected: context.isSelected(pool),
    validation,
    provider,
    unusable: facts?.unusable,
    matches: verdicts.matches,
    notMatching: verdicts.notMatching,
    judgedUntilMs: Math.min(verdicts.untilMs, ...remaining.map(graceUntilMs)),
    managed: remaining,
    badEntries,
    released: releasedOf(pool, new Set(remaining.map(({ ip }) => ip)), provider, claims),
    inUse: succession === undefined ? selectInUse(remaining, desired, pool) : new Set(succession.inUse),
    ...(succession === undefined ? {} : { succession }),
    desired,
    acquired: found.acquired.filter(({ ip }) => remaining.some((address) => address.ip === ip)),
    intents: found.intents,
    firewall: firewallTarget(pool, context.firewalls),
    machineOf,
    providerIDOf: (machine) => observation.registry.providerID(pool.spec.provider, machine),
    regionOf: (node) => observation.registry.regionOf(pool.spec.provider, node),
    placeOf: (machine) => {
      const nodeName = nodes.get(machine)?.name;
      return nodeName === undefined ? { machineID: machine } : { machineID: machine, nodeName };
    },
  };
}

function graceUntilMs({ standing }: ManagedIP): number {
  const unready = standing.kind === "placed" ? standing.unready : undefined;
  return unready?.graceUntilMs ?? Number.POSITIVE_INFINITY;
}

/** Of a pool that cannot be worked on nothing is known, except that an address which does not exist serves nowhere. */
function goneOrUnread(ip: string, facts: ProviderFacts | undefined): AddressFact {
  const fact = facts?.addresses.get(ip);
  return fact?.kind === "gone" ? fact : UNREAD;
}

/** How many places are filled or spoken for when deciding to buy: every managed address, bad entries, and creations without an answer. */
export function countedIPs(view: PoolView): number {
  const invalid = view.badEntries.filter(({ fault }) => fault === "invalid").length;
  const open = view.intents.filter(({ kind }) => kind === "waiting" || kind === "ambiguous").length;
  return view.managed.length + invalid + open;
}

function findBadEntries(entries: readonly string[]): readonly BadEntry[] {
  const seen = new Set<string>();
  return entries.flatMap((entry): readonly BadEntry[] => {
    const isDuplicate = seen.has(entry);
    seen.add(entry);
    if (isDuplicate) return [{ entry, fault: "duplicate" }];
    return canonicalIPv4(entry) === undefined ? [{ entry, fault: "invalid" }] : [];
  });
}

/** Addresses of lost answers, those that status still shows, and those that nodes' annotations name while status does not know them. */
function findAgain(
  pool: Pool,
  provider: ProviderFacts | undefined,
  context: ViewContext,
): { readonly acquired: readonly AcquiredIP[]; readonly intents: readonly IntentResolution[] } {
  const { observation, claims, found: taken } = context;
  if (provider === undefined) {
    return {
      acquired: pool.status.acquired,
      intents: pool.status.pendingAcquisitions.map(() => ({ kind: "waiting", untilMs: undefined })),
    };
  }
  const isTaken = (ip: string): boolean => claims.isNamed(ip) || taken.has(ip);
  const answers = new Set<string>();
  const isListed = (ip: string): boolean => pool.spec.ips.includes(ip) && !answers.has(ip);
  const intents = pool.status.pendingAcquisitions.map((intent) => {
    const resolution = resolveIntent(intent, {
      provider,
      machineOf: (id) => observation.registry.machineID(provider.name, id),
      isNamed: isTaken,
      isListed,
      nowMs: observation.observedAtMs,
    });
    if (resolution.kind === "found") taken.add(resolution.acquired.ip);
    if (resolution.kind === "listed") answers.add(resolution.ip);
    return resolution;
  });
  const answered = intents.flatMap((intent) => (intent.kind === "found" ? [intent.acquired] : []));
  const shown = shownAgain(pool, context);
  const more = [...answered, ...shown];
  return {
    acquired: [...pool.status.acquired, ...answered, ...shown, ...annotated(pool, more, provider, context, isTaken)],
    intents,
  };
}

function shownAgain(pool: Pool, { observation, claims, found }: ViewContext): readonly AcquiredIP[] {
  const acquiredAt = timestamp(observation.observedAtMs);
  const lost = shownAcquired(pool).filter((ip) => claims.ownerOf(ip) === undefined && !found.has(ip));
  for (const ip of lost) found.add(ip);
  return lost.map((ip) => ({ ip, acquiredAt, adopted: true }));
}

function annotated(
  pool: Pool,
  more: readonly AcquiredIP[],
  provider: ProviderFacts,
  context: ViewContext,
  isTaken: (ip: string) => boolean,
): readonly AcquiredIP[] {
  const key = ownerKey({ kind: pool.kind, ...pool.meta });
  const acquired = [...pool.status.acquired, ...more];
  const missing = pool.spec.desiredIPs - managedIPs({ ...pool, status: { ...pool.status, acquired } }).length;
  if (missing <= 0 || pool.meta.isDeleting) return [];
  const acquiredAt = timestamp(context.observation.observedAtMs);
  const found = context.observation.nodes.flatMap((node) => {
    const ip = node.addressAnnotation;
    if (ip === undefined || node.poolAnnotation !== key || isTaken(ip)) return [];
    const fact = provider.addresses.get(ip);
    if (fact?.kind !== "known" || fact.address.holderID === undefined) return [];
    return context.observation.registry.machineID(provider.name, node.providerID) === fact.address.holderID
      ? [{ ip, acquiredAt, adopted: true }]
      : [];
  });
  return found.slice(0, missing);
}

/**
 * Addresses that a pool must have acquired although the list of those does not have them any more: the status, made from this very spec by a pass that
 * looked at the addresses, shows them as managed, and the spec does not list them. After an edit they may as well have left the spec. Sorted by text. Pure.
 */
function shownAcquired({ meta, spec, status }: Pool): readonly string[] {
  const ready = status.conditions.find(({ type }) => type === "Ready");
  const isOfThisSpec = status.observedGeneration === meta.generation && ready?.hasAddresses === true;
  if (!isOfThisSpec || meta.isDeleting) return [];
  const listed = new Set(spec.ips.map((entry) => canonicalIPv4(entry) ?? entry));
  const known = new Set([...status.acquired, ...status.released].map(({ ip }) => ip));
  return Object.entries(status.ips)
    .filter(([ip, { fault }]) => fault !== "conflict" && canonicalIPv4(ip) === ip && !listed.has(ip) && !known.has(ip))
    .map(([ip]) => ip)
    .toSorted(compareText);
}
