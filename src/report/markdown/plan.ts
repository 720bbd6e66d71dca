import type { Hold, Plan } from "../../model/plan.ts";
import { plainValue } from "../../model/text.ts";
import { sharedCauses } from "../causes.ts";
import { harmTexts, touchedOthers } from "../impact.ts";
import { causeEntries } from "../text/causes.ts";
import { countText, type Entry, type EntrySymbol } from "../text/layout.ts";
import { budgetTexts, editsText, gapBlocks, grantBlocks, serviceText } from "../text/plan.ts";
import type { PlanLayout } from "../text/plan-entries.ts";
import { isShort, type PlanSection, planSections } from "../text/plan-sections.ts";
import { summaryText } from "../text/summary.ts";
import { rfc3339 } from "../text/times.ts";
import { code, folded, item, listPart, markdownText, type Part, shown, shownLines, tablePart } from "./markdown.ts";

/**
 * Returns a plan as a comment on a pull request: the counts as its heading, whom it hurts, then tables of what changes and of what waits for a person. What else is held, what
 * follows by itself, the objects and the calls to providers are folded. It says the same as the text, for the same layout.
 */
export function planMarkdown(planned: Plan, layout: PlanLayout): string {
  const plan = plainValue(planned);
  const causes = isShort(layout) ? sharedCauses(plan) : [];
  const elsewhere = new Set<Hold>(causes.flatMap(({ holds }) => holds));
  const sections = planSections(plan, elsewhere, layout);
  const rows = [
    ...causeEntries(causes, plan.observedAtMs, layout).map((entry) => ({ key: "several", entry })),
    ...sections.flatMap(({ key, held, rest }) => [...held, ...rest].map((entry) => ({ key, entry }))),
  ];
  const held = (symbol: EntrySymbol): readonly Row[] => rows.filter(({ entry }) => entry.symbol === symbol);
  const [waiting, staying] = [held("."), held("=")];
  const [following, changes] = changesOf(sections);
  return markdownText({
    marker: "flipop plan",
    heading: `flipop plan: ${summaryText(plan).replace(/\.$/, "")}`,
    lead: leadOf(plan, layout),
    parts: [
      tableOf("Change", changes, ["change", "changes"]),
      tableOf("Waits for a person", held("!"), ["blocked", "blocked"]),
      ...[...gapBlocks(plan), ...grantBlocks(plan)].map(({ heading, entries }) =>
        listPart(
          heading,
          entries.map(({ what, why }) => item(what, why)),
          ["unreadable", "unreadable"],
        ),
      ),
      listPart(
        "Touches what may be somebody else's",
        touchedOthers(plan).map(({ message }) => item(`${message}.`, "")),
        ["such change", "such changes"],
      ),
      folded("Held: it ends by itself, or is as wished", tableOf("Held", waiting, ["held", "held"])),
      folded(
        `${countText(following.length, "annotation")} that ${following.length === 1 ? "follows" : "follow"}`,
        tableOf("Change", following, ["annotation", "annotations"]),
      ),
      folded("What stays", tableOf("Stays", staying, ["that stays", "that stay"])),
      folded("Objects", listPart("", sections.map(objectItem), ["object", "objects"])),
      folded(
        "Calls to providers",
        listPart(
          "",
          budgetTexts(plan).map((text) => item(text, "")),
          ["provider", "providers"],
        ),
      ),
    ],
    whole: "flipop plan",
  });
}

interface Row {
  readonly key: string;
  readonly entry: Entry;
}

/** Annotations that follow, unless nothing else changes; then everything else. */
function changesOf(sections: readonly PlanSection[]): readonly [readonly Row[], readonly Row[]] {
  const all = sections.flatMap(({ key, changes }) => changes.map((entry) => ({ key, entry })));
  const following = all.filter(({ entry }) => entry.isFollowing);
  return following.length === all.length ? [[], all] : [following, all.filter(({ entry }) => !entry.isFollowing)];
}

function tableOf(title: string, rows: readonly Row[], nouns: Part["nouns"]): Part {
  const cells = rows.map(({ key, entry: { symbol, what, why } }) => [
    code(symbol),
    key === "several" ? key : code(key),
    shown(what),
    shownLines(why),
  ]);
  return tablePart(["", "Object", title, "Why"], cells, nouns);
}

function objectItem({ key, facts, nodes }: PlanSection): string {
  return `- ${code(key)}${shown(facts)}${nodes.map((text) => `<br>${shown(text)}`).join("")}`;
}

function leadOf(plan: Plan, { wide, edits, none, hint }: PlanLayout): readonly string[] {
  const read = rfc3339(plan.observedAtMs).replace("T", " ").replace("Z", " UTC");
  const id = wide ? `, plan ${code(plan.planID)}` : "";
  const isEmpty = plan.pools.length === 0 && plan.recordSets.length === 0;
  const service = serviceText(plan);
  const facts = [
    ...(service === undefined ? [] : [`- **Service:** ${shown(service)}`]),
    ...harmTexts(plan).map((text) => `- **Impact:** ${shown(text)}`),
  ];
  return [
    `Plan for ${code(plan.cluster)}, read ${read}${id}${shown(editsText(edits))}.`,
    ...(isEmpty ? ["", shown(none ?? "No pools. Create a FloatingIPPool to begin.")] : []),
    ...(facts.length === 0 ? [] : ["", ...facts]),
    ...(hint === undefined ? [] : ["", shown(hint)]),
  ];
}
