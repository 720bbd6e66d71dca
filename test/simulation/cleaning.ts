import { objectKey } from "../../src/model/resource.ts";
import type { DNSChange } from "./dns-invariants.ts";
import { isIn, shownIn, viewDNS } from "./dns-view.ts";
import type { SimCall } from "./faults.ts";
import type { Monitor, Violation } from "./monitor.ts";
import { isInGrace, publisherName } from "./offers.ts";
import type { Process } from "./process.ts";
import {
  claimants,
  isBeyond,
  isRecordSet,
  isSilent,
  nameKey,
  namesOnRecord,
  publishedKey,
  publishers,
  wishOf,
} from "./publishers.ts";

/** What changing a name that no object asks for any more breaks: only what was written goes, only when asked, only when the new name is there. */
export function checkCleaning(change: DNSChange): void {
  const { monitor, process, key, what, added, removed, shownAfter } = change;
  const { world } = monitor.simulation;
  const all = publishers(world);
  const heirs = all.filter(
    (object) =>
      object.spec.reclaimPolicy === "Delete" &&
      !isSilent(world, object) &&
      !isBeyond(process, object) &&
      !monitor.records.touchedAtMs.has(objectKey(object.meta)) &&
      namesOnRecord(object).some((name) => publishedKey(name) === key),
  );
  const isForgotten = all.some(({ meta }) => monitor.records.touchedAtMs.has(objectKey(meta)));
  if (added.length > 0) monitor.violated("P6", `${what}, a name that no object asks for`);
  if (heirs.length === 0 && !isForgotten) monitor.violated("blocked", `${what}, which no object may clean`);
  const written = heirs
    .flatMap(namesOnRecord)
    .filter((name) => publishedKey(name) === key)
    .flatMap(({ addresses }) => addresses);
  const strange = removed.filter((ip) => !written.includes(ip));
  // By a spec as it was before the name may be the object's own.
  if (heirs.length > 0 && strange.length > 0 && !process.isMisled)
    monitor.violated("P6", `${what}: nobody wrote ${strange.join(" ")}`);
  const view = viewDNS(world);
  const isReady = heirs.some((object) => {
    const wish = wishOf(world, object);
    if (object.spec.dnsRecordSet === undefined || object.meta.isDeleting) return true;
    if (wish === undefined) return false;
    const isOwn = claimants(world, nameKey(wish.provider, wish.fqdn)).includes(object);
    const isEmpty = shownIn(view, wish.provider, wish.fqdn).length === 0;
    const isSpoilt = (monitor.records.handEdited.get(nameKey(wish.provider, wish.fqdn)) ?? -1) >= process.passStartMs;
    const mayBeEmpty = isRecordSet(object) && object.spec.whenEmpty === "Delete";
    return isOwn && (!isEmpty || isSpoilt || (mayBeEmpty && !removed.some((ip) => isInGrace(world, object, ip))));
  });
  // The new name may have been shown as it was before.
  if (heirs.length > 0 && !isReady && shownAfter.length === 0 && !process.isMisled)
    monitor.violated("DNS-order", `${what} before the new name of ${heirs.map(publisherName).join()} is there`);
  const [heir, ...others] = heirs;
  const early = heir === undefined || isReady || others.length > 0 ? [] : removed;
  for (const ip of early.filter((one) => heir !== undefined && isInGrace(world, heir, one) && !process.isMisled))
    monitor.violated("grace", `${what}: the node of ${ip} is in grace`);
}

/** The set of records in a key of claims. */
function keyText(key: string): string {
  return key.slice(key.indexOf(" ") + 1);
}

/** What letting go of an object breaks: the records that were written for it, where they are to be cleaned. */
export function checkLeftNames(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { records, simulation } = monitor;
  const { world } = simulation;
  const object = publishers(world).find(
    ({ meta, spec }) =>
      objectKey(meta) === call.subject && "addressType" in spec === call.operation.startsWith("record"),
  );
  const isMeant = call.args[0] === false && object?.meta.isDeleting === true && object.spec.reclaimPolicy === "Delete";
  if (!isMeant || process.isMisled || records.wasMisled || records.lastChangeMs >= process.passStartMs) return [];
  if (records.touchedAtMs.has(call.subject)) return [];
  const view = viewDNS(world);
  return [...records.written].flatMap(([key, { uid, addresses }]) => {
    const left = view.filter(
      (record) =>
        isIn(record, keyText(key)) && key.startsWith(`${record.provider} `) && addresses.includes(record.content),
    );
    const isOthers = uid !== object.meta.uid || claimants(world, key).length > 0 || records.handEdited.has(key);
    // Another object that has them on record cleans them by itself.
    const isKnown = publishers(world).some(
      (other) =>
        other.meta.uid !== object.meta.uid &&
        namesOnRecord(other).some(
          (name) => publishedKey(name) === key && left.every(({ content }) => name.addresses.includes(content)),
        ),
    );
    if (left.length === 0 || isOthers || isKnown) return [];
    return [
      { invariant: "DNS-leak", text: `${process.identity}: lets go of ${call.subject} and leaves ${key} behind` },
    ];
  });
}
