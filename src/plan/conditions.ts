import type { Hold } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { Condition, IPStatus, Pool } from "../model/resource.ts";
import { timestamp } from "./time.ts";

/** What the three conditions of a pool are computed from. */
export interface ConditionFacts {
  readonly pool: Pool;
  readonly ips: Readonly<Record<string, IPStatus>>;
  readonly holds: readonly Hold[];
  /** How many actions the plan still has for the pool. */
  readonly pendingActions: number;
  /** True when an address in use and a node that could take it wait for each other. */
  readonly isWaiting: boolean;
  /** Set when the whole pool cannot be worked on. */
  readonly blocked?: { readonly reason: Reason; readonly message: string; readonly needsPerson: boolean };
  readonly nowMs: number;
}

/** Ready, Reconciling and Stalled, in that order, by kstatus' rules; `lastTransitionTime` moves only when a status moves. Pure. */
export function poolConditions(facts: ConditionFacts): readonly Condition[] {
  return [ready(facts), reconciling(facts), stalled(facts)].map(({ type, isTrue, reason, message }) => {
    const status = isTrue ? "True" : "False";
    const stored = facts.pool.status.conditions.find((condition) => condition.type === type);
    const isSame = stored?.status === status && Date.parse(stored.lastTransitionTime) <= facts.nowMs;
    return {
      type,
      status,
      observedGeneration: facts.pool.meta.generation,
      lastTransitionTime: isSame ? stored.lastTransitionTime : timestamp(facts.nowMs),
      reason,
      message,
    };
  });
}

interface Verdict {
  readonly type: "Ready" | "Reconciling" | "Stalled";
  readonly isTrue: boolean;
  readonly reason: Reason;
  readonly message: string;
}

function ready(facts: ConditionFacts): Verdict {
  const type = "Ready";
  if (facts.blocked !== undefined)
    return { type, isTrue: false, reason: facts.blocked.reason, message: facts.blocked.message };
  const dns = facts.holds.find(({ kind }) => kind === "publish-dns");
  if (dns !== undefined) return { type, isTrue: false, reason: dns.reason, message: dns.detail };
  const active = Object.values(facts.ips).filter(({ state }) => state === "active").length;
  if (active === 0) return { type, isTrue: false, reason: "NoActiveIP", message: "No address is active." };
  if (facts.isWaiting) {
    const message = "An address and a node that could take it wait for each other.";
    return { type, isTrue: false, reason: "WaitingForAssignment", message };
  }
  return {
    type,
    isTrue: true,
    reason: "Ready",
    message: active === 1 ? "1 address is active." : `${active} addresses are active.`,
  };
}

const RECONCILING: ReadonlySet<Reason> = new Set<Reason>([
  "CoolOff",
  "Backoff",
  "InProgress",
  "Grace",
  "CreationRate",
  "RateLimited",
  "AcquisitionUnanswered",
]);

function reconciling(facts: ConditionFacts): Verdict {
  const type = "Reconciling";
  const busy = Object.entries(facts.ips).find(([, { state }]) => state === "in-progress");
  if (busy !== undefined) {
    return { type, isTrue: true, reason: "InProgress", message: `The provider is working on ${busy[0]}.` };
  }
  const hold = facts.holds.find(({ reason }) => RECONCILING.has(reason));
  if (hold !== undefined) return { type, isTrue: true, reason: hold.reason, message: holdMessage(hold) };
  if (facts.blocked === undefined && facts.pendingActions > 0) {
    return { type, isTrue: true, reason: "WaitingForAssignment", message: "Changes are waiting for the next run." };
  }
  return { type, isTrue: false, reason: "Stable", message: "Nothing is in progress." };
}

function holdMessage({ subject, detail, notBeforeMs }: Hold): string {
  const until = notBeforeMs === undefined ? "" : ` until ${timestamp(notBeforeMs)}`;
  return `${subject} is held${until}${detail === "" ? "" : `: ${detail}`}.`;
}

const PERSON: ReadonlySet<string> = new Set<Reason>(["Conflict", "ForeignHolder", "IPNotFound", "InvalidIP"]);

function stalled(facts: ConditionFacts): Verdict {
  const type = "Stalled";
  if (facts.blocked?.needsPerson)
    return { type, isTrue: true, reason: facts.blocked.reason, message: facts.blocked.message };
  const hold = facts.holds.find(({ needsPerson }) => needsPerson);
  if (hold !== undefined) return { type, isTrue: true, reason: hold.reason, message: holdMessage(hold) };
  const bad = Object.entries(facts.ips).find(([, { reason }]) => reason !== undefined && PERSON.has(reason));
  if (bad !== undefined) {
    const [ip, { reason, error }] = bad;
    return { type, isTrue: true, reason: reason as Reason, message: `${ip}: ${error ?? ""}` };
  }
  return { type, isTrue: false, reason: "NotStalled", message: "Nothing waits for a person." };
}
