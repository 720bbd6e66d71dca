import type { FirewallMemory } from "../../model/firewall.ts";
import type { Hold } from "../../model/plan.ts";
import { FINALIZER } from "../../model/resource.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer-step.ts";
import type { PoolView } from "../pool-view.ts";
import { entriesOf, entryKey } from "./firewall-work.ts";
import type { Reduction } from "./shrink-firewall.ts";

/** A deleted object can go once everything on record for it is taken away in this pass, or is on record for another that needs it. Pure. */
export function firewallCleaning(
  view: PoolView,
  memory: readonly FirewallMemory[],
  reductions: readonly Reduction[],
  hasHeir: (entry: string) => boolean,
): Cleaning {
  if (view.pool.spec.reclaimPolicy !== "Delete") return NOTHING_TO_CLEAN;
  const removing = reductions.flatMap(({ actions }) => actions);
  const leaving = new Set(
    removing.flatMap(({ firewall, before }) => before.map((what) => entryKey(firewall.id, what))),
  );
  const isLeft = (entry: string): boolean => !leaving.has(entry) && !hasHeir(entry);
  return {
    isNeeded: memory.length > 0,
    isStuck: memory.flatMap(entriesOf).some(isLeft) || reductions.some(({ holds }) => holds.length > 0),
    after: removing.map(({ id }) => id),
  };
}

/** Says what the deletion of an object waits for where nothing else does: another one is to put on record what it needs of it. Pure. */
export function waitingForHeirs(view: PoolView, cleaning: Cleaning, reductions: readonly Reduction[]): readonly Hold[] {
  const { meta } = view.pool;
  const isWaiting = meta.isDeleting && meta.finalizers.includes(FINALIZER) && cleaning.isStuck;
  if (!isWaiting || reductions.some(({ holds }) => holds.length > 0)) return [];
  const detail = "another RoutedIP needs what was added to a firewall for this one, and is to take it over";
  const common = { object: view.object, subject: view.key, needsPerson: false };
  return [{ ...common, kind: "remove-finalizer", reason: "FirewallPending", detail }];
}
