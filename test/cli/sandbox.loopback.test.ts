// `flipop sandbox DIR` as a process of its own: what it prints, who can use it beside whom, and how it ends.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { FLIPOP } from "../programs/entry.ts";
import { type ServedSandbox, serveSandbox } from "../programs/served-sandbox.ts";
import { schemaErrors } from "../report/schemas.ts";
import { runProgram } from "./cluster-run.ts";

let parent: string;
let dir: string;
let served: ServedSandbox | undefined;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "flipop-served-"));
  dir = join(parent, "a world");
});
afterEach(async () => {
  await served?.end("SIGKILL");
  served = undefined;
  rmSync(parent, { recursive: true, force: true });
});

async function serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<ServedSandbox> {
  served = await serveSandbox(dir, { args, env: { HOME: parent, ...env } });
  return served;
}

/** The variables as a shell reads them from the file. */
function exported(): Readonly<Record<string, string>> {
  const { stdout } = spawnSync("/bin/sh", ["-c", `. '${dir}/exports.sh' && env`], { encoding: "utf8", env: {} });
  return Object.fromEntries(stdout.split("\n").map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]));
}

function serverOf(kubeconfig: string): string {
  return /server: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
}

test("it prints what a shell is to export, flipop works with that, and SIGTERM ends it with 0 and leaves no kubeconfig", async () => {
  const served = await serve();
  const env = exported();
  expect(spawnSync("/bin/sh", ["-c", `${served.stdout}env`], { encoding: "utf8", env: {} }).stdout).toContain(
    `KUBECONFIG=${env["KUBECONFIG"]}\n`,
  );
  expect(served.stdout).toBe(readFileSync(join(dir, "exports.sh"), "utf8"));
  expect(served.stderr()).toBe(
    `flipop: serving ${dir} until it is interrupted; in another terminal: . '${dir}/exports.sh'\n`,
  );
  const { code, stdout } = await runProgram(["plan", "-o", "json"], env);
  expect([code, JSON.parse(stdout).kind]).toEqual([0, "Plan"]);
  expect(stdout).toContain("203.0.113.11");
  expect(await served.end("SIGTERM")).toBe(0);
  expect(["kubeconfig", "exports.sh", ".lock"].filter((name) => existsSync(join(dir, name)))).toEqual([]);
});

test("-o json prints one document, whatever the shell had exported before; SIGINT ends it with 0", async () => {
  const served = await serve(["-o", "json"], { DIGITALOCEAN_ACCESS_TOKEN: "sandbox", CLOUDFLARE_TOKEN: "sandbox" });
  const document = JSON.parse(served.stdout);
  expect(schemaErrors(document, "Sandbox")).toEqual([]);
  const { PWD: _pwd, SHLVL: _level, OLDPWD: _old, _: _last, "": _none, ...environment } = exported();
  expect(document).toMatchObject({ kind: "Sandbox", directory: dir, environment });
  expect(document.environment).toMatchObject({ DIGITALOCEAN_ACCESS_TOKEN: "sandbox", CLOUDFLARE_TOKEN: "sandbox" });
  expect(await served.end("SIGINT")).toBe(0);
});

test("a file that a person breaks while it serves is answered with its place, and told of; corrected, it is served again", async () => {
  const served = await serve();
  const nodes = join(dir, "nodes.yaml");
  const before = readFileSync(nodes, "utf8");
  const list = `${serverOf(join(dir, "kubeconfig"))}/api/v1/nodes`;
  writeFileSync(nodes, "metadata:\n  name: [a\n");
  const answer = await fetch(list);
  expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
    500,
    expect.stringContaining(`cannot read ${nodes}:3:1: `),
  ]);
  await expect.poll(served.stderr).toContain(`cannot read ${nodes}:3:1: `);
  writeFileSync(nodes, before);
  expect((await fetch(list)).status).toBe(200);
  expect(await served.end("SIGTERM")).toBe(0);
});

test("two processes on one folder at a time lose no change of each other", async () => {
  const served = await serve();
  const own: Sandbox = await startSandbox({ dir });
  try {
    const servers = [serverOf(join(dir, "kubeconfig")), serverOf(own.kubeconfig)];
    const keys = Array.from({ length: 60 }, (_, at) => `k${at}`);
    const answers = await Promise.all(
      keys.map(async (key, at) => {
        const headers = { "content-type": "application/merge-patch+json" };
        const body = JSON.stringify({ metadata: { labels: { [key]: "x" } } });
        return (await fetch(`${servers[at % 2]}/api/v1/nodes/worker-1`, { method: "PATCH", headers, body })).status;
      }),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
    for (const server of servers) {
      const { metadata } = (await (await fetch(`${server}/api/v1/nodes/worker-1`)).json()) as {
        metadata: { labels: Record<string, string> };
      };
      expect(Object.keys(metadata.labels)).toEqual(expect.arrayContaining(keys));
    }
    expect(new Set(await Promise.all(servers.map(uidOf))).size).toBe(1);
  } finally {
    await own.close();
  }
  const { code } = await runProgram(["--sandbox", dir, "reconcile"], {});
  expect([code, existsSync(join(dir, "kubeconfig"))]).toEqual([0, true]);
  expect(await served.end("SIGTERM")).toBe(0);
});

async function uidOf(server: string): Promise<string> {
  const { metadata } = (await (await fetch(`${server}/api/v1/nodes/worker-1`)).json()) as {
    metadata: { uid: string };
  };
  return metadata.uid;
}

test("a folder that cannot be written is refused", ({ skip }) => {
  // Root may write everywhere.
  const person = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  if (spawnSync(FLIPOP, ["--version"], person).status !== 0) return skip("another user cannot read the checkout");
  chmodSync(parent, 0o755);
  mkdirSync(dir, { mode: 0o555 });
  const { status, stdout, stderr } = spawnSync(FLIPOP, ["sandbox", dir], { encoding: "utf8", ...person });
  expect({ status, stdout, stderr }).toEqual({
    status: 64,
    stdout: "",
    stderr: `flipop: cannot use ${dir} as a sandbox: EACCES: permission denied, access '${dir}'; name a directory that can be written\n`,
  });
});

test("a file that is none of a world's is named while it serves, each once", async () => {
  const { stderr } = await serve();
  const textOf = (file: string, meant: string): string =>
    `flipop: ${join(dir, file)} is no file of a sandbox and is not read; do you mean ${meant}?\n`;
  writeFileSync(join(dir, "node.yaml"), "");
  await expect.poll(stderr).toContain(textOf("node.yaml", "nodes.yaml"));
  writeFileSync(join(dir, "pod.yaml"), "");
  await expect.poll(stderr).toContain(textOf("pod.yaml", "pods.yaml"));
  expect(stderr().split(textOf("node.yaml", "nodes.yaml"))).toHaveLength(2);
});
