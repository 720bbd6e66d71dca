import type { ObjectRef } from "../model/action.ts";
import type { RecordSetState } from "../model/dns.ts";
import type { ExternalOwner } from "../model/external-dns.ts";
import type { HostPods } from "../model/host-agent.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { GapSubject, Plan } from "../model/plan.ts";
import type { Pool, RecordSet } from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../model/routed-ip.ts";
import type { Shard } from "../model/shard.ts";
import type { Workload } from "../model/workload.ts";
import type { LeaseRecord } from "../ports/cluster.ts";
import type { Definition, HostDaemonSet, OperatorDeployment, Permission } from "../ports/inspection.ts";
import type { PublicAnswer } from "../ports/resolver.ts";

/** Everything that checks look at, each read by itself. */
export interface Facts {
  /** The cluster that is configured, for people. */
  readonly connection: { readonly source: string; readonly server: string };
  readonly server: ServerFacts;
  /** True where the Lease's namespace exists; undefined where nobody may look. */
  readonly hasNamespace: { readonly exists: boolean | undefined };
  /** The definitions of flipop's objects, by name: as shipped, and as the cluster has them. */
  readonly definitions: readonly DefinitionPair[];
  readonly reading: readonly Reviewed[];
  readonly writing: readonly Reviewed[];
  readonly leasing: readonly Reviewed[];
  readonly watching: readonly Reviewed[];
  readonly installing: readonly Reviewed[];
  /** Undefined where there is none. */
  readonly lease: { readonly record: LeaseRecord | undefined };
  /** The shards that have run, as that Lease names them. Where it names none nothing is read. */
  readonly shards: readonly ShardLease[];
  /** The shards that labels of objects name. Where no object has such a label nothing is read. */
  readonly labelled: readonly ShardLease[];
  /** The Leases of the same name, in all namespaces. */
  readonly namesakes: readonly LeaseRecord[];
  readonly operatorLeases: readonly LeaseRecord[];
  /** Empty where whoever asks may not list Deployments. */
  readonly operatorDeployments: readonly OperatorDeployment[];
  readonly workloads: readonly Workload[];
  readonly objects: Objects;
  readonly nodes: readonly Pick<NodeFacts, "name" | "labels" | "providerID" | "hostAnnotation" | "ipv6">[];
  readonly host: HostInstallation;
  readonly accounts: readonly Account[];
  readonly plan: Planned;
  /** What a plan says of specs, whatever providers say. */
  readonly specs: Pick<Plan, "holds">;
  readonly machines: LookedMachines;
  /** The names that are published, as far as their records are known; in the order of the plan. */
  readonly names: readonly LookedName[];
  /** What clients are told of these names, by FQDN. */
  readonly answers: ReadonlyMap<string, PublicAnswer>;
  readonly pushgateway: Pushgateway;
  /** What is known without asking anybody. */
  readonly own: OwnFacts;
}

/** The API server, and its clock against the local one. */
export interface ServerFacts {
  readonly version: string;
  readonly roundTripMs: number;
  readonly nowMs: number;
  /** How far the local clock is ahead. */
  readonly aheadMs: number;
}

/** A definition as flipop ships it, and as the cluster has it. */
export interface DefinitionPair {
  readonly name: string;
  readonly shipped: unknown;
  readonly installed: Definition | undefined;
}

/** A permission, and whether it is there. */
export interface Reviewed {
  readonly permission: Permission;
  readonly isAllowed: boolean;
}

/** A shard, and its Lease; undefined where there is none. */
export interface ShardLease {
  readonly shard: Shard;
  readonly record: LeaseRecord | undefined;
}

/** All objects of flipop. */
export interface Objects {
  readonly pools: readonly Pool[];
  readonly routedIPs: readonly RoutedIP[];
  readonly recordSets: readonly RecordSet[];
  readonly issuers: readonly RoutedIPIssuer[];
}

/** An object that flipop works for, with the reference by which people name it. */
export interface ListedObject {
  readonly ref: ObjectRef;
  readonly object: Pool | RoutedIP | RecordSet;
}

/** Returns the objects that flipop works for: pools, RoutedIPs, record sets; not issuers. Pure. */
export function listedObjects({ pools, routedIPs, recordSets }: Objects): readonly ListedObject[] {
  const named = (kind: ObjectRef["kind"], objects: readonly ListedObject["object"][]): readonly ListedObject[] =>
    objects.map((object) => ({ ref: { kind, namespace: object.meta.namespace, name: object.meta.name }, object }));
  return [...named("pool", pools), ...named("routedip", routedIPs), ...named("dns", recordSets)];
}

/** What there is of `flipop host`. Nothing is read where no node asks its host for addresses. */
export interface HostInstallation {
  readonly pods?: HostPods;
  /** Absent where they were not read, or whoever asks may not read them. */
  readonly daemonSets?: readonly HostDaemonSet[];
}

/** What came of asking one provider for something that runs ask it for. */
export interface Probe {
  /** What was asked for: `reserved addresses`. */
  readonly what: string;
  /** What alone it is needed for, where nobody knows yet whether that is wanted: `firewalls of routed IPs`. */
  readonly onlyFor?: string;
  /** Absent = it was answered. `rejected`: the token; `forbidden`: its scope; `failed`: nobody knows. */
  readonly failure?: { readonly kind: "rejected" | "forbidden" | "failed"; readonly message: string };
}

/** One provider that objects name, and what it says. */
export interface Account {
  readonly provider: string;
  /** For people: `DigitalOcean`. */
  readonly label: string;
  /** What objects want of it. */
  readonly about: readonly GapSubject[];
  /** Variables that would hold the token; empty where there is one. */
  readonly missing: readonly string[];
  /** Says that a token file is there and empty. */
  readonly emptyFile?: string;
  readonly probes: readonly Probe[];
  /** In what time the token ends, milliseconds, negative once it has; or why nobody knows. Absent = it does not, or the provider does not tell. */
  readonly tokenEnd?: { readonly atMs: number; readonly inMs: number } | { readonly error: string };
  readonly used?: number;
  readonly limit?: number;
  /** `windowMs` is the time that the limit is for. */
  readonly rateLimit?: { readonly limit?: number; readonly remaining?: number; readonly windowMs: number };
}

/** What a run would see and do. */
export interface Planned {
  readonly observation: Observation;
  readonly plan: Plan;
  /** How many calls reading took, by provider. */
  readonly calls: ReadonlyMap<string, number>;
}

/** Machines of nodes that may take an address, and whether their provider knows them. */
export interface LookedMachines {
  readonly asked: readonly LookedMachine[];
  /** How many nodes there are that may take an address, asked about or not. */
  readonly count: number;
}

/** A machine that the provider was asked about. */
export interface LookedMachine {
  readonly provider: string;
  readonly nodeName: string;
  readonly machineID: string;
  /** Absent = `error` says why nobody knows. */
  readonly isKnown?: boolean;
  readonly error?: string;
}

/** A name that an object publishes, and what stands there. */
export interface LookedName {
  readonly object: ObjectRef;
  readonly fqdn: string;
  readonly provider: string;
  /** Seconds, as the object writes it. */
  readonly writtenTTL: number;
  /** Seconds, as the provider accepts it. */
  readonly acceptedTTL: number;
  readonly records: RecordSetState;
  /** True where nothing of the records is to be changed. */
  readonly isAtRest: boolean;
  /** What stands beside the A records. */
  readonly beside: Beside | { readonly error: string };
}

/** What stands beside the A records of a name. */
export interface Beside {
  /** Absent = external-dns does not claim the name. */
  readonly owner?: ExternalOwner;
  /** Absent = the zone is too long to tell. */
  readonly hasCNAME?: boolean;
}

/** The Pushgateway; `unset` = no URL. */
export type Pushgateway =
  | { readonly kind: "unset" }
  | { readonly kind: "failed"; readonly message: string }
  /** `pushedAtMs` is absent where it has nothing of flipop. */
  | { readonly kind: "answers"; readonly url: string; readonly pushedAtMs?: number };

/** What is known without asking anybody. */
export interface OwnFacts {
  /** The version of this flipop. */
  readonly version: string;
  /** The name and namespace of the Lease. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Who is asked about by access reviews, as the subject of a sentence. */
  readonly asker: string;
  /** True where the watch permissions are needed whatever runs. */
  readonly isWatchAsked: boolean;
  /** What labels of nodes begin with where the provider supports no movable addresses. */
  readonly managedLabels: readonly string[];
}

/** What came of reading one fact. */
export type Answer<T> = { readonly ms: number } & ({ readonly value: T } | Unread);

/** Why a fact could not be read. */
export interface Unread {
  readonly error: string;
  /** Present where the API server has not answered the question itself: it is out of order or not reached, or it is too slow for the doctor. Absent for a refusal. */
  readonly silence?: "no answer" | "too slow";
  /** Present where a setting is wrong, such as the URL of an API: every run ends with it. */
  readonly isWrongSetting?: true;
}

/** What came of reading the facts that were asked for. */
export type Answers = { readonly [K in keyof Facts]?: Answer<Facts[K]> };
