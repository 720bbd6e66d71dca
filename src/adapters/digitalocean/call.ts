import type { ProviderFailure } from "../../model/errors.ts";
import type { Answer } from "./answer.ts";
import type { Send } from "./sdk.ts";

/** What texts, errors and counters need to know about one call. */
export interface CallFacts {
  /**
   * The port's operation: `list`, `get`, `machine`, `limit`, `assign`, `unassign`, `action`, `create`, `delete`; for DNS `zone`,
   * `records`, `add-record`, `set-ttl`, `remove-record`.
   */
  readonly operation: string;
  /** The address, machine, zone or FQDN the call is about; `""` for a whole list. */
  readonly subject: string;
  /** Infinitive with its object, for people: `assign 203.0.113.1 to droplet 42`. */
  readonly doing: string;
  /** Token scope the call needs, as the control panel names it. */
  readonly scope: string;
  /** True for everything but a read: never repeated, and ambiguous when the answer is missing. */
  readonly isWrite: boolean;
  /** What a 404 means and what to do about it, when the provider's own words leave that open: one sentence. */
  readonly notFoundAdvice?: string;
}

/** One call: what to send and how to understand a 2xx answer. */
export interface Call<T> extends CallFacts {
  readonly send: Send;
  /** @throws AnswerFault when the answer is not what the API promises. */
  readonly decode: (answer: Answer) => T;
  /** A failure that is an answer too, and what it means. */
  readonly expected?: { readonly failure: ProviderFailure; readonly value: T };
}
