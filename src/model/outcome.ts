import type { Action } from "./action.ts";
import type { Address, AddressFact } from "./address.ts";
import type { RecordsFact } from "./dns.ts";
import type { Firewall, FirewallFact } from "./firewall.ts";
import type { NodeFacts } from "./node.ts";
import type { PodSummary } from "./observation.ts";
import type { Reason } from "./reason.ts";

/** Something read about an address while an action was carried out. */
export interface Learned {
  readonly ip: string;
  readonly fact: AddressFact;
}

/** Something read about a firewall while an action was carried out. */
export interface LearnedFirewall {
  readonly provider: string;
  readonly id: string;
  readonly fact:
    | { readonly kind: "known"; readonly firewall: Firewall }
    | Extract<FirewallFact, { readonly kind: "gap" }>;
}

/** Pods of one node that were read while an action was carried out. */
export interface LearnedPods {
  /** A key of the observation's pods. */
  readonly key: string;
  readonly nodeName: string;
  /** Absent where none of them is on the node. */
  readonly pods?: PodSummary;
}

interface Common {
  readonly action: Action;
  /** How long it took, milliseconds. */
  readonly ms: number;
  /** When it ended, by the API server's clock. */
  readonly endedAtMs?: number;
  /** The address as last read back, where the action was about one. */
  readonly address?: Address;
  /** Everything read on the way, newest last; replaces what was observed. */
  readonly learned?: readonly Learned[];
  /** A node that was read again; replaces what was observed. */
  readonly learnedNode?: NodeFacts;
  /** The pods of one selector on one node, read again; replace what was observed. */
  readonly learnedPods?: LearnedPods;
  /** What is now known of the firewall an action was about. */
  readonly firewall?: LearnedFirewall;
  /** What is now known of the records an action was about. */
  readonly records?: RecordsFact;
  /** When the provider accepted the change, by the API server's clock; set also where an acceptance was followed by a failure. */
  readonly acceptedAtMs?: number;
}

/** Done, and seen to be true. */
export type Applied = Common & { readonly outcome: "applied" };

/** Accepted and not yet seen to be true; the next run looks again. */
export type Unconfirmed = Common & { readonly outcome: "unconfirmed" };

/** Not done, and that is no error: the world changed, or something that must come first did not succeed. */
export type Skipped = Common & { readonly outcome: "skipped"; readonly reason: Reason; readonly detail: string };

/** Tried, and refused or not answered. */
export type Failed = Common & { readonly outcome: "failed"; readonly error: Error };

/** What came of one action. */
export type Outcome = Applied | Unconfirmed | Skipped | Failed;
