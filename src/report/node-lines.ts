import type { NodeVerdict } from "../model/plan.ts";
import { countText, listText } from "./count-text.ts";
import { groupVerdicts } from "./node-phrase.ts";
import type { PlanLayout } from "./plan-entry.ts";
import { wrap } from "./wrap.ts";

/** Nodes to tell of: those an object does not want, those that can take nothing, those that wait. */
interface NodeGroups {
  readonly notMatching: readonly NodeVerdict[];
  readonly skipped: readonly NodeVerdict[];
  readonly waiting: readonly string[];
  /** True for a RoutedIP: it wants one address, so nodes that could have it do not lack one. */
  readonly isRouted?: boolean;
}

/** Returns the lines about the nodes of an object that are not served, and why; grouped, at most three by name unless `wide`. */
export function nodeLines({ notMatching, skipped, waiting, isRouted }: NodeGroups, layout: PlanLayout): string[] {
  const { width, palette, wide, focus } = layout;
  const isMeant = (name: string): boolean => focus === undefined || focus.has(name);
  const most = wide ? Number.POSITIVE_INFINITY : 3;
  const meant = (verdicts: readonly NodeVerdict[]): readonly NodeVerdict[] =>
    verdicts.filter(({ nodeName }) => isMeant(nodeName));
  const told = (text: string, items: readonly unknown[], list: string): string[] =>
    items.length === 0 ? [] : [`${text}: ${list}.`];
  const waitingFor = waiting.filter(isMeant);
  const texts = [
    ...told("Not matching", meant(notMatching), groupVerdicts(meant(notMatching), most)),
    ...told("Cannot take an address", meant(skipped), groupVerdicts(meant(skipped), most)),
    ...told(
      isRouted === true ? "Matching and free" : "Still without an address",
      waitingFor,
      listText(waitingFor, most),
    ),
  ];
  return texts.flatMap((text) => wrap(text, "    ", width).map((line) => palette.faint(line)));
}

/** Returns `2 of 5 nodes match`. */
export function matchText({
  matching,
  notMatching,
}: {
  readonly matching: readonly string[];
  readonly notMatching: readonly NodeVerdict[];
}): string {
  const nodes = countText(matching.length + notMatching.length, "node");
  return `${matching.length} of ${nodes} ${matching.length === 1 ? "matches" : "match"}`;
}

/** Returns the heading of an object's section: its name strong, its facts behind it. */
export function headingLines(name: string, facts: string, { palette, width }: PlanLayout): string[] {
  const [first = "", ...rest] = wrap(`${name}${facts}`, "", width);
  return [palette.strong(name) + first.slice(name.length), ...rest];
}
