import type { Action, ObjectRef } from "./action.ts";
import type { GateID } from "./gates.ts";
import type { Reason } from "./reason.ts";
import type { NameFate } from "./simulation.ts";

/** What is explained. */
export type Subject =
  | { readonly kind: "pair"; readonly ip: string; readonly node: string }
  | { readonly kind: "ip"; readonly ip: string }
  | { readonly kind: "node"; readonly node: string }
  | { readonly kind: "object" }
  | { readonly kind: "name"; readonly fqdn: string };

/** One gate, and what it says now. */
export interface Gate {
  readonly id: GateID;
  /** Undefined where it was not asked, or where nobody can tell: see `isUnread`. */
  readonly pass: boolean | undefined;
  readonly isUnread?: true;
  readonly reason?: Reason;
  /** Particulars; `""` where there are none. */
  readonly detail: string;
  /** Since when it is so, milliseconds; absent where the cluster does not show it. */
  readonly sinceMs?: number;
  /** When it ends by itself, milliseconds. */
  readonly notBeforeMs?: number;
  /** The node or address that it is about, where the explanation is about several. */
  readonly about?: string;
  /** What a person can do about it, where the row of the reason does not know. */
  readonly advice?: string;
}

/** A fact that a gate looks at. */
export interface Evidence {
  /** Where it stands: `node/worker-6.spec.taints`, `ip/203.0.113.10.holder`. */
  readonly path: string;
  /** `null` where there is none. */
  readonly value: string | number | boolean | null | readonly string[];
  /** Since when it is so, milliseconds; absent where nothing shows it. */
  readonly sinceMs?: number;
}

/** A gate with what it looks at. */
export interface ShownGate extends Gate {
  readonly evidence: readonly Evidence[];
}

/** A fact that could be otherwise. */
export interface ChangeTold {
  /** As `flipop plan --if` reads it; absent where no edit can say it. */
  readonly edit?: string;
  /** How hard it is to bring about, the easiest first: 0 passes by itself, 4 is not for anybody to decide. */
  readonly cost: number;
  /** What does it; absent where there is no such command. */
  readonly command?: string;
  /** In words. */
  readonly message: string;
}

/** The fewest changes that make a statement true. */
export interface Counterfactual {
  /** Each is needed. */
  readonly changes: readonly ChangeTold[];
  /** For each of `changes`, others that would do in its place. */
  readonly alternatives: readonly (readonly ChangeTold[])[];
}

/** What is done once the changes are made. */
export interface Next {
  readonly steps: readonly { readonly atMs: number; readonly actions: readonly Action[] }[];
  /** What clients of the object's names get meanwhile. */
  readonly names: readonly NameFate[];
}

/** A node that cannot be had, and the first gate that it fails. */
export interface NodeTold {
  readonly node: string;
  /** Absent for a node that matches. */
  readonly gate?: Gate;
}

/** What is said about one object. */
export interface Section {
  readonly object: ObjectRef;
  /** True when the statement is true now. */
  readonly holds: boolean;
  /** The statement, and how it stands. */
  readonly message: string;
  readonly gates: readonly ShownGate[];
  /** All nodes of the cluster as the object sees them, where the explanation is about no single one. */
  readonly nodes: readonly NodeTold[];
  /** Further facts, a sentence each. */
  readonly facts: readonly string[];
  /** Undefined where nothing needs to change, or where no change is known. */
  readonly counterfactual?: Counterfactual;
  /** True when it will be so by itself within the horizon. */
  readonly isComing: boolean;
  /** How often it was planned to find out. */
  readonly plans: number;
  /** What flipop does next: with the changes, or by itself. */
  readonly next: Next;
}

/** The answer to `flipop explain`. */
export interface Explanation {
  readonly observedAtMs: number;
  readonly cluster: string;
  readonly subject: Subject;
  readonly horizonMs: number;
  /** How long an assignment and a change of a name are taken to last, milliseconds. */
  readonly assumed: { readonly assignMs: number; readonly dnsMs: number };
  readonly sections: readonly Section[];
  /** What is known beyond any object, a sentence each. */
  readonly facts: readonly string[];
}
