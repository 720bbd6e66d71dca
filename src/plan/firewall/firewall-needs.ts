import type { AcquireIP, AssignIP } from "../../model/action.ts";
import { portText, progressAt } from "../../model/firewall.ts";
import { machineID } from "../../model/node.ts";
import { isWritable } from "../machine-ledger.ts";
import type { PoolView } from "../pool-view.ts";
import { type Standing, storedMachines } from "../standing.ts";

/** What an object needs of one firewall: nothing of it may be taken away, whoever put it there. */
export interface FirewallNeeds {
  readonly ports: ReadonlySet<string>;
  /** Machines that must be behind it, as their address is there or is just sent there. */
  readonly wanted: ReadonlySet<string>;
  /** Those, and machines where an address of the object may be for all that is known. */
  readonly machines: ReadonlySet<string>;
  /** Matching machines that a change is pending for while the address serves nowhere: one of them may have it next. */
  readonly coming: ReadonlySet<string>;
}

/** What sends an address to a machine. */
export type Sending = AssignIP | AcquireIP;

/** The machine an action sends an address to; undefined for an address that is bought for none. Pure. */
export function destinationOf(action: Sending): string | undefined {
  if (action.kind !== "acquire-ip") return action.after.machineID;
  return "node" in action.after ? action.after.node.machineID : undefined;
}

/**
 * What an object needs of its present firewall, once what is planned for it is done. Pure.
 * @param shown - addresses that DNS shows: clients come for them, so their machines stay until DNS is written
 * @param left - where the addresses of deleted objects are, by {@link leftBehind}: whoever names one, too, has it next
 */
export function presentNeeds(
  view: PoolView,
  sending: readonly Sending[],
  shown: ReadonlySet<string>,
  left: ReadonlyMap<string, readonly string[]>,
): FirewallNeeds {
  const nothing = new Set<string>();
  if (view.pool.meta.isDeleting) return { ports: nothing, wanted: nothing, machines: nothing, coming: nothing };
  const sent = new Set(sending.flatMap((action) => ("ip" in action ? [action.ip] : [])));
  const destinations = sending.flatMap((action) => destinationOf(action) ?? []);
  const staying = view.managed.filter(({ ip }) => view.inUse.has(ip) && !sent.has(ip));
  const placed = staying.flatMap(({ standing }) => (standing.kind === "placed" ? [standing.on.machineID] : []));
  const inherited = view.managed.flatMap(({ ip, standing }) =>
    standing.kind === "conflict" ? (left.get(ip) ?? []) : [],
  );
  const maybe = staying.flatMap(({ ip, standing }) => [...seenAt(standing), ...rememberedAt(view, ip, standing)]);
  const asked = view.pool.status.pendingAcquisitions.flatMap(
    ({ providerID = "" }) => machineID(view.pool.spec.provider, providerID) ?? [],
  );
  const wanted = new Set([...destinations, ...placed]);
  const unused = view.managed.filter(({ ip }) => !view.inUse.has(ip) && shown.has(ip));
  const published = [
    ...unused.flatMap(({ standing }) => (standing.kind === "placed" ? [standing.on.machineID] : seenAt(standing))),
    ...view.released.flatMap(({ ip, fact }) =>
      shown.has(ip) && fact.kind === "known" ? (fact.address.holderID ?? []) : [],
    ),
  ];
  return {
    ports: new Set((view.pool.firewall?.ports ?? []).map(portText)),
    wanted,
    machines: new Set([...wanted, ...maybe, ...asked, ...published, ...inherited]),
    coming: wanted.size === 0 ? new Set(unfinishedMatches(view)) : nothing,
  };
}

/** The machines where addresses of deleted objects are, or may be, by address. Pure. */
export function leftBehind(views: readonly PoolView[]): ReadonlyMap<string, readonly string[]> {
  const deleted = views.filter(({ pool }) => pool.meta.isDeleting);
  return new Map(
    deleted.flatMap(({ managed }) =>
      managed
        .filter(({ standing }) => standing.kind !== "conflict")
        .map(
          ({ ip, standing }) => [ip, standing.kind === "placed" ? [standing.on.machineID] : seenAt(standing)] as const,
        ),
    ),
  );
}

function unfinishedMatches({ firewall, matches, pool }: PoolView): readonly string[] {
  if (firewall.kind !== "ready") return [];
  const machines = matches.flatMap(({ providerID }) => machineID(pool.spec.provider, providerID) ?? []);
  return machines.filter((machine) => progressAt(firewall.fact.firewall, machine) !== "in-force");
}

/**
 * Everything an object added to a firewall stays while nothing can be decided for it: it cannot be worked on, or its present firewall is not known; and for ever when
 * it is deleted with `Retain`. Pure.
 */
export function mayLetGo(view: PoolView): boolean {
  const { meta, spec } = view.pool;
  if (meta.isDeleting) return isWritable(view) && spec.reclaimPolicy === "Delete";
  return isWritable(view) && view.firewall.kind !== "blocked";
}

function seenAt(standing: Standing): readonly string[] {
  switch (standing.kind) {
    case "free":
      return standing.from === undefined ? [] : [standing.from.machineID];
    case "busy":
      return standing.holder === undefined ? [] : [standing.holder.machineID];
    case "foreign":
      return [standing.holder.machineID];
    default:
      return [];
  }
}

/** Where status has an address that is on its way, or cannot be looked at. */
function rememberedAt(view: PoolView, ip: string, standing: Standing): readonly string[] {
  return standing.kind === "busy" || standing.kind === "gap"
    ? storedMachines(view.pool.spec.provider, view.pool, ip)
    : [];
}
