import type { IPState } from "../model/resource.ts";
import type { Palette } from "./palette.ts";

/** How the state of an address is painted. */
export const STATE_PAINT: Readonly<Record<IPState, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
  "no-match": "bad",
  unassigned: "notable",
  disabled: "faint",
};
