// How DNS providers write names, and how flipop compares them.

import { domainToASCII } from "node:url";
import { canonicalDNSName } from "../../model/dns.ts";

/** Returns a DNS name in lower case, in Punycode, without trailing dot, `*` only as its first label; undefined when the text is none. */
export function canonicalName(text: string): string | undefined {
  return canonicalDNSName(/^[\x21-\x7e]*$/.test(text) ? text : domainToASCII(text));
}

/** Returns a name as it is compared: in lower case without trailing dot. Marks of wildcards are no DNS names. */
export function comparableName(text: string): string {
  return canonicalName(text) ?? text.toLowerCase().replace(/\.$/, "");
}
