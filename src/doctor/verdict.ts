import { refKey } from "../model/action.ts";
import type { CheckCode, CheckFacts, CheckResult } from "../model/check.ts";
import { adviceFor, whyHeld } from "../model/hold.ts";
import type { Hold } from "../model/plan.ts";
import type { Answer, Answers, Facts } from "./facts.ts";

/** What a check says: about the whole, or about one thing of several. */
export interface Verdict extends Partial<Pick<CheckFacts, "consequence" | "hint" | "command">> {
  readonly result: CheckResult;
  /** Without a full stop. */
  readonly message: string;
  /** The provider that it is about alone: what is known of others stays known. Absent = it is about all. */
  readonly provider?: string;
}

/** A check: which facts it looks at, and what it says of them. */
export interface Check {
  readonly reads: readonly (keyof Facts)[];
  readonly judge: (answers: Answers) => readonly Verdict[];
}

/**
 * Returns a check of these facts. Where one of them could not be read, the check is not known, or what `failed` says.
 * @param judge - one verdict, or one for each thing that is not as it should be; pure
 */
export function check<K extends keyof Facts>(
  reads: readonly K[],
  judge: (facts: Pick<Facts, K>) => Verdict | readonly Verdict[],
  failed: (why: string) => Verdict = unknown,
): Check {
  return {
    reads,
    judge: (answers) => {
      const read = reads.map((name) => [name, answers[name] as Answer<Facts[K]> | undefined] as const);
      const errors = read.flatMap(([, answer]) =>
        answer === undefined ? ["it was not read"] : "error" in answer ? [answer.error] : [],
      );
      if (errors[0] !== undefined) return [failed(errors[0])];
      const values = read.map(([name, answer]) => [name, answer && "value" in answer ? answer.value : undefined]);
      const verdicts = judge(Object.fromEntries(values) as Pick<Facts, K>);
      return Array.isArray(verdicts) ? verdicts : [verdicts as Verdict];
    },
  };
}

/** The checks of one group, by their codes. */
export type Checks<Code extends CheckCode> = Readonly<Record<Code, Check>>;

/** It is as it should be. */
export function fine(message: string): Verdict {
  return { result: "success", message };
}

/** It is not as it should be, and something does not work. */
export function failing(message: string, more: Partial<Verdict> = {}): Verdict {
  return { result: "error", message, ...more };
}

/** It works, and may not be meant, or will stop working. */
export function suspicious(message: string, more: Partial<Verdict> = {}): Verdict {
  return { result: "warning", message, ...more };
}

/** Nobody can tell. */
export function unknown(message: string): Verdict {
  return { result: "unknown", message: message.replace(/\.$/, "") };
}

/** There is nothing to look at. */
export function notApplicable(message: string): Verdict {
  return { result: "skipped", message };
}

/** What a hold of the plan says; a failure where a person has to act. */
export function ofHold(hold: Hold): Verdict {
  const advice = adviceFor(hold);
  const what = `${refKey(hold.object)}: ${hold.subject === "" ? "" : `${hold.subject}: `}${whyHeld(hold).replace(/\.$/, "")}`;
  return (hold.needsPerson ? failing : suspicious)(what, advice === undefined ? {} : { hint: advice });
}

/** Returns the verdicts on what is wrong, or that nothing is. Pure. */
export function allOr(wrong: readonly Verdict[], good: Verdict): readonly Verdict[] {
  return wrong.length > 0 ? wrong : [good];
}
