import type { CallFacts } from "./call-facts.ts";
import type { Complaint } from "./complaint.ts";
import type { Refusal } from "./refusal.ts";

/** One call: what to send and how to understand the answer. */
export interface ProviderCall<T, Send, Body, C extends Complaint> extends CallFacts {
  readonly send: Send;
  /** Gets what a success holds. @throws AnswerFault when it is not what the API promises */
  readonly decode: (body: Body) => T;
  /** A refusal that is an answer too, and what it means; undefined when it is none. */
  readonly expected?: (refusal: Refusal<C>) => { readonly value: T } | undefined;
}
