import type { Hold } from "../../model/plan.ts";
import type { Pool } from "../../model/resource.ts";
import { ipSubject } from "../../model/retry-subject.ts";
import type { ServingNames } from "../drain.ts";
import { type ManagedIP, type PoolView, type Succession, statusOf } from "../pool-view.ts";
import { retryDueMs } from "../retries.ts";
import { type Assignments, assignPool } from "./assign.ts";
import { selectInUse } from "./claims.ts";
import type { MachineLedger } from "./machine-ledger.ts";
import { Pace } from "./pace.ts";

/**
 * Returns how far the address that a RoutedIP names has replaced the one that flipop bought for it; undefined once it has, or where
 * there is no bought one that could be used:
 *
 *   the named address …                                  in use
 *   is on a matching node                                the named one; the succession is over
 *   was sent to a machine, and is not seen there yet     the named one; the bought one, too, while it serves
 *   is free                                              the bought one, until chooseAddress sends the named one to a node
 *   cannot be read, or is somebody else's work           the bought one
 *   is gone, foreign or another object's                 the bought one
 *
 * Once the named address has taken over, the bought one is `disabled` by status. Then it comes back only if the named one is lost. Pure.
 */
export function successionOf(pool: Pool, managed: readonly ManagedIP[]): Succession | undefined {
  const [named] = managed.filter(({ acquired }) => acquired === undefined);
  const [best] = selectInUse(
    managed.filter(({ acquired }) => acquired !== undefined),
    1,
    pool,
  );
  const bought = managed.find(({ ip }) => ip === best);
  if (pool.kind !== "routedip" || pool.meta.isDeleting || named === undefined || bought === undefined) return undefined;
  const both = { named: named.ip, bought: bought.ip };
  if (!isUsable(named)) return { ...both, inUse: [bought.ip] };
  const hasTakenOver = statusOf(pool, bought.ip)?.state === "disabled";
  if (named.standing.kind === "placed" || hasTakenOver) return undefined;
  if (!isSent(named, pool)) return { ...both, inUse: [bought.ip] };
  return { ...both, inUse: bought.standing.kind === "placed" ? [bought.ip, named.ip] : [named.ip] };
}

/** True for an address that by status was sent to a machine, and that cannot be looked at or is not at rest. */
function isSent({ ip, standing }: ManagedIP, pool: Pool): boolean {
  const { state, providerID } = statusOf(pool, ip) ?? {};
  return standing.kind !== "free" && providerID !== undefined && (state === "active" || state === "in-progress");
}

function isUsable({ standing }: ManagedIP): boolean {
  return (
    standing.kind !== "conflict" &&
    standing.kind !== "ungranted" &&
    standing.kind !== "blocked" &&
    standing.kind !== "gone" &&
    standing.kind !== "foreign"
  );
}

/** How an object uses its addresses in this plan, and the assignments that follow, which are entered in the ledger. */
export interface AddressChoice {
  readonly view: PoolView;
  readonly ledger: MachineLedger;
  readonly assignments: Assignments;
}

/** A swap takes the bought address off its machine. After one that failed the next one waits for so much longer than other retries, milliseconds. */
const SWAP_PAUSE_MS = 10 * 60_000;

/**
 * Assigns the addresses of an object. Where its succession is open, it takes the first way in which an address can be sent:
 *
 *   the bought address serves     1 both are used: the named one goes to another node
 *                                 2 swap: the bought one leaves its node to the named one
 *   the bought address does not   1 the named one, unless its last attempt failed
 *                                 2 the bought one
 *                                 3 the named one, although its last attempt failed
 *
 * If there is none, the bought address stays in use, and a hold says what the named one waits for.
 */
export function chooseAddress(view: PoolView, ledger: MachineLedger, names: ServingNames): AddressChoice {
  const { succession } = view;
  if (succession === undefined) {
    const pace = new Pace(view, names, ledger);
    const assignments = assignPool(view, ledger, pace);
    return { view: pace.settled(view), ledger, assignments };
  }
  const choices = waysOf(view, succession).map((way) => {
    const chosen = { ...view, inUse: new Set(way) };
    const own = ledger.with(chosen);
    return { view: chosen, ledger: own, assignments: assignPool(chosen, own) };
  });
  const found = choices.find(({ view: { inUse }, assignments: { actions } }) =>
    actions.some(({ kind, ip }) => kind !== "unassign-ip" || inUse.has(ip)),
  );
  if (found !== undefined) return found;
  const own = ledger.with(view);
  const assignments = assignPool(view, own);
  const holds = [...assignments.holds, ...heldNamed(view, succession, choices)];
  return { view, ledger: own, assignments: { ...assignments, holds } };
}

/** The sets of addresses that may be used together, best first. */
function waysOf(view: PoolView, { named, bought }: Succession): readonly (readonly string[])[] {
  const standing = (ip: string): string | undefined => view.managed.find((address) => address.ip === ip)?.standing.kind;
  if (standing(named) !== "free") return [];
  const isServing = standing(bought) !== "free";
  if (isServing) return swapDueMs(view, named) > view.nowMs ? [[bought, named]] : [[bought, named], [named]];
  return view.retries.of(ipSubject(named)) === undefined ? [[named]] : [[bought], [named]];
}

/** When a swap may be made; now or earlier = at once. */
function swapDueMs({ retries, nowMs }: PoolView, named: string): number {
  const retry = retries.of(ipSubject(named));
  return retry === undefined ? nowMs : retryDueMs(retry, nowMs) + SWAP_PAUSE_MS;
}

/** Why the named address is not sent anywhere. That of a swap tells most: it may use every matching node. */
function heldNamed(
  view: PoolView,
  { named, bought }: Succession,
  choices: readonly { readonly assignments: Assignments }[],
): readonly Hold[] {
  const isServing = view.managed.some(({ ip, standing }) => ip === bought && standing.kind !== "free");
  const notBeforeMs = swapDueMs(view, named);
  const holds = (choices.at(-1)?.assignments.holds ?? []).filter(({ subject }) => subject === named);
  if (isServing && notBeforeMs > view.nowMs) {
    const why = view.retries.wait([ipSubject(named)], { waitsFor: "retry", notBeforeMs });
    return holds.map((held) => ({ ...held, ...why }));
  }
  return holds.map((held) => (held.waitsFor === "region" ? { ...held, needsPerson: true } : held));
}
