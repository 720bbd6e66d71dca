import { SavedApplication } from "../../src/saved/application.ts";
import type { RunEnd, RunOptions } from "./scenario-run.ts";
import { World } from "./world.ts";

/** The world in which each run that nothing disturbs carries out a plan that was saved right before: it does what any run does. */
export class SavedWorld extends World {
  override async runBeside(options: RunOptions = {}): Promise<RunEnd> {
    const { selection, ...others } = options;
    if (Object.keys(others).length > 0 || !this.isUndisturbed) return await super.runBeside(options);
    const saved = await this.savePlan(selection);
    this.backend.clearLog();
    const end = await super.runBeside({ ...options, saved: new SavedApplication(saved, { isAllOrNothing: true }) });
    if (end.kind !== "done") return end;
    // A saved plan tells of itself alone. What it did and left is looked at here, as that of any run.
    const { saved: _told, ...result } = end.result;
    return { ...end, result };
  }
}
