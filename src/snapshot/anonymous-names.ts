import { unreachableWhy } from "../model/address.ts";
import { compareText } from "../model/resource.ts";

/*
 * How a name becomes another one. A name is taken apart where it has signs (`-`, `.`, `/`, blanks …), which stay; each part gets a number by its place among all parts.
 *
 *   parts of all names   1  10  example  ingress  worker       a part of digits    2001
 *   their numbers        2001 2002 2003 2004 2005              else                n2005
 *   worker-1             n2005-2001
 *
 * All numbers have the same length. So of two names the same one comes first as before, alone and inside of longer texts: `ingress-2/web` still comes before `ingress/web`, as flipop and
 * the API server sort them, and `web-10` before `web-2`. Flipop decides by names who is served first, so its plan stays the same. For the same reason a machine's id stays a number,
 * and a zone's id stays one.
 */

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
/** Keys that Kubernetes itself gives a meaning to. */
const WELL_KNOWN = [
  "topology\\.kubernetes\\.io/(?:region|zone)",
  "kubernetes\\.io/hostname",
  "node\\.kubernetes\\.io/(?:not-ready|unreachable|unschedulable|out-of-service|(?:memory|disk|pid)-pressure|network-unavailable)",
].join("|");
const EDGE = String.raw`[\p{L}\p{N}\p{M}_]`;

const HEX = "[0-9a-fA-F]";
const IPV6 = `(?:(?:${HEX}{1,4}:){7}${HEX}{1,4}|(?=${HEX}*(?::${HEX}+)*::)(?:${HEX}{0,4}:){2,7}(?:${HEX}{1,4}|(?<=::)))`;

/** What is looked at as a whole: a time, a well-known key, `in` and `notin` of a selector, the type of records, an address, and any other part of a name. */
const TOKEN = new RegExp(
  [
    String.raw`(?<kept>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)(?!${EDGE})|(?<![${"\\p{L}\\p{N}\\p{M}_./-"}])(?:${WELL_KNOWN})(?![${"\\p{L}\\p{N}\\p{M}_./-"}])|(?<!${EDGE})(?:(?:in|notin)(?=\s*\()|AAAA(?!${EDGE})))`,
    String.raw`(?<ip>(?<![\p{L}\p{N}\p{M}_.]|[\p{L}\p{N}\p{M}_.]-)(?:${OCTET}\.){3}${OCTET}(?!${EDGE}|-|\.${EDGE}))`,
    `(?<six>(?<![\\p{L}\\p{N}\\p{M}_.:%])${IPV6}(?![:.]?${EDGE}|::|%))`,
    `(?<part>${EDGE}+)`,
  ].join("|"),
  "gu",
);

/** A part of a text. */
interface Found {
  readonly kept?: string;
  readonly ip?: string;
  readonly part?: string;
  /** True for a word of a sentence, and no part of a longer name. */
  readonly isWord: boolean;
}

function replaced(text: string, by: (found: Found) => string): string {
  return text.replace(TOKEN, (match, ...more) => {
    const at = more.at(-3) as number;
    const isWord = (at === 0 || /[\s("']/.test(text[at - 1] ?? "")) && WORD_END.test(text.slice(at + match.length));
    const { six, ...found } = more.at(-1) as Omit<Found, "isWord"> & { readonly six?: string };
    return by({ ...found, ...(six === undefined ? {} : { ip: six }), isWord });
  });
}

/** Also before the name of what stands behind it: `pool/ingress/web`. */
const WORD_END = /^(?:$|\s|[),.;:'"]+(?:\s|$)|\/)/;

/** Adds the parts and the addresses of a name. */
export function nameParts(
  text: string,
  { parts, addresses }: { readonly parts: Set<string>; readonly addresses: Set<string> },
): void {
  replaced(text, ({ ip, part }) => {
    if (ip !== undefined) addresses.add(ip);
    if (part !== undefined) parts.add(part);
    return "";
  });
}

/** New names for all that a world has. The same world gets the same ones. */
export class Names {
  readonly #parts: ReadonlyMap<string, string>;
  readonly #addresses: ReadonlyMap<string, string>;

  /**
   * @param isID - true for the id of a zone
   * @param kept - parts that keep their name
   */
  constructor(
    parts: ReadonlySet<string>,
    addresses: ReadonlySet<string>,
    isID: (part: string) => boolean,
    kept: readonly string[] = [],
  ) {
    const digits = Math.max(3, String(parts.size).length);
    const sorted = [...parts].toSorted(compareText);
    const fixed = sorted.filter((part) => kept.includes(part));
    const nameAt = (part: string, at: number): string => {
      const number = `2${String(at + 1).padStart(digits, "0")}`;
      return isID(part) ? number.padEnd(part.length, "0") : beside(fixed, part, partName(part, number));
    };
    this.#parts = new Map(sorted.map((part, at) => [part, kept.includes(part) ? part : nameAt(part, at)]));
    const nameable = [...addresses].filter((ip) => unreachableWhy(ip) === undefined);
    const byFamily = Map.groupBy(nameable.toSorted(compareText), (ip) => (ip.includes(":") ? "IPv6" : "IPv4"));
    this.#addresses = new Map([
      ...(byFamily.get("IPv4") ?? []).map((ip, at) => [ip, addressName(at)] as const),
      ...(byFamily.get("IPv6") ?? []).map((ip, at) => [ip, longAddressName(at)] as const),
    ]);
  }

  /** Returns a name part by part; what is known nowhere is `…`. */
  of(text: string): string {
    return this.inSentence(text, () => undefined);
  }

  /** Nobody has an address that no client reaches: it stays what it is. */
  #address(ip: string): string {
    return unreachableWhy(ip) === undefined ? (this.#addresses.get(ip) ?? "…") : ip;
  }

  /** Returns a text for people; `keep` returns a word that stays, unless it is a part of a longer name that is known. */
  inSentence(text: string, keep: (word: string) => string | undefined): string {
    return replaced(text, ({ kept, ip, part = "", isWord }) => {
      if (kept !== undefined) return kept;
      if (ip !== undefined) return this.#address(ip);
      const renamed = this.#parts.get(part);
      if (isWord) return keep(part) ?? renamed ?? "…";
      return renamed ?? (COUNT.test(part) ? undefined : keep(part)) ?? "…";
    });
  }
}

/**
 * Returns a new name that sorts among the parts which keep theirs as the part did: behind the last of them that came before it, and before the next one. Their names begin
 * with letters.
 */
function beside(fixed: readonly string[], part: string, name: string): string {
  if (!name.startsWith("n")) return name;
  const before = fixed.findLast((one) => compareText(one, part) < 0) ?? "";
  const behind = fixed.find((one) => compareText(one, part) > 0);
  const isBetween =
    compareText(before, LEAST_NAME) < 0 && (behind === undefined || compareText(LEAST_NAME, behind) < 0);
  return isBetween ? name : `${before || "a"}${name.slice(1)}`;
}

/** What every new name that begins with a letter comes behind. */
const LEAST_NAME = "n2";

/** A part stays what it can be taken for: a number with or without leading zeros, one beyond 64 bits, as long as it was where it was long, a part with a letter that no name may have. */
function partName(part: string, number: string): string {
  if (/^\d+$/.test(part)) {
    const isBeyond = part.length > 18 && BigInt(part) > MOST_INT64;
    return (part.startsWith("0") ? "0" : "") + (isBeyond ? number.padEnd(Math.max(20, part.length), "0") : number);
  }
  const name = /^\d/.test(part) ? `${number}x` : `n${number}`;
  const odd = /^[A-Za-z0-9_]+$/.test(part) ? "" : "ñ";
  return (part.length > LONG ? name.padEnd(part.length, "0") : name) + odd;
}

/** How many, or how long: no name of a machine is that short. */
export const COUNT: RegExp = /^\d{1,3}$/;

const MOST_INT64 = 2n ** 63n - 1n;
/** From this length on parts keep theirs, so that a name that is too long stays too long. */
const LONG = 20;

/** Of one length, so that they sort as texts as they do as numbers: 198.18.100.100, 198.18.100.101 … (RFC 2544: 198.18.0.0/15 belongs to nobody). */
function addressName(at: number): string {
  return `198.${18 + Math.floor(at / 10_000)}.${100 + (Math.floor(at / 100) % 100)}.${100 + (at % 100)}`;
}

/** The same of IPv6: 2001:2:0:1000::1000 … (RFC 5180: 2001:2::/48 belongs to nobody). */
function longAddressName(at: number): string {
  return `2001:2:0:${1000 + Math.floor(at / 9000)}::${1000 + (at % 9000)}`;
}
