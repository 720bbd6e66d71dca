import { objectKey } from "../../src/model/resource.ts";
import type { DNSChange } from "./dns-invariants.ts";
import { shownIn, viewDNS } from "./dns-view.ts";
import { publisherName } from "./offers.ts";
import { claimants, isBeyond, isRecordSet, isSilent, nameKey, publishedKey, publishers, wishOf } from "./publishers.ts";

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
      [...object.status.formerDNS, object.status.publishedDNS].some(
        (name) => name !== undefined && publishedKey(name) === key,
      ),
  );
  const isForgotten = all.some(({ meta }) => monitor.records.touchedAtMs.has(objectKey(meta)));
  if (added.length > 0) monitor.violated("P6", `${what}, a name that no object asks for`);
  if (heirs.length === 0 && !isForgotten) monitor.violated("blocked", `${what}, which no object may clean`);
  const written = heirs.flatMap(({ status }) =>
    [...status.formerDNS, ...(status.publishedDNS === undefined ? [] : [status.publishedDNS])]
      .filter((name) => publishedKey(name) === key)
      .flatMap(({ addresses }) => addresses),
  );
  const strange = removed.filter((ip) => !written.includes(ip));
  if (heirs.length > 0 && strange.length > 0) monitor.violated("P6", `${what}: nobody wrote ${strange.join(" ")}`);
  const view = viewDNS(world);
  const isReady = heirs.some((object) => {
    const wish = wishOf(world, object);
    if (object.spec.dnsRecordSet === undefined || object.meta.isDeleting) return true;
    if (wish === undefined) return false;
    const isOwn = claimants(world, nameKey(wish.provider, wish.fqdn)).includes(object);
    const isEmpty = shownIn(view, wish.provider, wish.fqdn).length === 0;
    const isSpoilt = (monitor.records.handEdited.get(nameKey(wish.provider, wish.fqdn)) ?? -1) >= process.passStartMs;
    return isOwn && (!isEmpty || isSpoilt || (isRecordSet(object) && object.spec.whenEmpty === "Delete"));
  });
  if (heirs.length > 0 && !isReady && shownAfter.length === 0)
    monitor.violated("DNS-order", `${what} before the new name of ${heirs.map(publisherName).join()} is there`);
}
