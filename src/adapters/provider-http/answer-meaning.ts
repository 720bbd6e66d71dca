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
  answer: Answer,
  terms: ReadingTerms,
): T {
  const { status } = answer;
  const success = readSuccess(api, call, answer);
  if (success.kind === "value") return success.value;
  // First of all: in a text that was cut, or written in small letters, a secret is not found any more.
  const headers = new Headers([...answer.headers].map(([name, value]) => [name, terms.redact(value)]));
  const redacted = { ...answer, headers, text: terms.redact(answer.text) };
  if (success.kind === "unusable") {
    const again = readSuccess(api, call, redacted);
    const reason = terms.redact(again.kind === "unusable" ? again.reason : success.reason);
    throw failedCall(api, call, { failure: "malformed", status, reason, isAmbiguous: call.isWrite });
  }
  const refusal = refusalOf(api, call, redacted, terms);
  const expected = call.expected?.(refusal);
  if (expected === undefined) throw refusal.error;
  return expected.value;
}

type Success<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "refusal" }
  | { readonly kind: "unusable"; readonly reason: string };

function readSuccess<T, Send, Body, C extends Complaint>(
  api: ProviderAPI<Send, Body, C>,
  call: ProviderCall<T, Send, Body, C>,
  answer: Answer,
): Success<T> {
  try {
    const body = answer.status >= 200 && answer.status <= 299 ? api.successOf(answer) : undefined;
    return body === undefined ? { kind: "refusal" } : { kind: "value", value: call.decode(body) };
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    return { kind: "unusable", reason: error.message };
  }
}
