import { type Action, refKey } from "../model/action.ts";
import { ConfigError } from "../model/errors.ts";
import { NOT_BEGUN, type Restraint, RunRestraint } from "../model/restraint.ts";
import type { PassResult } from "../model/run.ts";
import { plain } from "../model/text.ts";
import { actionLine } from "../report/text/actions.ts";
import { given } from "./environment.ts";
import type { PlanFlags } from "./flags.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import type { Session } from "./session.ts";

// What a run may take from anybody, and the question that a person is asked before what cannot be undone. The question is asked while no lock is held:
//
//   run  everything but what cannot be undone, recoveries among it   (Lease held)
//   ask                                                              (Lease free: nobody waits for the person)
//   run  on a new look at the world, with what was confirmed         (Lease held)
//
// What the second run would do and nobody has confirmed is asked again.

/** Returns the restraint that the flags mean; undefined where they restrain nothing. */
export function restraintOf(
  flags: Pick<PlanFlags, "maxVoluntaryMoves" | "maxPurchases" | "maxRemovals">,
  confirmed?: ReadonlySet<string>,
): Restraint | undefined {
  const { maxVoluntaryMoves: voluntaryMoves, maxPurchases: purchases, maxRemovals: removals } = flags;
  const limits = given({ voluntaryMoves, purchases, removals });
  if (confirmed === undefined && Object.keys(limits).length === 0) return undefined;
  return { limits, ...given({ confirmed }), begun: NOT_BEGUN };
}

/** Returns the restraint of a run of `reconcile`: on a terminal, or with `--confirm`, what cannot be undone is left until a person has confirmed it. */
export function restraintOfRun({ ask }: Session, flags: ReconcileFlags): RunRestraint | undefined {
  if (flags.yes === true && flags.confirm === true)
    throw new ConfigError("usage", "--yes and --confirm contradict each other: leave one of them out.");
  const isAsked = flags.yes !== true && (ask !== undefined || flags.confirm === true);
  const restraint = restraintOf(flags, isAsked ? new Set() : undefined);
  return restraint === undefined ? undefined : new RunRestraint(restraint);
}

/** @throws ConfigError `usage` for flags that mean something for a single run only */
export function refuseLimits(flags: ReconcileFlags): void {
  if (flags.confirm === true)
    throw new ConfigError("usage", "--confirm is for a single run: with --watch nobody is asked. Leave it out.");
  if (restraintOf(flags) !== undefined)
    throw new ConfigError(
      "usage",
      "--max-voluntary-moves, --max-purchases and --max-removals are for a single run: --watch does not end. Leave them out.",
    );
}

/** True where a run has left something that a person can be asked about. */
export function mayAsk({ ask, signal }: Session, { remaining: { toConfirm = [] } }: PassResult): boolean {
  return ask !== undefined && toConfirm.length > 0 && !signal.aborted;
}

/** Asks a person about what a run has left, once. Returns the restraint of the run that goes on; undefined where the answer is no. */
export async function confirmed(
  session: Session,
  { remaining: { toConfirm = [] } }: PassResult,
  { current }: RunRestraint,
  where: string,
): Promise<RunRestraint | undefined> {
  const isYes = await session.ask?.(question(toConfirm, where), session.signal);
  if (isYes !== true) return undefined;
  const all = [...(current.confirmed ?? []), ...toConfirm.flatMap(({ takes = [] }) => takes.map(({ what }) => what))];
  return new RunRestraint({ ...current, confirmed: new Set(all) });
}

/** How many changes the question names. */
const MOST_LINES = 20;

function question(actions: readonly Action[], where: string): string {
  const lines = actions.slice(0, MOST_LINES).map((action) => `  ${refKey(action.object)}: ${actionLine(action)}`);
  const more = actions.length > MOST_LINES ? [`  and ${actions.length - MOST_LINES} more: flipop plan shows them`] : [];
  const head = actions.length === 1 ? "This cannot be undone" : `These ${actions.length} changes cannot be undone`;
  const text = [`${head}, in ${where}:`, ...lines, ...more].map(plainLine).join("\n");
  return `${text}\nGo on? [y/N] `;
}

function plainLine(line: string): string {
  return line.replace(/^( *)(.*)$/s, (_, indent: string, text: string) => indent + plain(text));
}
