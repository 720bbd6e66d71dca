import { expect } from "vitest";
import { KubeError } from "../../src/model/errors.ts";

/** Asserts that the call is refused with a KubeError of this failure. */
export async function failsWith(failure: KubeError["failure"], call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => new Error("it succeeded"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KubeError);
  expect((error as KubeError).failure).toBe(failure);
}
