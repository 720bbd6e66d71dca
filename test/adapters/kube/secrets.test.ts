import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Credentials } from "../../../src/adapters/kube/credentials.ts";
import { KnownSecrets } from "../../../src/cli/output.ts";
import type { PoolStatus } from "../../../src/model/resource.ts";
import { EMPTY_STATUS } from "../../contract/pool-status-samples.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { failure, plainConnection, type Say } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const SECRET = "dop_v1_of-the-provider";
const folder = mkdtempSync(join(tmpdir(), "flipop-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function known(): KnownSecrets {
  const secrets = new KnownSecrets();
  secrets.add(SECRET);
  return secrets;
}

const meta = { namespace: "a", name: "b", uid: "u", resourceVersion: "7", finalizers: [] };
const pool = (status: unknown): Say => ({ json: { metadata: meta, status } });
const condition = {
  type: "Ready",
  status: "False",
  lastTransitionTime: "2026-11-22T12:00:00Z",
  reason: "X",
  observedGeneration: 1,
} as const;
const WANTED: PoolStatus = {
  ...EMPTY_STATUS,
  error: `e ${SECRET}`,
  nodeErrors: [`n ${SECRET}`],
  conditions: [{ ...condition, message: `m ${SECRET}` }],
  ips: { "192.0.2.1": { state: "error", error: `i ${SECRET}`, nodeName: "n1" } },
  assignableNodes: ["n1"],
};

describe("what flipop writes to Kubernetes", () => {
  test("has no secret in its texts, and what is returned is what was asked for", async () => {
    const shown = JSON.parse(JSON.stringify(WANTED).replaceAll(SECRET, "[redacted]"));
    await withServer(
      [pool({}), pool(shown)],
      async ({ writer, asked }) => {
        const found = await writer.readPool(meta);
        if (found === undefined) throw new Error("no pool");
        const stored = await writer.patchPoolStatus(found.meta, WANTED);
        expect(asked[1]?.body).toMatchObject({
          status: {
            error: "e [redacted]",
            nodeErrors: ["n [redacted]"],
            conditions: [{ message: "m [redacted]" }],
            ips: { "192.0.2.1": { error: "i [redacted]", nodeName: "n1" } },
          },
        });
        expect(stored.status).toEqual(WANTED);
        // The same once more, as in the next pass: nothing is sent.
        expect((await writer.patchPoolStatus(stored.meta, WANTED)).status).toEqual(WANTED);
        expect(asked).toHaveLength(2);
      },
      { connection: { secrets: known() } },
    );
  });

  test("keeps names that are like a secret, which only texts must not show", async () => {
    await withServer(
      [pool({}), pool({ assignableNodes: [SECRET] })],
      async ({ writer, asked }) => {
        const found = await writer.readPool(meta);
        if (found === undefined) throw new Error("no pool");
        await writer.patchPoolStatus(found.meta, { ...EMPTY_STATUS, assignableNodes: [SECRET] });
        expect(asked[1]?.body).toMatchObject({ status: { assignableNodes: [SECRET] } });
      },
      { connection: { secrets: known() } },
    );
  });

  test("has no secret in an Event", async () => {
    await withServer(
      [pool({}), { status: 201, json: {} }],
      async ({ writer, asked }) => {
        const found = await writer.readPool(meta);
        if (found === undefined) throw new Error("no pool");
        const regarding = { kind: "FloatingIPPool", meta: found.meta } as const;
        await writer.createEvent({ regarding, type: "Warning", reason: "X", action: "y", note: `n ${SECRET}.` });
        expect(asked[1]?.body).toMatchObject({ note: "n [redacted]." });
      },
      { connection: { secrets: known() } },
    );
  });
});

test("what the API server repeats is taken out before it is cut", async () => {
  const message = `${"x".repeat(990)} ${SECRET}`;
  await withServer(
    [failure(403, "Forbidden", message)],
    async ({ reader }) => {
      expect((await rejection(reader.listNodes())).message).not.toContain("dop_v1");
    },
    { connection: { secrets: known() } },
  );
});

describe("what logs in is a secret from the first time that it is read", () => {
  const keyPEM = `-----BEGIN PRIVATE KEY-----\n${"k".repeat(64)}\n-----END PRIVATE KEY-----\n`;
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "token-of-a-file\n");

  test.for([
    ["a token", { token: "token-of-a-user" }, "token-of-a-user"],
    ["a token of a file", { tokenFile }, "token-of-a-file"],
    ["a password", { username: "me", password: "pass-word" }, "pass-word"],
    [
      "name and password as a header",
      { username: "me", password: "pass-word" },
      Buffer.from("me:pass-word").toString("base64"),
    ],
    ["a key", { certificate: "c", key: keyPEM }, Buffer.from(keyPEM).toString("base64")],
    ["a line of a key", { certificate: "c", key: keyPEM }, "k".repeat(64)],
  ] as const)("%s", async ([, user, secret]) => {
    const secrets = new KnownSecrets();
    await new Credentials(plainConnection("http://x", { user, secrets }), new FakeClock()).current();
    expect(secrets.redact(`a ${secret} b`)).toBe("a [redacted] b");
  });
});
