import type { IPFamily } from "../../src/model/address-source.ts";
import type { DNSName } from "../fake/dns-account.ts";
import type { DNSEvent } from "./dns-event.ts";
import type { Expectation } from "./expectation.ts";
import type { PoolSpecText } from "./pool-spec-text.ts";
import type { ProcessEvent } from "./process-event.ts";
import type { RoutedEvent } from "./routed-event.ts";
import type { ShardEvent } from "./shard-event.ts";
import type { StateEvent } from "./state-event.ts";

/** Providers of DNS. */
export type DNSProviderName = DNSName;

/** How one call fails; `-after` = it had its effect, and only the answer is lost. */
export type FaultKind =
  | "500"
  | "500-after"
  | "timeout"
  | "timeout-after"
  | "malformed"
  | "malformed-after"
  | "404"
  | "409"
  | "422"
  | "422-pending"
  | "400"
  | "429"
  | "401"
  | "conflict"
  | "conflict-after"
  | "forbidden";

/** The port's operations as faults name them; `*` = the next call whatever it is, `write` = the next that changes something. */
export interface CallMatch {
  readonly side: "cloud" | "cluster" | "dns" | "firewall";
  readonly operation: string;
  /** Only calls of this provider of DNS; absent = of any. */
  readonly provider?: DNSProviderName;
  /** Only calls about this; absent = about anything. */
  readonly subject?: string;
}

/** Something that happens to the world at its time, whether or not it still makes sense then: what cannot happen does nothing. */
export type WorldEvent = { readonly atMs: number } & (
  | { readonly kind: "droplet"; readonly id: number; readonly region: string }
  | { readonly kind: "remove-droplet"; readonly id: number }
  | {
      readonly kind: "node";
      readonly name: string;
      readonly droplet: number | null;
      readonly region: string;
      readonly isReady: boolean;
      readonly role: string;
    }
  | { readonly kind: "ready"; readonly name: string; readonly value: boolean }
  | { readonly kind: "cordon"; readonly name: string; readonly value: boolean }
  | { readonly kind: "role"; readonly name: string; readonly value: string }
  | { readonly kind: "delete-node"; readonly name: string; readonly isHeld: boolean }
  | {
      readonly kind: "annotate";
      readonly name: string;
      readonly address: string | null;
      readonly pool: string | null;
      readonly family?: IPFamily;
    }
  | { readonly kind: "pod"; readonly node: string; readonly isReady: boolean }
  | { readonly kind: "delete-pod"; readonly node: string }
  | { readonly kind: "pod-label"; readonly node: string; readonly app: string }
  | { readonly kind: "pool"; readonly name: string; readonly spec: PoolSpecText }
  | { readonly kind: "edit"; readonly name: string; readonly spec: Partial<Record<keyof PoolSpecText, unknown>> }
  | { readonly kind: "delete-pool"; readonly name: string }
  | { readonly kind: "wipe-status"; readonly name: string }
  | { readonly kind: "touch-status"; readonly name: string; readonly lastAssignmentInMs: number }
  | {
      readonly kind: "address";
      readonly ip: string;
      readonly on: number | null;
      readonly region: string;
      readonly isBYOIP: boolean;
    }
  | { readonly kind: "hand-move"; readonly pick: number; readonly to: number | null }
  | { readonly kind: "hand-delete"; readonly pick: number }
  | { readonly kind: "other-buys"; readonly on: number | null; readonly family?: IPFamily }
  | { readonly kind: "lock"; readonly pick: number; readonly value: boolean }
  | { readonly kind: "pending-event"; readonly droplet: number; readonly ms: number }
  | {
      readonly kind: "cloud";
      readonly delayMs?: number;
      readonly lagMs?: number;
      readonly failActions?: number;
      readonly quota?: number;
    }
  | ({ readonly kind: "fault"; readonly how: FaultKind; readonly times: number } & CallMatch)
  | ({ readonly kind: "crash"; readonly slot: number; readonly skip: number; readonly isAfter: boolean } & CallMatch)
  | ({ readonly kind: "freeze"; readonly slot: number; readonly skip: number; readonly ms: number } & CallMatch)
  | ({ readonly kind: "stale"; readonly times: number; readonly isPartial?: true } & CallMatch)
  | { readonly kind: "terminate"; readonly slot: number }
  | ProcessEvent
  | StateEvent
  | ShardEvent
  | DNSEvent
  | RoutedEvent
  | Expectation
);

/** Something done to one single call of a history; the others are left alone. */
export interface Strike {
  /** Which call, counted from 1 over all processes. */
  readonly call: number;
  /** What happens to the world right before it. */
  readonly events?: readonly WorldEvent[];
  /** What comes of the call, or of the process that makes it; `stale` = it is answered as it was before, `stale-pass` = so are all lists of the cluster until the process ends. */
  readonly how?: FaultKind | "dies-before" | "dies-after" | "freezes" | "stale" | "stale-pass";
  /** How many different answers back a stale one goes; at least 1. */
  readonly back?: number;
}

/** One process place: its incarnations follow one another, each with no memory. */
export interface Slot {
  /** Between the end of one incarnation and the start of the next, milliseconds. */
  readonly pauseMs: number;
  readonly startsAtMs: number;
  /** When it is asked to end for good, milliseconds; absent = never. */
  readonly endsAtMs?: number;
  readonly timeoutMs: number;
  readonly settles: boolean;
  readonly onLocked: "fail" | "skip" | "wait";
  /** How far its clock is ahead of the server's, milliseconds; absent = not at all. */
  readonly skewMs?: number;
  /** Only reads, as `plan` and `status` do; absent = reconciles. */
  readonly isReader?: true;
  /** Only this pool is written for; absent = all. */
  readonly target?: string;
  /** Works for this shard; absent = without `--shard`. */
  readonly shard?: string;
  /** Between two full looks of a process that watches, milliseconds; absent = 10 s. */
  readonly intervalMs?: number;
}

/** Everything that decides one run of the simulator. */
export interface History {
  readonly seed: number;
  /** False: one process, without the Lease. */
  readonly hasLock: boolean;
  readonly slots: readonly Slot[];
  /** Longest time of one call before and after its effect, milliseconds. */
  readonly latencyMs: number;
  readonly endsAtMs: number;
  /** By time. */
  readonly events: readonly WorldEvent[];
  readonly strike?: Strike;
  /** By the name of an object, the label of its shard that it is made with; absent = there are no shards. */
  readonly shards?: Readonly<Record<string, string>>;
}
