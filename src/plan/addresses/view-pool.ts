import type { ObjectRef, Place } from "../../model/action.ts";
import { type AcquiredIP, type Address, type AddressFact, CANONICAL, entryFault, UNREAD } from "../../model/address.ts";
import { annotatedNodes, annotatedOn } from "../../model/annotated.ts";
import { REFUSAL_REASONS } from "../../model/fault-reason.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Observation, ProviderFacts } from "../../model/observation.ts";
import type { Obstacle } from "../../model/plan.ts";
import type { ProviderRegistry } from "../../model/provider.ts";
import { compareText, type IPStatus, ipFamilyOf, managedIPs, ownerKey, type Pool } from "../../model/resource.ts";
import { suspensionOf } from "../../model/suspension.ts";
import { pastMs, timestamp } from "../../model/time.ts";
import { type NothingSelected, obstacle } from "../holds.ts";
import {
  type BadEntry,
  isNotOwn,
  isStaying,
  type ManagedIP,
  type NodeByMachine,
  type PendingResolution,
  type PoolView,
  servesNow,
  statusOf,
  type Verdicts,
  wasPlaced,
} from "../pool-view.ts";
import { Retries } from "../retries.ts";
import type { Validation } from "../validate.ts";
import { resolvePending, UNANSWERED_WATCH_MS } from "./acquire.ts";
import { type Claims, releasedOf, selectInUse, withServing } from "./claims.ts";
import { handedOverBy } from "./hand-over.ts";
import { successionOf } from "./named-address.ts";
import { servingStays, standingOf, withoutExcess } from "./position.ts";

/** What a view is built from, beside the pool. */
interface ViewContext {
  readonly observation: Observation;
  readonly claims: Claims;
  readonly held: PoolView["held"];
  readonly validation: Validation;
  readonly verdicts: Verdicts;
  /** What the pool asks for and nobody has; undefined while it selects something. */
  readonly emptyTarget: NothingSelected | undefined;
  /** Whether clients reach what runs on a node, whatever its labels and taints say. */
  readonly stillServes: (node: NodeFacts) => boolean;
  /** Whether a node is up, whoever asks. */
  readonly isUp: (node: NodeFacts) => boolean;
  /** Whether the object never wants a node, as long as its labels are as they are. */
  readonly isOutside: (node: NodeFacts) => boolean;
  /** Machine id → its node, as this pool sees it. */
  readonly nodeByMachine: NodeByMachine;
  /** Nodes whose machine cannot be read. */
  readonly machineless: readonly NodeFacts[];
  readonly isSelected: boolean;
  readonly withheld: PoolView["withheld"];
  readonly firewall: PoolView["firewall"];
  /** As of {@link PoolView}; `isDown` = the object has served, and serves nobody now. */
  readonly firewallObstacle: (place: Place, isDown: boolean) => Obstacle | undefined;
  readonly deadEnd: PoolView["deadEnd"] | undefined;
  /** Addresses that pools viewed earlier in this pass found again: each belongs to one of them. {@link viewPool} adds those of this pool. */
  readonly found: Set<string>;
}

/** Builds the view of one pool. Enters the addresses that it found again in `context.found`. */
export function viewPool(pool: Pool, context: ViewContext): PoolView {
  const { observation, claims, validation, verdicts } = context;
  const { spec } = pool;
  const { registry, observedAtMs } = observation;
  const object: ObjectRef = { kind: pool.kind, namespace: pool.meta.namespace, name: pool.meta.name };
  const facts = observation.providers.get(spec.provider);
  const isValid = validation.kind === "valid";
  const provider = isValid ? usable(facts) : undefined;
  const blocked = obstacleOf(pool, validation, facts);
  const suspended = suspensionOf(pool, observation.lease.suspension, observedAtMs);
  const found = findAgain(pool, provider, context);
  const abilities = abilitiesOf(spec, registry);
  const all = managedAddresses(pool, found.acquired, provider, facts, context);
  const managed = withoutExcess(all, { pool, ...abilities, nodeByMachine: context.nodeByMachine });
  const isDown =
    managed.every((address) => address.standing.kind === "free" && !servesNow(address)) &&
    managed.some((address) => hasLeft(pool, address));
  const listed = new Set(spec.ips).size;
  const left = { provider, claims, isServing: (address: Address) => servesThere(context, address) };
  const succession = isValid ? successionOf(pool, managed) : undefined;
  const desired = !isValid ? 0 : spec.desiredIPs > 0 ? spec.desiredIPs : listed;
  return {
    pool,
    key: ownerKey(object),
    object,
    nowMs: observedAtMs,
    readAtMs: observation.nodesReadAtMs,
    isSelected: context.isSelected,
    withheld: context.withheld,
    validation,
    held: context.held,
    ...(blocked === undefined ? {} : { blocked }),
    ...(suspended === undefined ? {} : { suspended }),
    provider,
    matches: verdicts.matches,
    notMatching: verdicts.notMatching,
    judgedUntilMs: Math.min(verdicts.untilMs, ...managed.map(graceUntilMs)),
    managed,
    badEntries: findBadEntries(spec),
    released: releasedOf(pool, new Set(managed.map(({ ip }) => ip)), left),
    handedOver: handedOver(pool, context),
    inUse: new Set(succession?.inUse ?? withServing(selectInUse(managed, desired, pool), managed)),
    ...(succession === undefined ? {} : { succession }),
    ...emptyTargetField(context.emptyTarget, pool, managed),
    desired,
    acquired: found.acquired.filter(({ ip }) => managed.some((address) => address.ip === ip)),
    pending: found.pending,
    retries: new Retries(pool.status.retries, observedAtMs),
    firewall: context.firewall,
    firewallObstacle: (place) => context.firewallObstacle(place, isDown),
    ...(context.deadEnd === undefined ? {} : { deadEnd: context.deadEnd }),
    isServedThere: left.isServing,
    ...abilities,
    machineOf: (id) => registry.machineID(spec.provider, id),
    providerIDOf: (machine) => registry.providerID(spec.provider, machine),
    regionOf: (node) => registry.regionOf(spec.provider, node),
    areaOf: (region) => registry.areaOf(spec.provider, region),
    placeOf: (machine) => {
      const nodeName = context.nodeByMachine.get(machine)?.name;
      return nodeName === undefined ? { machineID: machine } : { machineID: machine, nodeName };
    },
  };
}

/** What the provider of a pool can do, and what of the spec it cannot. */
function abilitiesOf(
  { provider, maxPerNode: asked, hostAddress = "External" }: Pool["spec"],
  registry: ProviderRegistry,
): Pick<PoolView, "maxPerNode" | "isForSeveral" | "isOnePerNode" | "buysUnattached" | "isMoveOneCall" | "hosts"> {
  const traits = registry.get(provider)?.addresses;
  const { addressesPerMachine = 1, isMoveOneCall = true, needsHost, buysUnattached } = traits ?? {};
  return {
    maxPerNode: registry.maxPerNode(provider, asked),
    ...(asked !== undefined && addressesPerMachine > 1 ? { isForSeveral: true } : {}),
    ...((asked ?? 0) > addressesPerMachine ? { isOnePerNode: true } : {}),
    ...(buysUnattached === true ? { buysUnattached } : {}),
    isMoveOneCall,
    ...(needsHost === true ? { hosts: hostAddress } : {}),
  };
}

/** True for an address at rest whose node matches, or still serves. */
function servesThere(context: ViewContext, address: Address): boolean {
  const { verdicts, stillServes } = context;
  return isAtRest(context, address, (node) => verdicts.of(node).kind === "match" || stillServes(node));
}

/** True for an address that nobody moves, on a node that fits. */
function isAtRest(
  { nodeByMachine }: ViewContext,
  { holderID, isLocked }: Address,
  fits: (node: NodeFacts) => boolean,
): boolean {
  const node = isLocked ? undefined : nodeByMachine.get(holderID ?? "");
  return node !== undefined && fits(node);
}

/** As of a {@link PoolView}. Of an object whose spec has a mistake nobody knows what it asks for: what it handed over serves where a node is up. */
function handedOver(pool: Pool, context: ViewContext): PoolView["handedOver"] {
  const { observation, claims, validation, isUp } = context;
  const { provider } = pool.spec;
  const isValid = validation.kind === "valid";
  return handedOverBy(pool, {
    provider: usable(observation.providers.get(provider)),
    claims,
    isServing: (address) => (isValid ? servesThere(context, address) : isAtRest(context, address, isUp)),
    machineOf: (id) => observation.registry.machineID(provider, id),
  });
}

function usable(facts: ProviderFacts | undefined): ProviderFacts | undefined {
  return facts?.unusable === undefined ? facts : undefined;
}

/** Nothing is said of it where nothing serves, or ever did: the application of a new pool is yet to come. */
function emptyTargetField(
  empty: NothingSelected | undefined,
  pool: Pool,
  managed: readonly ManagedIP[],
): Pick<PoolView, "emptyTarget"> {
  const isTold = managed.some((address) => isStaying(address) || hasLeft(pool, address));
  return empty !== undefined && isTold ? { emptyTarget: { ...empty, isServing: managed.some(isStaying) } } : {};
}

/** True for an address that served somewhere, and serves nowhere now. */
function hasLeft(pool: Pool, { ip, standing }: ManagedIP): boolean {
  return standing.kind === "free" && wasOnNode(pool, ip);
}

/** True for an address that the status has, or had, on a node. */
function wasOnNode(pool: Pool, ip: string): boolean {
  const entry = statusOf(pool, ip);
  return entry !== undefined && wasPlaced(entry);
}

/** Why nothing at all can be done for a pool in this pass; undefined when something can. */
function obstacleOf({ spec }: Pool, validation: Validation, facts: ProviderFacts | undefined): Obstacle | undefined {
  const refusal = facts?.unusable;
  const until = { notBeforeMs: refusal?.notBeforeMs };
  if (validation.kind === "blocked")
    return obstacle(validation.why.reason, validation.why.detail, { needsPerson: true, ...until });
  if (facts === undefined) return obstacle("ProviderUnavailable", `provider "${spec.provider}" was not read`);
  if (refusal === undefined) return undefined;
  const needsPerson = refusal.kind === "no-access";
  return obstacle(REFUSAL_REASONS[refusal.kind], refusal.message, { needsPerson, ...until });
}

/** The addresses that the pool manages, with their positions. An acquired one that the account does not have any more is forgotten, and one that it leaves to another object. */
function managedAddresses(
  pool: Pool,
  acquired: readonly AcquiredIP[],
  provider: ProviderFacts | undefined,
  facts: ProviderFacts | undefined,
  context: ViewContext,
): readonly ManagedIP[] {
  const { observation, claims, held, verdicts, nodeByMachine, machineless } = context;
  const key = ownerKey({ kind: pool.kind, ...pool.meta });
  const written = new Set(pool.spec.ips);
  const facing = {
    pool,
    held,
    machineOf: (id: string) => observation.registry.machineID(pool.spec.provider, id),
    key,
    nowMs: observation.nodesReadAtMs,
    nodeByMachine,
    machineless,
    verdictOf: verdicts.of,
    stillServes: context.stillServes,
    isUp: context.isUp,
    isOutside: context.isOutside,
    selectsNothing: context.emptyTarget !== undefined,
    claims,
  };
  const all = managedIPs({ ...pool, status: { ...pool.status, acquired } }).filter((ip) => !claims.isLeft(ip, key));
  const isWanted = !pool.meta.isDeleting && all.length <= pool.spec.desiredIPs;
  return all.flatMap((ip): readonly ManagedIP[] => {
    const entry = written.has(ip) ? undefined : acquired.find((one) => one.ip === ip);
    const read = provider?.addresses.get(ip) ?? goneOrUnread(ip, facts);
    // To forget one that the pool wants would be to buy another one.
    const isUnshown = read.kind === "gone" && isWanted && !wasOnNode(pool, ip) && isNew(entry, facing.nowMs);
    const standing = standingOf(ip, isUnshown ? UNSHOWN : read, facing);
    // With nobody to serve instead, what serves stays.
    const placed = (address: ManagedIP): ManagedIP =>
      context.emptyTarget === undefined ? address : servingStays(address);
    if (entry === undefined) return [placed({ ip, standing })];
    const isForgotten = standing.kind === "gone" && provider?.isComplete === true;
    return isForgotten ? [] : [placed({ ip, standing, acquired: { isAdopted: entry.adopted === true } })];
  });
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

/** True for an address that was bought so lately that neither the list nor a single read need show it yet. One that was found again was shown before. */
function isNew(entry: AcquiredIP | undefined, nowMs: number): boolean {
  const boughtMs = entry?.adopted === true ? undefined : pastMs(entry?.acquiredAt, nowMs);
  return boughtMs !== undefined && nowMs < boughtMs + UNANSWERED_WATCH_MS;
}

const UNSHOWN: AddressFact = {
  kind: "gap",
  error: "it was acquired a moment ago, and the provider does not show it yet",
};

/** Each entry once, however often the list has it. */
function findBadEntries({ ips: entries, ...spec }: Pool["spec"]): readonly BadEntry[] {
  const family = ipFamilyOf(spec);
  return [...Map.groupBy(entries, (entry) => entry)].flatMap(([entry, of]): readonly BadEntry[] => {
    const problem = entryFault(entry, family, "spec.ipFamily");
    return [
      ...(problem === undefined ? [] : [{ entry, fault: "invalid" as const, problem }]),
      ...(of.length === 1 ? [] : [{ entry, fault: "duplicate" as const }]),
    ];
  });
}

/** Addresses of lost answers, those that status still shows, and those that nodes' annotations name while status does not know them. */
function findAgain(
  pool: Pool,
  provider: ProviderFacts | undefined,
  context: ViewContext,
): { readonly acquired: readonly AcquiredIP[]; readonly pending: readonly PendingResolution[] } {
  const { observation, claims, found: taken, held } = context;
  if (provider === undefined) {
    return {
      acquired: pool.status.acquired,
      pending: pool.status.pendingAcquisitions.map(() => ({ kind: "waiting", untilMs: undefined })),
    };
  }
  const keepsOwner = observation.registry.get(provider.name)?.addresses?.keepsOwner === true;
  const ownerUID = keepsOwner ? pool.meta.uid : undefined;
  const isTaken = (ip: string): boolean => claims.isNamed(ip) || taken.has(ip);
  const answers = new Set<string>();
  const isListed = (ip: string): boolean => pool.spec.ips.includes(ip) && !answers.has(ip);
  const pending = pool.status.pendingAcquisitions.map((intent) => {
    const resolution = resolvePending(intent, {
      provider,
      ...(ownerUID === undefined ? {} : { ownerUID }),
      machineOf: (id) => observation.registry.machineID(provider.name, id),
      isNamed: isTaken,
      isListed,
      mayRestore: held.mayRestore ?? (() => true),
      nowMs: observation.observedAtMs,
    });
    if (resolution.kind === "found") taken.add(resolution.acquired.ip);
    if (resolution.kind === "listed") answers.add(resolution.ip);
    return resolution;
  });
  const answered = pending.flatMap((one) => (one.kind === "found" ? [one.acquired] : []));
  const unanswered = pool.status.pendingAcquisitions.filter((_, index) => pending[index]?.kind === "waiting");
  // What such an acquisition may have brought is its answer, once it counts.
  const isAwaited = (ip: string): boolean => unanswered.some(({ knownIPs }) => !knownIPs.includes(ip));
  const shown = [...answered, ...shownAgain(pool, answered, context)];
  const more = [...shown, ...annotated(pool, shown, provider, context, isTaken)];
  const isOthers = (ip: string): boolean => isTaken(ip) || isAwaited(ip);
  const before = boughtBefore(pool, more, { provider, ownerUID, isTaken: isOthers, context });
  return {
    acquired: [...pool.status.acquired, ...more, ...before],
    pending,
  };
}

/**
 * Addresses that the provider says were bought for the pool, and that nobody remembers: status and annotation were lost. They are used before others are bought. Sorted by
 * text.
 */
function boughtBefore(
  pool: Pool,
  more: readonly AcquiredIP[],
  {
    provider,
    ownerUID,
    isTaken,
    context,
  }: {
    readonly provider: ProviderFacts;
    readonly ownerUID: string | undefined;
    readonly isTaken: (ip: string) => boolean;
    readonly context: ViewContext;
  },
): readonly AcquiredIP[] {
  const missing = missingOf(pool, more);
  if (ownerUID === undefined || missing <= 0 || pool.meta.isDeleting) return [];
  const acquiredAt = timestamp(context.observation.observedAtMs);
  const isOwn = ({ ip, boughtFor }: Address): boolean =>
    boughtFor === ownerUID && !isTaken(ip) && more.every((one) => one.ip !== ip);
  const found = [...provider.addresses.values()]
    .flatMap((fact) => (fact.kind === "known" && isOwn(fact.address) ? [fact.address.ip] : []))
    .filter(context.held.mayRestore ?? (() => true));
  return found
    .toSorted(compareText)
    .slice(0, missing)
    .map((ip) => ({ ip, acquiredAt, adopted: true }));
}

/** How many addresses a pool would lack that has acquired these, too. */
function missingOf({ spec, status, ...pool }: Pool, more: readonly AcquiredIP[]): number {
  const acquired = [...status.acquired, ...more];
  return spec.desiredIPs - managedIPs({ ...pool, spec, status: { ...status, acquired } }).length;
}

function shownAgain(
  pool: Pool,
  more: readonly AcquiredIP[],
  { observation, claims, found, held }: ViewContext,
): readonly AcquiredIP[] {
  const acquiredAt = timestamp(observation.observedAtMs);
  const isFree = (ip: string): boolean => claims.ownerOf(ip) === undefined && !found.has(ip);
  const acquired = shownAcquired(pool).filter(isFree);
  const missing = missingOf(pool, more) - acquired.length;
  const unlisted = shownUnlisted(pool)
    .filter((ip) => isFree(ip) && !acquired.includes(ip) && (held.mayRestore?.(ip) ?? true))
    .slice(0, Math.max(missing, 0));
  const lost = [...acquired, ...unlisted].toSorted(compareText);
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
  const missing = missingOf(pool, more);
  if (missing <= 0 || pool.meta.isDeleting) return [];
  const acquiredAt = timestamp(context.observation.observedAtMs);
  const found = annotatedNodes(context.observation.nodes).flatMap((node) => {
    const own = annotatedOn(node).filter(({ ip, owner }) => owner === key && !isTaken(ip));
    const machine =
      own.length === 0 ? undefined : context.observation.registry.machineID(provider.name, node.providerID);
    return own.flatMap(({ ip }) => {
      const fact = provider.addresses.get(ip);
      const isThere = fact?.kind === "known" && machine !== undefined && fact.address.holderID === machine;
      return isThere ? [{ ip, acquiredAt, adopted: true }] : [];
    });
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
  return isOfThisSpec ? shownBeside({ meta, spec, status }).map(([ip]) => ip) : [];
}

/**
 * Addresses that a pool has by its status, and that its list had: an empty list takes nothing away. A manifest says `ips: []` where the Go operator has written into the stored list
 * what it bought. Those that serve come first, else sorted by text. Pure.
 */
function shownUnlisted({ kind, ...pool }: Pool): readonly string[] {
  if (kind === "routedip" || pool.spec.ips.length > 0) return [];
  const own = shownBeside(pool).filter(([, { fault }]) => fault !== "gone" && fault !== "foreign");
  const rank = ({ state }: IPStatus): number => (state === "active" ? 0 : state === "in-progress" ? 1 : 2);
  return own.toSorted(([, a], [, b]) => rank(a) - rank(b)).map(([ip]) => ip);
}

/** What a status has as the pool's own and neither the list nor the memory of what was acquired or released has. Sorted by text. */
function shownBeside({
  meta,
  spec,
  status,
}: Pick<Pool, "meta" | "spec" | "status">): readonly (readonly [string, IPStatus])[] {
  if (meta.isDeleting) return [];
  const listed = new Set(spec.ips);
  const canonical = CANONICAL[ipFamilyOf(spec)];
  const known = new Set([...status.acquired, ...status.released].map(({ ip }) => ip));
  return Object.entries(status.ips)
    .filter(([ip, entry]) => !isNotOwn(entry) && canonical(ip) === ip && !listed.has(ip) && !known.has(ip))
    .toSorted(([a], [b]) => compareText(a, b));
}
