import { TOTALS_ANNOTATION } from "../model/lease-annotations.ts";
import type { Selection } from "../model/run.ts";
import type { Secrets } from "../ports/system.ts";
import { exitCodeOfRun } from "../report/exit-code.ts";
import { runMetrics } from "../report/metrics/run-metrics.ts";
import { type Sample, sample } from "../report/metrics/sample.ts";
import { addRun } from "../report/metrics/totals.ts";
import { readTotals } from "../report/metrics/totals-note.ts";
import type { NotedRun } from "./backend.ts";
import { redactedSamples } from "./outgoing-text.ts";
import { readVersion } from "./version.ts";

/** What `/metrics` of a watching process shows: the last pass, and totals that go on from what the Lease has of earlier processes. */
export class WatchMetrics {
  readonly #isCurrent: () => boolean;
  readonly #secrets: Secrets;
  #isLeading = false;
  #ofPasses: readonly Sample[] = [];

  /** @param isCurrent - whether the lists in memory are known to be those of the cluster. */
  constructor(isCurrent: () => boolean, secrets: Secrets) {
    this.#isCurrent = isCurrent;
    this.#secrets = secrets;
  }

  lead(): void {
    this.#isLeading = true;
  }

  add({ end }: NotedRun, selection: Selection): void {
    const isWhole = Object.keys(selection).length === 0;
    this.#ofPasses = runMetrics({
      version: readVersion(),
      exitCode: exitCodeOfRun(end.result, { partialOk: false }),
      end,
      totals: addRun(readTotals(end.notes[TOTALS_ANNOTATION]), end, isWhole),
      isWhole,
    });
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    const { metricsText } = await import("../adapters/pushgateway/pushgateway.ts");
    const own = [
      ...(this.#ofPasses.length > 0 ? [] : [sample("flipop_build_info", { version: readVersion() }, 1)]),
      sample("flipop_leader", {}, this.#isLeading ? 1 : 0),
      sample("flipop_cluster_current", {}, this.#isCurrent() ? 1 : 0),
    ];
    return metricsText(redactedSamples([...own, ...this.#ofPasses], this.#secrets));
  }
}
