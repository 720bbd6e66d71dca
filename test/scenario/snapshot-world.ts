import { eventsRequest } from "../../src/adapters/kube/events.ts";
import type { ClusterReader } from "../../src/ports/cluster.ts";
import type { PlannedWorld } from "../../src/reconcile.ts";
import { checkAnswers, questionsOf, type SeenWorld, seeWorld } from "../snapshot/seen-world.ts";
import type { Drive } from "./run-scenarios.ts";
import { World } from "./world.ts";

/** `SNAPSHOTS=all` asks everything of every scenario; else one question of every fourth one, the same at every run, so that the suite keeps to its time. */
const isAll = process.env["SNAPSHOTS"] === "all";
const ONE_IN = isAll ? 1 : 4;

/** Lets scenarios play as always, one in {@link ONE_IN} of them with a look at its snapshot. */
export const LOOKED_AT: Pick<Drive<World>, "open" | "after"> = {
  open: (backend, number) => (number % ONE_IN === 0 ? new SnapshotWorld(backend) : new World(backend)),
  after: async (world) => {
    if (world instanceof SnapshotWorld) await world.checkSnapshot();
  },
};

/** A world that is looked at whenever it is planned. In the end its fullest moment is taken as a snapshot, of which commands must say what they say of the world. */
class SnapshotWorld extends World {
  #fullest: SeenWorld | undefined;

  protected override async note(planned: PlannedWorld, cluster: ClusterReader): Promise<void> {
    if (!this.isUndisturbed || fullness(planned) < fullness(this.#fullest)) return;
    const { path, query = {}, project } = eventsRequest(undefined);
    const answer = await this.backend.rest("GET", `${path}?${new URLSearchParams(query)}`);
    const events = (answer as { readonly items: readonly unknown[] }).items.flatMap((item) => project(item) ?? []);
    this.#fullest = await seeWorld(planned, cluster, events);
  }

  /** Compares what is said of the fullest moment with what is said of its snapshot. */
  async checkSnapshot(): Promise<void> {
    if (this.#fullest === undefined) return;
    const questions = questionsOf(this.#fullest);
    const own = Number.parseInt(this.#fullest.plan.planID.slice(0, 8), 16) % questions.length;
    await checkAnswers(this.#fullest, isAll ? questions : questions.slice(own, own + 1));
  }
}

/** Much is planned, or held, where much can be said. */
function fullness(planned: PlannedWorld | undefined): number {
  if (planned === undefined) return -1;
  const { actions, followUps, holds } = planned.plan;
  return actions.length + followUps.length + 2 * holds.length;
}
