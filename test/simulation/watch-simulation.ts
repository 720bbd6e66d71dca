import type { Slot } from "./history.ts";
import type { Process } from "./process.ts";
import { Simulation } from "./simulation.ts";
import { WatchingProcess } from "./watching-process.ts";

/** One history, in which processes watch; who looks whether all has come to rest makes single runs. */
export class WatchSimulation extends Simulation {
  #watchers = 1000;

  protected override newProcess(slot: number, settings: Slot): Process {
    if (this.isQuiet || settings.isReader === true) return super.newProcess(slot, settings);
    this.#watchers += 1;
    return new WatchingProcess(this, slot, settings, this.#watchers);
  }
}
