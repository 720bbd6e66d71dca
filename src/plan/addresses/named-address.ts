import type { Hold } from "../../model/plan.ts";
import type { Pool } from "../../model/resource.ts";
import { retryDueMs, retryOf } from "../retries.ts";
import { type Assignments, assignPool } from "./assign.ts";
import { type ManagedIP, selectInUse } from "./claims.ts";
import type { MachineLedger } from "./machine-ledger.ts";
import type { PoolView } from "./pool-view.ts";
import { statusOf } from "./position.ts";

/** A RoutedIP whose spec names an address that does not serve yet, while one that flipop bought for it may still serve. */
export interface Succession {
  readonly named: string;
  readonly bought: string;
  /** Those of the two that are in use. */
  readonly inUse: readonly string[];
}

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
  return standing.kind !== "conflict" && standing.kind !== "gone" && standing.kind !== "foreign";
}

/** True for an address that the object asks for, or still uses: neither is surplus. Pure. */
export function isAsked({ inUse, succession }: Pick<PoolView, "inUse" | "succession">, ip: string): boolean {
  return inUse.has(ip) || succession?.named === ip || succession?.bought === ip;
}

/** How an object uses its addresses in this plan, and the assignments that follow, which are entered in the ledger. */
export interface AddressChoice {
  readonly view: PoolView;
  readonly ledger: MachineLedger;
  /** Undefined for an object that is being deleted. */
  readonly assignments: Assignments | undefined;
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
export function chooseAddress(view: PoolView, ledger: MachineLedger, nowMs: number): AddressChoice {
  const { succession } = view;
  if (succession === undefined) return { view, ledger, assignments: assignPool(view, ledger, nowMs) };
  const choices = waysOf(view, succession, nowMs).map((way) => {
    const chosen = { ...view, inUse: new Set(way) };
    const own = ledger.with(chosen);
    return { view: chosen, ledger: own, assignments: assignPool(chosen, own, nowMs) };
  });
  const found = choices.find(({ assignments }) => assignments.actions.some(({ kind }) => kind !== "unassign-ip"));
  if (found !== undefined) return found;
  const own = ledger.with(view);
  const assignments = assignPool(view, own, nowMs);
  const holds = [...assignments.holds, ...heldNamed(view, succession, choices, nowMs)];
  return { view, ledger: own, assignments: { ...assignments, holds } };
}

/** The sets of addresses that may be used together, best first. */
function waysOf(view: PoolView, { named, bought }: Succession, nowMs: number): readonly (readonly string[])[] {
  const standing = (ip: string): string | undefined => view.managed.find((address) => address.ip === ip)?.standing.kind;
  if (standing(named) !== "free") return [];
  const isServing = standing(bought) !== "free";
  if (isServing) return swapDueMs(view, named, nowMs) > nowMs ? [[bought, named]] : [[bought, named], [named]];
  return retryOf(view, `ip/${named}`) === undefined ? [[named]] : [[bought], [named]];
}

/** When a swap may be made; now or earlier = at once. */
function swapDueMs(view: PoolView, named: string, nowMs: number): number {
  const retry = retryOf(view, `ip/${named}`);
  return retry === undefined ? nowMs : retryDueMs(retry, nowMs) + SWAP_PAUSE_MS;
}

/** Why the named address is not sent anywhere. That of a swap tells most: it may use every matching node. */
function heldNamed(
  view: PoolView,
  { named, bought }: Succession,
  choices: readonly { readonly assignments: Assignments }[],
  nowMs: number,
): readonly Hold[] {
  const isServing = view.managed.some(({ ip, standing }) => ip === bought && standing.kind !== "free");
  const notBeforeMs = swapDueMs(view, named, nowMs);
  const holds = (choices.at(-1)?.assignments.holds ?? []).filter(({ subject }) => subject === named);
  if (isServing && notBeforeMs > nowMs && holds.length > 0) {
    const detail = retryOf(view, `ip/${named}`)?.error ?? "";
    return holds.map((hold) => ({ ...hold, reason: "Backoff", waitsFor: "retry", detail, notBeforeMs }));
  }
  return holds.map((hold) => (hold.waitsFor === "region" ? { ...hold, needsPerson: true } : hold));
}
