import { domainToASCII } from "node:url";

/** A DNS name in lower case, in Punycode, without trailing dot; undefined when the text is none. `*` and `_` may occur. */
export function canonicalName(text: string): string | undefined {
  const bare = text.toLowerCase().replace(/\.$/, "");
  const name = /^[\x21-\x7e]*$/.test(bare) ? bare : domainToASCII(bare);
  const isName = name.length <= 253 && name.split(".").every((label) => /^[a-z0-9_*-]{1,63}$/.test(label));
  return isName ? name : undefined;
}

/** The text as a zone id (32 hexadecimal digits, lower case); undefined when it is none. */
export function zoneIDOf(text: string): string | undefined {
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;
}
