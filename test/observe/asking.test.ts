import { expect, test } from "vitest";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import { CircuitBreaker } from "../../src/observe/asking.ts";

function failure(kind: ProviderFailure): ProviderError {
  const facts = { provider: "digitalocean", operation: "records", subject: "", status: 0, message: `${kind}!` };
  return new ProviderError({ ...facts, failure: kind });
}

test.for<[string, readonly [ProviderFailure, ProviderFailure]]>([
  ["before it", ["unauthorized", "rate-limited"]],
  ["after it", ["rate-limited", "unauthorized"]],
])("a rate limit is what a provider failed with, though another read beside it was refused %s", async ([, kinds]) => {
  const attentive = new CircuitBreaker();
  const failures = kinds.map(failure);
  const read = async (key: string): Promise<never> => {
    throw failures[Number(key)];
  };
  const readings = await attentive.all(["0", "1"], read, (error) => ({ kind: "gap", error }));
  expect(attentive.failure?.failure).toBe("rate-limited");
  expect([...readings.keys()]).toEqual(["0", "1"]);
});
