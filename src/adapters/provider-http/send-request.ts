import { InternalError, type ProviderError } from "../../model/errors.ts";
import type { Fetch } from "../http/request.ts";
import type { Answer } from "./answer.ts";
import { brokenConnection } from "./broken-connection.ts";
import type { CallFacts } from "./call-facts.ts";
import { type Deadline, outOfTime } from "./deadline.ts";
import type { ProviderVoice } from "./provider-voice.ts";

/** What one request goes out with. */
export interface RequestTerms {
  readonly token: string;
  readonly userAgent: string;
  readonly deadline: Deadline;
  /** Sends the request, through the proxy if there is one. */
  readonly fetch: Fetch;
  /** Takes secrets out of a text of the provider. */
  readonly redact: (text: string) => string;
}

/**
 * Sends one request and returns the answer with its body unread. Redirects are not followed.
 * @throws ProviderError `unavailable`, `timeout` or, for a redirect, `malformed` when there was no answer
 * @throws InternalError, before anything is sent, when a read is no GET
 */
export async function sendRequest(
  voice: ProviderVoice,
  call: CallFacts,
  terms: RequestTerms,
  { url, ...init }: RequestInit & { readonly url: string },
): Promise<Response> {
  const { deadline, fetch } = terms;
  if (!call.isWrite && init.method !== "GET") throw new InternalError(`The read ${call.operation} is no GET.`);
  try {
    return await fetch(url, { ...init, redirect: "error", signal: deadline.signal });
  } catch (error) {
    throw noAnswer(voice, call, terms, error);
  }
}

/**
 * The answer with its body read before the deadline. A body that broke off is part of the answer: for a write the status alone
 * may already say whether it was accepted.
 */
export async function readAnswer(
  voice: ProviderVoice,
  call: CallFacts,
  terms: RequestTerms,
  response: Response,
): Promise<Answer> {
  const { status, headers } = response;
  try {
    return { status, headers, text: await response.text() };
  } catch (error) {
    return { status, headers, text: "", bodyError: noAnswer(voice, call, terms, error) };
  }
}

function noAnswer(voice: ProviderVoice, call: CallFacts, terms: RequestTerms, error: unknown): ProviderError {
  const { deadline, redact } = terms;
  return deadline.signal.aborted
    ? outOfTime(voice, call, deadline, call.isWrite)
    : brokenConnection(voice, call, error, redact);
}
