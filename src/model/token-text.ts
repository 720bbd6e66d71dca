/** The end of a sentence about a text that cannot be a token: `The token of X ${UNUSABLE_TOKEN}.` */
export const UNUSABLE_TOKEN = "has characters that no token has, such as a space or a line end";

/** True for a text that can be a bearer token: printable ASCII without spaces, at least one character. */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
