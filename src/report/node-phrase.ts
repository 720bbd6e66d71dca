import type { NodeVerdict } from "../model/plan.ts";
import { verdictPhrase } from "../model/reason.ts";
import { listText } from "./count-text.ts";

/**
 * Returns the verdicts grouped by reason, the largest group first: `3 nodeLabel mismatch (a, b and 1 more), 1 no ready pod (c)`.
 * `names` limits how many nodes a group names.
 */
export function groupVerdicts(verdicts: readonly NodeVerdict[], names: number): string {
  const groups = Map.groupBy(verdicts, (verdict) => verdict.reason);
  return [...groups]
    .sort(([a, as], [b, bs]) => bs.length - as.length || (a < b ? -1 : 1))
    .map(([reason, members]) => {
      const nodes = members.map((member) => member.nodeName);
      return `${members.length} ${verdictPhrase(reason)} (${listText(nodes, names)})`;
    })
    .join(", ");
}
