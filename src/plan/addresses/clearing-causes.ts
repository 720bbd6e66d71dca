import type { Place } from "../../model/action.ts";
import type { NodeFacts } from "../../model/node.ts";
import type { Reason } from "../../model/reason.ts";
import type { PoolView, Standing } from "../pool-view.ts";
import { movedByHand } from "./position.ts";

/** Why a node no longer carries what its annotation says, and whether its object gives the address up. */
export interface CauseOfClearing {
  readonly reason: Reason;
  readonly isGivenUp: boolean;
  /** Where the address is: on a machine that never was a node, or where somebody put it. */
  readonly holder?: Place;
}

/** Returns that, as far as its object knows. Pure. */
export function causeOfClearing(node: NodeFacts, ip: string, view: PoolView | undefined): CauseOfClearing {
  if (view === undefined || view.pool.meta.isDeleting) return { reason: "PoolDeleted", isGivenUp: true };
  const standing = view.managed.find((address) => address.ip === ip)?.standing;
  if (standing === undefined) return { reason: "NotManaged", isGivenUp: true };
  switch (standing.kind) {
    case "blocked":
      return { reason: "IPBlocked", isGivenUp: false };
    case "gone":
      return { reason: "IPNotFound", isGivenUp: false };
    case "foreign":
      return { reason: "ForeignHolder", isGivenUp: false, holder: standing.holder };
    case "conflict":
      return { reason: "Conflict", isGivenUp: true };
    case "ungranted":
      return { reason: standing.why.reason, isGivenUp: true };
    case "placed":
    case "free":
    case "busy":
    case "gap":
      if (!view.inUse.has(ip)) return { reason: "AboveDesired", isGivenUp: true };
      return { ...(movedByHand(view, ip, node) ?? { reason: whyElsewhere(node, standing, view) }), isGivenUp: false };
  }
}

/** Why an address in use is no longer where a node's annotation says. An earlier pass may have taken it away from a node that was lost. */
function whyElsewhere({ name }: NodeFacts, standing: Standing, { notMatching }: PoolView): Reason {
  const hasLeft = standing.kind === "free" && standing.from?.nodeName === name;
  if (hasLeft) return standing.rank === "excess" ? "AboveMaxPerNode" : "HolderLost";
  return notMatching.some(({ nodeName }) => nodeName === name) ? "HolderLost" : "AnnotationDrift";
}
