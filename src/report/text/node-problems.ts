import { type HostAgent, isUnkept } from "../../model/host-agent.ts";
import { durationText } from "../../model/time.ts";
import type { NamedRow, NodeTrouble } from "../overview.ts";
import { countText, listText } from "./layout.ts";

// What status says of addresses from their nodes as they are now: that the node cannot serve any more, or that no `flipop host` puts the address on it.

/** An address that status calls active, on a node that cannot serve any more: no run has seen it yet, or none could read where the address is. */
export interface LostAddress {
  /** As a target: `pool/ingress/web`. */
  readonly object: string;
  readonly ip: string;
  readonly nodeName: string;
  readonly trouble: NodeTrouble;
}

/** Returns the active addresses on nodes that cannot serve any more. Pure. */
export function lostAddresses(rows: readonly NamedRow[]): readonly LostAddress[] {
  return rows.flatMap(({ name: object, addresses }) =>
    addresses.flatMap(({ ip, status: { state, reason, nodeName = "" }, trouble }) =>
      trouble === undefined || state !== "active" || (reason !== undefined && reason !== "Unreadable")
        ? []
        : [{ object, ip, nodeName, trouble }],
    ),
  );
}

/** How many nodes and addresses are named. */
const MOST = 3;

/** Returns one sentence that names the addresses and their nodes, or none. Pure. */
export function lostTexts(lost: readonly LostAddress[], nowMs: number): readonly string[] {
  if (lost.length === 0) return [];
  const ips = lost.map(({ ip }) => ip);
  const nodes = [...new Set(lost.map(({ nodeName, trouble }) => nodeText(nodeName, trouble, nowMs)))];
  const where = nodes.length === 1 ? "a node that cannot serve" : "nodes that cannot serve";
  const are = ips.length === 1 ? "is" : "are";
  return [`${addressesText(ips)} ${are} active by status on ${where}: ${listText(nodes, MOST)}.`];
}

const TROUBLES: Readonly<Record<NodeTrouble["kind"], string>> = {
  gone: "gone",
  deleting: "being deleted",
  "not-ready": "not ready",
};

/** Returns a node with why it cannot serve, and for how long where that is known: `worker-1 (not ready 58s)`. Pure. */
export function nodeText(name: string, { kind, sinceMs }: NodeTrouble, nowMs: number): string {
  const since = sinceMs === undefined ? "" : ` ${durationText(Math.max(nowMs - sinceMs, 0))}`;
  return `${name} (${TROUBLES[kind]}${since})`;
}

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

/** Returns what is to be said of addresses whose nodes have no ready `flipop host`: one sentence for those where it is missing, one for those where it is not ready. Pure. */
export function unkeptTexts(unkept: readonly UnkeptAddress[], nowMs: number): readonly string[] {
  return [...Map.groupBy(unkept, ({ agent }) => agent.kind)].map(([kind, of]) => {
    const which = addressesText(of.map(({ ip }) => ip));
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

function addressesText(ips: readonly string[]): string {
  return ips.length > MOST ? countText(ips.length, "address", "addresses") : listText(ips);
}
