import type { ProviderFailure } from "../../model/errors.ts";
import type { Answer } from "./answer.ts";
import type { CallFacts } from "./call-facts.ts";
import type { CallLimits } from "./call-limits.ts";
import type { Complaint } from "./complaint.ts";
import type { ProviderVoice } from "./provider-voice.ts";
import type { RateLimitReading } from "./rate-limit-gate.ts";
import type { RequestTerms } from "./send-request.ts";

/**
 * Sends the one request of a call and returns the answer, whatever its status, with the body read before the deadline.
 * @throws ProviderError when there was no answer
 */
export type Exchange<Send> = (call: CallFacts & { readonly send: Send }, terms: RequestTerms) => Promise<Answer>;

/** How the answers that are no success are understood. */
export interface RefusalReading<C extends Complaint> extends ProviderVoice {
  /** Never throws: what is no error of the API has a text all the same. */
  readonly complaintOf: (answer: Answer) => C;
  /** The id under which the provider knows the request; at most 100 characters. */
  readonly requestIDOf: (answer: Answer) => string | undefined;
  /** What such an answer means when it is an error of the API, or has a status that needs no explanation. */
  readonly failureOf: (status: number, complaint: C) => ProviderFailure;
}

/**
 * What is particular to one provider's API. `Send` is how a call uses its SDK, `Body` what the decoders of calls are given,
 * `C` what is known about an answer that is no success.
 */
export interface ProviderAPI<Send, Body, C extends Complaint> extends RefusalReading<C> {
  /** Where the API is unless the options say otherwise. */
  readonly baseURL: string;
  readonly limits: CallLimits;
  /** Loads the SDK. */
  readonly open: (baseURL: string) => Promise<Exchange<Send>>;
  /**
   * What a 2xx hands to the decoder; undefined when it says itself that it is no success.
   * @throws AnswerFault when it is not what the API promises
   */
  readonly successOf: (answer: Answer) => Body | undefined;
  readonly readRateLimit: RateLimitReading;
}
