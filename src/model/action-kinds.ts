import type {
  Action,
  ActionKind,
  AnnotateNode,
  AssignIP,
  ChangeMachines,
  ChangePorts,
  DeleteIP,
  UnassignIP,
  WriteDNS,
} from "./action.ts";

/** Everything known about a kind of action. */
interface ActionFacts {
  /** Where the write goes. */
  readonly target: "provider" | "cluster";
  /** What it changes. `ports`, `machines`: those of a firewall. */
  readonly affects: "address" | "purchase" | "node" | "object" | "name" | "ports" | "machines";
  /** Position in the order of writes of one object. */
  readonly phase: number;
  /** Calls to the provider by itself: the precondition read of what is destructive, and the change; at firewalls also the read that confirms it. 0 for names: those depend on the records. */
  readonly calls: number;
  /** The plan's symbol, see the manual. */
  readonly symbol: "+" | "-" | "~" | ">";
  /** Imperative, before the subject: "add to" firewall web. */
  readonly verb: string;
  /** Imperative, before the whole change: "add" worker-1 to firewall web. */
  readonly infinitive: string;
  readonly past: string;
  /** As in "2 to assign" in a summary. */
  readonly count: string;
  /** As in "2 assigned" once it is done. */
  readonly counted: string;
  /** What is said while it is held, as in "not assigned". */
  readonly held: string;
  /** Which `held` of a reason is said instead, where the reason has one. */
  readonly heldAs?: "address" | "name" | "formerName" | "firewall";
  /** True where a read of the account's addresses confirms it. */
  readonly isConfirmed?: true;
  /** True for what makes something that reclaimPolicy Delete would clean up. */
  readonly isCleanedUp?: true;
  /** True where its failure leaves something behind and takes nothing from what the object serves. */
  readonly isAside?: true;
}

/** Everything known about each kind, in one place: a new kind does not compile without its row. In the order in which a summary counts kinds of one phase. */
export const ACTIONS: Readonly<Record<ActionKind, ActionFacts>> = {
  "add-finalizer": {
    target: "cluster",
    affects: "object",
    phase: 1,
    calls: 0,
    symbol: "+",
    verb: "add finalizer",
    infinitive: "add",
    past: "added",
    count: "finalizer to add",
    counted: "finalizer added",
    held: "finalizer not added",
  },
  "open-ports": {
    target: "provider",
    affects: "ports",
    phase: 1,
    calls: 2,
    symbol: "+",
    verb: "open ports on",
    infinitive: "open",
    past: "opened",
    count: "port to open",
    counted: "port opened",
    held: "nothing is added",
    heldAs: "firewall",
    isCleanedUp: true,
  },
  "add-to-firewall": {
    target: "provider",
    affects: "machines",
    phase: 1,
    calls: 2,
    symbol: "+",
    verb: "add to",
    infinitive: "add",
    past: "added",
    count: "node to add to a firewall",
    counted: "node added to a firewall",
    held: "nothing is added",
    isCleanedUp: true,
  },
  "acquire-ip": {
    target: "provider",
    affects: "purchase",
    phase: 2,
    calls: 2,
    symbol: "+",
    verb: "acquire",
    infinitive: "acquire",
    past: "acquired",
    count: "to acquire",
    counted: "acquired",
    held: "no address acquired",
    isConfirmed: true,
    isCleanedUp: true,
  },
  "assign-ip": {
    target: "provider",
    affects: "address",
    phase: 3,
    calls: 1,
    symbol: "+",
    verb: "assign",
    infinitive: "assign",
    past: "assigned",
    count: "to assign",
    counted: "assigned",
    held: "not assigned",
    heldAs: "address",
    isConfirmed: true,
  },
  "move-ip": {
    target: "provider",
    affects: "address",
    phase: 3,
    calls: 2,
    symbol: ">",
    verb: "move",
    infinitive: "move",
    past: "moved",
    count: "to move",
    counted: "moved",
    held: "not moved",
    isConfirmed: true,
  },
  "annotate-node": {
    target: "cluster",
    affects: "node",
    phase: 4,
    calls: 0,
    symbol: "~",
    verb: "annotate",
    infinitive: "annotate",
    past: "annotated",
    count: "to annotate",
    counted: "annotated",
    held: "not annotated",
  },
  "clear-annotation": {
    target: "cluster",
    affects: "node",
    phase: 6,
    calls: 0,
    symbol: "-",
    verb: "clear annotation",
    infinitive: "clear",
    past: "cleared",
    count: "annotation to clear",
    counted: "annotation cleared",
    held: "annotation not cleared",
  },
  "withdraw-dns": {
    target: "provider",
    affects: "name",
    phase: 2,
    calls: 0,
    symbol: "-",
    verb: "withdraw from DNS",
    infinitive: "withdraw from DNS",
    past: "withdrew from DNS",
    count: "DNS withdrawal",
    counted: "DNS withdrawal",
    held: "not withdrawn from DNS",
  },
  "update-dns": {
    target: "provider",
    affects: "name",
    phase: 5,
    calls: 0,
    symbol: "~",
    verb: "update DNS",
    infinitive: "update DNS",
    past: "updated DNS",
    count: "DNS name to update",
    counted: "DNS name updated",
    held: "DNS not changed",
    heldAs: "name",
    isCleanedUp: true,
  },
  "delete-dns": {
    target: "provider",
    affects: "name",
    phase: 7,
    calls: 0,
    symbol: "-",
    verb: "delete from DNS",
    infinitive: "delete from DNS",
    past: "deleted from DNS",
    count: "DNS name to delete",
    counted: "DNS name deleted",
    held: "old records not deleted",
    heldAs: "formerName",
    isAside: true,
  },
  "close-ports": {
    target: "provider",
    affects: "ports",
    phase: 8,
    calls: 3,
    symbol: "-",
    verb: "close ports on",
    infinitive: "close",
    past: "closed",
    count: "port to close",
    counted: "port closed",
    held: "nothing is taken away",
    isAside: true,
  },
  "remove-from-firewall": {
    target: "provider",
    affects: "machines",
    phase: 8,
    calls: 3,
    symbol: "-",
    verb: "remove from",
    infinitive: "remove",
    past: "removed",
    count: "node to remove from a firewall",
    counted: "node removed from a firewall",
    held: "nothing is taken away",
    isAside: true,
  },
  "unassign-ip": {
    target: "provider",
    affects: "address",
    phase: 9,
    calls: 2,
    symbol: "-",
    verb: "unassign",
    infinitive: "unassign",
    past: "unassigned",
    count: "to unassign",
    counted: "unassigned",
    held: "not unassigned",
    isConfirmed: true,
  },
  "delete-ip": {
    target: "provider",
    affects: "address",
    phase: 10,
    calls: 2,
    symbol: "-",
    verb: "delete",
    infinitive: "delete",
    past: "deleted",
    count: "to delete",
    counted: "deleted",
    held: "not deleted",
  },
  "remove-finalizer": {
    target: "cluster",
    affects: "object",
    phase: 11,
    calls: 0,
    symbol: "-",
    verb: "remove finalizer",
    infinitive: "remove",
    past: "removed",
    count: "finalizer to remove",
    counted: "finalizer removed",
    held: "finalizer not removed",
  },
};

/** True for a change of the A records of a name. */
export function changesName(action: Action): action is WriteDNS {
  return ACTIONS[action.kind].affects === "name";
}

/** True for what sends an address to a machine, takes it off one, or gives it back. */
export function changesAddress(action: Action): action is AssignIP | UnassignIP | DeleteIP {
  return ACTIONS[action.kind].affects === "address";
}

/** True for what writes or removes the annotations of a node. */
export function changesAnnotation(action: Action): action is AnnotateNode {
  return ACTIONS[action.kind].affects === "node";
}

/** True for a change of the ports of a cloud firewall. */
export function changesPorts(action: Action): action is ChangePorts {
  return ACTIONS[action.kind].affects === "ports";
}

/** True for a change of the machines behind a cloud firewall. */
export function changesMachines(action: Action): action is ChangeMachines {
  return ACTIONS[action.kind].affects === "machines";
}

/** True for a change of a cloud firewall. */
export function changesFirewall(action: Action): action is ChangePorts | ChangeMachines {
  return changesPorts(action) || changesMachines(action);
}

/** Returns the provider whose addresses or firewalls an action changes; undefined for a name, and for what is written to the cluster. */
export function providerOf(action: Action): string | undefined {
  const isKnown = changesAddress(action) || changesFirewall(action) || action.kind === "acquire-ip";
  return isKnown ? action.provider : undefined;
}

/** Returns the kind of action of that name; undefined for a name that this version does not know. */
export function actionKind(name: string): ActionKind | undefined {
  return (Object.keys(ACTIONS) as readonly ActionKind[]).find((kind) => kind === name);
}
