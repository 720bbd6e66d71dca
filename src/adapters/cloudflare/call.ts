import type { AnswerValue } from "./answer-value.ts";
import type { Refusal } from "./provider-failure.ts";
import type { Send } from "./sdk.ts";

/** What texts, errors and counters need to know about one call. */
export interface CallFacts {
  /** The port's operation: `zone`, `records` or `write`. */
  readonly operation: string;
  /** The zone or record name the call is about. */
  readonly subject: string;
  /** Infinitive with its object, for people: `read the A records of www.example.com`. */
  readonly doing: string;
  /** Token permission the call needs, as the dashboard names it: `Zone / DNS / Edit`. */
  readonly permission: string;
  /** True for everything but a read: never repeated, and ambiguous when the answer is missing. */
  readonly isWrite: boolean;
}

/** One call: what to send and how to understand the envelope of a success. */
export interface Call<T> extends CallFacts {
  readonly send: Send;
  /** Gets the whole envelope, `success` already checked. @throws AnswerFault when it is not what the API promises. */
  readonly decode: (envelope: AnswerValue) => T;
  /** A refusal that is an answer too, and what it means; undefined when it is none. */
  readonly expected?: (refusal: Refusal) => { readonly value: T } | undefined;
}
