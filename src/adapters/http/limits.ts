import type { RateLimit } from "../../model/meter.ts";
import type { Clock } from "../../ports/system.ts";
import type { AnswerHeaders } from "./request.ts";

/**
 * What a call is made for, the most urgent first.
 *
 *   address   addresses and firewalls: without them nothing is served
 *   rest      the rest of a change that has begun: half of a change helps nobody
 *   recovery  a name loses an address that no longer serves; and the zone of a name is found, without which nothing can be changed in it
 *   change    any other change of a name, and what waits to be known for it
 *   look      a name is looked at, and nobody waits for it
 */
export type Purpose = "address" | "rest" | "recovery" | "change" | "look";

/** The part of every limit that a purpose leaves to more urgent calls. The most urgent purpose stands first. */
const KEPT: Readonly<Record<Purpose, number>> = { address: 0, rest: 0, recovery: 0.1, change: 0.2, look: 0.3 };

/**
 * How long each purpose lets addresses go first once a refusal is over, milliseconds. Lists of names may be refused again and again. Each time they would shut addresses out, too,
 * and none would ever move.
 */
const HEAD_START_MS: Readonly<Record<Purpose, number>> = {
  address: 0,
  rest: 0,
  recovery: 5_000,
  change: 10_000,
  look: 10_000,
};

/** What a look at a name is made for: a change that waits for it, or nothing but to know. */
export function lookPurpose(isAwaited = false): Purpose {
  return isAwaited ? "change" : "look";
}

/** So many calls are allowed in any span of so many milliseconds. */
interface CallAllowance {
  readonly calls: number;
  readonly ms: number;
  /** The limit that the headers tell of such an account. Where they tell twice as much, the account is taken to have twice the allowance. */
  readonly toldLimit: number;
}

const minuteMs = 60_000;

/**
 * Says when a call of one token may be sent. We count our own calls within a span of time, and the provider's headers say how many are left. A part of both limits is
 * kept for urgent calls. So a failover can always be carried out, however many names there are.
 */
export class CallBudget {
  readonly #clock: Clock;
  readonly #allowance: CallAllowance;
  readonly #rateLimit: () => RateLimit;
  /** When the calls of the last span were made, monotonic milliseconds, ascending. */
  readonly #times: number[] = [];
  /** So many calls of ours used a limit up together with those of others, and until when that counts, monotonic milliseconds. */
  #usedUp: { readonly calls: number; readonly untilMs: number } = { calls: Number.POSITIVE_INFINITY, untilMs: 0 };

  constructor(clock: Clock, allowance: CallAllowance, rateLimit: () => RateLimit) {
    this.#clock = clock;
    this.#allowance = allowance;
    this.#rateLimit = rateLimit;
  }

  /** Counts a call that is about to be sent. */
  spend(): void {
    const nowMs = this.#clock.monotonicMs();
    const live = this.#times.findIndex((time) => time > nowMs - this.#allowance.ms);
    this.#times.splice(0, live === -1 ? this.#times.length : live);
    this.#times.push(nowMs);
  }

  /**
   * Takes note that the provider says: no call is left. Other programs use the same limit. So for one span we send no more calls than we sent in the last one.
   * Returns how long it takes, in milliseconds, until the oldest of those calls is one span ago; undefined where we sent none.
   */
  usedUp(): number | undefined {
    this.#usedUp = { calls: this.#live(), untilMs: this.#clock.monotonicMs() + this.#allowance.ms };
    return this.#oldestLeavesMs();
  }

  /** After how long one more call is within our own allowance, milliseconds; 0 where it is. */
  fullForMs(): number {
    const { calls, untilMs } = this.#usedUp;
    const isShared = untilMs > this.#clock.monotonicMs();
    return Math.max(0, this.#ownWaitMs(0), isShared ? this.#freeMs(calls) : 0);
  }

  /** Until when a call for this purpose has to wait, local milliseconds; undefined when it may be sent. */
  putOffUntilMs(purpose: Purpose): number | undefined {
    if (isUrgent(purpose)) return undefined;
    const kept = KEPT[purpose];
    const waitMs = Math.max(this.#ownWaitMs(kept), this.#toldWaitMs(kept));
    return waitMs > 0 ? this.#clock.wallMs() + waitMs : undefined;
  }

  /** The wait until enough of our own calls are a span ago, milliseconds. */
  #ownWaitMs(kept: number): number {
    const { calls, toldLimit } = this.#allowance;
    const raised = Math.max(1, (this.#rateLimit().limit ?? 0) / toldLimit);
    return this.#freeMs(Math.floor(calls * raised * (1 - kept)));
  }

  /** The wait until fewer than so many of our own calls are within a span, milliseconds; none or less where they are. */
  #freeMs(calls: number): number {
    const freeing = this.#times[this.#times.length - calls];
    return freeing === undefined ? 0 : freeing + this.#allowance.ms - this.#clock.monotonicMs();
  }

  /**
   * The wait that the headers ask for, milliseconds. It lasts until the reset, but a minute at most: the limits slide, so calls become free before the reset.
   * Headers that say that nothing is left may mean a short limit. Then the wait is over as soon as the oldest of our calls is one span ago.
   */
  #toldWaitMs(kept: number): number {
    const { limit, remaining, resetMs } = this.#rateLimit();
    if (limit === undefined || remaining === undefined || remaining > limit * kept) return 0;
    const untilMs = (resetMs ?? Number.POSITIVE_INFINITY) - this.#clock.wallMs();
    return Math.min(untilMs, minuteMs, remaining === 0 ? (this.#oldestLeavesMs() ?? minuteMs) : minuteMs);
  }

  /** In how many milliseconds the oldest of our calls leaves the span; undefined where none is in it. */
  #oldestLeavesMs(): number | undefined {
    const calls = this.#live();
    return calls === 0 ? undefined : this.#freeMs(calls);
  }

  /** How many of our calls are in the span. */
  #live(): number {
    const sinceMs = this.#clock.monotonicMs() - this.#allowance.ms;
    return this.#times.filter((time) => time > sinceMs).length;
  }
}

/** What one token may ask of a provider at a time, and for how long. */
export interface CallLimits {
  /**
   * Requests that may be in flight at the same time; later ones wait. One for an address or a firewall may go beside them.
   * Where a request has had no answer for long, an address or a firewall may take its place.
   */
  readonly mostInFlight: number;
  /** How many it may send in a span of time. */
  readonly allowance: CallAllowance;
  /** Deadline of one call over headers, body and the repeat of a read, unless the options say otherwise. */
  readonly timeoutMs: number;
}

const hourMs = 3_600_000;

/** What one answer says about the rate limit. */
export interface RateLimitReport {
  readonly rateLimit: RateLimit;
  /** Local milliseconds until which a 429 without `retry-after` closes the gate. */
  readonly refusedUntilMs: number;
  /** Local milliseconds until which nothing is left; absent when something is, or when the status says more. */
  readonly usedUpUntilMs?: number;
}

/**
 * Reads what one answer of a provider says about its rate limit. `nowMs` is the local wall clock. `refusals` counts the answers in a row that were a 429, this one included. Pure.
 */
export type RateLimitReading = (
  status: number,
  headers: AnswerHeaders,
  nowMs: number,
  refusals: number,
) => RateLimitReport;

/** Returns what the headers `ratelimit-limit`, `-remaining` and `-reset` (seconds since the epoch) say, as far as they are there. Pure. */
export function toldRateLimit(headers: AnswerHeaders): RateLimit {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => {
    const text = headers.get(`ratelimit-${name}`) ?? "";
    return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
  });
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(reset === undefined ? {} : { resetMs: reset * 1000 }),
  };
}

/** The call that an answer came to. */
interface AnsweredCall {
  /** Monotonic milliseconds. Absent = just now. */
  readonly sentAtMs?: number;
  /** Knows our own calls. Absent = nobody counts them. */
  readonly budget?: Pick<CallBudget, "usedUp">;
  /** Absent = it was a read. */
  readonly kind?: "read" | "write";
}

/** Keeps a provider's rate limit: closes when an answer says so and opens again by itself. */
export interface RateLimitGate {
  /** Local milliseconds before which nothing may be sent, or undefined while the gate is open. */
  closedUntilMs(): number | undefined;
  /**
   * Until when a call for this purpose lets addresses go first, after a refusal that is over: local milliseconds. Undefined when it may be sent. It always may where nobody has
   * asked for an address with this token.
   */
  leftToOthersUntilMs(purpose: Purpose): number | undefined;
  /** Takes in the headers of one answer. Returns when to call again if the answer asked for a wait, in local milliseconds. */
  observe(status: number, headers: AnswerHeaders, call?: AnsweredCall): number | undefined;
  /** What the headers of the newest answer that had any said. */
  rateLimit(): RateLimit;
}

/**
 * How long the gate stays shut at least, milliseconds, by how many reads in a row were refused, or how many writes: none, one, two and so on. A provider may refuse every write
 * for long, and ask to wait for a second each time. Each try costs writes of statuses and lines in the log.
 */
const SHUT_AGAIN_MS: readonly number[] = [0, 0, 0, 0, 5_000, 10_000];

/**
 * Returns an open gate. A 429 closes it until `retry-after`, for an hour at most, else for as long as the provider's reading
 * says. An answer that says that nothing is left closes it, too, at most until the oldest of our own calls leaves the span. It never
 * opens early: a later answer can only add to the wait.
 *
 * When the limit is used up, several calls may be under way. The provider refuses all of them. That is one refusal in the row, and not several. So an answer counts only
 * if its call was sent after the gate had opened: a 429 adds to the row, and any other answer ends it.
 */
export function rateLimitGate(clock: Clock, read: RateLimitReading): RateLimitGate {
  let newest: RateLimit = {};
  /** When the gate opens, or opened last, monotonic milliseconds. */
  let opensAtMonotonicMs = 0;
  let refusals = 0;
  /** When what a 429 had closed opens, or opened, monotonic milliseconds. */
  let refusedUntilMonotonicMs = Number.NEGATIVE_INFINITY;
  let hasAddresses = false;
  const rows = { read: 0, write: 0 };

  function close(untilMs: number, nowMs: number): void {
    const opensAtMs = clock.monotonicMs() + untilMs - nowMs;
    if (untilMs > nowMs && opensAtMs > opensAtMonotonicMs) opensAtMonotonicMs = opensAtMs;
  }

  /** How many refusals came in a row, this answer included. */
  function refusalsWith(status: number, sentAtMs: number): number {
    if (sentAtMs >= opensAtMonotonicMs) refusals = status === 429 ? refusals + 1 : 0;
    return status === 429 ? Math.max(1, refusals) : refusals;
  }

  /** How long the gate stays shut at least after an answer to a read or a write, milliseconds. */
  function shutForMs(kind: "read" | "write", status: number, sentAtMs: number): number {
    if (sentAtMs >= opensAtMonotonicMs) rows[kind] = status === 429 ? rows[kind] + 1 : 0;
    return SHUT_AGAIN_MS[Math.min(rows[kind], SHUT_AGAIN_MS.length - 1)] ?? 0;
  }

  /** By the local clock as it goes now, which may have leapt since. */
  function wallMsOf(monotonicMs: number): number | undefined {
    const leftMs = monotonicMs - clock.monotonicMs();
    return leftMs <= 0 ? undefined : clock.wallMs() + leftMs;
  }

  function closedUntilMs(): number | undefined {
    return wallMsOf(opensAtMonotonicMs);
  }

  return {
    rateLimit: () => newest,
    closedUntilMs,
    leftToOthersUntilMs(purpose) {
      hasAddresses ||= purpose === "address";
      return hasAddresses ? wallMsOf(refusedUntilMonotonicMs + HEAD_START_MS[purpose]) : undefined;
    },
    observe(status, headers, { sentAtMs = clock.monotonicMs(), budget, kind = "read" } = {}) {
      const nowMs = clock.wallMs();
      const rowMs = nowMs + shutForMs(kind, status, sentAtMs);
      const said = read(status, headers, nowMs, refusalsWith(status, sentAtMs));
      if (Object.keys(said.rateLimit).length > 0) newest = said.rateLimit;
      const afterMs = retryAfterMs(headers.get("retry-after"), nowMs);
      if (status === 429) {
        close(Math.max(afterMs ?? said.refusedUntilMs, rowMs), nowMs);
        refusedUntilMonotonicMs = opensAtMonotonicMs;
      }
      if (said.usedUpUntilMs !== undefined)
        close(Math.min(said.usedUpUntilMs, nowMs + (budget?.usedUp() ?? Number.POSITIVE_INFINITY)), nowMs);
      return status === 429 ? closedUntilMs() : afterMs;
    },
  };
}

/** Seconds or an HTTP date, an hour from now at most; at least a second, so that `0` is no invitation to a hot loop. */
function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,15}\s*$/.test(header)) return nowMs + Math.min(Math.max(Number(header) * 1000, 1000), hourMs);
  const dateMs = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(dateMs) || dateMs <= nowMs ? undefined : Math.min(dateMs, nowMs + hourMs);
}

/** The longest that an urgent call waits for the limit, milliseconds. */
export const MOMENT_MS = 2000;
/** So often an urgent call that was refused for a moment is made again. */
const MOST_REPEATS = 2;
/** So often it waits again where other calls that waited were faster. */
const MOST_MOMENTS = 5;

/** True for a purpose that leaves no part of a limit to others. */
export function isUrgent(purpose: Purpose): boolean {
  return KEPT[purpose] === 0;
}

/**
 * Returns after how long a refused call is made once more, milliseconds; undefined where it is given up. Only an urgent call is, and only after a short wait. A refused call had no
 * effect. A failover reads before it writes: where every second call is refused and it began anew each time, it would never come to its write.
 */
export function momentAfterRefusal(
  clock: Clock,
  gate: Pick<RateLimitGate, "closedUntilMs">,
  purpose: Purpose,
  tries: number,
): number | undefined {
  const leftMs = Math.max(0, (gate.closedUntilMs() ?? 0) - clock.wallMs());
  return isUrgent(purpose) && tries < MOST_REPEATS && leftMs <= MOMENT_MS ? leftMs : undefined;
}

/** Waits where the calls of a token are used up for a moment only: what is urgent goes on as fast as the limit lets it. */
export async function letMomentPass(
  clock: Clock,
  gate: RateLimitGate,
  budget: CallBudget,
  stop: AbortSignal,
): Promise<void> {
  for (let turn = 0; turn < MOST_MOMENTS; turn += 1) {
    const closedMs = (gate.closedUntilMs() ?? 0) - clock.wallMs();
    const leftMs = Math.max(closedMs, budget.fullForMs());
    if (leftMs <= 0 || leftMs > MOMENT_MS || stop.aborted) return;
    await clock.sleep(leftMs, stop);
  }
}

/** Runs one task when there is room for it; resolves or rejects as the task does. */
type InFlightLimit = <T>(
  task: () => Promise<T>,
  call: { readonly purpose: Purpose; readonly isWrite: boolean },
) => Promise<T>;

/** Calls that wait to begin, the first of each kind first. */
interface Queues {
  readonly writes: (() => void)[];
  readonly reads: (() => void)[];
}

function emptyQueues(): Queues {
  return { writes: [], reads: [] };
}

/** A call without an answer for so long, milliseconds by the machine's own clock, keeps no other address waiting. */
export const SILENT_MS = 1000;

/**
 * Returns a runner that lets at most `most` tasks run at a time, and one more for an address or a firewall.
 * So an address moves although calls for names hang. It moves although calls for other addresses hang, too: a task that has run for {@link SILENT_MS} leaves its place to an address.
 *
 * Of those that wait the most urgent goes next. Of the equally urgent a write goes before a read. Of equals the first goes first.
 * So a run changes what it has looked at before it looks at more: where few calls are allowed some changes are finished, instead of many looked at.
 */
export function inFlightLimit(most: number): InFlightLimit {
  let running = 0;
  /** How many of those that run have had no answer for long. */
  let silent = 0;
  /** Those that wait, by purpose, the most urgent first. */
  const waiting = new Map((Object.keys(KEPT) as Purpose[]).map((purpose) => [purpose, emptyQueues()]));
  const hasRoom = (purpose: Purpose): boolean => (purpose === "address" ? running - silent < most + 1 : running < most);
  /** Who is next: a write before a read. */
  const takeNext = (): (() => void) | undefined => {
    for (const [purpose, { writes, reads }] of waiting) {
      const next = hasRoom(purpose) ? (writes.shift() ?? reads.shift()) : undefined;
      if (next !== undefined) return next;
    }
    return undefined;
  };
  const letNextBegin = (): void => {
    const next = takeNext();
    // Who waited is counted before it begins, so that nobody slips in between.
    if (next !== undefined) running += 1;
    next?.();
  };
  return async (task, { purpose, isWrite }) => {
    if (hasRoom(purpose)) running += 1;
    else await new Promise<void>((begin) => waiting.get(purpose)?.[isWrite ? "writes" : "reads"].push(begin));
    let isSilent = false;
    const silence = setTimeout(() => {
      isSilent = true;
      silent += 1;
      letNextBegin();
    }, SILENT_MS);
    try {
      return await task();
    } finally {
      clearTimeout(silence);
      running -= 1;
      if (isSilent) silent -= 1;
      letNextBegin();
    }
  };
}
