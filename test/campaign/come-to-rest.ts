import type { Hold } from "../../src/model/plan.ts";
import type { PassResult } from "../../src/model/run.ts";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import type { World } from "../scenario/world.ts";

/** A world at rest: what the last pass found, how many it took, and what they wrote to providers. */
export interface Rest {
  readonly last: PassResult;
  readonly passes: number;
  readonly providerWrites: readonly string[];
}

/** More passes than any change of a spec may take. */
const MOST_PASSES = 40;
/** Longer than any wait the manual knows, milliseconds. */
const LONGEST_WAIT_MS = 601_000;
/** A wait nobody sits out, milliseconds: ten years. What waits for longer is at rest. */
const FOR_EVER_MS = 10 * 365 * 86_400_000;

/** The codes of a run that did what it could: 4 where all that is left waits for a person's approval; 1 would be a crash. */
const SANE: ReadonlySet<number> = new Set([0, 3, 4, 75, 77, 78]);

/** How a rest is waited for. */
export interface RestOptions {
  /** What fails for good is tried again for ever: the end comes after so many passes that wait for nothing else. */
  readonly retries?: number;
  /** True: the first quiet pass is the end; the longest wait comes before it. */
  readonly isBrief?: boolean;
}

/**
 * Passes, and waits as long as holds ask for, until one does nothing and waits for nothing, then once more after the longest wait there is:
 * that one must write nothing.
 *
 * @throws Error when a run fails as a whole, ends with another code than the manual has, never comes to rest, or writes at rest.
 */
export async function comeToRest(
  world: World,
  { retries = Number.POSITIVE_INFINITY, isBrief = false }: RestOptions = {},
): Promise<Rest> {
  let isLast = isBrief;
  const providerWrites: string[] = [];
  for (let passes = 1; passes <= MOST_PASSES; passes += 1) {
    const last = await world.pass();
    checkSanity(last);
    providerWrites.push(...world.cloudWrites(), ...world.dnsWrites());
    const waitMs = waitOf(last, world.nowMs());
    const isQuiet = world.writes().length === 0 && waitMs === undefined;
    const isEnd = isQuiet ? isLast : passes > retries && isOnlyRetrying(last);
    if (isEnd) return { last, passes, providerWrites };
    isLast = isQuiet || isBrief;
    world.advance(waitMs ?? (isLast ? LONGEST_WAIT_MS : 1000));
  }
  throw new Error(`after ${MOST_PASSES} passes it still writes ${world.writes().join(", ") || "nothing, and waits"}`);
}

function checkSanity(result: PassResult): void {
  const code = exitCodeOfRun(result, { partialOk: false });
  if (!SANE.has(code)) throw new Error(`a pass ended with ${code}: ${troubles(result)}`);
  if (result.reportFailures.length > 0) throw new Error(`a pass could not report: ${troubles(result)}`);
}

/** How long until a pass can do something without another change, milliseconds. */
function waitOf({ remaining }: PassResult, nowMs: number): number | undefined {
  const waits = remaining.holds.flatMap((hold) => waitFor(hold, nowMs));
  const open = remaining.actions.length > 0 ? [2000] : [];
  return waits.length + open.length === 0 ? undefined : Math.min(...waits, ...open);
}

function isOnlyRetrying({ remaining }: PassResult): boolean {
  const waiting = remaining.holds.filter(({ notBeforeMs }) => notBeforeMs !== undefined);
  return waiting.length > 0 && waiting.every(({ reason }) => reason === "Backoff");
}

function waitFor({ notBeforeMs, reason }: Hold, nowMs: number): readonly number[] {
  if (reason === "InProgress" || reason === "AcquisitionUnanswered") return [2000];
  if (notBeforeMs === undefined || notBeforeMs - nowMs > FOR_EVER_MS) return [];
  return [Math.max(1000, notBeforeMs - nowMs + 1)];
}

function troubles({ outcomes, reportFailures }: PassResult): string {
  const failed = outcomes.flatMap((outcome) => (outcome.outcome === "failed" ? [outcome.error.message] : []));
  return [...failed, ...reportFailures.map(({ error }) => error.message)].join(" · ");
}
