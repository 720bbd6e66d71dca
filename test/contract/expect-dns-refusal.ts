import { expect } from "vitest";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { DNSProviderReader } from "../../src/ports/providers.ts";

/** Expects a call to be refused: a ProviderError of this provider and failure that certainly had no effect. Returns it. */
export async function expectDNSRefusal(
  provider: DNSProviderReader,
  call: Promise<unknown>,
  failure: ProviderFailure,
): Promise<ProviderError> {
  const error: unknown = await call.then(
    (value) => `no error but ${JSON.stringify(value)}`,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ provider: provider.name, failure, isAmbiguous: false });
  return error as ProviderError;
}
