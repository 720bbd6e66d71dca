import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Runs work that reads the files of a world and changes what they hold. */
export type Exclusively = <T>(work: () => T) => Promise<T>;

/** Asks, within such work, for something to be written. The same function means the same thing, however often it is asked for. */
export type Save = (write: () => void) => void;

const LOCK = ".lock";
const POLL_MS = 1;
/** Between two writes pass this many times the milliseconds that the last one took: a run on hundreds of objects changes the files thousands of times, and writing them must not take all of its time. */
const REST_AFTER_WRITE = 4;
/** What changed waits at most so long to be written, milliseconds. */
const LONGEST_WAIT_MS = 200;
/** So long another process has, after a lock was kept, to begin its own work, milliseconds. */
const TURN_MS = 5;
/** A lock is kept for less than a second. One this old, milliseconds, was left by a process that was ended in the middle, and whose number another one has by now. */
const OLDEST_MS = 60_000;

/**
 * The files of a world, on which several processes may work at a time. Each piece of work reads what changed, and what it changes is written before another process
 * works, so that they see each other's changes and lose none.
 *
 *   a change that comes late       is written before its request is answered
 *   changes that follow at once    are written together after a few milliseconds, 200 at most where the files are large; until then the lock is kept
 *
 * A process that is killed leaves the world as it was at its last write.
 */
export class SharedFiles {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  readonly #unwritten = new Set<() => void>();
  #isHeld = false;
  /** Monotonic milliseconds. */
  #wroteAtMs = Number.NEGATIVE_INFINITY;
  #restMs = 0;
  /** Monotonic milliseconds. */
  #turnEndsAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** The end of the work that came last. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param onError - is told why something could not be written after its request was answered. */
  constructor(directory: string, onError: (error: unknown) => void = () => undefined) {
    this.#path = join(directory, LOCK);
    this.#onError = onError;
  }

  /** Runs work while no other process works on the files; in the order in which it comes. Not for work within work. Rejects as the work does, and when what it changed cannot be written. */
  readonly exclusively: Exclusively = async (work) => {
    const turn = this.#last.then(() => this.#run(work));
    this.#last = turn.catch(() => undefined);
    return await turn;
  };

  readonly save: Save = (write) => {
    this.#unwritten.add(write);
  };

  /** Writes what is not written. */
  async close(): Promise<void> {
    await this.exclusively(this.#write).catch(this.#onError);
  }

  async #run<T>(work: () => T): Promise<T> {
    if (!this.#isHeld) await this.#take();
    try {
      return work();
    } finally {
      this.#letGo();
    }
  }

  async #take(): Promise<void> {
    if (performance.now() < this.#turnEndsAtMs) await sleep(TURN_MS);
    while (!take(this.#path)) await sleep(POLL_MS);
    this.#isHeld = true;
  }

  #letGo(): void {
    const leftMs = this.#wroteAtMs + this.#restMs - performance.now();
    if (this.#unwritten.size === 0 || leftMs <= 0) {
      this.#write();
    } else if (this.#timer === undefined) {
      process.once("exit", this.#write);
      this.#timer = setTimeout(() => void this.close(), leftMs);
    }
  }

  /** Writes everything, whatever goes wrong with a part of it, and lets the lock go. @throws the first thing that went wrong */
  readonly #write = (): void => {
    const wasKept = this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    process.removeListener("exit", this.#write);
    const errors: unknown[] = [];
    const startedAtMs = performance.now();
    for (const write of this.#unwritten) {
      try {
        write();
      } catch (error) {
        errors.push(error);
      }
    }
    if (this.#unwritten.size > 0) {
      this.#wroteAtMs = performance.now();
      this.#restMs = Math.min(REST_AFTER_WRITE * (this.#wroteAtMs - startedAtMs), LONGEST_WAIT_MS);
    }
    this.#unwritten.clear();
    if (this.#isHeld) rmSync(this.#path, { force: true });
    this.#isHeld = false;
    if (wasKept) this.#turnEndsAtMs = performance.now() + TURN_MS;
    if (errors.length > 0) throw errors[0];
  };
}

function take(path: string): boolean {
  try {
    const file = openSync(path, "wx");
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    // A directory that was removed, or cannot be written, has nothing to protect: the work itself says what is wrong.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    if (isAbandoned(path)) rmSync(path, { force: true });
    return false;
  }
}

function isAbandoned(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > OLDEST_MS) return true;
    const pid = Number(readFileSync(path, "utf8"));
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
