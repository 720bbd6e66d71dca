import { refKey } from "../../model/action.ts";
import { capital } from "../../model/hold.ts";
import type { Gap, MissingGrant, Plan, ProviderBudget } from "../../model/plan.ts";
import type { Allowance } from "../../model/provider.ts";
import { plain, plainValue } from "../../model/text.ts";
import { sharedCauses, withoutSubjects } from "../causes.ts";
import { harmTexts, namesDown, touchedOthers } from "../impact.ts";
import { causeLines } from "./causes.ts";
import { countText, entryLines, type Layout, listText, wrap } from "./layout.ts";
import type { EditsTold, PlanLayout } from "./plan-entries.ts";
import { isShort, objectSections } from "./plan-sections.ts";
import { putOffGaps, summaryText, untoldGaps } from "./summary.ts";
import { readableTimes, rfc3339 } from "./times.ts";

/**
 * Returns a plan for people: where and when it was read; every pool, routed IP and record set with its nodes, actions and holds, each with its reason;
 * what could not be read; then summary, impact, provider calls and quota. Ends with a line end.
 */
export function renderPlan(planned: Plan, layout: PlanLayout): string {
  const plan = plainValue(planned);
  const read = rfc3339(plan.observedAtMs).replace("T", " ").replace("Z", " UTC");
  const id = layout.wide ? `, plan ${plan.planID}` : "";
  const header = [
    ...wrap(`Plan for ${plan.cluster}, read ${read}${id}${editsText(layout.edits)}`, "", layout.width),
    "",
  ];
  const causes = isShort(layout) ? sharedCauses(plan) : [];
  const told = new Set(causes.flatMap(({ holds }) => holds));
  const isEmpty = plan.pools.length === 0 && plan.recordSets.length === 0;
  const nothing = layout.none ?? "No pools. Create a FloatingIPPool to begin.";
  const none = isEmpty ? [...wrap(plain(nothing), "", layout.width), ""] : [];
  return [
    ...header,
    ...none,
    ...objectSections(plan, told, layout),
    ...causeLines(causes, plan.observedAtMs, layout),
    ...gapLines(plan, layout),
    ...grantLines(plan, layout),
    ...footer(plan, layout),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns the lines about what could not be read and no hold already tells, one for each cause; with an empty line at the end when there are any. */
export function gapLines(plan: Pick<Plan, "gaps" | "holds" | "pools" | "observedAtMs">, layout: Layout): string[] {
  const linesOf = (gaps: readonly Gap[]): readonly string[] => {
    const subjects = new Set(gaps.map(({ subject }) => subject));
    const causes = Map.groupBy(gaps, ({ provider, error }) => `${provider} ${withoutSubjects(error, subjects)}`);
    return [...causes.values()].flatMap((own) => {
      const [{ provider = "", subject = "", error = "" } = {}] = own;
      const told = readableTimes(own.length === 1 ? error : withoutSubjects(error, subjects), plan.observedAtMs);
      const names = listText(
        own.map((gap) => gap.subject),
        MOST_UNREAD,
      );
      return entryLines("!", subject === "" ? provider : `${names} at ${provider}`, told, layout);
    });
  };
  const [unread, putOff] = [linesOf(untoldGaps(plan)), linesOf(putOffGaps(plan))];
  return [
    ...(unread.length === 0 ? [] : ["Could not be read, so nothing about it is changed:", ...unread, ""]),
    ...(putOff.length === 0 ? [] : ["Not looked at, so taken to be as status has it:", ...putOff, ""]),
  ];
}

/** How many of the things that could not be read for one cause are named. */
const MOST_UNREAD = 3;

/**
 * Returns the lines about grants: what is kept although it is not granted, what would be held if grants were required, and what cannot be read. What is held
 * stands at its object. With an empty line at the end when there are any.
 */
function grantLines({ grants }: Plan, layout: Layout): string[] {
  if (grants === undefined) return [];
  const linesOf = (effect: MissingGrant["effect"]): readonly string[] =>
    grants.missing
      .filter((missing) => missing.effect === effect)
      .flatMap(({ object, sentence, advice = "" }) =>
        entryLines("!", refKey(object), `${capital(sentence)}. ${advice}`.trim(), layout),
      );
  const blocks: readonly (readonly [string, readonly string[]])[] = [
    ["Not granted, and kept because it is on record; nothing new comes to it:", linesOf("kept")],
    ["Not granted; with --grants require this would wait:", linesOf("would-be-held")],
  ];
  const told = blocks.flatMap(([heading, lines]) => (lines.length === 0 ? [] : [heading, ...lines, ""]));
  return [...told, ...unreadGrantLines(grants, layout)];
}

/** Returns the lines about what grants nothing because it cannot be read: all namespaces, or entries of annotations; with an empty line at the end when there are any. */
export function unreadGrantLines(grants: Plan["grants"], layout: Layout): string[] {
  const bad = (grants?.problems ?? []).flatMap(({ namespace, annotation, entry, why }) =>
    entryLines("!", `namespace ${namespace}`, `${annotation}${entry === "" ? "" : ` '${entry}'`}: ${why}.`, layout),
  );
  const refusal = grants?.refusal === undefined ? [] : entryLines("!", "namespaces", grants.refusal, layout);
  const lines = [...refusal, ...bad];
  return lines.length === 0 ? [] : ["Grants nothing, because it cannot be read:", ...lines, ""];
}

function footer(plan: Plan, layout: PlanLayout): string[] {
  const read = plan.budget.filter(({ calls, addressCount }) => calls > 0 || addressCount !== undefined);
  const budget = read.flatMap((entry) => wrap(budgetText(entry), "", layout.width));
  return [
    ...wrap(summaryText(plan), "", layout.width).map((line) => layout.palette.strong(line)),
    ...serviceLines(plan, layout),
    ...impactLines(plan, layout),
    ...budget,
    ...(layout.hint === undefined ? [] : wrap(layout.hint, "", layout.width)),
  ];
}

/** Returns the lines about what is without service before anything is done; none where all is well. */
function serviceLines(plan: Plan, layout: Layout): string[] {
  const down = namesDown(plan);
  const [first, ...more] = down;
  if (first === undefined) return [];
  const names = listText(
    down.map(({ fqdn }) => fqdn),
    3,
  );
  const text =
    more.length > 0
      ? `${down.length} names show no address that serves: ${names}.`
      : `${first.fqdn} shows ${listText(first.shown, 3)}: ${first.shown.length === 1 ? "it does not serve" : "none of them serves"}.`;
  return hanging("Service: ", text, layout);
}

/** Returns the lines about who is hurt, by class, and what is touched of others; none where nobody is hurt. */
function impactLines(plan: Plan, layout: Layout): string[] {
  const others = touchedOthers(plan).flatMap(({ message }) => entryLines("!", `${message}.`, "", layout));
  return [
    ...harmTexts(plan).flatMap((text) => hanging("Impact: ", text, layout)),
    ...(others.length === 0 ? [] : ["Impact: this touches what flipop did not make:", ...others]),
  ];
}

/** Returns a text behind its heading; its further lines stand below the first word. */
function hanging(heading: string, text: string, { width }: Layout): string[] {
  const [first = "", ...rest] = wrap(text, " ".repeat(heading.length), width);
  return [heading + first.slice(heading.length), ...rest];
}

function budgetText({ provider, calls, allowance, addressCount, addressLimit }: ProviderBudget): string {
  const needed =
    calls === 0 ? `no calls needed` : `at least ${countText(calls, "call")} needed${paceText(calls, allowance)}`;
  if (addressCount === undefined) return `${provider}: ${needed}.`;
  const limit = addressLimit === undefined ? "" : ` of ${addressLimit}`;
  return `${provider}: ${needed}; the account has ${addressCount}${limit} reserved IPs.`;
}

/** Returns how long so many calls take where they are more than are allowed at once: `; the limit is 250 a minute: about 3 minutes`. */
function paceText(calls: number, allowance: Allowance | undefined): string {
  if (allowance === undefined || calls <= allowance.calls) return "";
  const span = allowance.ms / 60_000;
  const minutes = Math.ceil((calls / allowance.calls) * span);
  return `; the limit is ${allowance.calls} ${span === 1 ? "a minute" : `in ${span} minutes`}: about ${countText(minutes, "minute")}`;
}

/** Returns `, if node/worker-1=NotReady, with web.yaml`. */
export function editsText({ edits, files }: EditsTold = { edits: [], files: [] }): string {
  const said = edits.length === 0 ? "" : `, if ${edits.map(plain).join(", ")}`;
  return files.length === 0 ? said : `${said}, with ${files.map(plain).join(", ")}`;
}
