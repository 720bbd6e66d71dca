import { type Action, type ObjectRef, refKey, type UnassignIP, type WriteDNS } from "../model/action.ts";
import { ACTIONS, changesName } from "../model/action-kinds.ts";
import type { IPFamily } from "../model/address-source.ts";
import { addedAddresses, clearedAddresses } from "../model/annotated.ts";
import { addressesWithout } from "../model/dns.ts";
import type { Hold, Obstacle } from "../model/plan.ts";
import { compareText, ipFamilyOf } from "../model/resource.ts";
import { FINALIZER_SUBJECT } from "../model/retry-subject.ts";
import { type CleanedUp, isMadeAlready } from "./finalizer.ts";
import type { SendingCondition } from "./firewalls/plan-firewalls.ts";
import { hold, obstacle } from "./holds.ts";
import type { Retries } from "./retries.ts";
import { leaveToOthers, type Ownership } from "./shards.ts";
import { keepWithheld, type Withheld } from "./withhold.ts";

/**
 * What may never happen, whatever is decided for addresses, names and firewalls. `plan.ts` asks the guards of each stage in this order; each one sees what the
 * guards before it left. Nothing else takes an action out of a plan or lets it wait.
 *
 *   stage      guard                     what may never happen
 *   addresses  keepOneServing            all serving addresses of a name leave their machines at once
 *              leaveToOthers             two processes work for one object, or something rests on what only another process can do
 *   firewalls  openFirewallFirst         an address goes to a machine where the firewall keeps clients out
 *   names      keepPublished             an address that a name still shows is given back to the provider, or leaves its machine for that
 *   writes     keepWithheld              more is taken from anybody than the run may take, or nobody has confirmed it
 *              leaveNamesFirst           an address leaves its machine, or the account, while a name shows it
 *              clearAnnotationAfterDNS   a node loses the annotation of an address that a name shows
 *              unassignAfterClearing     an address leaves its machine while the node is annotated with it
 *              publishAfterAnnotation    a name shows a new address before the node is annotated with it
 *              closeBetweenNameAndIP     a deleted object's firewall closes before its records go, or after its address left
 *              addFinalizerFirst         the first thing to clean up is made for an object without finalizer
 *              removeFinalizerLast       an object is let go while a node has its annotation
 *              awaitRefusedFinalizer     a refused finalizer is tried again too soon, or what it protects is made without it
 *              leaveToOthers             two processes work for one object, or change one firewall
 */
const GUARDS: { readonly [S in Stage]: readonly Guard<Facts[S]>[] } = {
  addresses: [keepOneServing, leaveToOthers],
  firewalls: [openFirewallFirst],
  names: [keepPublished],
  writes: [
    keepWithheld,
    leaveNamesFirst,
    clearAnnotationAfterDNS,
    unassignAfterClearing,
    publishAfterAnnotation,
    closeBetweenNameAndIP,
    addFinalizerFirst,
    removeFinalizerLast,
    awaitRefusedFinalizer,
    leaveToOthers,
  ],
};

/** When guards are asked: once the plan has what they have to know. */
type Stage = keyof Facts;

/** What the guards of each stage have to know beside the actions. */
interface Facts {
  readonly addresses: {
    /** What each name shows now. */
    readonly shown: readonly ShownName[];
    /** Addresses that serve at this moment. */
    readonly serving: ReadonlySet<string>;
    readonly ownership: Ownership;
  };
  readonly firewalls: {
    /** What the firewall means for each action that sends an address to a machine, by its id; absent = nothing. */
    readonly sending: ReadonlyMap<string, SendingCondition>;
  };
  readonly names: {
    /** Address → a name that shows it after this plan, too. */
    readonly staying: ReadonlyMap<string, StayingIn>;
    /** Has each address on a machine that another object's address waits for. */
    readonly inTheWay: ReadonlySet<string>;
    readonly isDeleting: (object: ObjectRef) => boolean;
  };
  readonly writes: {
    readonly withheld: Withheld;
    readonly ownership: Ownership;
    /** True where a hold of an earlier stage tells why this stays as it is. */
    readonly isTold: (object: ObjectRef, subject: string, why: Obstacle) => boolean;
    readonly isDeleting: (object: ObjectRef) => boolean;
    /** True for an object with rules on record at a firewall that is being read at this moment. */
    readonly awaitsFirewall: (object: ObjectRef) => boolean;
    readonly retriesOf: (object: ObjectRef) => Retries | undefined;
    /** What an object has on record. */
    readonly statusOf: (object: ObjectRef) => CleanedUp | undefined;
  };
}

/** A name that goes on showing an address, and why that is not given back. */
export interface StayingIn {
  readonly fqdn: string;
  readonly why: Obstacle;
}

/** A name with the addresses that it shows now. */
interface ShownName {
  readonly fqdn: string;
  readonly addresses: readonly string[];
}

/** Looks at the actions of a plan, and says which of them must go or wait. Pure. */
type Guard<F> = (actions: readonly Action[], facts: F) => Verdict;

/** What a guard objects to. */
export interface Verdict {
  readonly drops?: readonly Drop[];
  /** Addresses that stay on their machine for the sake of a name, with the name. */
  readonly kept?: ReadonlyMap<string, string>;
  readonly waits?: readonly Wait[];
  readonly edits?: readonly Edit[];
  /** As {@link drops}, told by `holds`. */
  readonly withholds?: readonly Action[];
  readonly holds?: readonly Hold[];
}

/** Puts another write in the place of one that would do more. */
interface Edit {
  /** Undefined where nothing is left to be written: what requires the action need not wait for it. */
  readonly action: WriteDNS | undefined;
  readonly id: string;
}

/** Takes an action out of the plan, and with it everything that requires the action. */
interface Drop {
  readonly action: Action;
  readonly subject: string;
  readonly why: Obstacle;
}

/** Lets an action wait for others: for their success (`requires`), or for their end (`follows`). */
interface Wait {
  readonly id: string;
  readonly requires?: readonly string[];
  readonly follows?: readonly string[];
}

/** What the guards of a stage left. */
export interface Guarded {
  readonly actions: readonly Action[];
  /** One for each dropped action; none for what went with it. */
  readonly holds: readonly Hold[];
  /** Addresses that stay on their machine for the sake of a name, with the name. */
  readonly kept: ReadonlyMap<string, string>;
}

/** Asks the guards of a stage, one after another. Pure. */
export function guarded<S extends Stage>(stage: S, actions: readonly Action[], facts: Facts[S]): Guarded {
  const guards: readonly Guard<Facts[S]>[] = GUARDS[stage];
  return guards.reduce<Guarded>(
    (left, guard) => {
      const { drops = [], waits = [], kept = [], edits = [], withholds = [], holds = [] } = guard(left.actions, facts);
      const dropped = [...drops.map(({ action }) => action), ...withholds];
      return {
        actions: withoutDropped(withEdits(withWaits(left.actions, waits), edits), dropped),
        holds: [
          ...left.holds,
          ...drops.map(({ action, subject, why }) => hold(action.kind, action.object, subject, why)),
          ...holds,
        ],
        kept: new Map([...left.kept, ...kept]),
      };
    },
    { actions, holds: [], kept: new Map() },
  );
}

function withWaits(actions: readonly Action[], waits: readonly Wait[]): readonly Action[] {
  if (waits.length === 0) return actions;
  const byID = Map.groupBy(waits, ({ id }) => id);
  return actions.map((action) => {
    const own = byID.get(action.id);
    if (own === undefined) return action;
    return {
      ...action,
      requires: [...action.requires, ...own.flatMap(({ requires = [] }) => requires)],
      follows: [...action.follows, ...own.flatMap(({ follows = [] }) => follows)],
    };
  });
}

function withEdits(actions: readonly Action[], edits: readonly Edit[]): readonly Action[] {
  if (edits.length === 0) return actions;
  const edited = new Map(edits.map(({ id, action }) => [id, action]));
  const isOpen = (id: string): boolean => !edited.has(id) || edited.get(id) !== undefined;
  return actions.flatMap((action) => {
    const other = edited.has(action.id) ? edited.get(action.id) : action;
    if (other === undefined) return [];
    return [{ ...other, requires: other.requires.filter(isOpen), follows: other.follows.filter(isOpen) }];
  });
}

function withoutDropped(actions: readonly Action[], drops: readonly Action[]): readonly Action[] {
  if (drops.length === 0) return actions;
  const dropped = new Set(idsOf(drops));
  for (let more = [...dropped]; more.length > 0; ) {
    more = actions.flatMap(({ id, requires }) =>
      !dropped.has(id) && requires.some((other) => dropped.has(other)) ? [id] : [],
    );
    for (const id of more) dropped.add(id);
  }
  return actions.filter(({ id }) => !dropped.has(id));
}

/**
 * If the plan unassigns all serving addresses of a name (two or more), the last one stays, and with it everything that requires its unassignment. The next round of
 * the pass releases it, once another address of the name serves.
 */
function keepOneServing(actions: readonly Action[], { shown, serving }: Facts["addresses"]): Verdict {
  const unassigning = actions.filter(isUnassign);
  const leaving = new Set(unassigning.map(({ ip }) => ip));
  const needed = new Map(
    shown.flatMap(({ fqdn, addresses }) => {
      const present = addresses.filter((ip) => serving.has(ip));
      const [last] = present.length > 1 && present.every((ip) => leaving.has(ip)) ? present.slice(-1) : [];
      return last === undefined ? [] : [[last, fqdn] as const];
    }),
  );
  return {
    kept: needed,
    drops: unassigning.flatMap((action) => {
      const detail = needed.get(action.ip);
      if (detail === undefined) return [];
      return [{ action, subject: action.ip, why: obstacle("LastServing", detail) }];
    }),
  };
}

/** An address goes to a machine after everything that opens the firewall there, and nowhere that a firewall cannot be opened. Ports that its object served without it only follows. */
function openFirewallFirst(actions: readonly Action[], { sending }: Facts["firewalls"]): Verdict {
  const conditions = actions.flatMap((action) => {
    const condition = sending.get(action.id);
    return condition === undefined ? [] : [{ action, condition }];
  });
  return {
    waits: conditions.flatMap(({ action: { id }, condition }) =>
      condition.kind === "after" ? [{ id, requires: condition.requires, follows: condition.follows }] : [],
    ),
    drops: conditions.flatMap(({ action, condition }) =>
      condition.kind === "refused" ? [{ action, subject: condition.subject, why: condition.why }] : [],
    ),
  };
}

/**
 * An address that a name shows, and that nothing of the plan takes out of the name, is not given back: it could be a stranger's tomorrow. It stays on its machine, unless
 * that is needed for another one, and what a deleted object has at firewalls stays open for it.
 */
function keepPublished(actions: readonly Action[], { staying, inTheWay, isDeleting }: Facts["names"]): Verdict {
  const kept = actions.flatMap((action) => {
    const name = action.kind === "delete-ip" ? staying.get(action.ip) : undefined;
    return action.kind !== "delete-ip" || name === undefined ? [] : [{ action, name }];
  });
  if (kept.length === 0) return {};
  const needed = new Set(actions.filter(sendsAddress).flatMap(({ requires }) => requires));
  const deleted = new Set(kept.flatMap(({ action }) => action.requires));
  const unassigning = actions
    .filter(isUnassign)
    .filter(({ id, ip }) => deleted.has(id) && !needed.has(id) && !inTheWay.has(ip));
  const nameOf = new Map(kept.map(({ action: { ip }, name }) => [ip, name.fqdn]));
  const deleting = new Set(unassigning.filter(({ object }) => isDeleting(object)).map(keyOf));
  return {
    kept: new Map(unassigning.map(({ ip }) => [ip, nameOf.get(ip) ?? ""])),
    drops: kept.map(({ action, name: { why } }) => ({ action, subject: action.ip, why })),
    withholds: [...unassigning, ...actions.filter((action) => isClosing(action) && deleting.has(keyOf(action)))],
  };
}

/** True for what needs a machine that has room. */
function sendsAddress({ kind }: Action): boolean {
  return kind === "assign-ip" || kind === "move-ip" || kind === "acquire-ip";
}

function isClosing({ kind }: Action): boolean {
  return kind === "close-ports" || kind === "remove-from-firewall";
}

/**
 * An address leaves its machine after the writes that take it out of every name. Exception: a write that itself waits for that, since the new address needs the machine, is
 * followed only by the deletion of the address.
 */
function leaveNamesFirst(actions: readonly Action[]): Verdict {
  const leaving = actions.flatMap((action) =>
    action.kind === "unassign-ip" || action.kind === "delete-ip" ? [action] : [],
  );
  if (leaving.length === 0) return {};
  const writes = writesTakingOut(actions);
  const order = new Order(actions);
  return { waits: leaving.map(({ id, ip }) => ({ id, requires: order.after(id, writes.get(ip) ?? []) })) };
}

/**
 * An address leaves DNS before the annotation of its node goes; of an address that its object gives up the annotation stays if that fails. A DNS write is not followed that itself waits for what
 * is taken off that node's machine: that follows the clearing.
 */
function clearAnnotationAfterDNS(actions: readonly Action[]): Verdict {
  const clearing = actions.flatMap((action) => (action.kind === "clear-annotation" ? [action] : []));
  if (clearing.length === 0) return {};
  const unassigned = Map.groupBy(actions.filter(isUnassign), ({ before, provider }) =>
    placeKey(before.nodeName ?? "", ipFamilyOf({ provider })),
  );
  const writes = writesTakingOut(actions);
  const order = new Order(actions);
  for (const action of clearing)
    for (const { id } of unassigned.get(placeKey(action.nodeName, action.ipFamily ?? "IPv4")) ?? [])
      order.after(id, [action]);
  return {
    waits: clearing.map((action) => {
      const taking = clearedAddresses(action).flatMap((ip) => writes.get(ip) ?? []);
      return { id: action.id, [action.isGivenUp === true ? "requires" : "follows"]: order.after(action.id, taking) };
    }),
  };
}

/** An address leaves its machine after the node's annotation of it was tried to be cleared. For another one, which goes to its new node first, it does not wait. */
function unassignAfterClearing(actions: readonly Action[]): Verdict {
  const clearing = new Map(
    actions.flatMap((action) =>
      action.kind === "clear-annotation"
        ? [[placeKey(action.nodeName, action.ipFamily ?? "IPv4"), action] as const]
        : [],
    ),
  );
  return {
    waits: actions.filter(isUnassign).flatMap(({ id, ip, provider, before }) => {
      const first = clearing.get(placeKey(before.nodeName ?? "", ipFamilyOf({ provider })));
      const isOfAnother = first !== undefined && first.requires.length > 0 && !clearedAddresses(first).includes(ip);
      return first === undefined || isOfAnother ? [] : [{ id, follows: [first.id] }];
    }),
  };
}

/** One node, as far as addresses of one family are concerned. */
function placeKey(nodeName: string, family: IPFamily): string {
  return `${family} ${nodeName}`;
}

/** A verified address is annotated, then published. An annotation that cannot be written holds nothing up. */
function publishAfterAnnotation(actions: readonly Action[]): Verdict {
  const annotating = new Map(
    actions.flatMap((action) =>
      action.kind === "annotate-node" ? addedAddresses(action).map((ip) => [ip, action.id] as const) : [],
    ),
  );
  return {
    waits: actions.filter(changesName).map(({ id, before, after }) => {
      const annotated = after.addresses.filter((address) => annotating.has(address));
      const added = addressesWithout(annotated, before.addresses);
      return { id, follows: added.flatMap((address) => annotating.get(address) ?? []) };
    }),
  };
}

/** What a deleted object added to firewalls goes after its records, and before its address leaves the machine, for whatever reason. */
function closeBetweenNameAndIP(actions: readonly Action[], { isDeleting, awaitsFirewall }: Facts["writes"]): Verdict {
  const closing = actions.filter((action) => isClosing(action) && isDeleting(action.object));
  const byObject = closing.length === 0 ? new Map<string, Action[]>() : Map.groupBy(actions, keyOf);
  return {
    // What is to be closed is known in a moment; the hold of the firewall tells it.
    withholds: actions.filter(
      (action) => isUnassign(action) && isDeleting(action.object) && awaitsFirewall(action.object),
    ),
    waits: closing.flatMap((action) => {
      const { id } = action;
      const own = byObject.get(keyOf(action)) ?? [];
      return [
        { id, requires: idsOf(own.filter(changesName)) },
        ...own.filter(isUnassign).map((unassign) => ({ id: unassign.id, follows: [id] })),
      ];
    }),
  };
}

/** The first of what `reclaimPolicy: Delete` would clean up is made only once the finalizer is on the object. What changes something that is there waits for none: a recovery may need it. */
function addFinalizerFirst(actions: readonly Action[], { statusOf }: Facts["writes"]): Verdict {
  const adding = new Map(
    actions.flatMap((action) => (action.kind === "add-finalizer" ? [[keyOf(action), action.id]] : [])),
  );
  return {
    waits: actions.filter(makesSomething).flatMap((action) => {
      const first = adding.get(keyOf(action));
      if (first === undefined) return [];
      const status = statusOf(action.object);
      const isThere = status !== undefined && isMadeAlready(action, status);
      return isThere ? [] : [{ id: action.id, requires: [first] }];
    }),
  };
}

function makesSomething({ kind }: Action): boolean {
  return ACTIONS[kind].isCleanedUp === true;
}

/** An object goes last: what is done for it may have to be stored in its status. An annotation that cannot be cleared keeps nobody. */
function removeFinalizerLast(actions: readonly Action[]): Verdict {
  const clearing = Map.groupBy(
    actions.filter(({ kind }) => kind === "clear-annotation"),
    keyOf,
  );
  return {
    waits: actions.flatMap((action) => {
      if (action.kind !== "remove-finalizer") return [];
      return [{ id: action.id, follows: idsOf(clearing.get(keyOf(action)) ?? []).toSorted(compareText) }];
    }),
  };
}

/** A finalizer write that failed waits until it is due again. What would have to be cleaned up is not made meanwhile: it requires the finalizer. */
function awaitRefusedFinalizer(actions: readonly Action[], { retriesOf }: Facts["writes"]): Verdict {
  return {
    drops: actions.flatMap((action) => {
      const { kind, object } = action;
      if (kind !== "add-finalizer" && kind !== "remove-finalizer") return [];
      const why = retriesOf(object)?.obstacle(FINALIZER_SUBJECT);
      if (why === undefined) return [];
      return [{ action, subject: `${object.namespace}/${object.name}`, why }];
    }),
  };
}

/** Which actions wait for which, so that nobody waits for itself, be it through others. */
class Order {
  readonly #first: Map<string, string[]>;

  constructor(actions: readonly Action[]) {
    this.#first = new Map(actions.map(({ id, requires, follows }) => [id, [...requires, ...follows]]));
  }

  /** Lets an action wait for these, but for those that wait for it. Returns the ids of the former. */
  after(id: string, first: readonly Action[]): readonly string[] {
    const possible = idsOf(first.filter((action) => !this.#waitsFor(action.id, id)));
    this.#first.set(id, [...(this.#first.get(id) ?? []), ...possible]);
    return possible;
  }

  #waitsFor(id: string, other: string): boolean {
    const seen = new Set([id]);
    for (const one of seen) for (const first of this.#first.get(one) ?? []) seen.add(first);
    return seen.has(other);
  }
}

function isUnassign(action: Action): action is UnassignIP {
  return action.kind === "unassign-ip";
}

/** Address → the writes that take it out of a name. */
function writesTakingOut(actions: readonly Action[]): ReadonlyMap<string, readonly WriteDNS[]> {
  const found = new Map<string, WriteDNS[]>();
  for (const write of actions.filter(changesName))
    for (const ip of addressesWithout(write.before.addresses, write.after.addresses))
      found.set(ip, [...(found.get(ip) ?? []), write]);
  return found;
}

function keyOf({ object }: Action): string {
  return refKey(object);
}

function idsOf(actions: readonly Action[]): readonly string[] {
  return actions.map(({ id }) => id);
}
