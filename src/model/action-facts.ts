import type { ActionKind } from "./action.ts";

/** What is known about a kind of action. */
export interface ActionFacts {
  /** The plan's symbol, see the manual. */
  readonly symbol: "+" | "-" | "~" | ">";
  /** Imperative, as in "assign 203.0.113.1". */
  readonly verb: string;
  /** Position in the order of writes of one object. */
  readonly phase: number;
  /** Action name in Events, UpperCamelCase. */
  readonly eventAction: string;
  /** Where the write goes. */
  readonly target: "provider" | "cluster";
}

/** Everything known about each kind, in one place. */
export const ACTIONS: Readonly<Record<ActionKind, ActionFacts>> = {
  "add-finalizer": { symbol: "+", verb: "add finalizer", phase: 1, eventAction: "AddFinalizer", target: "cluster" },
  "open-ports": { symbol: "+", verb: "open ports on", phase: 1, eventAction: "OpenPorts", target: "provider" },
  "add-to-firewall": { symbol: "+", verb: "add to", phase: 1, eventAction: "AddToFirewall", target: "provider" },
  "acquire-ip": { symbol: "+", verb: "acquire", phase: 2, eventAction: "AcquireIP", target: "provider" },
  "assign-ip": { symbol: "+", verb: "assign", phase: 3, eventAction: "AssignIP", target: "provider" },
  "move-ip": { symbol: ">", verb: "move", phase: 3, eventAction: "MoveIP", target: "provider" },
  "annotate-node": { symbol: "~", verb: "annotate", phase: 4, eventAction: "AnnotateNode", target: "cluster" },
  "clear-annotation": {
    symbol: "-",
    verb: "clear annotation",
    phase: 6,
    eventAction: "ClearAnnotation",
    target: "cluster",
  },
  "withdraw-dns": { symbol: "-", verb: "withdraw from DNS", phase: 2, eventAction: "WithdrawDNS", target: "provider" },
  "update-dns": { symbol: "~", verb: "update DNS", phase: 5, eventAction: "UpdateDNS", target: "provider" },
  "delete-dns": { symbol: "-", verb: "delete from DNS", phase: 7, eventAction: "DeleteDNS", target: "provider" },
  "close-ports": { symbol: "-", verb: "close ports on", phase: 8, eventAction: "ClosePorts", target: "provider" },
  "remove-from-firewall": {
    symbol: "-",
    verb: "remove from",
    phase: 8,
    eventAction: "RemoveFromFirewall",
    target: "provider",
  },
  "unassign-ip": { symbol: "-", verb: "unassign", phase: 9, eventAction: "UnassignIP", target: "provider" },
  "delete-ip": { symbol: "-", verb: "delete", phase: 10, eventAction: "DeleteIP", target: "provider" },
  "remove-finalizer": {
    symbol: "-",
    verb: "remove finalizer",
    phase: 11,
    eventAction: "RemoveFinalizer",
    target: "cluster",
  },
};
