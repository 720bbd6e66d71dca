import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { loopbackProxy } from "../adapters/http/loopback-proxy.ts";
import { CLOUDFLARE_SECRET, PUSH_PASSWORD, SECRET_TOKEN, shownTokens } from "../fake/fake-tokens.ts";
import { allWritten } from "../programs/served-sandbox.ts";
import { type ProgramRun, runProgram } from "./cluster-run.ts";

const KUBE_TOKEN = "kube-t0ken-0123456789";
/** All that flipop knows in these runs, in several forms, such as a careless server writes into its errors. */
const SAID = [
  SECRET_TOKEN,
  `${CLOUDFLARE_SECRET}"`,
  Buffer.from(`me:${PUSH_PASSWORD}`).toString("base64"),
  encodeURIComponent(`Bearer ${KUBE_TOKEN}`),
].join(" ");

let count = 0;
let dir: string;
let sandbox: Sandbox;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "flipop-repeated-"));
  sandbox = await startSandbox({ dir: join(dir, "world") });
  closing.push(sandbox.close);
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(dir, { recursive: true, force: true });
});

async function serve(answer: RequestListener): Promise<string> {
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function kubeconfig(user: string, server?: string): string {
  const own = /server: (\S+)/.exec(readFileSync(sandbox.kubeconfig, "utf8"))?.[1] ?? "";
  count += 1;
  const file = join(dir, `kubeconfig-${count}`);
  writeFileSync(
    file,
    `current-context: x
clusters: [{name: c, cluster: {server: "${server ?? own}"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: ${user}}]
`,
  );
  return file;
}

/** Runs the program, and looks for secrets in all that it printed and left in the cluster. */
async function flipop(
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<ProgramRun & { readonly text: string }> {
  const run = await runProgram(command.split(" "), {
    KUBECONFIG: kubeconfig(`{token: ${KUBE_TOKEN}}`),
    DIGITALOCEAN_API_URL: sandbox.digitaloceanURL,
    CLOUDFLARE_API_URL: sandbox.cloudflareURL,
    DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
    CLOUDFLARE_TOKEN: CLOUDFLARE_SECRET,
    PUSHGATEWAY_USERNAME: "me",
    PUSHGATEWAY_PASSWORD: PUSH_PASSWORD,
    ...env,
  });
  const text = run.stdout + run.stderr;
  await allWritten(join(dir, "world"));
  const files = readdirSync(join(dir, "world")).map((name) => readFileSync(join(dir, "world", name), "utf8"));
  for (const one of [text, ...files]) {
    expect(shownTokens(one)).toEqual([]);
    expect(one).not.toContain(KUBE_TOKEN);
  }
  return { ...run, text };
}

const json = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): RequestListener => {
  return (_, response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  };
};

describe("what DigitalOcean repeats of any secret is shown nowhere", () => {
  const faults: readonly (readonly [string, RequestListener])[] = [
    ["in the message of a 401", json(401, { id: "Unauthorized", message: `No such token: ${SAID}` })],
    ["in the message of a 422", json(422, { id: "unprocessable_entity", message: SAID })],
    [
      "across the end of what is shown of a message",
      json(422, { id: "unprocessable_entity", message: `${"x".repeat(180)} ${SAID}` }),
    ],
    [
      "in the id of the request",
      json(422, { id: "x", message: "no" }, { "x-request-id": `req-${"x".repeat(85)}-${SECRET_TOKEN}` }),
    ],
    [
      "in an answer that is no JSON",
      (_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end(`<p>${SAID}`),
    ],
    ["in a field of the wrong kind", json(200, { reserved_ips: SAID, droplets: SAID })],
    [
      "in the type of the answer",
      (_, response) => response.writeHead(200, { "Content-Type": `text/${SECRET_TOKEN}` }).end("x"),
    ],
    [
      "as the URL of a redirect",
      (_, response) => response.writeHead(302, { Location: `http://x/${SECRET_TOKEN}` }).end(),
    ],
  ];

  // One writer is `-v` in JSON, the next `-vv` in text.
  test.for(faults)("%s", async ([title, answer]) => {
    const env = { DIGITALOCEAN_API_URL: await serve(answer) };
    const isEven = faults.findIndex(([other]) => other === title) % 2 === 0;
    for (const command of ["plan -o json", isEven ? "reconcile --log-format json -v" : "reconcile -vv"]) {
      expect((await flipop(command, env)).text).toMatch(/DigitalOcean/);
    }
    expect((await flipop("status -o wide", env)).code).toBe(0);
  });

  test("and stands there as [redacted]", async () => {
    const message = `No such token: ${SECRET_TOKEN}, ${CLOUDFLARE_SECRET}`;
    const env = { DIGITALOCEAN_API_URL: await serve(json(401, { id: "Unauthorized", message })) };
    expect((await flipop("reconcile", env)).stdout).toContain("No such token: [redacted], [redacted] (401)");
    expect((await flipop("status -o json", env)).stdout).toContain("No such token: [redacted], [redacted] (401)");
  });
});

describe("what the API server repeats of any secret is shown nowhere", () => {
  const refusal = (message: string): object => ({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code: 403,
    reason: "Forbidden",
    message,
  });

  test.for<[string, RequestListener]>([
    ["in its refusal", json(403, refusal(SAID))],
    ["across the end of what is shown of it", json(403, refusal(`${"x".repeat(985)} ${SAID}`))],
    [
      "in the type of an answer",
      (_, response) => response.writeHead(502, { "Content-Type": `text/${KUBE_TOKEN}` }).end(SAID),
    ],
  ])("%s", async ([, answer]) => {
    const KUBECONFIG = kubeconfig(`{token: ${KUBE_TOKEN}}`, await serve(answer));
    for (const command of ["status -o yaml", "reconcile --log-format json", "reconcile -vv"])
      expect((await flipop(command, { KUBECONFIG })).text).toMatch(/Cannot (list|get)/);
  });
});

test("what an exec plugin says of any secret when it fails is shown nowhere", async () => {
  const login = join(dir, "login");
  const token = "token-of-the-plugin-0123456789";
  const answer = `{"kind":"ExecCredential","status":{"token":"${token}"}}`;
  const script = `#!/bin/sh\nif [ -e '${dir}/again' ]; then echo 'old ${token} of '"$1" '${SAID.replace(/ \S+$/, "")}' >&2; exit 1; fi\ntouch '${dir}/again'\necho '${answer}'\n`;
  writeFileSync(login, script, { mode: 0o755 });
  const exec = `{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [x], env: [{name: VAULT_TOKEN, value: vault-0123456789}], installHint: "as ${SECRET_TOKEN}"}}`;
  const unauthorized = json(401, {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code: 401,
    reason: "Unauthorized",
    message: "Unauthorized",
  });
  const KUBECONFIG = kubeconfig(exec, await serve(unauthorized));
  const { stderr } = await flipop("status", { KUBECONFIG });
  expect(stderr).toContain("and said: old [redacted] of x [redacted]");
  expect(stderr).not.toContain(token);
});

test("what the Pushgateway repeats of any secret is shown nowhere", async () => {
  const PUSHGATEWAY_URL = await serve((_, response) => response.writeHead(400).end(`${"x".repeat(280)} ${SAID}`));
  const run = await flipop("reconcile --partial ok", { PUSHGATEWAY_URL });
  expect(run.stderr).toContain("it answered 400");
});

test("what a proxy repeats of any secret is shown nowhere", async () => {
  const proxy = await loopbackProxy({ refuse: 502, says: SAID.replaceAll('"', "") });
  closing.push(proxy.close);
  const env = {
    HTTP_PROXY: proxy.url.replace("://", `://proxy-user:${PUSH_PASSWORD}@`),
    DIGITALOCEAN_API_URL: "http://do.example.test",
  };
  expect((await flipop("plan -v", env)).text).toContain("502");
});

test("a token that was replaced while a process watches is a secret as before", async () => {
  const file = join(dir, "token");
  writeFileSync(file, "first-token-0123456789\n");
  let before = "";
  const DIGITALOCEAN_API_URL = await serve((request, response) => {
    const message = `old ${before} new ${request.headers.authorization}`;
    before = request.headers.authorization ?? "";
    writeFileSync(file, "second-token-0123456789\n");
    json(422, { id: "x", message })(request, response);
  });
  const env = { DIGITALOCEAN_ACCESS_TOKEN: "", DIGITALOCEAN_ACCESS_TOKEN_FILE: file, DIGITALOCEAN_API_URL };
  const { text } = await flipop("reconcile", env);
  expect(text).toContain("[redacted]");
  expect(text).not.toMatch(/(first|second)-token/);
});

test("a spec that holds a secret by mistake is told of without it, and written once", async () => {
  const pools = join(dir, "world/pools.yaml");
  const text = readFileSync(pools, "utf8").replace(/provider: digitalocean/, `provider: ${KUBE_TOKEN}`);
  const env = {};
  writeFileSync(pools, text);
  const hide = async (): Promise<void> => {
    await allWritten(join(dir, "world"));
    // The spec itself is the person's; what flipop wrote is looked at.
    writeFileSync(join(dir, "status"), readFileSync(pools, "utf8").replace(/^ {2}provider: .*$/m, ""));
  };
  const run = await runProgram(["reconcile"], { KUBECONFIG: kubeconfig(`{token: ${KUBE_TOKEN}}`), ...env });
  await hide();
  expect(run.stdout + run.stderr + readFileSync(join(dir, "status"), "utf8")).not.toContain(KUBE_TOKEN);
  expect(readFileSync(join(dir, "status"), "utf8")).toContain('unknown provider "[redacted]"');
  const version = /resourceVersion: (.*)/.exec(readFileSync(pools, "utf8"))?.[1];
  const again = await runProgram(["reconcile"], { KUBECONFIG: kubeconfig(`{token: ${KUBE_TOKEN}}`), ...env });
  expect(again.stdout + again.stderr).not.toContain(KUBE_TOKEN);
  expect(again.stdout + again.stderr).not.toContain("CRD");
  await allWritten(join(dir, "world"));
  expect(/resourceVersion: (.*)/.exec(readFileSync(pools, "utf8"))?.[1]).toBe(version);
});
