import { type AssignIP, refKey } from "../model/action.ts";
import { ipSubject } from "../model/retry-subject.ts";
import type { ShownName } from "./drain.ts";
import type { LettingIn } from "./firewalls/plan-firewalls.ts";
import { type PoolView, type Standing, servesNow, statusOf } from "./pool-view.ts";

/*
 * Which addresses serve: now, and once the plan is carried out. An address serves if it is on a match, and its firewall lets clients in there.
 */

/** Returns by object, as {@link refKey}, the addresses that it manages, or released, and that clients reach at this moment: on a match, or where they still serve. Pure. */
export function servingNow(views: readonly PoolView[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(views.map((view) => [refKey(view.object), servingOf(view)]));
}

function servingOf({ managed, released }: PoolView): ReadonlySet<string> {
  const placed = managed.flatMap((address) => (servesNow(address) ? [address.ip] : []));
  return new Set([...placed, ...released.flatMap(({ ip, isServing }) => (isServing ? [ip] : []))]);
}

/** Returns all addresses that serve at this moment: those of {@link servingNow}, and what serves clients of an object that handed it over, or is gone, on the node where that one left it. Pure. */
export function servingAnywhere(
  views: readonly PoolView[],
  servedBy: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const own = [...servedBy.values()].flatMap((ips) => [...ips]);
  const left = views.flatMap(({ inherited = [], handedOver }) => [
    ...inherited,
    ...handedOver.flatMap(({ ip, isServing }) => (isServing ? [ip] : [])),
  ]);
  return new Set([...own, ...left]);
}

/**
 * Returns the addresses of objects that go which are all that a name has for certain, with the name: whether clients reach its others nobody knows, since their firewall
 * is closed, missing or not to be changed. They cannot leave the name yet. Pure.
 */
export function lastForCertain(
  views: readonly PoolView[],
  names: readonly ShownName[],
  serving: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const doubtful = new Set(
    views.flatMap((view) =>
      view.managed.flatMap(({ ip, standing }) =>
        standing.kind === "placed" && view.firewallObstacle(standing.on) !== undefined ? [ip] : [],
      ),
    ),
  );
  const going = doubtful.size === 0 ? [] : views.filter(({ pool }) => pool.meta.isDeleting);
  return new Map(
    going.flatMap(({ managed }) =>
      managed.flatMap(({ ip }) => {
        const name = names.find(({ addresses }) => {
          const others = addresses.filter((other) => other !== ip);
          const isCertain = others.some((other) => serving.has(other) && !doubtful.has(other));
          return addresses.includes(ip) && others.some((other) => doubtful.has(other)) && !isCertain;
        });
        return name === undefined ? [] : [[ip, name.fqdn] as const];
      }),
    ),
  );
}

/** The addresses an object has to publish. */
export interface ServedAddresses {
  /** Address → ids of the actions of this plan that must have succeeded first; none when it serves already. */
  readonly serving: ReadonlyMap<string, readonly string[]>;
  /** Neither added nor removed: could not be read, or on its way. */
  readonly undecided: ReadonlySet<string>;
  /** Those of {@link serving} that did not come where they would serve when it was tried last: that it goes well now is not to be expected. Absent = none. */
  readonly failed?: ReadonlySet<string>;
  /** Those of {@link serving} that serve nobody, and stay in a name that shows them until something serves instead. They enter no name. Absent = none. */
  readonly lasting?: ReadonlySet<string>;
  /** Set where the object has an address to publish before long, though nobody can say which, or where. It waits for no person, but for the permissions of a token. */
  readonly isComing?: true;
}

/** Returns what a pool publishes: its addresses in use that serve, or will after what this plan does. Undecided addresses stay as they are. Pure. */
export function poolAddresses(view: PoolView, assignments: readonly AssignIP[], lettingIn: LettingIn): ServedAddresses {
  const serving = new Map<string, readonly string[]>();
  const undecided = new Set<string>();
  const enter = ([ip, fact]: readonly [ip: string, fact: VerifiedAddress]): void => {
    if (fact.kind === "undecided") undecided.add(ip);
    if (fact.kind === "on-node") serving.set(ip, fact.after);
  };
  for (const { ip, standing } of view.managed.filter((address) => view.inUse.has(address.ip)))
    enter([ip, verify(view, standing, lettingIn)]);
  for (const ip of view.staying ?? []) serving.set(ip, []);
  const lasting = new Set(view.staying).difference(servingOf(view));
  for (const arrival of arrivals([view], assignments, lettingIn)) enter(arrival);
  const failed = failedBefore([view], assignments);
  return { serving, undecided, ...(failed.size === 0 ? {} : { failed }), ...(lasting.size === 0 ? {} : { lasting }) };
}

/** The addresses of these assignments that serve nobody, and could not be brought to a node when that was tried last. */
function failedBefore(views: readonly PoolView[], assignments: readonly AssignIP[]): ReadonlySet<string> {
  const retriesOf = new Map(views.map(({ object, retries }) => [refKey(object), retries]));
  return new Set(
    assignments.flatMap(({ object, ip, isServing }) =>
      isServing !== true && retriesOf.get(refKey(object))?.of(ipSubject(ip)) !== undefined ? [ip] : [],
    ),
  );
}

/** Where an address that a pool manages serves, as confirmed in this pass, or `after` these actions of the plan, given by their ids. */
type VerifiedAddress =
  | { readonly kind: "on-node"; readonly nodeName: string; readonly after: readonly string[] }
  | { readonly kind: "undecided" }
  | { readonly kind: "nowhere" };

/** Where status has an address: the machine is absent where it does not say. */
interface RememberedAddress {
  readonly ip: string;
  readonly nodeName: string;
  readonly providerID?: string;
}

/** What pools confirmed in this pass. */
export interface VerifiedAddresses {
  /** Every address that some pool manages, or still remembers after it was taken from it. */
  readonly byIP: ReadonlyMap<string, VerifiedAddress>;
  /** Node name → the addresses that serve there, or will after the actions of this plan. */
  readonly byNode: ReadonlyMap<string, readonly { readonly ip: string; readonly after: readonly string[] }[]>;
  /** The addresses that serve on a node for all that status knows, and could not be looked at or are on their way. */
  readonly undecided: readonly RememberedAddress[];
  /** Pools whose addresses could be looked at, `NAMESPACE/NAME`: what their annotations say beyond {@link byIP} is out of date. */
  readonly pools: ReadonlySet<string>;
  /** As {@link ServedAddresses.failed}. */
  readonly failed: ReadonlySet<string>;
}

/** Collects what pools confirmed, over all of them. Pure. */
export function verifiedAddresses(
  views: readonly PoolView[],
  assignments: readonly AssignIP[],
  lettingIn: LettingIn,
): VerifiedAddresses {
  const byIP = new Map<string, VerifiedAddress>([
    ...views.flatMap((view) => confirmedBy(view, lettingIn)),
    ...arrivals(views, assignments, lettingIn),
  ]);
  const placed = [...byIP].flatMap(([ip, fact]) => (fact.kind === "on-node" ? [{ ip, ...fact }] : []));
  const pools = new Set(views.filter(({ provider }) => provider !== undefined).map(({ key }) => key));
  return {
    byIP,
    byNode: Map.groupBy(placed, ({ nodeName }) => nodeName),
    undecided: rememberedBy(views, byIP),
    pools,
    failed: failedBefore(views, assignments),
  };
}

/**
 * Returns what becomes of addresses that go to a node: they serve there, unless their firewall stays closed as far as is known. What takes the place of another one is published once
 * it is there.
 */
function arrivals(
  views: readonly PoolView[],
  assignments: readonly AssignIP[],
  lettingIn: LettingIn,
): readonly (readonly [ip: string, fact: VerifiedAddress])[] {
  const viewOf = new Map(views.map((view) => [refKey(view.object), view]));
  return assignments.flatMap(({ id, ip, object, after, replaces }): [string, VerifiedAddress][] => {
    const view = viewOf.get(refKey(object));
    if (view === undefined || replaces !== undefined) return [];
    if (lettingIn(view, after.machineID) === undefined) return [[ip, { kind: "undecided" }]];
    return [[ip, { kind: "on-node", nodeName: after.nodeName, after: [id] }]];
  });
}

/** A pool that may not be written leaves no annotation; where its addresses are its status shows all the same. */
function rememberedBy(
  views: readonly PoolView[],
  byIP: ReadonlyMap<string, VerifiedAddress>,
): readonly RememberedAddress[] {
  return views.flatMap(({ pool, managed }) =>
    managed.flatMap(({ ip }) => {
      const entry = byIP.get(ip)?.kind === "undecided" ? statusOf(pool, ip) : undefined;
      if (entry?.nodeName === undefined) return [];
      const machine = entry.providerID === undefined ? {} : { providerID: entry.providerID };
      return [{ ip, nodeName: entry.nodeName, ...machine }];
    }),
  );
}

function confirmedBy(view: PoolView, lettingIn: LettingIn): readonly (readonly [ip: string, fact: VerifiedAddress])[] {
  // What a pool gave up leaves every name before its annotation goes, so that annotation no longer counts.
  const released = view.released.map(({ ip, fact }): [string, VerifiedAddress] => {
    const holder = fact.kind === "known" && view.staying?.has(ip) === true ? fact.address.holderID : undefined;
    const nodeName = holder === undefined ? undefined : view.placeOf(holder).nodeName;
    if (nodeName !== undefined) return [ip, { kind: "on-node", nodeName, after: [] }];
    return [ip, { kind: fact.kind === "gap" ? "undecided" : "nowhere" }];
  });
  const managed = view.managed.flatMap(({ ip, standing }): [string, VerifiedAddress][] => {
    if (standing.kind === "conflict" || standing.kind === "ungranted") return [];
    const nodeName = standing.kind === "free" && view.staying?.has(ip) === true ? standing.from?.nodeName : undefined;
    if (nodeName !== undefined) return [[ip, { kind: "on-node", nodeName, after: [] }]];
    const verified = verify(view, standing, lettingIn);
    return [[ip, verified.kind === "undecided" || view.inUse.has(ip) ? verified : { kind: "nowhere" }]];
  });
  // One that has just been found gone is no longer managed, and no stranger's either.
  const shown = [...Object.keys(view.pool.status.ips), ...view.pool.status.acquired.map(({ ip }) => ip)];
  const gone = shown
    .filter((ip) => view.provider?.addresses.get(ip)?.kind === "gone")
    .map((ip): [string, VerifiedAddress] => [ip, { kind: "nowhere" }]);
  return [...gone, ...released, ...managed];
}

/**
 * Returns where an address serves. Nobody can say so of an address that could not be read or is on its way between nodes of which one serves, whose node is in grace, or
 * whose firewall stays closed as far as is known.
 */
function verify(view: PoolView, standing: Standing, lettingIn: LettingIn): VerifiedAddress {
  if (standing.kind === "gap" || (standing.kind === "busy" && standing.isLost !== true)) return { kind: "undecided" };
  if (standing.kind !== "placed") return { kind: "nowhere" };
  const after = lettingIn(view, standing.on.machineID);
  if (standing.unready !== undefined || after === undefined) return { kind: "undecided" };
  return { kind: "on-node", nodeName: standing.on.nodeName, after };
}
