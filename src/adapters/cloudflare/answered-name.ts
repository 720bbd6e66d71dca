import type { AnswerValue } from "../provider-http/answer-value.ts";
import { canonicalName } from "./dns-name.ts";

/**
 * The DNS name that a value is, in lower case, in Punycode, without trailing dot.
 * @throws AnswerFault
 */
export function answeredName(value: AnswerValue): string {
  const name = typeof value.raw === "string" ? canonicalName(value.raw) : undefined;
  if (name === undefined) throw value.fault("a DNS name");
  return name;
}
