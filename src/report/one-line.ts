/**
 * Returns a text that came from outside (a taint, a provider's answer) as one line without control characters, so that it
 * can neither break a layout nor steer a terminal.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
}
