import { refKey } from "../../model/action.ts";
import { sourceNamed } from "../../model/address-source.ts";
import { capital } from "../../model/hold.ts";
import type { Gap, MissingGrant, Plan, ProviderBudget } from "../../model/plan.ts";
import type { Allowance } from "../../model/provider.ts";
import { plain, plainValue } from "../../model/text.ts";
import { sharedCauses, withoutSubjects } from "../causes.ts";
import { harmTexts, namesDown, touchedOthers } from "../impact.ts";
import { causeLines } from "./causes.ts";
import { type Block, blockLines, countText, type Entry, entryLines, type Layout, listText, wrap } from "./layout.ts";
import type { EditsTold, PlanLayout } from "./plan-entries.ts";
import { isShort, sectionLines } from "./plan-sections.ts";
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
  const elsewhere = new Set(causes.flatMap(({ holds }) => holds));
  const isEmpty = plan.pools.length === 0 && plan.recordSets.length === 0;
  const nothing = layout.none ?? "No pools. Create a FloatingIPPool to begin.";
  const none = isEmpty ? [...wrap(plain(nothing), "", layout.width), ""] : [];
  return [
    ...header,
    ...none,
    ...sectionLines(plan, elsewhere, layout),
    ...causeLines(causes, plan.observedAtMs, layout),
    ...blockLines([...gapBlocks(plan), ...grantBlocks(plan)], layout),
    ...footer(plan, layout),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns what could not be read and no hold already tells, one entry for each cause; then what was not looked at. Blocks without entries are left out. */
export function gapBlocks(plan: Pick<Plan, "gaps" | "holds" | "pools" | "observedAtMs">): readonly Block[] {
  const entriesOf = (gaps: readonly Gap[]): readonly Entry[] => {
    const subjects = new Set(gaps.map(({ subject }) => subject));
    const causes = Map.groupBy(gaps, ({ provider, error }) => `${provider} ${withoutSubjects(error, subjects)}`);
    return [...causes.values()].map((own) => {
      const [{ provider = "", subject = "", error = "" } = {}] = own;
      const told = readableTimes(own.length === 1 ? error : withoutSubjects(error, subjects), plan.observedAtMs);
      const names = listText(
        own.map((gap) => gap.subject),
        MOST_UNREAD,
      );
      return { symbol: "!", what: subject === "" ? provider : `${names} at ${provider}`, why: told };
    });
  };
  return told([
    { heading: "Could not be read, so nothing about it is changed:", entries: entriesOf(untoldGaps(plan)) },
    { heading: "Not looked at, so taken to be as status has it:", entries: entriesOf(putOffGaps(plan)) },
  ]);
}

/** How many of the things that could not be read for one cause are named. */
const MOST_UNREAD = 3;

function told(blocks: readonly Block[]): readonly Block[] {
  return blocks.filter(({ entries }) => entries.length > 0);
}

/**
 * Returns what is to be told of grants: what is kept although it is not granted, what would be held if grants were required, and what cannot be read. What is held stands at
 * its object. Blocks without entries are left out.
 */
export function grantBlocks({ grants }: Pick<Plan, "grants">): readonly Block[] {
  if (grants === undefined) return [];
  const entriesOf = (effect: MissingGrant["effect"]): readonly Entry[] =>
    grants.missing
      .filter((missing) => missing.effect === effect)
      .map(({ object, sentence, advice = "" }) => ({
        symbol: "!",
        what: refKey(object),
        why: `${capital(sentence)}. ${advice}`.trim(),
      }));
  return told([
    { heading: "Not granted, and kept because it is on record; nothing new comes to it:", entries: entriesOf("kept") },
    { heading: "Not granted; with --grants require this would wait:", entries: entriesOf("would-be-held") },
    ...unreadGrantBlocks(grants),
  ]);
}

/** Returns what grants nothing because it cannot be read: all namespaces, or entries of annotations. Nothing where there is none. */
export function unreadGrantBlocks(grants: Plan["grants"]): readonly Block[] {
  const bad = (grants?.problems ?? []).map(
    ({ namespace, annotation, entry, why }): Entry => ({
      symbol: "!",
      what: `namespace ${namespace}`,
      why: `${annotation}${entry === "" ? "" : ` '${entry}'`}: ${why}.`,
    }),
  );
  const refused: readonly Entry[] =
    grants?.refusal === undefined ? [] : [{ symbol: "!", what: "namespaces", why: grants.refusal }];
  return told([{ heading: "Grants nothing, because it cannot be read:", entries: [...refused, ...bad] }]);
}

function footer(plan: Plan, layout: PlanLayout): string[] {
  const budget = budgetTexts(plan).flatMap((text) => wrap(text, "", layout.width));
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
  const text = serviceText(plan);
  return text === undefined ? [] : hanging("Service: ", text, layout);
}

/** Returns which names are without service before anything is done, as a sentence; undefined where all is well. */
export function serviceText(plan: Plan): string | undefined {
  const down = namesDown(plan);
  const [first, ...more] = down;
  if (first === undefined) return undefined;
  const names = listText(
    down.map(({ fqdn }) => fqdn),
    3,
  );
  return more.length > 0
    ? `${down.length} names show no address that serves: ${names}.`
    : `${first.fqdn} shows ${listText(first.shown, 3)}: ${first.shown.length === 1 ? "it does not serve" : "none of them serves"}.`;
}

/** Returns the lines about who is hurt, by class, and what is touched of others; none where nobody is hurt. */
function impactLines(plan: Plan, layout: Layout): string[] {
  const others = touchedOthers(plan).flatMap(({ message }) => entryLines("!", `${message}.`, "", layout));
  return [
    ...harmTexts(plan).flatMap((text) => hanging("Impact: ", text, layout)),
    ...(others.length === 0 ? [] : ["Impact: this touches what may be somebody else's:", ...others]),
  ];
}

/** Returns a text behind its heading; its further lines stand below the first word. */
function hanging(heading: string, text: string, { width }: Layout): string[] {
  const [first = "", ...rest] = wrap(text, " ".repeat(heading.length), width);
  return [heading + first.slice(heading.length), ...rest];
}

/** Returns, for each provider that is asked, the calls that a plan takes and the addresses of the account; a sentence each. */
export function budgetTexts({ budget }: Pick<Plan, "budget">): readonly string[] {
  return budget.filter(({ calls, addressCount }) => calls > 0 || addressCount !== undefined).map(budgetText);
}

/** What is not known of the addresses of a provider, by who puts them on the hosts. */
function hostsText({ provider, isHostUnseen, managedHosts }: ProviderBudget): string {
  if (isHostUnseen === undefined) return "";
  const isIPv6 = sourceNamed(provider).family === "IPv6";
  const advice = isIPv6 ? "; spec.hostAddress: Managed would let flipop host put them there" : "";
  if (managedHosts === undefined) return ` Whether the hosts have the addresses is not seen${advice}.`;
  const which = managedHosts.areAll ? "the addresses" : "those with hostAddress Managed";
  return ` flipop host puts ${which} on the hosts; flipop status says where it is ready.`;
}

function budgetText(budget: ProviderBudget): string {
  const { provider, calls, allowance, addressCount, addressLimit } = budget;
  const needed =
    calls === 0 ? `no calls needed` : `at least ${countText(calls, "call")} needed${paceText(calls, allowance)}`;
  if (addressCount === undefined) return `${provider}: ${needed}.`;
  const noun = budget.isFloating === true ? "floating IP" : "reserved IP";
  const owned =
    addressLimit === undefined ? countText(addressCount, noun) : `${addressCount} of ${countText(addressLimit, noun)}`;
  return `${provider}: ${needed}; the account has ${owned}.${hostsText(budget)}`;
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
