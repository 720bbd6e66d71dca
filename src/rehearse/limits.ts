import type { Action } from "../model/action.ts";
import { changesName } from "../model/action-kinds.ts";
import { sourceNamed } from "../model/address-source.ts";
import { ProviderError, type Refusal } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { formatTime } from "../model/time.ts";
import { providerBudgets } from "../plan/budget.ts";
import { inOrder } from "./imagine.ts";

/** The part of every limit that is left to addresses while names are changed, as a run leaves it: less of it for what no longer serves. */
const KEPT = { recovery: 0.1, other: 0.2 } as const;

/** What is begun of actions, in their order, and what a provider refuses. */
export interface Begun {
  readonly begun: readonly Action[];
  readonly refused: readonly Refused[];
}

/** An action that a provider refuses because its limit is used up. */
export interface Refused {
  readonly action: Action;
  readonly error: ProviderError;
}

/** Calls that are about to be made. */
interface Wanted {
  readonly provider: string;
  readonly calls: number;
  readonly atMs: number;
}

const HOUR_MS = 3_600_000;

/**
 * The calls that a story has made, by provider, against what each provider allows. It is filled as the story goes on: one ledger for each story. Calls of actions that
 * are begun together count as if they were all made then.
 */
export class CallLedger {
  readonly #registry: ProviderRegistry;
  readonly #spent = new Map<string, { readonly atMs: number; readonly calls: number }[]>();

  constructor(registry: ProviderRegistry) {
    this.#registry = registry;
  }

  /**
   * Enters the calls of actions, each behind those it waits for, as long as the limits allow them. What requires a refused action is not begun either.
   */
  enter(observation: Observation, actions: readonly Action[]): Begun {
    const { observedAtMs: atMs } = observation;
    const begun: Action[] = [];
    const left = new Set<string>();
    const refused: Refused[] = [];
    const closed = new Map<string, ProviderError>();
    for (const action of inOrder(actions)) {
      const calls = moreCalls(observation, begun, action);
      const errors = calls.flatMap((one) => closed.get(one.provider) ?? this.#refusal(action, { ...one, atMs }) ?? []);
      const [error] = errors;
      const mayBegin = !action.requires.some((id) => left.has(id));
      if (error === undefined && mayBegin) {
        begun.push(action);
        for (const one of calls) this.#spend(one.provider, { atMs, calls: one.calls });
        continue;
      }
      left.add(action.id);
      if (error === undefined || !mayBegin) continue;
      closed.set(error.provider, error);
      refused.push({ action, error });
    }
    return { begun: actions.filter((action) => begun.includes(action)), refused };
  }

  #spend(provider: string, spent: { readonly atMs: number; readonly calls: number }): void {
    this.#spent.set(provider, [...(this.#spent.get(provider) ?? []), spent]);
  }

  #refusal(action: Action, { provider, ...wanted }: Wanted): ProviderError | undefined {
    const { allowance, hourlyCalls } = this.#registry.get(provider) ?? {};
    const hourly = hourlyCalls === undefined ? [] : [{ calls: hourlyCalls, ms: HOUR_MS }];
    const limits = [...(allowance === undefined ? [] : [allowance]), ...hourly];
    const untilMs = Math.max(
      0,
      ...limits.map((limit) => this.#freeAtMs(provider, wanted, { ...limit, kept: keptOf(action) })),
    );
    if (untilMs <= wanted.atMs) return undefined;
    return new ProviderError({
      provider,
      failure: "rate-limited",
      operation: action.kind,
      subject: "",
      status: 429,
      message: `${provider}'s rate limit is used up until ${formatTime(untilMs).slice(11, 19)} UTC`,
      notBeforeMs: untilMs,
    });
  }

  /** When so many calls more are within a limit, milliseconds: a call counts until the limit's time is over. */
  #freeAtMs(
    provider: string,
    { atMs, calls }: { readonly atMs: number; readonly calls: number },
    limit: { readonly calls: number; readonly ms: number; readonly kept: number },
  ): number {
    const counted = (this.#spent.get(provider) ?? []).filter((one) => one.atMs > atMs - limit.ms);
    const most = Math.max(calls, Math.floor(limit.calls * (1 - limit.kept)));
    let sum = counted.reduce((all, one) => all + one.calls, calls);
    for (const one of counted) {
      if (sum <= most) break;
      sum -= one.calls;
      if (sum <= most) return one.atMs + limit.ms;
    }
    return atMs;
  }
}

/** The calls that one action adds to those of others: one read confirms many assignments. */
function moreCalls(
  observation: Observation,
  others: readonly Action[],
  action: Action,
): readonly { readonly provider: string; readonly calls: number }[] {
  const before = new Map(providerBudgets(observation, others).map(({ provider, calls }) => [provider, calls]));
  return (
    providerBudgets(observation, [...others, action])
      // The calls for addresses of both families are counted together.
      .map(({ provider, calls }) => ({
        provider: sourceNamed(provider).provider,
        calls: calls - (before.get(provider) ?? 0),
      }))
      .filter(({ calls }) => calls > 0)
  );
}

function keptOf(action: Action): number {
  if (!changesName(action)) return 0;
  return action.impact === "recovery" ? KEPT.recovery : KEPT.other;
}

/** The world in which a provider that was refused in the rehearsal itself answers again, once its time is over. What was limited to begin with stays as it was read. */
export function relieved(world: Observation, before: Observation): Observation {
  const isOver = (facts: { readonly unusable?: Refusal } | undefined, wasUnusable: boolean): boolean =>
    !wasUnusable && facts?.unusable?.kind === "rate-limited" && (facts.unusable.notBeforeMs ?? 0) <= world.observedAtMs;
  const open = <F extends { readonly name: string; readonly unusable?: Refusal }>(
    all: ReadonlyMap<string, F>,
    first: ReadonlyMap<string, F>,
  ): ReadonlyMap<string, F> =>
    new Map(
      [...all].map(([name, facts]) => {
        if (!isOver(facts, first.get(name)?.unusable !== undefined)) return [name, facts];
        const { unusable: _over, ...usable } = facts;
        return [name, usable as F];
      }),
    );
  return {
    ...world,
    providers: open(world.providers, before.providers),
    dns: open(world.dns, before.dns),
    firewalls: open(world.firewalls, before.firewalls),
  };
}
