import { canonicalIPv4 } from "./address.ts";

/** What a pool's annotation tells of its acquisitions. */
export interface AcquisitionNote {
  /** The addresses acquired, in the order of status. */
  readonly ips: readonly string[];
  /** One {@link placeOf} per acquisition without an answer, in the order of status. */
  readonly pending: readonly string[];
}

/** A note that tells of nothing, as good as none. */
export const EMPTY_NOTE: AcquisitionNote = { ips: [], pending: [] };

/** What the annotation has to say beside such a status. Pure. */
export function acquisitionNote(status: {
  readonly acquired: readonly { readonly ip: string }[];
  readonly pendingAcquisitions: readonly AskedPlace[];
}): AcquisitionNote {
  const ips = status.acquired.map(({ ip }) => ip).filter((ip) => canonicalIPv4(ip) === ip);
  return { ips: [...new Set(ips)], pending: status.pendingAcquisitions.map(placeOf) };
}

/** For what an acquisition asked. */
interface AskedPlace {
  readonly providerID?: string;
  readonly region?: string;
}

/** Where an address was asked for: the provider ID of a machine, which has `://` in it, or a region; `""` when an intent does not say. */
export function placeOf({ providerID, region }: AskedPlace): string {
  return providerID ?? region ?? "";
}

/** What is in the first list and not in the second one, each as often as it is there more often. Keeps the order. */
export function beyond(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return list.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
