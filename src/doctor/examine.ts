import { sourceNamed } from "../model/address-source.ts";
import {
  CHECK_CODES,
  CHECKS,
  type CheckCode,
  type CheckFinding,
  type CheckGroup,
  type CheckReport,
} from "../model/check.ts";
import type { GapSubject } from "../model/plan.ts";
import { CLUSTER_CHECKS } from "./cluster.ts";
import { CRD_CHECKS } from "./crds.ts";
import type { Account, Answer, Answers, Facts } from "./facts.ts";
import { HOST_CHECKS } from "./hosts.ts";
import { NAME_CHECKS } from "./names.ts";
import { OTHER_CHECKS } from "./others.ts";
import { PERMISSION_CHECKS } from "./permissions.ts";
import { PLAN_CHECKS } from "./plan-checks.ts";
import { PROVIDER_CHECKS } from "./providers.ts";
import { RUN_CHECKS } from "./runs.ts";
import { SHARD_CHECKS } from "./shards.ts";
import { type Check, notApplicable, type Verdict } from "./verdict.ts";

/** Every check, by its code. */
const ALL: Readonly<Record<CheckCode, Check>> = {
  ...CLUSTER_CHECKS,
  ...CRD_CHECKS,
  ...PERMISSION_CHECKS,
  ...RUN_CHECKS,
  ...SHARD_CHECKS,
  ...PROVIDER_CHECKS,
  ...PLAN_CHECKS,
  ...HOST_CHECKS,
  ...NAME_CHECKS,
  ...OTHER_CHECKS,
};

/** Which checks are asked for. */
export interface Chosen {
  /** Empty = all groups. */
  readonly only: readonly CheckGroup[];
  readonly skip: readonly CheckCode[];
  /** True before flipop is installed. */
  readonly isBefore: boolean;
}

const GROUPS_BEFORE: readonly CheckGroup[] = ["cluster", "crds", "permissions", "providers", "others"];

/** The codes that are shown, ascending. Pure. */
function shownCodes({ only, skip, isBefore }: Chosen): readonly CheckCode[] {
  return CHECK_CODES.filter((code) => {
    const { group, when } = CHECKS[code];
    if (skip.includes(code) || (only.length > 0 && !only.includes(group))) return false;
    return isBefore ? GROUPS_BEFORE.includes(group) : when !== "before";
  });
}

/** A check that is shown although it cannot be made yet. */
function isTooEarly(code: CheckCode, { isBefore }: Chosen): boolean {
  return isBefore && CHECKS[code].when === "installed";
}

/** What a check rests on. Before flipop is installed accounts are asked without the objects of a cluster. */
function restsOn(code: CheckCode, { isBefore }: Chosen): readonly CheckCode[] {
  const { group, after } = CHECKS[code];
  return isBefore && group === "providers" ? after.filter((before) => CHECKS[before].group === group) : after;
}

/** Returns the facts that the chosen checks look at, and those that these rest on. Pure. */
export function wantedFacts(chosen: Chosen): ReadonlySet<keyof Facts> {
  const codes = new Set(shownCodes(chosen).filter((code) => !isTooEarly(code, chosen)));
  // A Set iterates over what is added on the way.
  for (const code of codes) for (const before of restsOn(code, chosen)) codes.add(before);
  return new Set([...codes].flatMap((code) => ALL[code].reads));
}

/** Makes the chosen checks on what was read. Pure. */
export function examine(chosen: Chosen, answers: Answers): CheckReport {
  const made = new Map<CheckCode, readonly Verdict[]>();
  const verdictsOf = (code: CheckCode): readonly Verdict[] => {
    const known = made.get(code) ?? verdictsAfter(code);
    made.set(code, known);
    return known;
  };
  const verdictsAfter = (code: CheckCode): readonly Verdict[] => {
    if (isTooEarly(code, chosen)) return [notApplicable("not looked at with --pre")];
    const failed = failedBefore(code);
    if (failed !== undefined) return [notLookedAt(failed)];
    const lost = lostBefore(code);
    if (lost.length === 0) return ALL[code].judge(answers);
    const because = new Set(lost.map((one) => one.because));
    const isAll = lost.length === lookedAt(code, answers).length;
    if (isAll && because.size === 1) return [...because].map((one) => notLookedAt(one));
    const known = isAll ? [] : ALL[code].judge(withoutProviders(answers, lost));
    return [
      ...known,
      ...lost.map((one) => ({ ...notLookedAt(one.because, `${one.label}: `), provider: one.provider })),
    ];
  };
  const shown = shownCodes(chosen);
  const wanting = new Set(shown.flatMap((code) => (isTooEarly(code, chosen) ? [] : causesOf(code))));
  const codes = CHECK_CODES.filter(
    (code) => shown.includes(code) || (wanting.has(code) && !chosen.skip.includes(code) && !isTooEarly(code, chosen)),
  );
  const findings = codes.flatMap((code) =>
    verdictsOf(code).map(({ provider, ...verdict }): CheckFinding => {
      const isOfPart = verdict.result === "skipped" && provider !== undefined;
      return { code, ...verdict, ms: msOf(code, answers), ...(isOfPart ? { isOfPart } : {}) };
    }),
  );
  return { findings: toldOnce(findings) };

  /** The checks that failed, and without which this one is not made, or not made for one provider. They are shown even if they were not chosen: nothing else says what is wrong. */
  function causesOf(code: CheckCode): readonly CheckCode[] {
    const failed = failedBefore(code);
    return failed === undefined ? lostBefore(code).map(({ because }) => because) : [failed];
  }

  /** The first check that this one rests on and that is not good enough, whatever the provider. */
  function failedBefore(code: CheckCode): CheckCode | undefined {
    return restsOn(code, chosen).find((before) => isBadFor(before, undefined));
  }

  /** The providers that a check would look at and that cannot be looked at, each with the first check that says why. */
  function lostBefore(code: CheckCode): readonly Lost[] {
    return lookedAt(code, answers).flatMap(({ provider, label }) => {
      const because = restsOn(code, chosen).find((before) => isBadFor(before, provider));
      return because === undefined ? [] : [{ provider, label, because }];
    });
  }

  function isBadFor(code: CheckCode, provider: string | undefined): boolean {
    return verdictsOf(code).some((verdict) => !isGoodEnough(verdict) && verdict.provider === provider);
  }
}

/** A provider that a check does not look at. */
interface Lost extends Pick<Account, "provider" | "label"> {
  readonly because: CheckCode;
}

/** What of providers the checks of a group look at. */
const SUBJECTS: ReadonlyMap<CheckGroup, GapSubject> = new Map([
  ["addresses", "address"],
  ["names", "name"],
  ["firewalls", "firewall"],
]);

/** The accounts that a check looks at; empty where it looks at none, or nobody knows. */
function lookedAt(code: CheckCode, { accounts }: Answers): readonly Account[] {
  const subject = SUBJECTS.get(CHECKS[code].group);
  if (subject === undefined || accounts === undefined || "error" in accounts) return [];
  return accounts.value.filter(({ about }) => about.includes(subject));
}

function notLookedAt(because: CheckCode, what = ""): Verdict {
  return notApplicable(`${what}not looked at, because of ${because}`);
}

/** What was read, but for what these providers leave open: that is told already. Pure. */
function withoutProviders(answers: Answers, lost: readonly Lost[]): Answers {
  const isKept = ({ provider }: { readonly provider: string }): boolean =>
    lost.every((one) => one.provider !== sourceNamed(provider).provider);
  const { plan, machines, names } = answers;
  return {
    ...answers,
    ...(plan && {
      plan: changed(plan, (value) => ({ ...value, plan: { ...value.plan, gaps: value.plan.gaps.filter(isKept) } })),
    }),
    ...(machines && {
      machines: changed(machines, ({ asked, count }) => {
        const kept = asked.filter(isKept);
        return { asked: kept, count: count - (asked.length - kept.length) };
      }),
    }),
    ...(names && { names: changed(names, (value) => value.filter(isKept)) }),
  };
}

function changed<T>(answer: Answer<T>, change: (value: T) => T): Answer<T> {
  return "error" in answer ? answer : { ...answer, value: change(answer.value) };
}

/** Nine checks may rest on one list that cannot be read: why it cannot is told by the first. */
function toldOnce(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  const first = new Map<string, CheckCode>();
  return findings.map((finding) => {
    const { code, message, result } = finding;
    if (result !== "unknown") return finding;
    const known = first.get(message);
    if (known === undefined) first.set(message, code);
    return known === undefined || known === code ? finding : { ...finding, message: `for the same reason as ${known}` };
  });
}

function isGoodEnough({ result }: Verdict): boolean {
  return result === "success" || result === "warning" || result === "skipped";
}

function msOf(code: CheckCode, answers: Answers): number {
  return Math.max(0, ...ALL[code].reads.map((name) => answers[name]?.ms ?? 0));
}
