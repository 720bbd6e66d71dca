import { domainToASCII } from "node:url";

/** A DNS name in lower case, in Punycode, without trailing dot, `*` only as its first label; undefined when the text is none. */
export function canonicalName(text: string): string | undefined {
  const bare = text.toLowerCase().replace(/\.$/, "");
  const name = /^[\x21-\x7e]*$/.test(bare) ? bare : domainToASCII(bare);
  const labels = name.split(".");
  const isName = name.length <= 253 && labels.every((label, at) => (at === 0 && label === "*") || isLabel(label));
  return isName ? name : undefined;
}

/** The text as a zone id (32 hexadecimal digits, lower case); undefined when it is none. */
export function zoneIDOf(text: string): string | undefined {
  return /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;
}

function isLabel(text: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(text);
}
