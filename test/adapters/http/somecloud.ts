import type { Answer } from "../../../src/adapters/http/answer.ts";
import type { ProviderAPI } from "../../../src/adapters/http/api-client.ts";

/** An API that nobody has, answered by `send` of each call: shows that the common part knows no provider. */
export const SOMECLOUD: ProviderAPI<undefined> = {
  provider: "somecloud",
  label: "Somecloud",
  scopeAdvice: (scope) => `Ask for ${scope}.`,
  baseURL: "https://api.some.example/v1",
  limits: {
    mostInFlight: 2,
    allowance: { calls: 20, ms: 10_000, toldLimit: 100 },
    timeoutMs: 1234,
  },
  open: async () => async (call) => (await call.send(undefined)) as Answer,
  errorBodyOf: ({ text }) => ({ text, isFromAPI: text.startsWith("E"), codes: [] }),
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
  return { status, headers: new Map(Object.entries({ "content-type": "application/json", ...more })), text };
}
