import { setTimeout as sleep } from "node:timers/promises";
import type { Moment } from "./killed-run.ts";

/** Tells the moments of one run after another, by the machine's clock or by the calls that the emulated providers saw. */
export class CallClock {
  #left = 0;
  #strike: () => void = () => undefined;

  /** One call has taken effect and is about to be answered. */
  readonly tick = (): void => {
    this.#left -= 1;
    if (this.#left === 0) this.#strike();
  };

  /** Resolves when this moment of a run that begins now has come; never when it makes fewer calls, or another run is asked for. */
  async reaches(moment: Moment, wholeMs: number): Promise<void> {
    if (moment === "never") return new Promise(() => undefined);
    if ("share" in moment) return sleep(moment.share * wholeMs);
    await new Promise<void>((resolve) => {
      this.#left = moment.call;
      this.#strike = resolve;
    });
    if (moment.plusMs > 0) await sleep(moment.plusMs);
  }
}
