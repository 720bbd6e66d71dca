import { isLoopbackURL } from "../adapters/http/proxy-choice.ts";
import type { Warn } from "./config.ts";

/**
 * Warns of credentials that go to another machine unencrypted; does nothing for `https:` and for this machine.
 * @param what - as the subject of a sentence: `The token of DigitalOcean`
 */
export function warnOfPlainText(warn: Warn, url: string, what: string): void {
  const target = URL.parse(url);
  if (target === null || target.protocol !== "http:" || isLoopbackURL(target)) return;
  const text = `${what} goes to ${target.origin} unencrypted: whoever is on the way can read it. Use https://.`;
  warn("Unencrypted", text);
}
