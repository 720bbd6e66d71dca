import { describe, expect, test } from "vitest";
import { list } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const ok = list("NodeList", [{ metadata: { name: "a" } }]);

describe("what client-node does for us", () => {
  test("a legacy auth-provider gives its token, to a server over http, too", async () => {
    const authProvider = { name: "gcp", config: { "access-token": "legacy" } };
    await withServer(
      [ok],
      async ({ reader, asked }) => {
        await reader.listNodes();
        expect(asked[0]?.headers.authorization).toBe("Bearer legacy");
      },
      { connection: { user: { authProvider } } },
    );
  });

  test("a legacy auth-provider without a token is a ConfigError that names it", async () => {
    await withServer(
      [ok],
      async ({ reader }) => {
        const error = await rejection(reader.listNodes());
        expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
        expect(error.message).toBe(
          'Cannot use "gcp" of context "test" of test.yaml. Log in again, or replace the auth-provider by an exec plugin.',
        );
      },
      { connection: { user: { authProvider: { name: "gcp", config: {} } } } },
    );
  });
});
