import { isDeepStrictEqual } from "node:util";
import type { Outcome } from "./survive.ts";

/** A damage after which a world may come to another end than without it. */
export interface Difference {
  /** The row of the manual's table that says so. */
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
    row: "publishedDNS, lost: a name that changes at that moment is not cleaned up",
    situation: /names/,
    damage: /^whole status$/,
    keys: ["holds"],
  },
  {
    row: "pendingAcquisitions, lost: what the account had before is not known, and held what may be the one",
    situation: /acquisition, before write 4/,
    damage: /^whole status$|pendingAcquisitions(\[\]\.providerID)? /,
    keys: [...PLACES, "conditions"],
  },
  {
    row: "pendingAcquisitions, by hand: with other known addresses the wrong one is looked for",
    situation: /acquisition/,
    damage: /pendingAcquisitions\[\]\.knownIPs /,
    keys: PLACES,
  },
  {
    row: "acquired[].provider, by hand: the object is invalid until a person puts it right",
    situation: /./,
    damage: /(acquired|pendingAcquisitions)\[\]\.provider (garbage|another value)$/,
    keys: [...PLACES, "names", "conditions"],
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
  const more = found.addresses > control.addresses ? ["an address is bought twice"] : [];
  const isRest = title.includes("settled") && forgiven.length === 0 && found.providerWrites.length > 0;
  const stir = isRest ? [`it wrote ${found.providerWrites.join(", ")}`] : [];
  return [...harm, ...lost, ...more, ...stir].map((text) => `${damage}: ${text}`);
}
