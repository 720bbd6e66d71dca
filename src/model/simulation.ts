import type { Action, ObjectRef } from "./action.ts";
import type { Gap, Hold } from "./plan.ts";

/** What happens next, as `flipop simulate` tells it. */
export interface Simulation {
  readonly observedAtMs: number;
  readonly cluster: string;
  readonly assumed: Assumptions;
  /** What is lost or replaced, for people: `worker-1 is drained`. Absent where only time passes. */
  readonly scenario?: string;
  /** In the order of their times. */
  readonly steps: readonly SimulatedStep[];
  /** When the story ends, milliseconds of the world's clock. */
  readonly endsAtMs: number;
  /** True where something is left to be done or waited for at the end. */
  readonly isCutOff: boolean;
  /** Sorted by name. */
  readonly names: readonly NameFate[];
  readonly moves: Moves;
  /** Sorted by provider. */
  readonly calls: readonly CallCount[];
  /** Of pools and routed IPs that have active addresses in the end, sorted. */
  readonly spares: readonly SpareNodes[];
  /** What could not be read: of it nothing is told. */
  readonly gaps: readonly Gap[];
  /** What becomes of each loss; absent where nothing was asked to be lost in turn. */
  readonly cases?: readonly LossCase[];
}

/** What is taken to be so. Times are milliseconds. */
export interface Assumptions {
  readonly assignMs: number;
  readonly dnsMs: number;
  readonly horizonMs: number;
  /** How long a new node takes to be ready; absent where there is none. */
  readonly nodeReadyMs?: number;
  /** How long a node that is drained keeps its pods; absent where none is drained. */
  readonly drainMs?: number;
  /** How long after it stops being ready a lost node is gone; absent where none is lost. */
  readonly goneAfterMs?: number;
}

/** What happens at one moment, and what flipop begins then. */
export interface SimulatedStep {
  readonly atMs: number;
  /** What happens from outside, as a sentence without its full stop; absent = nothing. */
  readonly event?: string;
  readonly actions: readonly Action[];
  /** What is held from then on, and was not before or not for the same reason. */
  readonly holds: readonly Hold[];
}

/** What clients of a name got. */
export interface NameFate {
  readonly provider: string;
  readonly fqdn: string;
  /** The longest that it has while it shows addresses; 60 where the records do not say. */
  readonly ttlSeconds: number;
  /** How long there are clients to whom no address of the name answers, milliseconds; resolvers that still hand out older answers count. */
  readonly unservedMs: number;
  /** True where it is so at the end. */
  readonly isUnservedAtEnd: boolean;
  /** Addresses that are handed out and do not answer; absent = there are none at any time. */
  readonly dead?: DeadAnswers;
}

/** Addresses of a name that resolvers hand out and that do not answer. */
export interface DeadAnswers {
  /** The worst moment: so many of the addresses of one answer. */
  readonly dead: number;
  readonly of: number;
  /** How long there is at least one, milliseconds. */
  readonly ms: number;
  /** True where there is one at the end. */
  readonly isLasting: boolean;
}

/** How often addresses come to another node. */
export interface Moves {
  readonly made: number;
  /** How many addresses are on another node in the end than in the beginning. */
  readonly needed: number;
  /** Addresses that move more than once, with the nodes they are on in turn. */
  readonly again: readonly { readonly ip: string; readonly nodes: readonly string[] }[];
}

/** The calls that the changes take, at least. */
export interface CallCount {
  readonly provider: string;
  readonly calls: number;
  /** The most within any minute. */
  readonly perMinutePeak: number;
  /** What the provider allows; absent where flipop knows of no limit. */
  readonly limit?: { readonly calls: number; readonly ms: number };
}

/** The nodes that could take one more address of an object. */
export interface SpareNodes {
  readonly object: ObjectRef;
  readonly nodes: readonly string[];
}

/** One loss, and what follows; or several that nobody notices. */
export interface LossCase {
  /** A node, a zone, a region; `20 like worker-4` for nodes of which each is lost alone; or `2 others`. */
  readonly lost: string;
  /** How many losses it stands for. */
  readonly losses: number;
  /** The nodes that are lost, sorted. */
  readonly nodes: readonly string[];
  /** False for what carries nothing, and is not rehearsed. */
  readonly isRehearsed: boolean;
  readonly moves: number;
  /** Names that lose anything. */
  readonly names: readonly NameFate[];
  /** The fewest spare nodes that a pool has left; absent where no pool has an active address. */
  readonly spareNodes?: number;
  /** The pools that have so few. */
  readonly scarce: readonly ObjectRef[];
}

/** A name that is without service for longer than is allowed. */
export interface Outage {
  readonly name: NameFate;
  /** What is lost then; absent where nothing is lost in turn. */
  readonly lost?: string;
}

/** Returns every outage that is longer than this, milliseconds; one that does not end is longer than any. In the order of losses, then of names. Pure. */
export function outagesBeyond(
  { names, cases }: Pick<Simulation, "names" | "cases">,
  mostMs: number,
): readonly Outage[] {
  const isBeyond = ({ unservedMs, isUnservedAtEnd }: NameFate): boolean => isUnservedAtEnd || unservedMs > mostMs;
  return [
    ...names.filter(isBeyond).map((name) => ({ name })),
    ...(cases ?? []).flatMap(({ lost, names: own }) => own.filter(isBeyond).map((name) => ({ name, lost }))),
  ];
}
