import type { ServerOptions } from "node:https";
import type { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import type { Connection } from "../../../src/adapters/kube/call.ts";
import { createClusterReader } from "../../../src/adapters/kube/cluster-reader.ts";
import type { ClusterReader } from "../../../src/ports/cluster.ts";
import { hasOpenSSL, makeCertificates } from "./certificates.ts";
import { fastClock } from "./fast-clock.ts";
import { list, plainConnection, type Say, scriptedServer } from "./scripted-server.ts";
import { rejection } from "./with-server.ts";

const ok = list("NodeList", [{ metadata: { name: "a" } }]);

async function withTLS(
  server: ServerOptions,
  connection: Partial<Connection>,
  work: (reader: ClusterReader, url: string) => Promise<void>,
  say: Say = ok,
): Promise<void> {
  const scripted = await scriptedServer([say], server);
  const reader = createClusterReader(plainConnection(scripted.url, connection), {
    version: "0",
    clock: fastClock(),
    requestTimeoutMs: 5000,
  });
  try {
    await work(reader, scripted.url);
  } finally {
    reader.close();
    await scripted.close();
  }
}

describe.skipIf(!hasOpenSSL())("TLS", () => {
  const { ca, server, expired, elsewhere, client } = makeCertificates();
  const trusted: Partial<Connection> = { tls: { authority: ca, isInsecure: false } };

  test("a certificate of the configured authority is trusted", async () => {
    await withTLS(server, trusted, async (reader) => expect(await reader.listNodes()).toHaveLength(1));
  });

  test.for([
    ["has expired", expired, trusted, "has expired. Renew it, and check this machine's clock"],
    [
      "is for another host",
      elsewhere,
      trusted,
      "is for another host name. Use a name it is made for, or set tls-server-name",
    ],
    ["has an unknown authority", server, {}, "is signed by an unknown authority. Set the right certificate-authority"],
  ] as const)("a certificate that %s is a ConfigError, at the first try", async ([, pair, connection, why]) => {
    await withTLS(pair, connection, async (reader, url) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
      expect(error.message).toBe(
        `Cannot trust the API server ${url}: its certificate ${why} (context "test" of test.yaml).`,
      );
    });
  });

  test("insecure-skip-tls-verify trusts any certificate", async () => {
    const tls = { isInsecure: true, authority: ca };
    await withTLS(expired, { tls }, async (reader) => expect(await reader.listNodes()).toHaveLength(1));
  });

  test("tls-server-name is the name the certificate is checked for", async () => {
    const tls = { authority: ca, isInsecure: false, serverName: "elsewhere.example.test" };
    await withTLS(elsewhere, { tls }, async (reader) => expect(await reader.listNodes()).toHaveLength(1));
  });

  test("a client certificate is shown to the server", async () => {
    let subject: unknown;
    const say: Say = (response) => {
      subject = (response.socket as TLSSocket).getPeerCertificate().subject;
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end('{"metadata":{},"items":[]}');
    };
    const options = { ...server, ca, requestCert: true, rejectUnauthorized: true };
    const user = { certificate: client.cert, key: client.key };
    await withTLS(options, { ...trusted, user }, async (reader) => void (await reader.listNodes()), say);
    expect(subject).toEqual({ CN: "client" });
  });

  test("a server that insists on a client certificate is a ConfigError without one", async () => {
    const options = { ...server, ca, requestCert: true, rejectUnauthorized: true };
    await withTLS(options, trusted, async (reader) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
      expect(error.message).toContain("it wants a client certificate that is valid.");
    });
  });

  test.for([
    ["a key of another certificate", { certificate: client.cert, key: server.key }],
    ["something that is no PEM", { certificate: "secret", key: "secret" }],
  ] as const)("%s is a ConfigError that quotes nothing", async ([, user]) => {
    await withTLS(server, { ...trusted, user }, async (reader) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
      expect(error.message).toContain('Cannot use the certificates of context "test" of test.yaml: ERR_');
      expect(error.message).not.toContain("secret");
    });
  });

  test("https:// to a server without TLS is unavailable and says what to check", async () => {
    const plain = await scriptedServer([ok]);
    const reader = createClusterReader(plainConnection(plain.url.replace("http:", "https:")), {
      version: "0",
      clock: fastClock(),
    });
    const error = await rejection(reader.listNodes());
    await plain.close();
    expect(error).toMatchObject({ name: "KubeError", failure: "unavailable" });
    expect(error.message).toContain("Check that the server of context");
    expect(error.message).toContain("https:// or http:// included");
  });
});
