const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const NAMESPACE = new RegExp(`^${LABEL}$`);
const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** The rule of {@link isNamespaceName}, for messages. */
export const NAMESPACE_RULE = "at most 63 lower-case letters, digits and '-', with a letter or digit at both ends";

/** True if a namespace can have this name: an RFC 1123 label of at most 63 characters. */
export function isNamespaceName(text: string): boolean {
  return text.length <= 63 && NAMESPACE.test(text);
}

/** True for an RFC 1123 subdomain of at most 253 characters: the name of most objects, and the prefix of a label key. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && SUBDOMAIN.test(text);
}

/** The longest text that {@link shownText} shows whole. */
const MOST_SHOWN = 100;

/**
 * Returns a text that somebody else wrote, for a message. Characters outside printable ASCII become `\u{a0}`, because a reader
 * cannot see a non-breaking space or tell a Cyrillic letter from a Latin one. More than 100 characters are cut, with `…`.
 */
export function shownText(text: string): string {
  const shown = text
    .slice(0, MOST_SHOWN)
    .replace(/[^\x20-\x7e]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length > MOST_SHOWN ? `${shown}…` : shown;
}
