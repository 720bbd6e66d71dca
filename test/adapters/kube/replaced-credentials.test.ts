import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, describe, expect, test } from "vitest";
import type { Connection, ConnectionUser } from "../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../src/adapters/kube/cluster-reader.ts";
import { Credentials } from "../../../src/adapters/kube/credentials.ts";
import type { ClusterReader } from "../../../src/ports/cluster.ts";
import type { Clock } from "../../../src/ports/system.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { hasOpenSSL, makeCertificates } from "./certificates.ts";
import { list, plainConnection, type Say, scriptedServer } from "./scripted-server.ts";
import { rejection } from "./with-server.ts";

// What a process that goes on meets when what it logs in with is replaced: each history is one that a person, or a machine, makes with files.

const folder = mkdtempSync(join(tmpdir(), "flipop-replaced-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

const ok = list("NodeList", [{ metadata: { name: "a" } }]);

/** The machine's clock, in which time passes only when a test says so. */
function steppedClock(): Clock & { pass(ms: number): void } {
  let ms = 0;
  return {
    monotonicMs: () => performance.now() + ms,
    wallMs: () => Date.now() + ms,
    sleep: () => Promise.resolve(),
    pass: (more) => {
      ms += more;
    },
  };
}

/** A reader, and the server it talks to, which a test replaces by another on the same port. */
async function replaceable(
  connection: Partial<Connection>,
  first: ServerOptions | undefined,
  work: (scene: {
    readonly reader: ClusterReader;
    readonly clock: ReturnType<typeof steppedClock>;
    readonly restart: (tls: ServerOptions | undefined, say?: Say) => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  let server = await scriptedServer([ok], first);
  const port = Number(new URL(server.url).port);
  const clock = steppedClock();
  const reader = createClusterReader(plainConnection(server.url, connection), {
    version: "0",
    clock,
    requestTimeoutMs: 5000,
  });
  const restart = async (tls: ServerOptions | undefined, say: Say = ok): Promise<void> => {
    await server.close();
    server = await scriptedServer([say], tls, port);
  };
  try {
    await work({ reader, clock, restart });
  } finally {
    reader.close();
    await server.close();
  }
}

describe.skipIf(!hasOpenSSL())("an API server that comes back with a certificate of another authority", () => {
  const [before, after] = [makeCertificates(), makeCertificates()];
  const authorityFile = join(folder, "ca.crt");
  const connection: Partial<Connection> = { tls: { authorityFile, isInsecure: false } };

  test("is trusted at once when the file has the new authority by then", async () => {
    writeFileSync(authorityFile, before.ca);
    await replaceable(connection, before.server, async ({ reader, restart }) => {
      expect(await reader.listNodes()).toHaveLength(1);
      writeFileSync(authorityFile, after.ca);
      await restart(after.server);
      expect(await reader.listNodes()).toHaveLength(1);
    });
  });

  test("is an outage until the file has it, and trusted a second later", async () => {
    writeFileSync(authorityFile, before.ca);
    await replaceable(connection, before.server, async ({ reader, clock, restart }) => {
      expect(await reader.listNodes()).toHaveLength(1);
      await restart(after.server);
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ name: "KubeError", failure: "unavailable", operation: "list nodes", status: 0 });
      expect(error.message).toContain("its certificate is signed by an unknown authority. Set the right");
      writeFileSync(authorityFile, after.ca);
      clock.pass(1001);
      expect(await reader.listNodes()).toHaveLength(1);
    });
  });

  test("a client certificate that is refused is read again at once", async () => {
    const [certificateFile, keyFile] = [join(folder, "client.crt"), join(folder, "client.key")];
    const write = ({ client }: typeof before): void => {
      writeFileSync(certificateFile, client.cert);
      writeFileSync(keyFile, client.key);
    };
    // As kube-apiserver does: it wants no certificate, and answers 401 to one that it does not accept.
    const asks = { ...before.server, requestCert: true, rejectUnauthorized: false };
    const say: Say = (response) => {
      response.statusCode = (response.socket as TLSSocket).authorized ? 200 : 401;
      response.end('{"kind":"NodeList","metadata":{},"items":[]}');
    };
    writeFileSync(authorityFile, before.ca);
    write(before);
    const user = { certificateFile, keyFile };
    await replaceable({ ...connection, user }, asks, async ({ reader, restart }) => {
      await restart({ ...asks, ca: before.ca }, say);
      expect(await reader.listNodes()).toHaveLength(0);
      write(after);
      await restart({ ...asks, ca: after.ca }, say);
      expect(await reader.listNodes()).toHaveLength(0);
    });
  });

  test("a certificate whose key is not there yet is read again a second later", async () => {
    const [certificateFile, keyFile] = [join(folder, "pair.crt"), join(folder, "pair.key")];
    writeFileSync(authorityFile, before.ca);
    writeFileSync(certificateFile, before.client.cert);
    writeFileSync(keyFile, before.client.key);
    const user = { certificateFile, keyFile };
    await replaceable({ ...connection, user }, before.server, async ({ reader, clock }) => {
      expect(await reader.listNodes()).toHaveLength(1);
      writeFileSync(certificateFile, after.client.cert);
      clock.pass(11_000);
      expect(await rejection(reader.listNodes())).toMatchObject({ name: "KubeError", failure: "unavailable" });
      writeFileSync(keyFile, after.client.key);
      clock.pass(1001);
      expect(await reader.listNodes()).toHaveLength(1);
    });
  });
});

describe("a token file", () => {
  const tokenFile = join(folder, "token");

  test.for<[string, () => void]>([
    ["is empty", () => writeFileSync(tokenFile, "")],
    ["is gone", () => rmSync(tokenFile)],
    ["has a line end in it", () => writeFileSync(tokenFile, "a\nb")],
  ])("that %s for a moment changes nothing while the server accepts the token that was in it", async ([, spoil]) => {
    writeFileSync(tokenFile, "one");
    const sent: unknown[] = [];
    const say: Say = (response, { headers }) => {
      sent.push(headers.authorization);
      response.end('{"metadata":{},"items":[]}');
    };
    await replaceable({ user: { tokenFile } }, undefined, async ({ reader, clock, restart }) => {
      await restart(undefined, say);
      await reader.listNodes();
      spoil();
      clock.pass(11_000);
      await reader.listNodes();
      writeFileSync(tokenFile, "two");
      clock.pass(1001);
      await reader.listNodes();
    });
    expect(sent).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
  });

  test("that is empty after its token was refused is an outage that says so", async () => {
    writeFileSync(tokenFile, "one");
    await replaceable({ user: { tokenFile } }, undefined, async ({ reader, restart }) => {
      await reader.listNodes();
      writeFileSync(tokenFile, "");
      await restart(undefined, { status: 401, json: { kind: "Status", message: "Unauthorized" } });
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ name: "KubeError", failure: "unavailable" });
      expect(error.message).toContain(`The token in ${tokenFile} of context "test" of test.yaml is empty.`);
    });
  });
});

describe("a kubeconfig that names another server by now", () => {
  test.for<[string, string, string]>([
    ["under the same context ends a process whose server does not answer", "test", "ConfigError"],
    ["under another context does not", "other", "KubeError"],
  ])("%s", async ([, context, name]) => {
    const server = await scriptedServer([ok]);
    const clock = steppedClock();
    const connection = plainConnection(server.url);
    const moved = { ...plainConnection("http://127.0.0.1:9"), context };
    let now = connection;
    const reload = (): Promise<Connection> => Promise.resolve(now);
    const reader = createClusterReader(connection, { version: "0", clock, requestTimeoutMs: 5000, reload });
    await reader.listNodes();
    now = moved;
    clock.pass(11_000);
    expect(await reader.listNodes()).toHaveLength(1);
    await server.close();
    const error = await rejection(reader.listNodes());
    reader.close();
    expect(error.name).toBe(name);
    if (name === "ConfigError")
      expect(error.message).toBe(
        `The API server ${server.url} does not answer, and context "test" of test.yaml names http://127.0.0.1:9 by now. ` +
          "A process stays with the server that it began with: start flipop again.",
      );
  });
});

describe("an exec plugin", () => {
  /** A plugin whose token expires at 03:05:00; `body` runs from its second run on. */
  function plugin(name: string, body: string): { readonly user: ConnectionUser; readonly runs: () => number } {
    const command = join(folder, name);
    const counter = `${command}.runs`;
    const answer =
      '{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"token-$N\\",\\"expirationTimestamp\\":\\"2026-01-02T03:05:00Z\\"}}';
    writeFileSync(counter, "");
    const script = `#!/bin/sh\nprintf x >> '${counter}'\nN=$(wc -c < '${counter}' | tr -d ' ')\n[ "$N" = 1 ] || { ${body}; }\necho "${answer}"\n`;
    writeFileSync(command, script);
    chmodSync(command, 0o755);
    const apiVersion = "client.authentication.k8s.io/v1";
    const rest = { args: [], environment: { PATH: "/usr/bin:/bin" }, searchPath: "/usr/bin:/bin", secrets: [] };
    const exec = { command, apiVersion, installHint: "", needsTerminal: false, ...rest };
    return { user: { exec }, runs: () => readFileSync(counter, "utf8").length };
  }

  const START = Date.UTC(2026, 0, 2, 3, 0, 0);

  test.for<[string, string]>([
    ["prints-rubbish", "echo rubbish; exit 0"],
    ["fails", "exit 1"],
  ])(
    "that %s before its credential has expired harms nobody until then, and is not run again and again",
    async ([name, body]) => {
      const { user, runs } = plugin(name, body);
      const clock = new FakeClock(START);
      const credentials = new Credentials(plainConnection("http://x", { user }), clock);
      const current = async (): Promise<unknown> => (await credentials.current()).headers["Authorization"];
      expect(await current()).toBe("Bearer token-1");
      for (const atSeconds of [230, 260, 285, 292, 299]) {
        await clock.advance(atSeconds * 1000 - (clock.wallMs() - START));
        expect(await current(), `${atSeconds} s`).toBe("Bearer token-1");
      }
      await clock.advance(1000);
      expect((await rejection(current())).message).toContain("Cannot log in with the exec plugin");
      for (let at = 0; at < 10; at += 1) await rejection(current());
      expect(runs()).toBeLessThanOrEqual(8);
    },
  );

  test("that hangs before its credential has expired is not waited for", async () => {
    const { user } = plugin("hangs", "exec sleep 5");
    const clock = new FakeClock(START);
    const credentials = new Credentials(plainConnection("http://x", { user }), clock);
    const current = async (): Promise<unknown> => (await credentials.current()).headers["Authorization"];
    expect(await current()).toBe("Bearer token-1");
    await clock.advance(240_000);
    expect(await current()).toBe("Bearer token-1");
    await clock.advance(55_000);
    const near = current();
    await clock.advance(1000);
    expect(await near).toBe("Bearer token-1");
  });
});
