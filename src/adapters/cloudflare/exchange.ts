import { InternalError, type ProviderError } from "../../model/errors.ts";
import type { Answer } from "./answer.ts";
import type { Call, CallFacts } from "./call.ts";
import { brokenConnection, providerError } from "./provider-failure.ts";
import type { SDK, SDKRequest } from "./sdk.ts";

/** What one request goes out with. */
export interface RequestTerms {
  readonly sdk: SDK;
  readonly token: string;
  readonly userAgent: string;
  readonly deadline: Deadline;
}

/** When a call must be over. */
export interface Deadline {
  /** Aborted at the deadline, and when the caller gives up. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Sends one request and returns the answer, whatever its status, with the body read before the deadline. A body that broke
 * off is part of the answer.
 * @throws ProviderError `unavailable` or `timeout` when there was no answer
 */
export async function exchange(call: Call<unknown>, terms: RequestTerms): Promise<Answer> {
  let outcome: { readonly answer: Answer } | { readonly error: unknown } | undefined;
  await terms.sdk(call.send, async (request) => {
    if (outcome !== undefined) throw new InternalError(`The call ${call.operation} sends more than one request.`);
    // Kept here, because the SDK wraps what its fetch throws.
    outcome = await sendRequest(call, terms, request).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
  });
  if (outcome === undefined) throw new InternalError(`The call ${call.operation} sends no request.`);
  if ("error" in outcome) throw outcome.error;
  return outcome.answer;
}

/** The error of a call whose time is over, by its deadline or because the run ends. */
export function outOfTime(call: CallFacts, { signal, timeoutMs }: Deadline, isAmbiguous: boolean): ProviderError {
  const isDeadline = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const reason = isDeadline ? `nothing complete within ${timeoutMs / 1000} s` : "the run was told to stop";
  return providerError(call, { failure: "timeout", status: 0, reason, isAmbiguous });
}

async function sendRequest(call: CallFacts, terms: RequestTerms, request: SDKRequest): Promise<Answer> {
  const { method, url, body } = request;
  if (!call.isWrite && method !== "GET") throw new InternalError(`The read ${call.operation} is no GET.`);
  const { signal } = terms.deadline;
  const headers = {
    Accept: "application/json",
    Authorization: `Bearer ${terms.token}`,
    "User-Agent": terms.userAgent,
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers,
      redirect: "error",
      signal,
      ...(body === undefined ? {} : { body }),
    });
  } catch (error) {
    throw noAnswer(call, terms.deadline, error);
  }
  const { status, headers: answered } = response;
  try {
    return { status, headers: answered, text: await response.text() };
  } catch (error) {
    return { status, headers: answered, text: "", bodyError: noAnswer(call, terms.deadline, error) };
  }
}

function noAnswer(call: CallFacts, deadline: Deadline, error: unknown): ProviderError {
  return deadline.signal.aborted ? outOfTime(call, deadline, call.isWrite) : brokenConnection(call, error);
}
