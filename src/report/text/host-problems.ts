import { type HostAgent, isUnkept } from "../../model/host-agent.ts";
import { durationText } from "../../model/time.ts";
import type { NamedRow } from "../overview.ts";
import { countText, listText } from "./layout.ts";

/** An address that is active at its provider, while `flipop host` is not ready on its node. */
export interface UnkeptAddress {
  /** As a target: `pool/ingress/web`. */
  readonly object: string;
  readonly ip: string;
  readonly nodeName: string;
  readonly agent: HostAgent;
}

/** Returns the active addresses on nodes where `flipop host` is missing or not ready. Whoever reads of a node that it cannot serve has no use for it. Pure. */
export function unkeptAddresses(rows: readonly NamedRow[]): readonly UnkeptAddress[] {
  return rows.flatMap(({ name, addresses }) =>
    addresses.flatMap(({ ip, hostAgent: agent, status: { nodeName = "" }, trouble }) =>
      agent !== undefined && trouble === undefined && isUnkept(agent) ? [{ object: name, ip, nodeName, agent }] : [],
    ),
  );
}

/** How many nodes and addresses are named. */
const MOST = 3;

/** Returns what is to be said of addresses whose nodes have no ready `flipop host`: one sentence for those where it is missing, one for those where it is not ready. Pure. */
export function unkeptTexts(unkept: readonly UnkeptAddress[], nowMs: number): readonly string[] {
  return [...Map.groupBy(unkept, ({ agent }) => agent.kind)].map(([kind, of]) => {
    const ips = of.map(({ ip }) => ip);
    const which = ips.length > MOST ? countText(ips.length, "address", "addresses") : listText(ips);
    const nodes = [
      ...new Set(of.map((one) => `${one.nodeName}${kind === "missing" ? "" : sinceText(one.agent, nowMs)}`)),
    ];
    const how = kind === "missing" ? "does not run" : "is not ready";
    return `${which} may answer nobody: flipop host ${how} on ${listText(nodes, MOST)}.`;
  });
}

/** What a person does then. */
export const UNKEPT_HELP = "It stays published. flipop doctor --only addresses says what helps.";

/** Returns `ready`, `missing`, `not ready 3m` or `unknown`; `-` where the node is not to put the address on its host. Pure. */
export function hostText(agent: HostAgent | undefined, nowMs: number): string {
  if (agent === undefined) return "-";
  if (agent.kind !== "not-ready") return agent.kind;
  return `not ready${agent.sinceMs === undefined ? "" : ` ${durationText(Math.max(nowMs - agent.sinceMs, 0))}`}`;
}

function sinceText({ sinceMs }: HostAgent, nowMs: number): string {
  return sinceMs === undefined ? "" : ` (for ${durationText(Math.max(nowMs - sinceMs, 0))})`;
}
