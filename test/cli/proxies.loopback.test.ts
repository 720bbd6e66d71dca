import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { type LoopbackProxy, loopbackProxy } from "../adapters/http/loopback-proxy.ts";
import { type Certificates, hasOpenSSL, makeCertificates } from "../adapters/kube/certificates.ts";
import { type ScriptedGateway, scriptedGateway } from "../adapters/pushgateway/scripted-gateway.ts";
import { PUSH_PASSWORD } from "../fake/fake-tokens.ts";
import { FLIPOP } from "../programs/entry.ts";
import { PATIENT_LOCK } from "../watch/watch-process.ts";
import { type ProgramRun, runProgram } from "./cluster-run.ts";

/** The name in the certificate; no resolver knows it. */
const HOST = "elsewhere.example.test";

describe.skipIf(!hasOpenSSL())("flipop behind a proxy", () => {
  const dir = mkdtempSync(join(tmpdir(), "flipop-proxies-"));
  const ca = join(dir, "ca.crt");
  const closing: (() => unknown)[] = [];
  let certificates: Certificates;
  let sandbox: Sandbox;
  let gateway: ScriptedGateway;
  /** Of the environment, with a user. */
  let usual: LoopbackProxy;
  /** Of the kubeconfig; speaks TLS. */
  let own: LoopbackProxy;
  let ports: Readonly<Record<"kubernetes" | "digitalocean" | "cloudflare" | "gateway", number>>;

  /** TLS in front of a server on loopback; returns its port. */
  const secured = async (url: string): Promise<number> => {
    const target = new URL(url);
    const server = createServer(certificates.elsewhere, (request, response) => {
      const { method, url: path, headers } = request;
      const upstream = http.request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers).flushHeaders();
        answer.pipe(response);
      });
      upstream.on("error", () => response.destroy());
      response.on("close", () => upstream.destroy());
      request.pipe(upstream);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };

  beforeAll(async () => {
    certificates = makeCertificates();
    writeFileSync(ca, certificates.ca);
    sandbox = await startSandbox({ dir: join(dir, "world") });
    gateway = await scriptedGateway();
    usual = await loopbackProxy({ login: `proxy-user:${PUSH_PASSWORD}` });
    own = await loopbackProxy({ tls: certificates.server });
    closing.push(sandbox.close, gateway.close, usual.close, own.close);
    const [, server = ""] = /server: (\S+)/.exec(readFileSync(sandbox.kubeconfig, "utf8")) ?? [];
    ports = {
      kubernetes: await secured(server),
      digitalocean: await secured(sandbox.digitaloceanURL),
      cloudflare: await secured(sandbox.cloudflareURL),
      gateway: Number(new URL(gateway.url).port),
    };
  });

  afterAll(async () => {
    for (const close of closing.reverse()) await close();
    rmSync(dir, { recursive: true, force: true });
  });

  beforeEach(() => {
    for (const proxy of [usual, own]) proxy.asked.splice(0);
  });

  const kubeconfig = (more: string): string => {
    const file = join(dir, "kubeconfig");
    writeFileSync(
      file,
      `current-context: x
clusters: [{name: c, cluster: {server: "https://${HOST}:${ports.kubernetes}", certificate-authority: ca.crt${more}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: ${sandbox.token}}}]
`,
    );
    return file;
  };

  const environment = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    NODE_EXTRA_CA_CERTS: ca,
    DIGITALOCEAN_ACCESS_TOKEN: sandbox.token,
    CLOUDFLARE_TOKEN: sandbox.token,
    DIGITALOCEAN_API_URL: `https://${HOST}:${ports.digitalocean}`,
    CLOUDFLARE_API_URL: `https://${HOST}:${ports.cloudflare}/client/v4`,
    PUSHGATEWAY_URL: `http://gateway.example.test:${ports.gateway}`,
    ...more,
  });

  const through = ({ url }: LoopbackProxy): string => url.replace("://", `://proxy-user:${PUSH_PASSWORD}@`);

  const reconcile = async (env: Readonly<Record<string, string>>): Promise<ProgramRun> =>
    runProgram(["reconcile", "--partial", "ok", "--timeout", "20s"], environment(env));

  test("reaches the cluster by the kubeconfig's proxy, providers and Pushgateway by that of the environment, and ends at once", async () => {
    const before = performance.now();
    const run = await reconcile({
      KUBECONFIG: kubeconfig(`, proxy-url: "${own.url}"`),
      HTTPS_PROXY: through(usual),
      HTTP_PROXY: through(usual),
    });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toContain("1 pool, 3 of 3 addresses active, 1 record set as desired.\n");
    expect(new Set(own.asked)).toEqual(new Set([`CONNECT ${HOST}:${ports.kubernetes}`]));
    expect(new Set(usual.asked)).toEqual(
      new Set([
        `CONNECT ${HOST}:${ports.digitalocean}`,
        `CONNECT ${HOST}:${ports.cloudflare}`,
        `PUT http://gateway.example.test:${ports.gateway}/metrics/job@base64/ZmxpcG9w`,
      ]),
    );
    expect(gateway.requests.at(-1)?.method).toBe("PUT");
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test("reaches the cluster by the environment's proxy, too, in lower case, and nothing without it", async () => {
    const env = { KUBECONFIG: kubeconfig(""), https_proxy: through(usual), http_proxy: through(usual) };
    expect(await reconcile(env)).toMatchObject({ code: 0, stderr: "" });
    expect(usual.asked).toContain(`CONNECT ${HOST}:${ports.kubernetes}`);
    const alone = await reconcile({ ...env, NO_PROXY: "127.0.0.0/8,.example.test" });
    expect(alone.code).toBe(75);
    expect(alone.stderr).toContain(`the host name of https://${HOST}:${ports.kubernetes} is not known to DNS`);
  });

  test("names the proxy that refuses, and its variable, for a provider as for the cluster", async () => {
    const wrong = usual.url.replace("://", `://proxy-user:${PUSH_PASSWORD}-wrong@`);
    const cluster = await reconcile({ KUBECONFIG: kubeconfig(""), HTTPS_PROXY: wrong });
    expect(cluster.code).toBe(78);
    expect(cluster.stderr).toContain(`the proxy ${usual.url} of HTTPS_PROXY wants another user and password (407)`);
    const provider = await reconcile({
      KUBECONFIG: kubeconfig(`, proxy-url: "${own.url}"`),
      HTTPS_PROXY: wrong,
      PUSHGATEWAY_URL: "",
    });
    expect(provider.stdout + provider.stderr).toContain(
      `DigitalOcean could not be reached to read them: the proxy ${usual.url} of HTTPS_PROXY wants another user and password (407)`,
    );
  });

  test("refuses a proxy that is none before it begins, without showing it", async () => {
    const run = await reconcile({ KUBECONFIG: kubeconfig(""), HTTPS_PROXY: `ftp://proxy-user:${PUSH_PASSWORD}@x` });
    expect(run.code).toBe(78);
    expect(run.stderr).toContain("Cannot use the proxy of HTTPS_PROXY: it has the scheme ftp://.");
  });

  test("watches through it, also after every tunnel broke", async () => {
    const env = { PATH: process.env["PATH"], HOME: dir, ...environment({ HTTPS_PROXY: through(usual) }) };
    const args = ["reconcile", "--watch", "--interval", "1h", ...PATIENT_LOCK, "--kubeconfig", kubeconfig("")];
    const child = spawn(FLIPOP, args, { env });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    const nodes = join(dir, "world/nodes.yaml");
    const mark = (status: string, name: string): void => {
      const yaml = readFileSync(nodes, "utf8");
      const [head = "", ...rest] = yaml.split(`name: ${name}\n`);
      const tail = rest.join(`name: ${name}\n`);
      writeFileSync(nodes, `${head}name: ${name}\n${tail.replace(/status: "(True|False)"/, `status: "${status}"`)}`);
    };
    try {
      await expect.poll(() => text).toContain("watching for changes");
      usual.hangUp();
      await new Promise((resolve) => setTimeout(resolve, 300));
      mark("False", "worker-2");
      await expect.poll(() => text).toMatch(/move|moved|worker-2/);
    } finally {
      child.kill("SIGTERM");
      await once(child, "close");
    }
    expect(child.exitCode).toBe(143);
  });
});
