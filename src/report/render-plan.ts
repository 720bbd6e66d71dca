import type { Gap, Plan, ProviderBudget } from "../model/plan.ts";
import { plain, plainValue } from "../model/text.ts";
import { countText } from "./count-text.ts";
import { goneSections } from "./gone-section.ts";
import { type Impact, impactOf } from "./impact.ts";
import { isRouted } from "./is-routed.ts";
import { entryLines, type Layout } from "./layout.ts";
import type { PlanLayout } from "./plan-entry.ts";
import { poolSection } from "./pool-section.ts";
import { recordSetSection } from "./record-set-section.ts";
import { summaryText } from "./summary.ts";
import { rfc3339 } from "./time-text.ts";
import { putOffGaps, untoldGaps } from "./untold-gaps.ts";
import { wrap } from "./wrap.ts";

/**
 * Returns a plan for people: where and when it was read; every pool, routed IP and record set with its nodes, actions and holds, each with its reason;
 * what could not be read; then summary, impact, provider calls and quota. Ends with a line end.
 */
export function renderPlan(planned: Plan, layout: PlanLayout): string {
  const plan = plainValue(planned);
  const read = rfc3339(plan.observedAtMs).replace("T", " ").replace("Z", " UTC");
  const header = [`Plan for ${plan.cluster}, read ${read}${layout.wide ? `, plan ${plan.planID}` : ""}`, ""];
  const ordered = [...plan.pools.filter((pool) => !isRouted(pool)), ...plan.pools.filter(isRouted)];
  const pools = ordered.flatMap((pool) => [...poolSection(pool, plan, layout), ""]);
  const recordSets = plan.recordSets.flatMap((recordSet) => [...recordSetSection(recordSet, plan, layout), ""]);
  const isEmpty = plan.pools.length === 0 && plan.recordSets.length === 0;
  const nothing = layout.none ?? "No pools. Create a FloatingIPPool to begin.";
  const none = isEmpty ? [...wrap(plain(nothing), "", layout.width), ""] : [];
  return [
    ...header,
    ...none,
    ...pools,
    ...recordSets,
    ...goneSections(plan, layout),
    ...gapLines(plan, layout),
    ...footer(plan, layout),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns the lines about what could not be read and no hold already tells; with an empty line at the end when there are any. */
export function gapLines(plan: Plan, layout: Layout): string[] {
  const linesOf = (gaps: readonly Gap[]): readonly string[] =>
    gaps.flatMap(({ provider, subject, error }) =>
      entryLines("!", subject === "" ? provider : `${subject} at ${provider}`, error, layout),
    );
  const [unread, putOff] = [linesOf(untoldGaps(plan)), linesOf(putOffGaps(plan))];
  return [
    ...(unread.length === 0 ? [] : ["Could not be read, so nothing about it is changed:", ...unread, ""]),
    ...(putOff.length === 0 ? [] : ["Not looked at, so taken to be as status has it:", ...putOff, ""]),
  ];
}

function footer(plan: Plan, layout: Layout): string[] {
  const impact = impactOf(plan);
  const told = (touches: Impact["touches"], heading: string): string[] => {
    const lines = impact
      .filter((one) => one.touches === touches)
      .flatMap(({ message }) => entryLines("!", `${message}.`, "", layout));
    return lines.length === 0 ? [] : [`Impact: ${heading}`, ...lines];
  };
  const read = plan.budget.filter(({ calls, addressCount }) => calls > 0 || addressCount !== undefined);
  const budget = read.flatMap((entry) => wrap(budgetText(entry), "", layout.width));
  return [
    ...wrap(summaryText(plan), "", layout.width).map((line) => layout.palette.strong(line)),
    ...(impact.length === 0 ? ["Impact: nothing healthy is touched."] : []),
    ...told("healthy", "this hurts something healthy:"),
    ...told("others", "this touches what flipop did not make:"),
    ...budget,
  ];
}

function budgetText({ provider, calls, addressCount, addressLimit }: ProviderBudget): string {
  const needed = calls === 0 ? `no calls needed` : `at least ${countText(calls, "call")} needed`;
  if (addressCount === undefined) return `${provider}: ${needed}.`;
  const limit = addressLimit === undefined ? "" : ` of ${addressLimit}`;
  return `${provider}: ${needed}; the account has ${addressCount}${limit} reserved IPs.`;
}
