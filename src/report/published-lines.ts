import { type Action, subjectOf } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import type { DNSMemory } from "../model/resource.ts";
import { listText } from "./count-text.ts";
import { entryLines } from "./layout.ts";
import type { PlanLayout } from "./plan-entry.ts";

/** Returns, with `all`, the line about a name whose records stay as they are: nothing where an action or a hold tells of it. */
export function publishedLines(
  { publishedDNS }: DNSMemory,
  told: readonly (Action | Hold)[],
  layout: PlanLayout,
): string[] {
  const { all, wide, focus } = layout;
  if (!all || publishedDNS === undefined) return [];
  const { name, provider, addresses } = publishedDNS;
  if (focus !== undefined && !addresses.some((address) => focus.has(address))) return [];
  if (told.some((entry) => ("subject" in entry ? entry.subject : subjectOf(entry)) === name)) return [];
  const list = listText(addresses, wide ? Number.POSITIVE_INFINITY : 8);
  return entryLines("=", `${name} at ${provider} stays ${list === "" ? "without an address" : list}`, "", layout);
}
