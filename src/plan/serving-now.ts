import { machineID } from "../model/provider-id.ts";
import type { PoolView } from "./pool-view.ts";

/** The addresses pools manage, or released, that are attached to a match at this moment, whatever is planned for them. Pure. */
export function servingNow(views: readonly PoolView[]): ReadonlySet<string> {
  return new Set(
    views.flatMap((view) => {
      const machines = new Set(view.matches.map(({ providerID }) => machineID(view.pool.spec.provider, providerID)));
      const placed = view.managed.flatMap(({ ip, standing }) =>
        standing.kind === "placed" && standing.unready === undefined ? [ip] : [],
      );
      const released = view.released.flatMap(({ ip, fact }) =>
        fact.kind === "known" && machines.has(fact.address.holderID) && !fact.address.isLocked ? [ip] : [],
      );
      return [...placed, ...released];
    }),
  );
}
