import type { Answer } from "./answer.ts";
import { AnswerFault } from "./answer-value.ts";
import type { Complaint } from "./complaint.ts";
import { failedCall } from "./failed-call.ts";
import type { ProviderAPI } from "./provider-api.ts";
import type { ProviderCall } from "./provider-call.ts";
import { type ReadingTerms, refusalOf } from "./refusal.ts";

/**
 * What an answer means to the call that asked for it: the value of a success, or of a refusal that the call expected.
 * @throws ProviderError for every other refusal, and `malformed` for an answer that is not what the API promises
 */
export function answerMeaning<T, Send, Body, C extends Complaint>(
  api: ProviderAPI<Send, Body, C>,
  call: ProviderCall<T, Send, Body, C>,
  sent: Answer,
  terms: ReadingTerms,
): T {
  // Before any text is cut: a part of the token would not be found any more.
  const answer = { ...sent, text: terms.redact(sent.text) };
  const { status } = answer;
  try {
    const body = status >= 200 && status <= 299 ? api.successOf(answer) : undefined;
    if (body !== undefined) return call.decode(body);
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    const reason = terms.redact(error.message);
    throw failedCall(api, call, { failure: "malformed", status, reason, isAmbiguous: call.isWrite });
  }
  const refusal = refusalOf(api, call, answer, terms);
  const expected = call.expected?.(refusal);
  if (expected === undefined) throw refusal.error;
  return expected.value;
}
