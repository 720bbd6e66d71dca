import type { Action } from "../../model/action.ts";
import { LAST_SUCCESS_ANNOTATION } from "../../model/lease-annotations.ts";
import type { RunEnd } from "../../model/run.ts";
import { EXIT } from "../exit-code.ts";
import { isSuccess } from "../run-success.ts";
import { countBy } from "./count-by.ts";
import { type Sample, sample } from "./sample.ts";

/** What is known of every run, also of one that could not read the cluster. */
export interface RunFacts {
  readonly version: string;
  /** By the best clock there is, milliseconds. */
  readonly endedAtMs: number;
  /** As with `partialOk: false`. */
  readonly exitCode: number;
}

const RESULTS: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ["done", [EXIT.done]],
  ["partly", [EXIT.partly]],
  ["temporary", [EXIT.temporary]],
  ["not-permitted", [EXIT.notPermitted]],
  ["invalid-configuration", [EXIT.invalidConfiguration]],
  ["interrupted", [EXIT.interrupted, EXIT.terminated]],
]);

/** Returns what is told of every run, however it ended. Pure. */
export function runSamples({ version, endedAtMs, exitCode }: RunFacts): readonly Sample[] {
  const results = [...RESULTS];
  const result = results.find(([, codes]) => codes.includes(exitCode))?.[0] ?? "unexpected";
  return [
    sample("flipop_build_info", { version }, 1),
    sample("flipop_last_run_timestamp_seconds", {}, seconds(endedAtMs)),
    ...[...results.map(([word]) => word), "unexpected"].map((word) =>
      sample("flipop_last_run_result", { result: word }, word === result ? 1 : 0),
    ),
  ];
}

/** Returns when a run last succeeded: this one, or the one that the Lease remembers; nothing where neither did. Pure. */
export function successSamples({ endedAtMs, notes }: RunEnd, exitCode: number): readonly Sample[] {
  const lastMs = isSuccess(exitCode) ? endedAtMs : Date.parse(notes[LAST_SUCCESS_ANNOTATION] ?? "");
  return Number.isNaN(lastMs) ? [] : [sample("flipop_last_success_timestamp_seconds", {}, seconds(lastMs))];
}

/** Returns how long the parts of a run took, and what it found and left to do. Pure. */
export function workSamples({ result, durationMs }: RunEnd): readonly Sample[] {
  const { observeMs, planMs, applyMs, reportMs } = result.timing;
  const other = Math.max(0, durationMs - observeMs - planMs - applyMs - reportMs);
  const phases = { observe: observeMs, plan: planMs, apply: applyMs, report: reportMs, other };
  return [
    ...Object.entries(phases).map(([phase, ms]) =>
      sample("flipop_last_run_duration_seconds", { phase }, Math.round(ms) / 1000),
    ),
    ...countBy(result.plan.actions, changeLabels).map(({ labels, count }) =>
      sample("flipop_planned_changes", labels, count),
    ),
    ...countBy(result.remaining.actions, changeLabels).map(({ labels, count }) =>
      sample("flipop_remaining_changes", labels, count),
    ),
  ];
}

function changeLabels({ kind, reason }: Action): { readonly action: string; readonly reason: string } {
  return { action: kind, reason };
}

/** Prometheus' unit of time. */
function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
