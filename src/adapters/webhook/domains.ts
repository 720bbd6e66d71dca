// Which names a webhook looks after. Source: external-dns v0.22.0, endpoint/domain_filter.go (read 2026-08-22).

import { relativeName } from "../../model/dns.ts";
import { comparableName } from "../dns/names.ts";
import { anyList, maybe, object, read, TEXT } from "../http/answer.ts";

/** The names that a webhook looks after; with nothing in it, all. */
export interface DomainFilter {
  /** Domains with the names below them; `.example.com` = only the names below. Lower case. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Where one of the two is set, it decides alone. */
  readonly regexInclude?: RegExp;
  readonly regexExclude?: RegExp;
}

/** Reads the answer to `GET /`. Servers write `include`; the paper of the protocol says `filters`. @throws AnswerFault */
export function readDomains(body: unknown): DomainFilter {
  const shape = object({
    include: anyList(TEXT),
    filters: anyList(TEXT),
    exclude: anyList(TEXT),
    regexInclude: maybe(TEXT),
    regexExclude: maybe(TEXT),
  });
  const { include, filters, exclude, ...patterns } = read(shape, body ?? {});
  const [regexInclude, regexExclude] = [patternOf(patterns.regexInclude), patternOf(patterns.regexExclude)];
  return {
    include: domainsOf([...include, ...filters]),
    exclude: domainsOf(exclude),
    ...(regexInclude === undefined ? {} : { regexInclude }),
    ...(regexExclude === undefined ? {} : { regexExclude }),
  };
}

function domainsOf(texts: readonly string[]): readonly string[] {
  return texts.map((text) => comparableName(text.trim())).filter((text) => text !== "");
}

/** Go writes flags in front; names are in lower case here. What JavaScript cannot read decides nothing: the webhook itself keeps to it. */
function patternOf(text: string | undefined): RegExp | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return new RegExp(text.replace(/^\(\?i\)/, ""), "i");
  } catch {
    return undefined;
  }
}

/** True for a name that the webhook looks after. Pure. */
export function isServed(name: string, filter: DomainFilter): boolean {
  const { include, exclude, regexInclude, regexExclude } = filter;
  if (regexInclude !== undefined || regexExclude !== undefined)
    return regexExclude?.test(name) !== true && regexInclude?.test(name) !== false;
  const isBelow = (domain: string): boolean =>
    domain.startsWith(".") ? name.endsWith(domain) : relativeName(domain, name) !== undefined;
  return (include.length === 0 || include.some(isBelow)) && !exclude.some(isBelow);
}

/** True for a zone that may have names which the webhook looks after, as far as is known. Pure. */
export function isServedZone(zone: string, filter: DomainFilter): boolean {
  const hasPattern = filter.regexInclude !== undefined || filter.regexExclude !== undefined;
  return hasPattern || isServed(zone, filter) || filter.include.includes(`.${zone}`);
}
