import { expect, test } from "vitest";
import { type ProviderOptions, readToken } from "../../../src/adapters/http/api-client.ts";
import type { CallInfo } from "../../../src/adapters/http/failures.ts";
import { providerFailureOf } from "./provider-failure-of.ts";
import { SOMECLOUD } from "./somecloud.ts";

const token = "0123456789abcdef";
const call: CallInfo = { operation: "get", subject: "a", doing: "read a", scope: "a:read", isWrite: true };

test.for<readonly [string, ProviderOptions["token"]]>([
  ["a text", token],
  ["a text with a line end", `${token}\n`],
  ["a function", () => `${token}\r\n`],
  ["a function that takes its time", async () => token],
])("a token may come from %s", async ([, source]) => {
  expect(await readToken(SOMECLOUD, call, source)).toBe(token);
});

test.for([
  ["", "it is empty"],
  [" \n", "it is empty"],
  [`${token}\nsecond line`, "it has characters that no token has, such as a space or a line end"],
  [`${token}é`, "it has characters that no token has, such as a space or a line end"],
] as const)("%j is refused, since no header could carry it", async ([source, reason]) => {
  const error = await providerFailureOf(readToken(SOMECLOUD, call, source), token);
  expect(error).toMatchObject({ provider: "somecloud", failure: "unauthorized", status: 0, isAmbiguous: false });
  expect(error.message).toBe(`Somecloud was not asked to read a, for its token cannot be used: ${reason}.`);
});

test("a token that cannot be read is a failure that says why", async () => {
  const cause = new Error("/var/run/token is missing");
  const error = await providerFailureOf(
    readToken(SOMECLOUD, call, () => Promise.reject(cause)),
    token,
  );
  expect(error).toMatchObject({ failure: "unauthorized", cause });
  expect(error.message).toBe(
    "Somecloud was not asked to read a, for its token cannot be used: /var/run/token is missing.",
  );
});
