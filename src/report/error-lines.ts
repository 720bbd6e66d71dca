import type { Hold } from "../model/plan.ts";
import { problemText } from "../model/reason.ts";
import { entryLines } from "./layout.ts";
import type { PlanLayout } from "./plan-entry.ts";

/** Returns the line about the error in an object's status; nothing where a hold tells of it: of the whole object, with the same text, or with the same particulars. */
export function errorLines(error: string | undefined, holds: readonly Hold[], layout: PlanLayout): string[] {
  const tells = (hold: Hold): boolean =>
    hold.kind === "reconcile" ||
    error === problemText(hold) ||
    (hold.detail !== "" && error?.includes(hold.detail) === true);
  return error === undefined || holds.some(tells) ? [] : entryLines("!", error, "", layout);
}
