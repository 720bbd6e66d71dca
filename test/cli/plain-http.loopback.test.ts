import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { type LoopbackProxy, loopbackProxy } from "../adapters/http/loopback-proxy.ts";
import { type ScriptedGateway, scriptedGateway } from "../adapters/pushgateway/scripted-gateway.ts";
import { PUSH_PASSWORD } from "../fake/fake-tokens.ts";
import { type ProgramRun, runProgram } from "./cluster-run.ts";

const dir = mkdtempSync(join(tmpdir(), "flipop-plain-"));
let sandbox: Sandbox;
let gateway: ScriptedGateway;
/** Takes names that nobody else knows to loopback. */
let proxy: LoopbackProxy;

beforeAll(async () => {
  sandbox = await startSandbox({ dir: join(dir, "world") });
  gateway = await scriptedGateway();
  proxy = await loopbackProxy();
});

afterAll(async () => {
  await Promise.all([sandbox.close(), gateway.close(), proxy.close()]);
  rmSync(dir, { recursive: true, force: true });
});

/** A URL on loopback, as one of another machine. */
const elsewhere = (url: string, host: string): string => url.replace("127.0.0.1", `${host}.example.test`);

function kubeconfig(user: string, host?: string): string {
  const [, server = ""] = /server: (\S+)/.exec(readFileSync(sandbox.kubeconfig, "utf8")) ?? [];
  const file = join(dir, "kubeconfig");
  writeFileSync(
    file,
    `current-context: x
clusters: [{name: c, cluster: {server: "${host === undefined ? server : elsewhere(server, host)}"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: ${user}}]
`,
  );
  return file;
}

async function flipop(command: string, env: Readonly<Record<string, string>>): Promise<ProgramRun> {
  return await runProgram(command.split(" "), {
    HTTP_PROXY: proxy.url,
    DIGITALOCEAN_API_URL: sandbox.digitaloceanURL,
    CLOUDFLARE_API_URL: sandbox.cloudflareURL,
    DIGITALOCEAN_ACCESS_TOKEN: sandbox.token,
    CLOUDFLARE_TOKEN: sandbox.token,
    ...env,
  });
}

const warnings = ({ stderr }: ProgramRun): readonly string[] =>
  stderr
    .trim()
    .split("\n")
    .filter((line) => line.includes("unencrypted"))
    .map((line) => line.replace(/:\d{4,5}/, ":PORT").replace(dir, "DIR"));

describe("credentials that go to another machine unencrypted are told of, once in a run", () => {
  test("those of the cluster, of both providers and of the Pushgateway", async () => {
    const run = await flipop("reconcile --settle --timeout 20s --partial ok", {
      KUBECONFIG: kubeconfig("{token: sandbox}", "kube"),
      DIGITALOCEAN_API_URL: elsewhere(sandbox.digitaloceanURL, "do"),
      CLOUDFLARE_API_URL: elsewhere(sandbox.cloudflareURL, "cf"),
      PUSHGATEWAY_URL: elsewhere(gateway.url, "push"),
      PUSHGATEWAY_USERNAME: "me",
      PUSHGATEWAY_PASSWORD: PUSH_PASSWORD,
    });
    expect(run.code).toBe(0);
    const text = (what: string, where: string): string =>
      `flipop: ${what} to ${where} unencrypted: whoever is on the way can read it. Use https://.`;
    expect([...warnings(run)].sort()).toEqual(
      [
        text('What context "x" of DIR/kubeconfig logs in with goes', "http://kube.example.test:PORT"),
        text("The token of DigitalOcean goes", "http://do.example.test:PORT"),
        text("The token of Cloudflare goes", "http://cf.example.test:PORT"),
        text("What logs in to the Pushgateway goes", "http://push.example.test:PORT"),
      ].sort(),
    );
  });

  test("as JSON lines with a reason where that is asked for, and not at all with -q", async () => {
    const env = { KUBECONFIG: kubeconfig("{username: a, password: b}", "kube") };
    const [line = ""] = warnings(await flipop("status --log-format json", env));
    expect(JSON.parse(line)).toMatchObject({ level: "warn", reason: "Unencrypted" });
    expect(warnings(await flipop("status -q", env))).toEqual([]);
  });

  test.for(["status", "plan", "reconcile"])("by %s", async (command) => {
    expect(warnings(await flipop(command, { KUBECONFIG: kubeconfig("{token: sandbox}", "kube") }))).toHaveLength(1);
  });
});

describe("nothing is told", () => {
  test.for<[string, Readonly<Record<string, string>>]>([
    ["of loopback", { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD: PUSH_PASSWORD }],
    ["where there is no password or token", {}],
  ])("%s", async ([name, env]) => {
    const isLoopback = name === "of loopback";
    const run = await flipop("reconcile --partial ok", {
      KUBECONFIG: isLoopback ? kubeconfig("{token: sandbox}") : kubeconfig("{}", "kube"),
      PUSHGATEWAY_URL: isLoopback ? gateway.url : elsewhere(gateway.url, "push"),
      ...(isLoopback ? {} : { DIGITALOCEAN_ACCESS_TOKEN: "", DIGITALOCEAN_API_URL: "http://do.example.test" }),
      ...env,
    });
    expect([warnings(run), gateway.requests.length > 0]).toEqual([[], true]);
  });
});
