import { dnsSubject } from "../../src/model/retry-subject.ts";
import type { DNSChange } from "./dns-invariants.ts";
import type { Monitor } from "./monitor.ts";
import { publishers } from "./publishers.ts";
import { changeKey, removalKey } from "./records.ts";
import type { World } from "./world.ts";

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

/**
 * What leaves a name does not wait for an addition that failed, nor says anything of that. And where something else has failed, what leaves is sent by itself before it: that this
 * failed in its turn says nothing of the rest, which waits for its own next attempt.
 */
function checkRetry({ monitor, call, key, what }: DNSChange): void {
  const { records, simulation } = monitor;
  const own = changeKey(key, call);
  for (const held of heldBy(monitor, own, key)) {
    const refusal = records.refusals.get(held);
    if (refusal === undefined) continue;
    records.refusals.delete(held);
    const passedMs = simulation.world.nowMs() - refusal.lastMs;
    if (!records.wasMisled && passedMs < (refusal.isSlow ? 60_000 : 1000) - 100)
      monitor.violated("retry", `${what} ${passedMs} ms after a failure`);
  }
  if (own !== key) return;
  records.inParts.delete(key);
  records.refusals.delete(removalKey(key));
}

/** Under what failures are kept that a change waits for. */
function heldBy({ records, simulation }: Monitor, own: string, key: string): readonly string[] {
  if (own === key)
    return records.inParts.has(key) || isFailureOnRecord(simulation.world, key) ? [key] : [key, removalKey(key)];
  const isHeldByAll = own === removalKey(key) && records.refusals.get(key)?.isOfAddition !== true;
  return isHeldByAll ? [own, key] : [own];
}

/** True where a status says that something else than a removal failed: it has ended since, and the run that saw it died. */
function isFailureOnRecord(world: World, key: string): boolean {
  const at = key.indexOf(" ");
  const failed = dnsSubject({ provider: key.slice(0, at), fqdn: key.slice(at + 1) });
  return publishers(world).some(({ status }) => status.retries.some(({ subject }) => subject === failed));
}
