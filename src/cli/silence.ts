import type { Progress, Wait } from "../model/progress.ts";
import type { Clock } from "../ports/system.ts";
import { awaitedText, waitText } from "../report/text/progress.ts";
import type { OutputStream, Streams } from "./output.ts";

/** A command that says nothing for so long says what it waits for, milliseconds. */
const PATIENCE_MS = 2000;
/** It says so again after this, milliseconds, while it waits for the same. */
const AGAIN_MS = 10_000;
/** How often it is looked at what is waited for, milliseconds. */
const LOOK_MS = 1000;

/** Notices how long a command has been silent, and tells a person what it waits for. Nothing is told before {@link watch}, or after {@link end}. */
export class Silence implements Progress {
  readonly #waits = new Set<Wait>();
  readonly #ending = new AbortController();
  readonly #tell: (text: string) => void;
  #clock: Clock | undefined;
  #isPaused = false;
  /** Monotonic milliseconds. */
  #spokeAtMs = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  /** What was told of last. */
  #told = "";

  /** @param tell - writes one line for people. */
  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  begin(wait: Wait): () => void {
    this.#waits.add(wait);
    return () => {
      this.#waits.delete(wait);
    };
  }

  /** Returns the same stream; what is written to it breaks the silence. */
  heard(stream: OutputStream): OutputStream {
    return {
      ...stream,
      write: (text) => {
        this.#speak();
        stream.write(text);
      },
    };
  }

  /** Returns both streams as {@link heard} does. */
  heardBoth({ stdout, stderr }: Streams): Streams {
    return { stdout: this.heard(stdout), stderr: this.heard(stderr) };
  }

  /** Says nothing while work goes on that has a person's attention: a question. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true;
    try {
      return await work();
    } finally {
      this.#isPaused = false;
      this.#speak();
    }
  }

  /** Tells from now on. Only the first call has an effect. */
  watch(clock: Clock): void {
    if (this.#clock !== undefined || this.#ending.signal.aborted) return;
    this.#clock = clock;
    this.#speak();
    void this.#listen(clock);
  }

  /** Ends it for good. */
  end(): void {
    this.#ending.abort();
  }

  #speak(): void {
    this.#spokeAtMs = this.#clock?.monotonicMs() ?? 0;
    this.#toldAtMs = Number.NEGATIVE_INFINITY;
    this.#told = "";
  }

  async #listen(clock: Clock): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const leftMs = this.#dueMs() - clock.monotonicMs();
      if (leftMs > 0) await clock.sleep(Math.min(leftMs, LOOK_MS), signal);
      else this.#break(clock.monotonicMs());
    }
  }

  /** Breaks the silence, which lasts on: what a person waits for has not come. */
  #break(nowMs: number): void {
    const [spokeAtMs, waits] = [this.#spokeAtMs, [...this.#waits]];
    if (!this.#isPaused) this.#tell(waitText(waits, nowMs - spokeAtMs));
    this.#spokeAtMs = spokeAtMs;
    this.#toldAtMs = nowMs;
    this.#told = awaitedText(waits);
  }

  /** When the next line is due: sooner where something else is waited for by now. */
  #dueMs(): number {
    if (this.#toldAtMs === Number.NEGATIVE_INFINITY) return this.#spokeAtMs + PATIENCE_MS;
    const isOther = this.#waits.size > 0 && this.#told !== awaitedText([...this.#waits]);
    return this.#toldAtMs + (isOther ? PATIENCE_MS : AGAIN_MS);
  }
}
