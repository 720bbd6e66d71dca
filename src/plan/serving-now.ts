import { machineID } from "../model/node.ts";
import type { PoolView } from "./pool-view.ts";

/** The addresses pools manage, or released, that are attached to a match at this moment, whatever is planned for them. Pure. */
export function servingNow(views: readonly PoolView[]): ReadonlySet<string> {
  return new Set(
    views.flatMap((view) => {
      const placed = view.managed.flatMap(({ ip, standing }) =>
        standing.kind === "placed" && standing.unready === undefined ? [ip] : [],
      );
      const isMatch = (holderID: string | undefined): boolean =>
        view.matches.some(({ providerID }) => machineID(view.pool.spec.provider, providerID) === holderID);
      const released = view.released.flatMap(({ ip, fact }) =>
        fact.kind === "known" && !fact.address.isLocked && isMatch(fact.address.holderID) ? [ip] : [],
      );
      return [...placed, ...released];
    }),
  );
}
