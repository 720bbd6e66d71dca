import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { type ProgramRun, runProgram } from "./cluster-run.ts";

const BAD = "secret-part-1\nsecret-part-2";

let dir: string;
let sandbox: Sandbox;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "flipop-unusable-"));
  sandbox = await startSandbox({ dir: join(dir, "world") });
  writeFileSync(join(dir, "token"), `${BAD}\n`);
});

afterEach(async () => {
  await sandbox.close();
  rmSync(dir, { recursive: true, force: true });
});

async function flipop(
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<ProgramRun & { readonly text: string }> {
  const run = await runProgram(command.split(" "), {
    KUBECONFIG: sandbox.kubeconfig,
    DIGITALOCEAN_API_URL: sandbox.digitaloceanURL,
    CLOUDFLARE_API_URL: sandbox.cloudflareURL,
    DIGITALOCEAN_ACCESS_TOKEN: sandbox.token,
    CLOUDFLARE_TOKEN: sandbox.token,
    ...env,
  });
  const text = run.stdout + run.stderr;
  expect(text).not.toMatch(/secret-part/);
  return { ...run, text };
}

const onlyPool = (): void => writeFileSync(join(dir, "world/dns.yaml"), "");

describe("a token that no header can carry", () => {
  test.for(["plan", "reconcile", "reconcile --settle --timeout 15s"])(
    "is a configuration error of %s where no object could be served without it, and names where it is",
    async (command) => {
      onlyPool();
      const value = await flipop(command, { DIGITALOCEAN_ACCESS_TOKEN: BAD });
      expect(value.text).toContain(
        "DigitalOcean was not asked to list the reserved IPs (page 1), for its token cannot be used: " +
          "The token in DIGITALOCEAN_ACCESS_TOKEN has characters that no token has, such as a space or a line end. Copy it again.",
      );
      expect(value.code).toBe(78);
      const file = await flipop(command, {
        DIGITALOCEAN_ACCESS_TOKEN: "",
        DIGITALOCEAN_ACCESS_TOKEN_FILE: join(dir, "token"),
      });
      expect(file.text).toContain(`The token in ${join(dir, "token")} (DIGITALOCEAN_ACCESS_TOKEN_FILE) has characters`);
      expect(file.code).toBe(78);
    },
  );

  test("is noted on the Lease as what it is", async () => {
    onlyPool();
    await flipop("reconcile", { DIGITALOCEAN_ACCESS_TOKEN: BAD });
    await vi.waitFor(() =>
      expect(readFileSync(join(dir, "world/cluster.yaml"), "utf8")).toContain("last-result: 78 invalid configuration"),
    );
  });

  test("of one provider does not keep the objects of another from being served", async () => {
    const run = await flipop("reconcile", { CLOUDFLARE_TOKEN: BAD });
    expect(run.code).toBe(3);
    expect(run.text).toContain("1 pool, 3 of 3 addresses active, 0 of 1 record sets as desired");
    expect((await flipop("reconcile dns/ingress/nodes", { CLOUDFLARE_TOKEN: BAD })).code).toBe(78);
    writeFileSync(join(dir, "world/pools.yaml"), "");
    expect((await flipop("reconcile", { CLOUDFLARE_TOKEN: BAD })).code).toBe(78);
  });

  test("stays a missing permission where there is none, or where its file cannot be read", async () => {
    onlyPool();
    expect((await flipop("plan", { DIGITALOCEAN_ACCESS_TOKEN: "" })).code).toBe(77);
    const missing = { DIGITALOCEAN_ACCESS_TOKEN: "", DIGITALOCEAN_ACCESS_TOKEN_FILE: join(dir, "nothing") };
    const run = await flipop("plan", missing);
    expect(run.code).toBe(77);
    expect(run.text).toContain("Cannot read the token file");
  });

  test("of the cluster is a configuration error before anything is asked", async () => {
    const text = readFileSync(sandbox.kubeconfig, "utf8");
    const user = `users:\n  - name: x\n    user:\n      token: "secret-part-1\\nsecret-part-2"\n`;
    const kubeconfig = join(dir, "kubeconfig");
    writeFileSync(kubeconfig, text.replace(/users:[\s\S]*?(?=^\w|(?![\s\S]))/m, user).replace(/user: \S+/g, "user: x"));
    const run = await flipop(`status --kubeconfig ${kubeconfig}`, {});
    expect(run).toMatchObject({ code: 78, stdout: "" });
    expect(run.stderr).toMatch(/^flipop: The token of context ".*" of .*kubeconfig has characters that no token has/);
  });

  test.for([
    ["PUSHGATEWAY_TOKEN", { PUSHGATEWAY_TOKEN: BAD }],
    ["PUSHGATEWAY_PASSWORD", { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD: BAD }],
  ] as const)("of the Pushgateway is a configuration error before anything is done: %s", async ([name, env]) => {
    const run = await flipop("reconcile", { PUSHGATEWAY_URL: "http://127.0.0.1:9", ...env });
    expect(run).toMatchObject({ code: 78, stdout: "" });
    expect(run.stderr).toContain(`in ${name} has`);
  });
});
