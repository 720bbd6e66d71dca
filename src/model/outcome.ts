import type { Action } from "./action.ts";
import type { Address, AddressFact } from "./address.ts";
import type { RecordsFact } from "./dns.ts";
import type { ProviderError } from "./errors.ts";
import type { Firewall, FirewallFact } from "./firewall.ts";
import type { NodeFacts } from "./node.ts";
import type { PodSummary } from "./observation.ts";
import type { Reason } from "./reason.ts";

/*
 * What came of an action, and what was learnt of the world on the way.
 */

/** The value of a fact: a text, or several in a fixed order. */
export type FactValue = string | readonly string[];

/** A fact that differs from what a saved plan was made on. */
export interface ChangedFact {
  /** As in a precondition; `plan` where every fact is as it was and something else is planned all the same. */
  readonly path: string;
  readonly was: FactValue;
  readonly is: FactValue;
  /** A sentence that says what is different now. */
  readonly message: string;
}

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
interface LearnedPods {
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
export type Unconfirmed = Common & {
  readonly outcome: "unconfirmed";
  /** Why the provider could not be asked any more; absent where the time was over. */
  readonly endedBy?: ProviderError;
};

/** Not done, and that is no error: the world changed, or something that must come first did not succeed. */
type Skipped = Common & {
  readonly outcome: "skipped";
  readonly reason: Reason;
  readonly detail: string;
  /** True where the provider refused because of the machine: the node alone has failed, and the next one is tried. */
  readonly isMachineUnfit?: true;
  /** The fact for which an action of a saved plan was refused. Absent = it was not refused. */
  readonly refusedFor?: ChangedFact;
};

/** Tried, and refused or not answered. */
export type Failed = Common & { readonly outcome: "failed"; readonly error: Error };

/** What came of one action. */
export type Outcome = Applied | Unconfirmed | Skipped | Failed;
