import { InternalError, type ProviderError } from "../../model/errors.ts";
import type { Answer } from "./answer.ts";
import type { Call, CallFacts } from "./call.ts";
import { brokenConnection, providerError } from "./provider-failure.ts";
import type { SDK } from "./sdk.ts";

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
 * off is part of the answer: for a write the status alone already says whether it was accepted.
 * @throws ProviderError `unavailable` or `timeout` when there was no answer
 */
export async function exchange(call: Call<unknown>, terms: RequestTerms): Promise<Answer> {
  const { token, userAgent, deadline } = terms;
  let isSent = false;
  const response = await terms.sdk(call.send, {
    headers: { Authorization: `Bearer ${token}`, "User-Agent": userAgent },
    fetch: async (url, init) => {
      if (!call.isWrite && init.method !== "GET") throw new InternalError(`The read ${call.operation} is no GET.`);
      // The SDK answers a 401 with a claims challenge by sending the request again.
      if (isSent) throw providerError(call, { failure: "unauthorized", status: 401, reason: "it was challenged" });
      isSent = true;
      try {
        return await fetch(url, { ...init, redirect: "error", signal: deadline.signal });
      } catch (error) {
        throw noAnswer(call, deadline, error);
      }
    },
  });
  const { status, headers } = response;
  try {
    return { status, headers, text: await response.text() };
  } catch (error) {
    return { status, headers, text: "", bodyError: noAnswer(call, deadline, error) };
  }
}

/** The error of a call whose time is over, by its deadline or because the run ends. */
export function outOfTime(call: CallFacts, { signal, timeoutMs }: Deadline, isAmbiguous: boolean): ProviderError {
  const isDeadline = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  const reason = isDeadline ? `nothing complete within ${timeoutMs / 1000} s` : "the run was told to stop";
  return providerError(call, { failure: "timeout", status: 0, reason, isAmbiguous });
}

function noAnswer(call: CallFacts, deadline: Deadline, error: unknown): ProviderError {
  return deadline.signal.aborted ? outOfTime(call, deadline, call.isWrite) : brokenConnection(call, error);
}
