import type { Backend } from "./backend.ts";
import { instrumented } from "./instrument.ts";
import { adapterClock, type RunEnd, type RunOptions } from "./scenario-run.ts";
import { WatchedProcess } from "./watched-process.ts";
import { World } from "./world.ts";

/** A watcher and how its life ends. */
interface Life {
  readonly process: WatchedProcess;
  readonly pending: Set<Promise<unknown>>;
  readonly death: Promise<RunEnd>;
  /** The number of the write that it dies before, counted from now. */
  dieBefore(write: number | undefined): void;
  kill(): void;
}

/**
 * The world in which one process goes on watching from pass to pass, and is told of changes by its watches. Where a scenario asks for something that only a single run has
 * (the Lease, a deadline, a selection, a signal), the watcher is ended first, the run is made, and another watcher begins at the next pass.
 */
export class WatchedWorld extends World {
  #life: Life | undefined;

  constructor(backend: Backend) {
    super(backend);
  }

  override async run(options: RunOptions = {}): Promise<RunEnd> {
    const { settle = false, dieBeforeWrite, ...others } = options;
    if (Object.keys(others).length > 0) {
      await this.#end();
      return await super.run(options);
    }
    this.backend.clearLog();
    if (this.#life?.process.hasEnded) await this.#end();
    this.#life ??= this.#begin();
    const { process, death, dieBefore } = this.#life;
    dieBefore(dieBeforeWrite);
    const running = process.goOn(settle).then((result): RunEnd => ({ kind: "done", result }));
    const end = await Promise.race([running, death]).finally(() => dieBefore(undefined));
    if (end.kind === "died") await this.#bury();
    else await this.afterRun?.();
    return end;
  }

  override async runBeside(options: RunOptions = {}): Promise<RunEnd> {
    await this.#end();
    return await super.runBeside(options);
  }

  override async look(): Promise<void> {
    await this.#life?.process.goOn(false);
  }

  /** Lets the watcher go on for so long, if it waits for nothing; then nothing may be written. Returns what was. */
  async writesWithin(ms: number): Promise<readonly string[]> {
    if (this.#life === undefined || !this.#life.process.isIdle) return [];
    this.backend.clearLog();
    await this.#life.process.live(ms);
    return this.writes();
  }

  override async close(): Promise<void> {
    await this.#end();
    await super.close();
  }

  #begin(): Life {
    const { clock, openWatch } = this.backend;
    if (openWatch === undefined) throw new Error(`nobody can watch in the world ${this.kind}`);
    const running = clock.process();
    const pending = new Set<Promise<unknown>>();
    const death = Promise.withResolvers<RunEnd>();
    let left: number | undefined;
    let isDead = false;
    const life = {
      before: (method: string, args: readonly unknown[]) => this.doBefore(method, args),
      isDead: () => isDead,
      diesAt: (method: string) => {
        if (left !== undefined && this.isWrite(method)) left -= 1;
        isDead ||= left === 0;
        if (isDead) death.resolve({ kind: "died" });
        return isDead;
      },
    };
    const ports = openWatch(adapterClock(running.clock), { ...life, mayWrite: () => true });
    const own = { ...instrumented(ports, clock, life, pending), caughtUp: () => ports.caughtUp() };
    const { clock: _, ...deps } = this.deps(running.clock, own);
    return {
      process: new WatchedProcess({ running, ports: own, deps }),
      pending,
      death: death.promise,
      dieBefore: (write) => {
        left = write;
      },
      kill: () => {
        isDead = true;
        running.kill();
        ports.close();
      },
    };
  }

  async #bury(): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    await Promise.allSettled(life?.pending ?? []);
    life?.kill();
  }

  async #end(): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    await life?.process.end();
    life?.kill();
  }
}
