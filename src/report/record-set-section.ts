import { refKey } from "../model/action.ts";
import { announcedActions, type Hold, type Plan, type RecordSetAssessment } from "../model/plan.ts";
import { countText } from "./count-text.ts";
import { errorLines } from "./error-lines.ts";
import { headingLines, matchText, nodeLines } from "./node-lines.ts";
import { actionLines, holdLines, type PlanLayout } from "./plan-entry.ts";
import { publishedLines } from "./published-lines.ts";

/** Returns the lines about one record set of a plan: heading with its name, nodes, actions, holds and, on demand, what stays. */
export function recordSetSection(recordSet: RecordSetAssessment, plan: Plan, layout: PlanLayout): string[] {
  const key = refKey(recordSet.object);
  const actions = announcedActions(plan).filter(({ object }) => refKey(object) === key);
  const holds = plan.holds.filter(({ object }) => refKey(object) === key);
  return [
    ...headingLines(key, headingFacts(recordSet, holds), layout),
    ...nodeLines({ notMatching: recordSet.notMatching, skipped: [], waiting: [] }, layout),
    ...actions.flatMap((action) => actionLines(action, undefined, layout)),
    ...holds.flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
    ...(layout.focus === undefined ? errorLines(recordSet.status.error, holds, layout) : []),
    ...publishedLines(recordSet.status, [...actions, ...holds], layout),
  ];
}

function headingFacts(recordSet: RecordSetAssessment, holds: readonly Hold[]): string {
  if (holds.some(({ reason }) => reason === "InvalidSpec")) return ": invalid";
  if (holds.some(({ reason }) => reason === "SelectorRefused")) return ": its nodes are unknown";
  const { published } = recordSet;
  const addresses =
    published === undefined ? "records unknown" : `${countText(published.length, "address", "addresses")} published`;
  return `: ${writtenName(recordSet)}, ${addresses}, ${matchText(recordSet)}`;
}

/** Returns `www.example.com at cloudflare`, or the name as written where the full one is not known: `www in zone example.com at cloudflare`. */
function writtenName({ fqdn, written }: RecordSetAssessment): string {
  const name = fqdn ?? `${written.recordName || "no name"} in zone ${written.zone || "-"}`;
  return written.provider === "" ? name : `${name} at ${written.provider}`;
}
