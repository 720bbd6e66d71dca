import type { AnswerValue } from "../provider-http/answer-value.ts";

/**
 * The numeric id > 0 that a value is, as decimal text.
 * @throws AnswerFault
 */
export function answeredID(value: AnswerValue): string {
  const { raw } = value;
  if (typeof raw !== "number" || !Number.isSafeInteger(raw) || raw < 1) throw value.fault("a numeric id");
  return String(raw);
}
