import type { AnswerValue } from "../provider-http/answer-value.ts";

/**
 * The id of Cloudflare's that a value is: 1 to 64 letters and digits.
 * @throws AnswerFault
 */
export function answeredID(value: AnswerValue): string {
  return value.textLike(/^[\w-]{1,64}$/, "an id");
}
