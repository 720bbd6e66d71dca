import { KubeError } from "../model/errors.ts";
import type { Selection } from "../model/run.ts";
import { durationText } from "../model/time.ts";
import { type Clock, within } from "../ports/system.ts";
import { EXIT } from "../report/exit-code.ts";
import { overviewDocument } from "../report/json/status.ts";
import { type Overview, seenAtTimesOf } from "../report/overview.ts";
import { type ChangeLayout, statusChanges } from "../report/text/status-changes.ts";
import { readableTimes } from "../report/text/times.ts";
import { isPassingFailure } from "../watch/watch-loop.ts";
import { Outage } from "./outage.ts";
import { isDocument, writeLine, writeLines, writeNextDocument, writeText } from "./output.ts";
import type { Session } from "./session.ts";

/** The time between two looks, milliseconds. */
const EVERY_MS = 2000;
/** How often it is told what `--wait` waits for, milliseconds. */
const TELL_MS = 10_000;

/** What one look at the cluster found. */
export interface Look {
  readonly overview: Overview;
  /** What to say where no object is selected. */
  readonly none: string | undefined;
  readonly selection: Selection;
}

/** What looks at the cluster again and again. */
interface Looking {
  readonly session: Session;
  readonly clock: Clock;
  /** Looks once. With the selection of an earlier look it does not ask again which objects are meant. */
  readonly look: (selection?: Selection) => Promise<Look>;
}

/**
 * Prints what is stored, then whatever changes of it, until nobody reads any more. Returns the exit code. Waits for a cluster that cannot be read in between.
 * @throws Interrupted when a signal comes; what the first look throws
 */
export async function watchStatus(work: Looking, show: (first: Look) => Promise<void>): Promise<number> {
  const { session, look } = work;
  const { streams, output, layout } = session;
  const first = await look();
  if (isDocument(output)) await writeNextDocument(streams, overviewDocument(first.overview), output);
  else await show(first);
  const looks = new Looks(work, first);
  let shown = first.overview;
  while (streams.stdout.isClosed?.() !== true) {
    await rest(work, EVERY_MS);
    const found = await looks.next();
    if (found === undefined) continue;
    await writeChanges(session, shown, found.overview, { ...layout, shownAtMs: first.overview.nowMs });
    shown = found.overview;
  }
  return EXIT.done;
}

async function writeChanges(
  { streams, output }: Session,
  before: Overview,
  now: Overview,
  layout: ChangeLayout,
): Promise<void> {
  if (isDocument(output)) {
    const document = overviewDocument(now);
    const hasChanged = JSON.stringify(overviewDocument(seenAtTimesOf(before, now))) !== JSON.stringify(document);
    if (hasChanged) await writeNextDocument(streams, document, output);
    return;
  }
  const changes = statusChanges(before, now, layout);
  if (output === "name") writeLines(streams, [...new Set(changes.flatMap(({ object }) => object ?? []))]);
  else writeText(streams, changes.map(({ text }) => `${text}\n`).join(""));
}

/**
 * Returns the first look that finds nothing wrong, else the last one of `limitMs`. Waits for a cluster that cannot be read now, too.
 * @throws KubeError when the cluster could not be read once in that time
 */
export async function lookUntilFine(work: Looking, limitMs: number): Promise<Look> {
  const { session, clock } = work;
  const endMs = clock.monotonicMs() + limitMs;
  const leftMs = (): number => endMs - clock.monotonicMs();
  const looks = new Looks(work);
  let tellAtLeftMs = limitMs;
  while (leftMs() > 0) {
    const found = await within(clock, leftMs(), looks.next());
    if (found === "late") {
      session.abandon?.();
      break;
    }
    if (found?.overview.problems.length === 0) return found;
    if (found !== undefined && leftMs() <= tellAtLeftMs) {
      tellAtLeftMs = leftMs() - TELL_MS;
      tellWhatIsWaitedFor(session, found.overview, leftMs());
    }
    await rest(work, Math.min(EVERY_MS, leftMs()));
  }
  if (looks.last !== undefined) return looks.last;
  throw looks.failure ?? unanswered(limitMs);
}

function tellWhatIsWaitedFor(session: Session, { problems, nowMs }: Overview, leftMs: number): void {
  const [first = "", ...others] = problems;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  writeLine(session, "info", `waiting for at most ${durationText(leftMs)} more: ${readableTimes(first, nowMs)}${more}`);
}

/** Waits for the next look. Nobody need be told of it: a person asked for it. */
function rest({ session, clock }: Looking, ms: number): Promise<void> {
  return session.progress.paused(() => clock.sleep(ms, session.signal));
}

function unanswered(limitMs: number): KubeError {
  const message = `The cluster did not answer within ${durationText(limitMs)}.`;
  return new KubeError({ failure: "timeout", operation: "list", subject: "", status: 0, message });
}

/** Looks again and again at what the first look that worked has chosen. Tells of a cluster that cannot be read. */
class Looks {
  readonly #work: Looking;
  readonly #outage: Outage;
  #failures = 0;
  #last: Look | undefined;
  #failure: KubeError | undefined;

  constructor(work: Looking, first?: Look) {
    this.#work = work;
    this.#outage = new Outage(work.session, "");
    this.#last = first;
  }

  /** What the last look that worked has found. */
  get last(): Look | undefined {
    return this.#last;
  }

  /** Why the last look that did not work failed. */
  get failure(): KubeError | undefined {
    return this.#failure;
  }

  /** Looks once more. Returns undefined if the cluster could not be read and that may pass. @throws Interrupted; ConfigError; what {@link isPassingFailure} is not true for */
  async next(): Promise<Look | undefined> {
    try {
      const found = await this.#work.look(this.#last?.selection);
      this.#failures = 0;
      this.#outage.recovered();
      this.#last = found;
      return found;
    } catch (error) {
      if (!isPassingFailure(error, this.#last !== undefined)) throw error;
      this.#failures += 1;
      this.#failure = error;
      this.#outage.failed(error, this.#failures);
      return undefined;
    }
  }
}
