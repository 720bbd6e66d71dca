import { canonicalDNSName } from "./dns.ts";
import { type RecordSetName, setNamed } from "./record-types.ts";

/*
 * Whose a name is, as external-dns marks it. For each record that external-dns makes, its TXT registry makes TXT records beside it, with a text such as
 *
 *   "heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/web"
 *
 * Their names for an A record www.example.com:
 *
 *   www.example.com             the old form
 *   a-www.example.com           the new form; for *.example.com a-*.example.com
 *   pre-a-www.example.com       with --txt-prefix=pre-; in the old form pre-www.example.com
 *   pre-a-.www.example.com      with --txt-prefix=pre-%{record_type}-. ; so an apex gets a name inside its zone
 *   a-www-post.example.com      with --txt-suffix=-post
 *   a-any.example.com           for *.example.com with --txt-wildcard-replacement=any
 *
 * Those of an AAAA record have `aaaa` in place of `a`.
 *
 * Nobody tells flipop the prefix or the suffix, so it compares the marks with the names of the whole zone: a mark belongs to the name that explains it best.
 */

/** A TXT record. */
export interface TextRecord {
  /** Lower case without trailing dot. */
  readonly fqdn: string;
  readonly text: string;
}

/** What a zone shows of whose its names are. */
export interface ZoneTexts {
  readonly texts: readonly TextRecord[];
  /** Names that have other records than TXT → the types of these. Empty where only some names were asked for. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The external-dns that a name belongs to. */
export interface ExternalOwner {
  /** The id of the owner; absent where the mark does not tell it, or is encrypted. */
  readonly id?: string;
  /** The name of the TXT record that says so. */
  readonly mark: string;
  readonly isEncrypted?: true;
}

/** Returns whom a set of records, named as `setText` does it, belongs to by the marks of its zone; undefined where no mark is for it. `hasRecords` = the set has records. Pure. */
export function externalOwner(
  text: string,
  { texts, names }: ZoneTexts,
  hasRecords: boolean,
): ExternalOwner | undefined {
  const set = setNamed(text);
  const own = texts.flatMap((record) => markOf(record) ?? []).filter((mark) => isFor(set, mark, names, hasRecords));
  return own.toSorted((a, b) => Number(a.id === undefined) - Number(b.id === undefined))[0];
}

/** Returns the names of the marks that a set has where external-dns knows no prefix and no suffix, as far as a DNS name can be asked for. Pure. */
export function plainMarks(text: string): readonly string[] {
  const set = setNamed(text);
  return [set.fqdn, plainMark(set)].filter((name) => canonicalDNSName(name) !== undefined);
}

function plainMark(set: RecordSetName): string {
  return `${wordOf(set)}-${set.fqdn}`;
}

/** How a mark names the type of the records. */
function wordOf({ type }: Pick<RecordSetName, "type">): string {
  return type.toLowerCase();
}

/** Reads the text of a mark; undefined for any other text. */
function markOf({ fqdn, text }: TextRecord): ExternalOwner | undefined {
  // A long text is stored in parts, each in quotes; some providers keep the quotes that external-dns puts around it, behind a backslash.
  const plain = text
    .replaceAll('\\"', '"')
    .replace(/"\s*"/g, "")
    .replace(/^[\s"]+|[\s"]+$/g, "");
  const words = new Map(
    plain.split(",").flatMap((word) => {
      const [key = "", value, ...rest] = word.split("=");
      return value === undefined || rest.length > 0 ? [] : [[key.trim(), value] as const];
    }),
  );
  if (words.get("heritage") === "external-dns") {
    const id = words.get("external-dns/owner") ?? "";
    return id === "" ? { mark: fqdn } : { id, mark: fqdn };
  }
  return isEncrypted(plain) ? { mark: fqdn, isEncrypted: true } : undefined;
}

/** True for what --txt-encrypt-enabled makes of a mark: Base64 of more than a short text, and nothing else. */
function isEncrypted(text: string): boolean {
  return text.length >= 64 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** The types of records that a mark may name. */
const TYPES: ReadonlySet<string> = new Set(["a", "aaaa", "cname", "mx", "naptr", "ns", "ptr", "srv", "txt"]);

function isFor(
  set: RecordSetName,
  { mark, isEncrypted: isGuess }: ExternalOwner,
  names: ZoneTexts["names"],
  hasRecords: boolean,
): boolean {
  const { fqdn } = set;
  if (mark === plainMark(set)) return true;
  // What is encrypted has no form but the new one, and is not known to be a mark anywhere else.
  if (isGuess === true) return false;
  if (mark === fqdn) return !isOfOtherType(set, names, hasRecords);
  if (!hasRecords || isExplained(mark, names)) return false;
  const fit = fitOf(set, mark);
  const isWorse = (other: string): boolean => fitOf({ ...set, fqdn: other }, mark) <= fit;
  return fit > 0 && [...names.keys()].every((other) => other === fqdn || isWorse(other));
}

/** True for a name in the old form that belongs to records of another type. */
function isOfOtherType({ fqdn, type }: RecordSetName, names: ZoneTexts["names"], hasRecords: boolean): boolean {
  const types = names.get(fqdn);
  return !hasRecords && types !== undefined && !types.has(type);
}

/** True for a mark of a name of the zone without prefix and suffix. */
function isExplained(mark: string, names: ZoneTexts["names"]): boolean {
  const [, type = "", rest = ""] = /^([a-z]+)-(.*)$/.exec(mark) ?? [];
  return names.has(mark) || (TYPES.has(type) && names.has(rest));
}

/**
 * Returns how well a mark with a prefix or suffix fits a name: how many characters of the name's first label it has; 0 where it does not fit. A wildcard fits any
 * mark right under its parent, worse than every other name.
 */
function fitOf({ fqdn, type }: RecordSetName, mark: string): number {
  const word = wordOf({ type });
  const dot = fqdn.indexOf(".");
  const [first, parent] = [fqdn.slice(0, dot), fqdn.slice(dot)];
  if (dot < 1 || !mark.endsWith(parent)) return 0;
  const left = mark.slice(0, -parent.length);
  if (first === "*") return left === "" ? 0 : 0.5;
  if (left.endsWith(first)) return isAffixOf(word, left.slice(0, -first.length)) ? first.length : 0;
  const plain = left.startsWith(`${word}-`) && !left.startsWith(first) ? left.slice(word.length + 1) : left;
  return plain.startsWith(first) && isAffixOf(word, plain.slice(first.length)) ? first.length : 0;
}

/** True for a prefix or suffix that names no other type of records. */
function isAffixOf(type: string, affix: string): boolean {
  return affix !== "" && affix.split(/[-._]/).every((word) => word === type || !TYPES.has(word));
}
