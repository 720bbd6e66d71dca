import type { DNSChange } from "./dns-invariants.ts";
import { changeKey } from "./records.ts";

/** A failed change is repeated only after a while; a set is read again right before it is changed, and changed only when it is one that the pass has seen before. */
export function checkSecondLook(change: DNSChange): void {
  const { monitor, process, key, what, shownAfter } = change;
  checkRetry(change);
  const name = process.readings.name(key);
  if (name.last === "read") {
    if (name.reads < 2) monitor.violated("re-read", `${what} without having read the name again`);
    const [newest, ...earlier] = name.sets;
    if (newest !== undefined && !earlier.includes(newest))
      monitor.violated("re-read", `${what} although it had become ${newest}`);
  }
  name.last = "write";
  name.sets.unshift(shownAfter.join(" "));
}

/** What leaves a name does not wait for an addition that failed, nor says anything of that. */
function checkRetry({ monitor, call, key, what }: DNSChange): void {
  const { records, simulation } = monitor;
  const refusal = records.refusals.get(changeKey(key, call));
  if (refusal === undefined || (refusal.isOfAddition === true && call.operation === "remove-record")) return;
  records.refusals.delete(changeKey(key, call));
  const passedMs = simulation.world.nowMs() - refusal.lastMs;
  if (!records.wasMisled && passedMs < (refusal.isSlow ? 60_000 : 1000) - 100)
    monitor.violated("retry", `${what} ${passedMs} ms after a failure`);
}
