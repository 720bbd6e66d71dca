import { addressesOf, FAULT_REASONS } from "../../model/fault-reason.ts";
import { capital, problemText } from "../../model/hold.ts";
import type { Hold, MissingGrant, Obstacle } from "../../model/plan.ts";
import { REASONS, type Reason } from "../../model/reason.ts";
import type { Condition, IPStatus, ObjectMeta } from "../../model/resource.ts";
import { forPerson, messageOfAll, type Problem, problemOfAll } from "../../model/stalled.ts";
import { plain } from "../../model/text.ts";
import { isPast, timestamp } from "../../model/time.ts";

/** What the conditions of an object are computed from. */
export interface ConditionFacts {
  readonly meta: ObjectMeta;
  /** As stored. */
  readonly conditions: readonly Condition[];
  /** Empty for a record set. */
  readonly ips: Readonly<Record<string, IPStatus>>;
  readonly holds: readonly Hold[];
  /** What the object asks for and is not granted. */
  readonly missing: readonly MissingGrant[];
  /** How many actions the plan still has for the object. */
  readonly pendingActions: number;
  /** Set when the whole object cannot be worked on. */
  readonly blocked?: Obstacle | undefined;
  readonly nowMs: number;
}

/** What the condition Ready says, where the object can be worked on. */
export interface Readiness {
  readonly isTrue: boolean;
  readonly reason: Reason;
  readonly message: string;
}

/** Ready, Reconciling and Stalled, in that order, by kstatus' rules; then Granted, where something is not. `lastTransitionTime` moves only when a status moves. Pure. */
export function conditionsOf(facts: ConditionFacts, readiness: Readiness): readonly Condition[] {
  const ready = facts.blocked === undefined ? readinessOf(facts, readiness) : blockedReadiness(facts.blocked);
  return [{ type: "Ready" as const, ...ready }, reconciling(facts), stalled(facts), ...granted(facts)].map(
    ({ type, isTrue, reason, message }) => {
      const status = isTrue ? "True" : "False";
      const stored = facts.conditions.find((condition) => condition.type === type);
      const isSame = stored?.status === status && isPast(stored.lastTransitionTime, facts.nowMs);
      return {
        type,
        status,
        observedGeneration: facts.meta.generation,
        lastTransitionTime: isSame ? stored.lastTransitionTime : timestamp(facts.nowMs),
        reason,
        message: plain(message),
        ...addressesOf(type, reason),
      };
    },
  );
}

/** An object that is being deleted is not ready, whatever is left of it. */
function readinessOf({ meta }: ConditionFacts, readiness: Readiness): Readiness {
  return meta.isDeleting ? { isTrue: false, reason: "Deleting", message: REASONS.Deleting.text } : readiness;
}

function blockedReadiness({ reason, detail }: Obstacle): Readiness {
  return { isTrue: false, reason, message: detail };
}

interface Verdict extends Readiness {
  readonly type: "Ready" | "Reconciling" | "Stalled" | "Granted";
}

function reconciling(facts: ConditionFacts): Verdict {
  const type = "Reconciling";
  // Of an object that waits for a person nothing is looked at: its addresses are as they were seen last.
  const looked = facts.blocked?.needsPerson === true ? {} : facts.ips;
  const busy = Object.entries(looked).find(([, { state }]) => state === "in-progress");
  if (busy !== undefined) {
    return { type, isTrue: true, reason: "InProgress", message: `The provider is working on ${busy[0]}.` };
  }
  const hold = facts.holds.find(endsByItself);
  if (hold !== undefined)
    return { type, isTrue: true, reason: hold.reason, message: holdMessage(hold, problemText(hold)) };
  if (facts.blocked === undefined && facts.pendingActions > 0) {
    return { type, isTrue: true, reason: "WaitingForAssignment", message: "Changes are waiting for the next run." };
  }
  return { type, isTrue: false, reason: "Stable", message: "Nothing is in progress." };
}

function endsByItself({ reason }: Hold): boolean {
  const { wait } = REASONS[reason];
  return wait === "time" || wait === "reading" || wait === "run";
}

/** What is held, why, and what a person can do; and when it ends by itself, where that is known. */
function holdMessage({ notBeforeMs }: Hold, text: string): string {
  const isTold = notBeforeMs === undefined || text.includes(timestamp(notBeforeMs));
  return isTold ? text : `${text} Waits until ${timestamp(notBeforeMs)}.`;
}

/** Tells everything that waits for a person. */
function stalled(facts: ConditionFacts): Verdict {
  const type = "Stalled";
  if (facts.blocked?.needsPerson)
    return { type, isTrue: true, reason: facts.blocked.reason, message: facts.blocked.detail };
  const problems = problemsOf(facts);
  const [first] = problems;
  if (first !== undefined) return { type, isTrue: true, reason: first.reason, message: messageOfAll(problems) };
  return { type, isTrue: false, reason: "NotStalled", message: "Nothing waits for a person." };
}

/** What a person has to do something about, in the order of the plan; what is wrong with addresses of which nothing is held last. */
function problemsOf({ holds, ips }: ConditionFacts): readonly (Problem & { readonly reason: Reason })[] {
  const own = forPerson(holds);
  const subjects = new Set(own.flat().map(({ subject }) => subject));
  const faulty = Object.entries(ips).flatMap(([ip, { fault, error = "" }]) =>
    fault === undefined || fault === "unread" || subjects.has(ip)
      ? []
      : [{ reason: FAULT_REASONS[fault], message: `${ip}: ${error}` }],
  );
  const held = own.map((of) => ({ reason: of[0].reason, message: holdMessage(of[0], problemOfAll(of)) }));
  return [...held, ...faulty];
}

/** So many missing grants are told in one message. */
const MOST_TOLD = 3;
const EFFECTS: Readonly<Record<MissingGrant["effect"], string>> = {
  held: "It waits for that.",
  "would-be-held": "With --grants require it would wait for that.",
  kept: "What is on record stays as it is and is served.",
};

/** Says what is not granted. An object that has every grant it needs, or needs none, has no such condition. */
function granted({ missing }: ConditionFacts): readonly Verdict[] {
  const [first] = missing;
  if (first === undefined) return [];
  const told = missing
    .slice(0, MOST_TOLD)
    .map(({ sentence, effect, advice }) =>
      [`${capital(sentence)}.`, EFFECTS[effect], ...(advice === undefined ? [] : [advice])].join(" "),
    );
  const more = missing.length > MOST_TOLD ? [`And ${missing.length - MOST_TOLD} more.`] : [];
  return [{ type: "Granted", isTrue: false, reason: first.reason, message: [...told, ...more].join(" ") }];
}
