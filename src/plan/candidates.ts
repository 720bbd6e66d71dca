import type { Place } from "../model/action.ts";
import { machineID, type NodeFacts } from "../model/node.ts";
import type { NodeVerdict } from "../model/plan.ts";
import { ownerText } from "../model/resource.ts";
import { firewallObstacle } from "./firewall/firewall-target.ts";
import type { Availability, Leaver, MachineLedger } from "./machine-ledger.ts";
import type { PoolView } from "./pool-view.ts";
import { turnOf } from "./try-rule.ts";

/** A match that can take an address now. */
export interface Candidate {
  readonly node: NodeFacts;
  readonly place: Required<Place>;
  /** Addresses that must leave the machine first. */
  readonly leaving: readonly Leaver[];
}

/**
 * The matches that wait for an address, in the order they are served: empty machines before those an address must leave first, else by name; nodes whose last
 * attempt failed behind all others, the longest due first. Matches that cannot take any are returned with the reason. Pure.
 */
export function findCandidates(
  view: PoolView,
  ledger: MachineLedger,
  nowMs: number,
): { readonly candidates: readonly Candidate[]; readonly skipped: readonly NodeVerdict[] } {
  const served = servedNodes(view);
  const machines = new Set<string>();
  const candidates: Candidate[] = [];
  const skipped: NodeVerdict[] = [];
  for (const node of view.matches.filter(({ name }) => !served.has(name))) {
    const machine = machineID(view.pool.spec.provider, node.providerID);
    if (machine === undefined || machines.has(machine)) {
      skipped.push({ nodeName: node.name, reason: "UnusableProviderID", detail: node.providerID });
      continue;
    }
    machines.add(machine);
    const place = { machineID: machine, nodeName: node.name };
    const closed = firewallObstacle(view.firewall, place);
    if (closed !== undefined) {
      skipped.push({ nodeName: node.name, reason: closed.reason, detail: closed.detail });
      continue;
    }
    const availability = ledger.availability(machine);
    if (availability.kind === "empty") candidates.push({ node, place, leaving: [] });
    else if (availability.kind === "after-leaving") candidates.push({ node, place, leaving: availability.leaving });
    else skipped.push(...skippedNode(node.name, availability, view));
  }
  return { candidates: inTurn(candidates, view, nowMs), skipped };
}

function servedNodes(view: PoolView): ReadonlySet<string> {
  return new Set(
    view.managed.flatMap(({ ip, standing }) =>
      standing.kind === "placed" && view.inUse.has(ip) ? [standing.on.nodeName] : [],
    ),
  );
}

/** A node whose own pool's address is just unreadable or being worked on is not passed over: it is served. */
function skippedNode(
  nodeName: string,
  availability: Exclude<Availability, { kind: "empty" | "after-leaving" }>,
  view: PoolView,
): readonly NodeVerdict[] {
  if (availability.kind === "promised") {
    return availability.to === view.key
      ? []
      : [{ nodeName, reason: "NodePromised", detail: ownerText(availability.to) }];
  }
  if (availability.kind === "still-published")
    return [{ nodeName, reason: "StillPublished", detail: `${availability.ip} in ${availability.name}` }];
  if (view.managed.some(({ ip }) => ip === availability.ip)) return [];
  return [{ nodeName, reason: availability.isNamed ? "NodeHasOtherIP" : "NodeHasForeignIP", detail: availability.ip }];
}

/** Of thousands of nodes few have failed: only those are looked up by name while the others are put in order. */
function inTurn(candidates: readonly Candidate[], view: PoolView, nowMs: number): readonly Candidate[] {
  const hasFailed = view.pool.status.retries.some(({ subject }) => subject.startsWith("node/"));
  const turn = ({ node }: Candidate): number => (hasFailed ? turnOf(view, `node/${node.name}`, nowMs) : 0);
  return candidates.toSorted(
    (a, b) => turn(a) - turn(b) || Number(a.leaving.length > 0) - Number(b.leaving.length > 0),
  );
}

/** Well-known node label that carries the region slug. */
const REGION_LABEL = "topology.kubernetes.io/region";

/** True when the node is in the region, or when one of the two is not known. */
export function isSameRegion(region: string, node: NodeFacts): boolean {
  const own = regionOf(node);
  return region === "" || own === "" || own === region;
}

/** The region slug of a node; `""` when it does not say. */
export function regionOf({ labels }: NodeFacts): string {
  return labels[REGION_LABEL] ?? "";
}
