import { type AcquireIP, type Action, attemptKey } from "../model/action.ts";
import type { IPFamily } from "../model/address-source.ts";
import { annotatedOn } from "../model/annotated.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import { ipFamilyOf } from "../model/resource.ts";
import { withBegun } from "../model/restraint.ts";
import type { Selection } from "../model/run.ts";
import { planInSteps } from "../plan/plan.ts";
import { atOnce, type Steps } from "../plan/steps.ts";
import { later } from "./edited-world.ts";
import { imagine } from "./imagine.ts";
import type { CallLedger } from "./limits.ts";

/** Most times a run plans again on what it learned. */
export const MOST_ROUNDS = 25;

/** One round of a pass that goes well. */
export interface Round {
  readonly actions: readonly Action[];
  /** When the round begins, milliseconds of the world's clock. */
  readonly atMs: number;
  /** Id of an acquisition of the round → the address it is imagined to bring. */
  readonly bought: ReadonlyMap<string, string>;
  /** What is planned once it has ended. */
  readonly after: Plan;
}

/** One pass as it goes where everything succeeds and nothing changes meanwhile. */
export interface Passed {
  readonly rounds: readonly Round[];
  /** The world after it. */
  readonly world: Observation;
  /** What remains. */
  readonly remaining: Plan;
}

/** How long the rounds of a pass take. */
export type Pace = (actions: readonly Action[]) => number;

/**
 * Carries out a plan in thought: what can be done at once, then what is planned on it, until nothing is left that was not tried. Pure.
 *
 * @param takesMs - how long a round takes, milliseconds
 * @param ledger - what the limits of the providers allow; absent = everything
 */
export function passThrough(
  first: Plan,
  observation: Observation,
  selection: Selection,
  takesMs: Pace,
  ledger?: CallLedger,
): Passed {
  return atOnce(passThroughInSteps(first, observation, selection, takesMs, ledger));
}

/** As {@link passThrough}, and stops again and again. */
export function* passThroughInSteps(
  first: Plan,
  observation: Observation,
  selection: Selection,
  takesMs: Pace,
  ledger?: CallLedger,
): Steps<Passed> {
  const unused = unusedAddresses(observation);
  const tried = new Set<string>();
  const rounds: Round[] = [];
  let world = rehearsed(observation);
  let remaining = first;
  while (rounds.length < MOST_ROUNDS) {
    const untried = remaining.actions.filter((action) => !tried.has(attemptKey(action)));
    if (untried.length === 0) break;
    for (const action of untried) tried.add(attemptKey(action));
    const { begun: actions, refused } = ledger?.enter(world, untried) ?? { begun: untried, refused: [] };
    const bought = new Map(
      actions.filter(isAcquiring).map(({ id, provider }) => [id, unused(ipFamilyOf({ provider }))]),
    );
    const { observedAtMs: atMs } = world;
    world = imagine(later(begun(world, actions), takesMs(actions)), remaining, actions, bought, refused);
    remaining = yield* planInSteps(world, selection);
    if (actions.length > 0) rounds.push({ actions, atMs, bought, after: remaining });
  }
  return { rounds, world, remaining };
}

/** The observation for a rehearsal, where nobody can look whose a name is that only a later round takes. */
function rehearsed(observation: Observation): Observation {
  const dns = [...observation.dns].map(([name, facts]) => [name, { ...facts, isRehearsed: true as const }] as const);
  return { ...observation, dns: new Map(dns) };
}

/** What a run has begun counts for the limits of the run. */
function begun(world: Observation, actions: readonly Action[]): Observation {
  const { restraint } = world;
  return restraint === undefined ? world : { ...world, restraint: actions.reduce(withBegun, restraint) };
}

function isAcquiring(action: Action): action is AcquireIP {
  return action.kind === "acquire-ip";
}

/**
 * Returns what gives the addresses that stand in a rehearsal for those that are not known yet, each once: of the ranges that nobody can have, RFC 1112 section 4 and RFC 6666, and
 * seen nowhere in the world.
 */
function unusedAddresses({ pools, nodes, providers, dns }: Observation): (family: IPFamily) => string {
  const records = [...dns.values()].flatMap((facts) => [...facts.records.values()]);
  const seen = new Set([
    ...[...providers.values()].flatMap((provider) => [...provider.addresses.keys()]),
    ...pools.flatMap(({ spec, status }) => [...spec.ips, ...Object.keys(status.ips)]),
    ...nodes.flatMap((node) => [
      ...node.addresses.map(({ address }) => address),
      ...annotatedOn(node).map(({ ip }) => ip),
    ]),
    ...records.flatMap((fact) => (fact.kind === "known" ? fact.records.addresses : [])),
  ]);
  let number = 0;
  return (family) => {
    for (;;) {
      number += 1;
      const low = `${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
      const ip = family === "IPv4" ? `240.${low}` : `100::${number.toString(16)}`;
      if (!seen.has(ip)) return ip;
    }
  };
}
