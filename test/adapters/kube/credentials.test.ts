import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExecPlugin } from "../../../src/adapters/kube/call.ts";
import { Credentials } from "../../../src/adapters/kube/credentials.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { failure, list, plainConnection } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const ok = list("NodeList", [{ metadata: { name: "a" } }]);
const unauthorized = failure(401, "Unauthorized", "Unauthorized");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flipop-credentials-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A plugin that counts its runs in a file and answers with `body`, a shell word list; `$N` is the run's number. */
function plugin(
  name: string,
  body: string,
  rest: Partial<ExecPlugin> = {},
): ExecPlugin & { readonly runs: () => number } {
  const command = join(folder, name);
  const counter = `${command}.runs`;
  writeFileSync(counter, "");
  writeFileSync(command, `#!/bin/sh\nprintf x >> '${counter}'\nN=$(wc -c < '${counter}' | tr -d ' ')\n${body}\n`);
  chmodSync(command, 0o755);
  const apiVersion = "client.authentication.k8s.io/v1";
  const environment = { PATH: "/usr/bin:/bin" };
  return {
    command,
    args: [],
    environment,
    apiVersion,
    installHint: "",
    needsTerminal: false,
    secrets: [],
    searchPath: environment.PATH,
    ...rest,
    runs: () => readFileSync(counter, "utf8").length,
  };
}

const answer = (status: string): string => `echo "{\\"kind\\":\\"ExecCredential\\",\\"status\\":${status}}"`;
const token = answer('{\\"token\\":\\"token-$N\\"}');

describe("exec plugins", () => {
  test("eight parallel calls run the plugin once, and it runs again once after a 401", async () => {
    const exec = plugin("parallel", `sleep 0.1\n${token}`);
    await withServer(
      [unauthorized, ok],
      async ({ reader, asked }) => {
        await reader.listNodes();
        expect(asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer token-1", "Bearer token-2"]);
        await Promise.all(Array.from({ length: 8 }, () => reader.listNodes()));
        expect(asked).toHaveLength(10);
        expect(exec.runs()).toBe(2);
      },
      { connection: { user: { exec } } },
    );
  });

  test("parallel calls that are all refused share one new run, and a second 401 is the answer", async () => {
    const exec = plugin("refused", token);
    await withServer(
      [unauthorized],
      async ({ reader, asked }) => {
        const errors = await Promise.all(Array.from({ length: 4 }, () => rejection(reader.listNodes())));
        for (const error of errors) expect(error).toMatchObject({ failure: "unauthorized", status: 401 });
        expect(exec.runs()).toBe(2);
        expect(asked).toHaveLength(8);
      },
      { connection: { user: { exec } } },
    );
  });

  test("a POST is sent again after a 401, for nothing has been done", async () => {
    const exec = plugin("post", token);
    const lease = { metadata: { name: "b", namespace: "a" }, spec: {} };
    await withServer(
      [unauthorized, { json: lease }],
      async ({ writer, asked }) => {
        const wanted = {
          namespace: "a",
          name: "b",
          holder: "me",
          durationSeconds: 15,
          transitions: 0,
          annotations: {},
        };
        await writer.createLease({ ...wanted, acquireTimeMs: 1, renewTimeMs: 1 });
        expect(asked.map(({ method }) => method)).toEqual(["POST", "POST"]);
      },
      { connection: { user: { exec } } },
    );
  });

  test("a credential is kept until shortly before it expires", async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 0, 0));
    const exec = plugin(
      "expires",
      answer('{\\"token\\":\\"token-$N\\",\\"expirationTimestamp\\":\\"2026-01-02T03:05:00Z\\"}'),
    );
    const credentials = new Credentials(plainConnection("http://x", { user: { exec } }), clock);
    const current = async (): Promise<unknown> => (await credentials.current()).headers["Authorization"];
    expect(await current()).toBe("Bearer token-1");
    await clock.advance(280_000);
    expect(await current()).toBe("Bearer token-1");
    await clock.advance(15_000);
    expect(await current()).toBe("Bearer token-2");
  });

  test("the plugin is told about itself, gets its environment and arguments, and no input", async () => {
    const exec = plugin(
      "told",
      `cat > '${join(folder, "stdin")}'\nprintf '%s' "$KUBERNETES_EXEC_INFO" > "$OUT"\necho "$1" >> "$OUT"\n${token}`,
      {
        args: ["an argument"],
        environment: { PATH: "/usr/bin:/bin", OUT: join(folder, "out") },
        cluster: { server: "https://h" },
      },
    );
    await new Credentials(plainConnection("http://x", { user: { exec } }), new FakeClock()).current();
    const [info = "", argument] = readFileSync(join(folder, "out"), "utf8").split(/(?<=\})(?=an)/);
    expect(JSON.parse(info)).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false, cluster: { server: "https://h" } },
    });
    expect(argument).toBe("an argument\n");
    expect(readFileSync(join(folder, "stdin"), "utf8")).toBe("");
  });

  test.for([
    ["fails", "echo 'log in first' >&2; exit 3", {}, "it ended with 3 and said: log in first."],
    ["fails silently", "exit 1", {}, "it ended with 1 and said nothing."],
    ["answers no JSON", "echo hunter2", {}, "its output is not an ExecCredential with a token or certificate."],
    ["answers no credential", answer("{}"), {}, "its output is not an ExecCredential with a token or certificate."],
    ["wants a terminal", token, { needsTerminal: true }, "it wants a terminal (interactiveMode: Always)."],
    ["says too much", "head -c 1100000 /dev/zero", {}, "its output is larger than 1 MiB."],
    ["complains too much", "head -c 1100000 /dev/zero >&2; exit 1", {}, "its output is larger than 1 MiB."],
    ["has no command", token, { command: "" }, "the kubeconfig names no command."],
    ["is not on the PATH", token, { command: "no-such-plugin" }, "it is not installed, or not in $PATH."],
    ["is a folder", token, { command: "/usr" }, "it is not executable."],
    [
      "gives a token with a line end inside",
      answer('{\\"token\\":\\"hunter2\\\\\\nx\\"}'),
      {},
      "its token has characters that no token has, such as a space or a line end.",
    ],
    [
      "gives a token with a line end behind it",
      answer('{\\"token\\":\\"hunter2\\\\\\n\\"}'),
      {},
      "its token has characters that no token has, such as a space or a line end.",
    ],
    [
      "is missing",
      token,
      { command: "/no/such/plugin", installHint: "Get it." },
      "it is not installed, or not in $PATH.",
    ],
  ] as const)(
    "a plugin that %s is a ConfigError with its name, and it is asked again later",
    async ([name, body, rest, why]) => {
      const exec = plugin(name.replaceAll(" ", "-"), body, rest);
      const credentials = new Credentials(plainConnection("http://x", { user: { exec } }), new FakeClock());
      const error = await rejection(credentials.current());
      expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
      const hint = "installHint" in rest ? ` ${rest.installHint}` : "";
      expect(error.message).toBe(
        `Cannot log in with the exec plugin "${exec.command}" of context "test" of test.yaml: ${why} ` +
          `Run it by hand to see what it needs, log in again, or choose another context.${hint}`,
      );
      expect(JSON.stringify({ ...error, cause: error["cause"] })).not.toContain("hunter2");
      await rejection(credentials.current());
      expect(exec.runs()).toBe("command" in rest || "needsTerminal" in rest ? 0 : 2);
    },
  );
});

describe("a plugin without a slash in its name", () => {
  const run = async (searchPath: string): Promise<unknown> => {
    const exec = plugin("on-path", token, { command: "on-path", searchPath });
    return (await new Credentials(plainConnection("http://x", { user: { exec } }), new FakeClock()).current()).headers[
      "Authorization"
    ];
  };

  test("is found in the first folder of the PATH that has it as a program", async () => {
    const [other, data] = [join(folder, "other"), join(folder, "data")];
    for (const place of [other, data]) mkdirSync(place, { recursive: true });
    mkdirSync(join(other, "on-path"), { recursive: true });
    writeFileSync(join(data, "on-path"), "no program");
    expect(await run([other, data, "/nowhere", folder, "/usr/bin"].join(delimiter))).toBe("Bearer token-1");
  });

  test("is never taken from the working folder, whatever the PATH says", async () => {
    const here = relative(process.cwd(), folder);
    const message = (await rejection(run(["", ".", here].join(delimiter)))).message;
    expect(message).toContain("it is not installed, or not in $PATH.");
  });
});

describe("other ways to log in", () => {
  test("a token file is read again within a minute, and at once after a 401", async () => {
    const tokenFile = join(folder, "token");
    const clock = new FakeClock();
    const credentials = new Credentials(plainConnection("http://x", { user: { tokenFile, token: "unused" } }), clock);
    writeFileSync(tokenFile, "one\n");
    const first = await credentials.current();
    expect(first.headers["Authorization"]).toBe("Bearer one");
    writeFileSync(tokenFile, "two\n");
    await clock.advance(11_000);
    const second = await credentials.current();
    expect(second.headers["Authorization"]).toBe("Bearer two");
    expect(await credentials.renewed(first)).toBe(second);
    expect(await credentials.renewed(second)).toBeUndefined();
    writeFileSync(tokenFile, "three");
    await clock.advance(1001);
    expect((await credentials.renewed(second))?.headers["Authorization"]).toBe("Bearer three");
  });

  test("a token file that is missing is a ConfigError", async () => {
    const credentials = new Credentials(
      plainConnection("http://x", { user: { tokenFile: "/no/token" } }),
      new FakeClock(),
    );
    expect((await rejection(credentials.current())).message).toBe(
      'Cannot read the token /no/token of context "test" of test.yaml: ENOENT. Correct the path, or make it readable.',
    );
  });

  const UNUSABLE = "has characters that no token has, such as a space or a line end. Copy it again.";

  test.for(["hunter2\nx", "hunter2\n", "hunter2 x", "hunter2\u0000", "hunter2ü", " hunter2"])(
    "a token that no header can carry is a ConfigError wherever it comes from: %j",
    async (secret) => {
      const tokenFile = join(folder, "unusable");
      writeFileSync(tokenFile, `x${secret}x\n`);
      for (const [user, what] of [
        [{ token: secret }, 'The token of context "test" of test.yaml'],
        [{ tokenFile }, `The token in ${tokenFile} of context "test" of test.yaml`],
      ] as const) {
        const error = await rejection(
          new Credentials(plainConnection("http://x", { user }), new FakeClock()).current(),
        );
        expect(error).toMatchObject({ name: "ConfigError", kind: "invalid", message: `${what} ${UNUSABLE}` });
      }
    },
  );

  test("an empty token file is a ConfigError, not a call without a token", async () => {
    const tokenFile = join(folder, "empty");
    writeFileSync(tokenFile, "\n");
    const credentials = new Credentials(plainConnection("http://x", { user: { tokenFile } }), new FakeClock());
    expect((await rejection(credentials.current())).message).toBe(
      `The token in ${tokenFile} of context "test" of test.yaml is empty. Log in again, or correct the path.`,
    );
  });

  test.for([
    ["a user", { user: "a\nb", groups: [], extra: {} }],
    ["a group", { user: "a", groups: ["g\r\nx: y"], extra: {} }],
    ["an extra", { user: "a", groups: [], extra: { k: ["v\u0000"] } }],
  ] as const)("%s to impersonate with a line end inside is a ConfigError", async ([, impersonation]) => {
    const credentials = new Credentials(plainConnection("http://x", { impersonation }), new FakeClock());
    expect(await rejection(credentials.current())).toMatchObject({
      name: "ConfigError",
      kind: "invalid",
      message: expect.stringContaining("cannot be sent: it has a line end or another control character"),
    });
  });

  test("a token file larger than 1 MiB is a ConfigError", async () => {
    const credentials = new Credentials(
      plainConnection("http://x", { user: { tokenFile: "/dev/zero" } }),
      new FakeClock(),
    );
    expect((await rejection(credentials.current())).message).toContain(
      'Cannot read the token /dev/zero of context "test" of test.yaml: it holds more than 1 MiB.',
    );
  });

  test("a 401 for a token that cannot change is the answer at once", async () => {
    await withServer(
      [unauthorized],
      async ({ reader, asked }) => {
        const error = await rejection(reader.listNodes());
        expect(error).toMatchObject({ failure: "unauthorized" });
        expect(error.message).not.toContain("hunter2");
        expect(asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer hunter2"]);
      },
      { connection: { user: { token: "hunter2" } } },
    );
  });

  test("name and password, and impersonation, become headers", async () => {
    const impersonation = { user: "u", groups: ["g", "h"], uid: "1", extra: { "k/x": ["v"] } };
    await withServer(
      [ok],
      async ({ reader, asked }) => {
        await reader.listNodes();
        expect(asked[0]?.headers).toMatchObject({
          authorization: `Basic ${Buffer.from("n:p").toString("base64")}`,
          "impersonate-user": "u",
          "impersonate-group": "g, h",
          "impersonate-uid": "1",
          "impersonate-extra-k%2fx": "v",
        });
      },
      { connection: { user: { username: "n", password: "p" }, impersonation } },
    );
  });
});
