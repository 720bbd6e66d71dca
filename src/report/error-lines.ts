import type { Hold } from "../model/plan.ts";
import { entryLines } from "./layout.ts";
import { oneLine } from "./one-line.ts";
import type { PlanLayout } from "./plan-entry.ts";

/** Returns the line about the error in an object's status; nothing where a hold on the whole object, or one with the same particulars, tells of it. */
export function errorLines(error: string | undefined, holds: readonly Hold[], layout: PlanLayout): string[] {
  const isTold = holds.some(({ kind, detail }) => kind === "reconcile" || (detail !== "" && error?.includes(detail)));
  return error === undefined || isTold ? [] : entryLines("!", oneLine(error), "", layout);
}
