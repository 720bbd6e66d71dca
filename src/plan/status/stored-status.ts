import { type AcquireIP, type AssignIP, targetPlace } from "../../model/action.ts";
import { type DrainMemory, entryOf } from "../../model/address.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { ProviderRegistry } from "../../model/provider.ts";
import type { IPStatus, Pool, PoolStatus } from "../../model/resource.ts";
import { timestamp } from "../../model/time.ts";
import { afterWrites } from "../names/fights.ts";
import { withOutcome } from "../retries.ts";

/*
 * What a pool's status tells the next round and the next run. Everything else in status is only shown.
 *
 *   field                      read again by
 *   ips                        claims (who has an address keeps it), positions (former nodes, grace), firewalls, the names of record sets
 *   acquired                   claims; reclaim: only these addresses are ever deleted
 *   pendingAcquisitions        acquire.ts: what was bought and got no answer
 *   provider of these two      validate.ts: the object keeps it; acquisition-memory.ts: a deletion cleans up there
 *   released                   the machine ledger and annotations: addresses that left the spec and are still attached
 *   lastAssignmentTime         assign.ts: the cool-off
 *   retries                    retries.ts
 *   publishedDNS, formerDNS    names/
 *   fight                      names/fights.ts: which repairs of a name wait
 *   firewalls                  firewalls/: what was added for the object
 *   issuer                     routed-pool.ts: how to clean up once the issuer is gone
 *   conditions                 view-pool.ts: whether `ips` was made by a pass that looked at the addresses
 */

/** Enters in the status of a pool what came of its own actions, as far as the next decision needs it. Pure. */
export function foldIntoStatus(
  pool: Pool,
  outcomes: readonly Outcome[],
  nowMs: number,
  registry: ProviderRegistry,
): PoolStatus {
  const fought = afterWrites(pool.status.fight, "A", outcomes, nowMs);
  return outcomes.reduce(
    (status, outcome): PoolStatus => {
      const retries = withOutcome(status.retries, outcome, { nowMs, ips: status.ips });
      return { ...withAddresses(countAssignment(status, outcome), outcome, registry), retries };
    },
    { ...pool.status, ...fought },
  );
}

/** Enters how addresses drain that have left their names, or are about to, by address: in the entry that status has of each, managed or released. Pure. */
export function withDrains(
  { ips, released }: Pick<PoolStatus, "ips" | "released">,
  drains: ReadonlyMap<string, DrainMemory>,
): Pick<PoolStatus, "ips" | "released"> {
  const drained = <T extends DrainMemory>(ip: string, entry: T): T => {
    const drain = drains.get(ip);
    if (drain === undefined) return entry;
    const { drainsForSeconds: _former, ...known } = entry;
    return { ...known, ...drain } as T;
  };
  return {
    ips: Object.fromEntries(Object.entries(ips).map(([ip, entry]) => [ip, drained(ip, entry)])),
    released: released.map((entry) => drained(entry.ip, entry)),
  };
}

function countAssignment(status: PoolStatus, { acceptedAtMs, action }: Outcome): PoolStatus {
  if (acceptedAtMs === undefined || targetPlace(action) === undefined) return status;
  return { ...status, lastAssignmentTime: timestamp(acceptedAtMs), assignments: (status.assignments ?? 0) + 1 };
}

/** Enters where addresses are, or go, after a change that was accepted. */
function withAddresses(
  status: PoolStatus,
  { action, outcome, address }: Outcome,
  registry: ProviderRegistry,
): PoolStatus {
  if (outcome !== "applied" && outcome !== "unconfirmed") return status;
  const isDone = outcome === "applied";
  switch (action.kind) {
    case "assign-ip":
    case "move-ip": {
      const { nodeName, machineID } = action.after;
      const providerID = registry.providerID(action.provider, machineID);
      return withEntry(
        status,
        action.ip,
        isDone ? { state: "active", nodeName, providerID } : onItsWay(action, registry),
      );
    }
    case "acquire-ip":
      return address === undefined ? status : withAcquired(status, action, address.ip, isDone, registry);
    case "delete-ip": {
      if (!isDone) return status;
      const ips = Object.fromEntries(Object.entries(status.ips).filter(([ip]) => ip !== action.ip));
      return { ...status, acquired: status.acquired.filter(({ ip }) => ip !== action.ip), ips };
    }
    default:
      return status;
  }
}

/** An acquired address: that it was acquired is stored already. One that was bought for no node has no entry until it is assigned. */
function withAcquired(
  status: PoolStatus,
  { provider, after }: AcquireIP,
  ip: string,
  isDone: boolean,
  registry: ProviderRegistry,
): PoolStatus {
  if (!("node" in after)) return status;
  const { nodeName, machineID } = after.node;
  const providerID = registry.providerID(provider, machineID);
  return withEntry(status, ip, { state: isDone ? "active" : "in-progress", nodeName, providerID });
}

function withEntry(status: PoolStatus, ip: string, entry: IPStatus): PoolStatus {
  return withSent(status, { [ip]: entry });
}

/** Enters where addresses are sent. Until when one stays that left its names stays on record: the name that shows it again ends that. Pure. */
export function withSent<T extends Pick<PoolStatus, "ips">>(memory: T, sent: PoolStatus["ips"]): T {
  const entries = Object.entries(sent).map(([ip, entry]): [string, IPStatus] => {
    const drainingUntil = entryOf(memory.ips, ip)?.drainingUntil;
    return [ip, drainingUntil === undefined ? entry : { ...entry, drainingUntil }];
  });
  return { ...memory, ips: { ...memory.ips, ...Object.fromEntries(entries) } };
}

/**
 * The status of an address that is being sent to a node's machine. It remembers both ends, so that wherever the address is found later, on whichever node has
 * gone meanwhile, it is known as the pool's own; a foreign holder it is taken from is not remembered. Pure.
 */
export function onItsWay({ provider, before, after, isHolderJudged }: AssignIP, registry: ProviderRegistry): IPStatus {
  return {
    state: "in-progress",
    nodeName: after.nodeName,
    providerID: registry.providerID(provider, after.machineID),
    ...(before !== undefined && isHolderJudged
      ? { previousProviderID: registry.providerID(provider, before.machineID) }
      : {}),
  };
}
