import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certificates, hasOpenSSL, makeCertificates } from "../adapters/kube/certificates.ts";
import { PUSH_PASSWORD } from "../fake/fake-tokens.ts";
import { FLIPOP } from "../programs/entry.ts";
import { withoutWaiting } from "./without-waiting.ts";

describe.skipIf(!hasOpenSSL())("a Pushgateway behind TLS", () => {
  const dir = mkdtempSync(join(tmpdir(), "flipop-push-tls-"));
  const ca = join(dir, "ca.crt");
  const pushed: (string | undefined)[] = [];
  const servers: Server[] = [];
  let certificates: Certificates;

  beforeAll(() => {
    certificates = makeCertificates();
    writeFileSync(ca, certificates.ca);
    writeFileSync(join(dir, "password"), `${PUSH_PASSWORD}\n`);
  });

  afterAll(() => {
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Starts a Pushgateway that takes everything; returns its URL. */
  const serve = async ({ cert, key }: Certificates["server"]): Promise<string> => {
    const server = createServer({ cert, key }, (request, response) => {
      pushed.push(request.headers.authorization);
      request.resume().on("end", () => response.end());
    });
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const reconcile = async (url: string, env: Readonly<Record<string, string>>): Promise<string> => {
    const child = spawn(FLIPOP, ["--sandbox=world", "reconcile", "--pushgateway", url], {
      cwd: dir,
      env: {
        PATH: process.env["PATH"],
        PUSHGATEWAY_USERNAME: "me",
        PUSHGATEWAY_PASSWORD_FILE: join(dir, "password"),
        ...env,
      },
    });
    let stderr = "";
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    expect(await once(child, "close")).toEqual([0, null]);
    return withoutWaiting(stderr);
  };

  test("is pushed to, with user and password, when its authority is among the trusted ones", async () => {
    pushed.length = 0;
    expect(await reconcile(await serve(certificates.server), { NODE_EXTRA_CA_CERTS: ca })).toBe("");
    expect(pushed).toEqual([`Basic ${Buffer.from(`me:${PUSH_PASSWORD}`).toString("base64")}`]);
  });

  test.for([
    ["its authority is not trusted", "server", {}],
    ["its certificate is for another host", "elsewhere", { NODE_EXTRA_CA_CERTS: ca }],
    ["its certificate has run out", "expired", { NODE_EXTRA_CA_CERTS: ca }],
  ] as const)("gets neither metrics nor password when %s, and the run ends well", async ([, name, env]) => {
    pushed.length = 0;
    expect(await reconcile(await serve(certificates[name]), env)).toContain(
      "Could not push metrics to the Pushgateway",
    );
    expect(pushed).toEqual([]);
  });
});
