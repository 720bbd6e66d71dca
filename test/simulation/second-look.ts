import type { DNSChange } from "./dns-invariants.ts";
import { changeKey } from "./records.ts";

/** A failed change is repeated only after a while; a set is read again right before it is changed, and changed only when it is one that the pass has seen before. */
export function checkSecondLook({ monitor, process, call, key, what, shownAfter }: DNSChange): void {
  const { records, simulation } = monitor;
  const refusal = records.refusals.get(changeKey(key, call));
  const passedMs = simulation.world.nowMs() - (refusal?.lastMs ?? 0);
  if (refusal !== undefined && !records.wasMisled && passedMs < (refusal.isSlow ? 60_000 : 1000) - 100)
    monitor.violated("retry", `${what} ${passedMs} ms after a failure`);
  records.refusals.delete(changeKey(key, call));
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
