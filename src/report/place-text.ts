import type { Place } from "../model/action.ts";

/** Returns how people know a machine: its node's name, else `machine 123`. */
export function placeText(place: Place): string {
  return place.nodeName ?? `machine ${place.machineID}`;
}
