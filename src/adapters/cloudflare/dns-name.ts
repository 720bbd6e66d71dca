import { domainToASCII } from "node:url";
import { canonicalDNSName } from "../../model/dns.ts";

/** A DNS name in lower case, in Punycode, without trailing dot, `*` only as its first label; undefined when the text is none. */
export function canonicalName(text: string): string | undefined {
  return canonicalDNSName(/^[\x21-\x7e]*$/.test(text) ? text : domainToASCII(text));
}

/** The text as a zone id (32 hexadecimal digits, lower case); undefined when it is none. */
export function zoneIDOf(text: string): string | undefined {
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;
}
