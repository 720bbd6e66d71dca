import type { Action, ActionKind, ObjectRef } from "./action.ts";
import type { Zone } from "./dns.ts";
import type { GrantKind, GrantMode, GrantProblem } from "./grants.ts";
import type { Allowance } from "./provider.ts";
import type { Reason } from "./reason.ts";
import type { RecordSetStatus, RoutedIPStatus } from "./resource.ts";
import type { Suspended } from "./suspension.ts";

/** Why something is not done now. */
export interface Obstacle {
  readonly reason: Reason;
  /** One sentence with the particulars; `""` when the reason says it all. */
  readonly detail: string;
  /** True when a person must act; false when it ends by itself or is as wished. */
  readonly needsPerson: boolean;
  /** When it will be looked at again without any other change, milliseconds. */
  readonly notBeforeMs?: number;
  /**
   * What is waited for before an address is sent to a node or acquired, or a firewall is changed.
   *
   *   cool-off   the time after the last assignment
   *   retry      the next attempt
   *   region     a node in the region of the address
   *   node       a node that needs an address
   *   turn       others that go first, or resolvers that still have the address
   *   shard      what another process has to do first
   *   reading    a name that may show the address; before an acquisition: the limit of the account
   */
  readonly waitsFor?: "cool-off" | "retry" | "region" | "node" | "turn" | "shard" | "reading";
  /** What a person can do about it, where the row of the reason does not know. */
  readonly advice?: string;
  /** The node that gets the address once it may be sent; only where it is known. */
  readonly nextNode?: string;
  /** What is said of the subject, where the row of the reason would say what is not so. */
  readonly held?: string;
}

/** Something deliberately not done in this pass. */
export interface Hold extends Obstacle {
  /** The kind of action that is held; `reconcile` when it is the whole object. */
  readonly kind: ActionKind | "reconcile";
  readonly object: ObjectRef;
  /** Address, node, or the object itself. */
  readonly subject: string;
  /** How many of the addresses that an object should have it lacks for it; only of what keeps addresses from being acquired. */
  readonly missing?: { readonly count: number; readonly desired: number };
  /** True where it is about an entry of the spec, beside what may be held of the address that it names. */
  readonly isOfEntry?: true;
}

/** Something that an object asks for and its namespace is not granted. */
export interface MissingGrant {
  readonly object: ObjectRef;
  readonly grant: GrantKind;
  /** `held`: it waits for the grant. `would-be-held`: it would, if grants were required. `kept`: it is on record, so it stays and is served; a person has to say what is to become of it. */
  readonly effect: "held" | "would-be-held" | "kept";
  readonly reason: "NotGranted" | "GrantsUnreadable";
  readonly sentence: string;
  /** What grants it. Absent where nobody knows what is granted. */
  readonly advice?: string;
}

/** What a plan tells of grants. */
export interface PlanGrants {
  readonly mode: GrantMode;
  readonly missing: readonly MissingGrant[];
  /** Entries of annotations that grant nothing, of namespaces that have objects. */
  readonly problems: readonly (GrantProblem & { readonly namespace: string })[];
  /** Why namespaces could not be listed. Absent = they were. */
  readonly refusal?: string;
}

/** What of an object a gap can leave open. */
export const GAP_SUBJECTS = ["address", "name", "firewall"] as const;
/** See {@link GAP_SUBJECTS}. */
export type GapSubject = (typeof GAP_SUBJECTS)[number];

/** Something that could not be read. */
export interface Gap {
  readonly provider: string;
  /** What cannot be told without it, in the order of {@link GAP_SUBJECTS}. */
  readonly about: readonly GapSubject[];
  /** Address, or the name of records or a zone; `""` for the whole provider. */
  readonly subject: string;
  readonly error: string;
  /** Set where it was not asked for, because calls are kept for what is more urgent: how many names, and until when, milliseconds. */
  readonly putOff?: { readonly names: number; readonly untilMs: number };
}

/** A node that does not match or cannot take an address, with the first reason. */
export interface NodeVerdict {
  readonly nodeName: string;
  readonly reason: Reason;
  /** Particulars, such as the taint or the label; may be `""`. */
  readonly detail: string;
  /** True where the firewall before the node is why. */
  readonly isOfFirewall?: true;
}

/** What the planner found out about one pool; status, tables and metrics are rendered from it. */
export interface PoolAssessment {
  readonly object: ObjectRef;
  /** As the spec has it. */
  readonly provider: string;
  /** What lets it stand still now; absent while nothing does. */
  readonly suspended?: Suspended;
  /** The name it publishes under, in full, and at which DNS provider; absent when it asks for none, or when the name is not known or not valid. */
  readonly dns?: { readonly provider: string; readonly fqdn: string };
  /** How many of the A records of that name differ from what they should be; absent when that is not known. */
  readonly drift?: number;
  /** Those of its addresses that flipop did not write, sorted; absent when that is not known. */
  readonly foreign?: readonly string[];
  /** Names of nodes that match, sorted; those in grace included. */
  readonly matching: readonly string[];
  /** Nodes that do not match, sorted by name. */
  readonly notMatching: readonly NodeVerdict[];
  /** Matches that wait for an address and can take one, sorted. */
  readonly waiting: readonly string[];
  /** Matches that cannot take any address, sorted by name. */
  readonly skipped: readonly NodeVerdict[];
  /** How many addresses the pool should hold; 0 when the spec is invalid. */
  readonly desired: number;
  /** Why nothing of the object could be looked at: then `status` has its addresses as they were seen last. Absent where it was. */
  readonly blocked?: Reason;
  /** The status the object should have if nothing else happened; equal to the stored one when nothing changed. */
  readonly status: RoutedIPStatus;
}

/** What the planner found out about one set of records of a NodeDNSRecordSet. */
export interface SetAssessment {
  /** The name in full, as `setText` has it; absent when it is not known or not valid. */
  readonly fqdn?: string;
  /** The addresses that its own records have now; absent when they could not be read. */
  readonly published?: readonly string[];
  /** How many of them differ from what they should be; absent when that is not known. */
  readonly drift?: number;
  /** The addresses beside them that flipop did not write, sorted; absent when that is not known. */
  readonly foreign?: readonly string[];
}

/** What the planner found out about one NodeDNSRecordSet: of its A records, or of its AAAA records where it asks for these alone. */
export interface RecordSetAssessment extends SetAssessment {
  readonly object: ObjectRef;
  /** `@`, relative or full, as written in the spec, with zone and provider; for people. */
  readonly written: { readonly provider: string; readonly zone: string; readonly recordName: string };
  /** What lets it stand still now; absent while nothing does. */
  readonly suspended?: Suspended;
  /** The AAAA records beside A records; absent where it has one set alone. */
  readonly ipv6?: SetAssessment;
  /** Names of nodes that match, sorted; those in grace included. */
  readonly matching: readonly string[];
  /** Nodes that do not match, sorted by name. */
  readonly notMatching: readonly NodeVerdict[];
  /** Addresses of nodes that were out of service again and again, and have to rest. Absent = none. */
  readonly restless?: readonly string[];
  readonly status: RecordSetStatus;
}

/** What a name offers its clients before anything is done. */
export interface NameService {
  readonly object: ObjectRef;
  /** The DNS provider. */
  readonly provider: string;
  readonly fqdn: string;
  /** Absent when there is none, when records differ in it, or when the provider decides. */
  readonly ttlSeconds?: number;
  /** True for a name that the object asks for no longer, while the plan still writes it. */
  readonly isFormer?: true;
  /** The addresses of its A records; sorted. */
  readonly shown: readonly string[];
  /** Those of them that answer, whether their nodes match or not, or of which nobody can say that they do not. */
  readonly serving: readonly string[];
  /** Addresses that were taken out of it since it was read, and whether they still answer whoever has them. Absent = none. */
  readonly takenOut?: readonly { readonly ip: string; readonly isServing: boolean }[];
}

/** What to do, what not to do, and what is known: a pure function of the observation. */
export interface Plan {
  /** Hash of the content: same world, same id. */
  readonly planID: string;
  readonly observedAtMs: number;
  /** When time alone changes how nodes are judged: the first toleration or grace that ends, milliseconds. Absent = never. */
  readonly judgedUntilMs?: number;
  readonly cluster: string;
  /** What can be done at once. Sorted by object, phase, subject. */
  readonly actions: readonly Action[];
  /**
   * What the same run does once `actions` have succeeded: in the order of its rounds, each sorted as `actions`. It is announced, never carried out as it stands: after
   * each round the run plans again. The address of an acquisition is not known yet: its {@link AcquireIP.newAddress} stands for it everywhere. Empty where nobody asked for it.
   */
  readonly followUps: readonly Action[];
  /** What suspended objects would do at once if they were not suspended; sorted as `actions`. Absent where none is suspended, or nobody asked. */
  readonly suspendedActions?: readonly Action[];
  /** Sorted by object, subject. */
  readonly holds: readonly Hold[];
  readonly gaps: readonly Gap[];
  /** What cannot be undone and waits for a person to confirm it, as it would be done. Absent = nothing, or nobody is asked. */
  readonly toConfirm?: readonly Action[];
  /** What waits for `flipop approve`, by object. Absent = nothing. */
  readonly toApprove?: readonly ToApprove[];
  /** What objects ask for and are not granted; absent where grants do not count. */
  readonly grants?: PlanGrants;
  /** One per pool, sorted by namespace and name. */
  readonly pools: readonly PoolAssessment[];
  /** One per record set, sorted by namespace and name. */
  readonly recordSets: readonly RecordSetAssessment[];
  /** One per name whose records were read, of all objects of the cluster. */
  readonly names: readonly NameService[];
  /** Names that can be planned only once somebody has looked whose they are; in the order of objects. Absent = none. */
  readonly ownersWanted?: readonly WantedOwner[];
  /** Provider calls the actions will take, at least, by provider; and what the account has and may have. */
  readonly budget: readonly ProviderBudget[];
}

/** What an object would take from somebody, and may not before a person approves it. */
export interface ToApprove {
  readonly object: ObjectRef;
  /** The hashes that an approval must have. Sorted. */
  readonly plan: readonly string[];
  readonly actions: readonly Action[];
}

/** A name that is about to be taken, where nobody has looked yet whose it is. */
export interface WantedOwner {
  readonly object: ObjectRef;
  readonly provider: string;
  readonly zone: Zone;
  readonly fqdn: string;
  /** True where it has A records. */
  readonly hasRecords: boolean;
}

/** Calls and quota of one provider. */
export interface ProviderBudget {
  readonly provider: string;
  readonly calls: number;
  /** How many calls the provider takes in a span of time. */
  readonly allowance?: Allowance;
  readonly addressCount?: number;
  readonly addressLimit?: number;
  /** Set where the provider calls them floating IPs. */
  readonly isFloating?: true;
  /** Set where the system of a machine must have its address, too, and nothing shows whether it has. */
  readonly isHostUnseen?: true;
  /** Set beside it where `flipop host` puts addresses there: those of all objects of the provider, or of some. */
  readonly managedHosts?: { readonly areAll: boolean };
}

/** Everything that one run does by this plan: what can be done at once, then what follows. */
export function announcedActions({ actions, followUps }: Pick<Plan, "actions" | "followUps">): readonly Action[] {
  return [...actions, ...followUps];
}
