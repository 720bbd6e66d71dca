import { type Answer, type AnswerValue, jsonOf } from "../../../src/adapters/provider-http/answer.ts";
import type { Complaint } from "../../../src/adapters/provider-http/failures.ts";
import type { ProviderAPI } from "../../../src/adapters/provider-http/provider-caller.ts";

/** An API that nobody has, answered by `send` of each call: shows that the common part knows no provider. */
export const SOMECLOUD: ProviderAPI<() => Promise<Answer>, AnswerValue, Complaint> = {
  provider: "somecloud",
  label: "Somecloud",
  scopeAdvice: (scope) => `Ask for ${scope}.`,
  baseURL: "https://api.some.example/v1",
  limits: {
    mostInFlight: 2,
    allowance: { calls: 20, ms: 10_000, toldLimit: 100 },
    timeoutMs: 1234,
    repeatDelayMs: 700,
  },
  open: async () => (call) => call.send(),
  successOf: jsonOf,
  complaintOf: ({ text }) => ({ text, hasModel: text.startsWith("E") }),
  requestIDOf: () => undefined,
  failureOf: (status) => (status === 403 ? "forbidden" : status === 429 ? "rate-limited" : "unavailable"),
  readRateLimit: (_, headers, nowMs) => ({
    rateLimit: {},
    refusedUntilMs: nowMs + 5_000,
    ...(headers.has("x-empty") ? { usedUpUntilMs: nowMs + 3_000 } : {}),
  }),
};

/** An answer with a JSON body. */
export function answered(status: number, text: string, more: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: new Headers({ "content-type": "application/json", ...more }), text };
}
