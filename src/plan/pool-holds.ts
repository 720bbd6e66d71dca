import type { Observation } from "../model/observation.ts";
import type { Hold } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import { ownerText } from "../model/resource.ts";
import { blockedBy } from "./blocked.ts";
import type { ManagedIP } from "./in-use.ts";
import type { PoolView } from "./pool-view.ts";

/** What is held for a pool for a reason of its own: invalid, suspended, its provider, its addresses. */
export function poolHolds(view: PoolView, observation: Observation): readonly Hold[] {
  const blocked = blockedBy(view);
  if (blocked !== undefined) {
    const notBeforeMs = observation.providers.get(view.pool.spec.provider)?.unusable?.notBeforeMs;
    return [whole(view, blocked.reason, blocked.message, blocked.needsPerson, notBeforeMs)];
  }
  const { suspend } = view.pool.spec;
  return [
    ...(suspend ? [whole(view, "Suspended", "", false, undefined)] : []),
    ...view.badEntries.map(({ entry, reason }): Hold => address(view, entry, reason, "", true)),
    ...view.managed.flatMap((managed) => addressHold(view, managed)),
    ...view.released.flatMap(({ ip, fact }) =>
      fact.kind === "gap" ? [address(view, ip, "Unreadable", fact.error, false)] : [],
    ),
  ];
}

function whole(
  view: PoolView,
  reason: Reason,
  detail: string,
  needsPerson: boolean,
  notBeforeMs: number | undefined,
): Hold {
  const hold: Hold = { kind: "reconcile", object: view.object, subject: view.key, reason, detail, needsPerson };
  return notBeforeMs === undefined ? hold : { ...hold, notBeforeMs };
}

function address(view: PoolView, ip: string, reason: Reason, detail: string, needsPerson: boolean): Hold {
  return { kind: "assign-ip", object: view.object, subject: ip, reason, detail, needsPerson };
}

function addressHold(view: PoolView, { ip, standing }: ManagedIP): readonly Hold[] {
  switch (standing.kind) {
    case "conflict":
      return [address(view, ip, "Conflict", `owned by ${ownerText(standing.owner)}`, true)];
    case "gap":
      return [address(view, ip, "Unreadable", standing.error, false)];
    case "gone":
      return [address(view, ip, "IPNotFound", "", true)];
    case "foreign":
      return [
        address(
          view,
          ip,
          "ForeignHolder",
          `machine ${standing.holder.machineID}; spec.foreignHolder: TakeOver would move it`,
          true,
        ),
      ];
    case "busy":
      return [address(view, ip, "InProgress", "", false)];
    case "placed":
      if (standing.unready === undefined || !view.inUse.has(ip)) return [];
      return [
        {
          ...address(view, ip, "Grace", `stays on node ${standing.on.nodeName}`, false),
          notBeforeMs: standing.unready.graceUntilMs,
        },
      ];
    case "free":
      return [];
  }
}
