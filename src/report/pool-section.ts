import { type Action, refKey } from "../model/action.ts";
import { compareIPv4 } from "../model/address.ts";
import type { Hold, Plan, PoolAssessment } from "../model/plan.ts";
import type { IPStatus } from "../model/resource.ts";
import { countText } from "./count-text.ts";
import { errorLines } from "./error-lines.ts";
import { entryLines } from "./layout.ts";
import { headingLines, matchText, nodeLines } from "./node-lines.ts";
import { oneLine } from "./one-line.ts";
import { actionLines, holdLines, type PlanLayout } from "./plan-entry.ts";
import { publishedLines } from "./published-lines.ts";

/** Returns the lines about one pool of a plan: heading, nodes, actions, holds and, on demand, what stays. */
export function poolSection(pool: PoolAssessment, plan: Plan, layout: PlanLayout): string[] {
  const key = refKey(pool.object);
  const actions = plan.actions.filter(({ object }) => refKey(object) === key);
  const holds = plan.holds.filter(({ object }) => refKey(object) === key);
  const served = new Set(actions.flatMap((action) => servedNode(action)));
  const waiting = pool.waiting.filter((name) => !served.has(name));
  return [
    ...headingLines(key, headingFacts(pool, holds), layout),
    ...nodeLines({ ...pool, waiting }, layout),
    ...actions.flatMap((action) => actionLines(action, pool, layout)),
    ...holds.flatMap((hold) => holdLines(hold, plan.observedAtMs, layout)),
    ...restLines(pool, actions, holds, layout),
    ...publishedLines(pool.status, [...actions, ...holds], layout),
  ];
}

function headingFacts(pool: PoolAssessment, holds: readonly Hold[]): string {
  if (holds.some(({ reason }) => reason === "InvalidSpec")) return ": invalid";
  const active = Object.values(pool.status.ips).filter(({ state }) => state === "active").length;
  return `: ${active} of ${countText(pool.desired, "address", "addresses")} active, ${matchText(pool)}`;
}

function servedNode(action: Action): readonly string[] {
  if (action.kind === "assign-ip" || action.kind === "move-ip") return [action.after.nodeName];
  return action.kind === "acquire-ip" && "node" in action.after ? [action.after.node.nodeName] : [];
}

function restLines(
  pool: PoolAssessment,
  actions: readonly Action[],
  holds: readonly Hold[],
  layout: PlanLayout,
): string[] {
  const { focus } = layout;
  const told = new Set([...actions.flatMap((a) => ("ip" in a ? [a.ip] : [])), ...holds.map(({ subject }) => subject)]);
  const invalid = errorLines(pool.status.error, holds, layout);
  const rest = Object.entries(pool.status.ips)
    .filter(
      ([ip, { nodeName }]) => !told.has(ip) && (focus === undefined || focus.has(ip) || focus.has(nodeName ?? "")),
    )
    .sort(([a], [b]) => compareIPv4(a, b));
  return [...invalid, ...rest.flatMap(([ip, status]) => addressLines(ip, status, layout))];
}

function addressLines(ip: string, status: IPStatus, layout: PlanLayout): string[] {
  if (status.state === "error") return entryLines("!", `${ip} is in error`, oneLine(status.error ?? ""), layout);
  if (!layout.all) return [];
  const where = status.nodeName === undefined ? "" : ` on ${status.nodeName}`;
  const what = status.state === "active" ? `${ip} stays${where}` : `${ip} stays ${status.state}${where}`;
  return entryLines("=", what, "", layout);
}
