import { expect } from "vitest";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";

/** Expects a call to be refused: a ProviderError of this failure about this operation and subject, that certainly had no effect. */
export async function expectRefusal(
  call: Promise<unknown>,
  failure: ProviderFailure,
  about: { readonly provider: string; readonly operation: string; readonly subject: string },
): Promise<void> {
  const error: unknown = await call.then(
    () => "no error",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ failure, isAmbiguous: false, ...about });
}
