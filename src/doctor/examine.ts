import {
  CHECK_CODES,
  CHECKS,
  type CheckCode,
  type CheckFinding,
  type CheckGroup,
  type CheckReport,
} from "../model/check.ts";
import { CLUSTER_CHECKS } from "./cluster.ts";
import { CRD_CHECKS } from "./crds.ts";
import type { Answers, Facts } from "./facts.ts";
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
    return failed === undefined ? ALL[code].judge(answers) : [notApplicable(`not looked at, because of ${failed}`)];
  };
  const shown = shownCodes(chosen);
  const wanting = new Set(shown.flatMap((code) => (isTooEarly(code, chosen) ? [] : (failedBefore(code) ?? []))));
  const codes = CHECK_CODES.filter(
    (code) => shown.includes(code) || (wanting.has(code) && !chosen.skip.includes(code) && !isTooEarly(code, chosen)),
  );
  const findings = codes.flatMap((code) =>
    verdictsOf(code).map((verdict): CheckFinding => ({ code, ...verdict, ms: msOf(code, answers) })),
  );
  return { findings: toldOnce(findings) };

  /** The first check that this one rests on and that is not good enough. Where that is not chosen it is shown all the same: nothing else says what is wrong. */
  function failedBefore(code: CheckCode): CheckCode | undefined {
    return restsOn(code, chosen).find((before) => !verdictsOf(before).every(isGoodEnough));
  }
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
