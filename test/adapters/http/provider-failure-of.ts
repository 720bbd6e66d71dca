import { ProviderError } from "../../../src/model/errors.ts";

/** The ProviderError a call ends with. @throws Error when it ends without one, or when any of its texts shows the token */
export async function providerFailureOf(call: Promise<unknown>, token: string): Promise<ProviderError> {
  const error: unknown = await call.then(
    (value) => new Error(`no failure but ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw error;
  const texts = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join("\n");
  if (texts.includes(token)) throw new Error("The error shows the token.");
  return error;
}
