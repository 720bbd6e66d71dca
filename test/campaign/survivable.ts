import { isDeepStrictEqual } from "node:util";
import type { Outcome } from "./survive.ts";

/** A damage after which a world may come to another end than without it. */
export interface Difference {
  /** The row of the README's table that says so. */
  readonly row: string;
  readonly situation: RegExp;
  /** `KIND PATH DAMAGE`. */
  readonly damage: RegExp;
  readonly keys: readonly (keyof Outcome)[];
}

const PLACES: readonly (keyof Outcome)[] = ["addresses", "serving", "holds"];

/** Every one there is; anything else is a bug. */
const DIFFERENCES: readonly Difference[] = [
  {
    row: "publishedDNS, by hand: the name written there counts as a former one",
    situation: /./,
    damage: /publishedDNS\.(provider|name) (garbage|another value)$/,
    keys: ["holds"],
  },
  {
    row: "acquired, lost: after an edit of the spec they count as released",
    situation: /acquisition|names/,
    damage: /acquired(\[\]\.ip)? (lost|garbage|another value)$/,
    keys: [...PLACES, "violations"],
  },
  {
    row: "pendingAcquisitions, lost: an answer that is lost, too, cannot be looked for",
    situation: /acquisition, before write 4/,
    damage: /pendingAcquisitions(\[\]\.providerID)? /,
    keys: PLACES,
  },
  {
    row: "pendingAcquisitions, by hand: with other known addresses the wrong one is looked for",
    situation: /acquisition/,
    damage: /pendingAcquisitions\[\]\.knownIPs /,
    keys: PLACES,
  },
  {
    row: "acquired, lost: with all of the status, what is attached nowhere is not known",
    situation: /./,
    damage: /^whole status$/,
    keys: PLACES,
  },
];

const KEYS: readonly (keyof Outcome)[] = ["addresses", "serving", "names", "conditions", "holds", "violations"];

/** What suffered from a damage, as sentences; empty when nothing did. Pure. */
export function harmOf(title: string, damage: string, found: Outcome, control: Outcome): readonly string[] {
  const forgiven = DIFFERENCES.filter(
    (difference) => difference.situation.test(title) && difference.damage.test(damage),
  );
  const keys = KEYS.filter((key) => !forgiven.some((difference) => difference.keys.includes(key)));
  const harm = keys
    .filter((key) => !isDeepStrictEqual(found[key], control[key]))
    .map((key) => `${key}: ${JSON.stringify(found[key])} instead of ${JSON.stringify(control[key])}`);
  const lost =
    found.addresses < control.addresses - 1 ? [`${control.addresses - found.addresses} addresses are gone`] : [];
  const isRest = title.includes("settled") && forgiven.length === 0 && found.providerWrites.length > 0;
  const stir = isRest ? [`it wrote ${found.providerWrites.join(", ")}`] : [];
  return [...harm, ...lost, ...stir].map((text) => `${damage}: ${text}`);
}
