import type { Slot } from "./history.ts";
import type { Process } from "./process.ts";
import { Simulation } from "./simulation.ts";
import { WatchingProcess } from "./watching-process.ts";

/** One history, in which processes watch; who looks whether all has come to rest makes single runs. */
export class WatchSimulation extends Simulation {
  #watchers = 1000;

  override async start(slot: number, settings: Slot): Promise<Process> {
    if (this.isQuiet || settings.isReader === true) return await super.start(slot, settings);
    this.#watchers += 1;
    const process = new WatchingProcess(this, slot, settings, this.#watchers);
    this.running[slot] = process;
    try {
      await Promise.race([process.run(), process.died]);
    } catch (error) {
      this.monitor.violated("no-throw", error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return process;
  }
}
