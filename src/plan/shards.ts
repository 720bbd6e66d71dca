import { type Action, type ObjectRef, refKey, subjectOf } from "../model/action.ts";
import { ACTIONS, changesFirewall } from "../model/action-kinds.ts";
import type { Observation } from "../model/observation.ts";
import type { Obstacle } from "../model/plan.ts";
import { bySeniority, type Pool } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { isOfShard, parseShard, type Shard } from "../model/shard.ts";
import type { Verdict } from "./guards.ts";
import { obstacle } from "./holds.ts";

/*
 * What several processes do for one cluster, each for the objects of its own shard.
 *
 * All of them make the same plan: of every object, on the same world. Each carries out what is its own. So an address, a node, a name and what may be bought go to the same
 * object, whoever asks; and where an action requires one of another shard, it waits until that shard has done it, and the next plan finds it done.
 *
 * What the others do counts only once it is there: no name and no firewall rests on an assignment that only another process can make.
 *
 * A firewall is changed by one shard alone: that of the object that has something on record there, else of the senior one that names it. Two processes that take a rule away
 * and put it there at the same time could close a port that is needed.
 */

/** Which objects the run works for, and which are somebody else's work. */
export interface Ownership {
  /** False where every object is the run's own. */
  readonly hasOthers: boolean;
  readonly isOwn: (object: ObjectRef) => boolean;
  /** The pools and RoutedIPs of the run. */
  readonly ownPools: readonly Pool[];
  /** The object by which another shard has a firewall; undefined for one that the run may change. */
  readonly otherUser: (provider: string, firewallID: string) => ObjectRef | undefined;
}

/** Finds out whose objects are. One that does not exist any more has no label. Pure. */
export function ownership(world: Observation, selection: Selection): Ownership {
  const shard = shardOf(selection);
  const all = [
    ...world.pools.map(({ kind, meta }) => ({ ref: { kind, ...meta }, meta })),
    ...world.recordSets.map(({ meta }) => ({ ref: { kind: "dns" as const, ...meta }, meta })),
  ];
  const isOwnMeta = new Map(all.map(({ ref, meta }) => [refKey(ref), isOfShard(meta, shard)]));
  const isOwn = (object: ObjectRef): boolean =>
    isOwnMeta.get(refKey(object)) ?? isOfShard({ namespace: object.namespace, labels: {} }, shard);
  const hasOthers = [...isOwnMeta.values()].includes(false) || shard !== undefined;
  const users = hasOthers ? firewallUsers(world) : new Map<string, ObjectRef>();
  return {
    hasOthers,
    isOwn,
    ownPools: hasOthers ? world.pools.filter(({ meta }) => isOfShard(meta, shard)) : world.pools,
    otherUser(provider, firewallID) {
      const user = users.get(firewallKey(provider, firewallID));
      return user === undefined || isOwn(user) ? undefined : user;
    },
  };
}

/** Returns the shard that a selection names; undefined for the process without one. Pure. */
export function shardOf({ shard }: Pick<Selection, "shard">): Shard | undefined {
  return shard === undefined ? undefined : parseShard(shard);
}

/** Firewall → the object whose process may change it. */
function firewallUsers({ pools, firewalls }: Observation): ReadonlyMap<string, ObjectRef> {
  const inTurn = pools.toSorted(bySeniority);
  const users = [
    ...inTurn.flatMap((pool) => (pool.status.firewalls ?? []).map(({ provider, id }) => userOf(pool, provider, id))),
    ...inTurn.flatMap((pool) => {
      const { provider = "", firewall = "" } = pool.firewall ?? {};
      const fact = firewalls.get(provider)?.firewalls.get(firewall);
      return fact?.kind === "known" ? [userOf(pool, provider, fact.firewall.id)] : [];
    }),
  ];
  // The first one stands.
  return new Map(users.toReversed());
}

function userOf({ kind, meta }: Pool, provider: string, id: string): readonly [string, ObjectRef] {
  return [firewallKey(provider, id), { kind, namespace: meta.namespace, name: meta.name }];
}

function firewallKey(provider: string, id: string): string {
  return `${provider} ${id}`;
}

/** A guard of a plan of all objects: leaves to other processes what is theirs. What requires something of that waits. Pure. */
export function leaveToOthers(actions: readonly Action[], { ownership }: { readonly ownership: Ownership }): Verdict {
  if (!ownership.hasOthers) return {};
  const others = actions.filter(({ object }) => !ownership.isOwn(object));
  const own = actions.filter(({ object }) => ownership.isOwn(object));
  const byID = new Map(others.map((action) => [action.id, action]));
  return {
    withholds: others,
    drops: own.flatMap((action) => {
      const why = firewallOfOthers(action, ownership) ?? firstOfOthers(action, byID);
      return why === undefined ? [] : [{ action, subject: subjectOf(action), why }];
    }),
  };
}

function firstOfOthers({ requires }: Action, others: ReadonlyMap<string, Action>): Obstacle | undefined {
  const [first] = requires.flatMap((id) => others.get(id) ?? []);
  if (first === undefined) return undefined;
  const detail = `${refKey(first.object)}, of another shard, comes first: ${ACTIONS[first.kind].verb} ${subjectOf(first)}`;
  return obstacle("OtherShard", detail, { waitsFor: "shard" });
}

function firewallOfOthers(action: Action, { otherUser }: Ownership): Obstacle | undefined {
  if (!changesFirewall(action)) return undefined;
  const { provider, firewall } = action;
  const user = otherUser(provider, firewall.id);
  if (user === undefined) return undefined;
  const detail = `firewall ${firewall.name} is changed for ${refKey(user)}, of another shard, and by one process alone`;
  return obstacle("OtherShard", detail, { needsPerson: true, advice: FIREWALL_ADVICE });
}

const FIREWALL_ADVICE =
  "Give all routed IPs with this firewall the same label flipop.digitalocean.com/shard, or those of each shard a firewall of their own.";
