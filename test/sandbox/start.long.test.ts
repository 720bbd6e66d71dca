import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/adapters/kube/config.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { SharedFiles } from "../../src/sandbox/one-at-a-time.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/start.ts";
import { uncomment } from "../setup/uncomment.ts";

let parent: string;
let running: Sandbox[];
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "flipop-start-"));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((sandbox) => sandbox.close()));
  rmSync(parent, { recursive: true, force: true });
});

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  running.push(sandbox);
  return sandbox;
}

function serverOf({ kubeconfig }: Sandbox): string {
  return parse(readFileSync(kubeconfig, "utf8")).clusters[0].cluster.server;
}

async function names(sandbox: Sandbox, path: string): Promise<readonly string[]> {
  const response = await fetch(`${serverOf(sandbox)}${path}`);
  const list = (await response.json()) as { items: readonly { metadata: { name: string } }[] };
  return list.items.map(({ metadata }) => metadata.name);
}

async function account(sandbox: Sandbox): Promise<Response> {
  const headers = { authorization: `Bearer ${sandbox.token}` };
  return await fetch(`${sandbox.digitaloceanURL}/v2/reserved_ips`, { headers });
}

async function zones(sandbox: Sandbox): Promise<Response> {
  const headers = { authorization: `Bearer ${sandbox.token}` };
  return await fetch(`${sandbox.cloudflareURL}/zones`, { headers });
}

test("a new directory is filled with the example, each file beginning with what can be tried in it", async () => {
  const dir = join(parent, "a", "world");
  const sandbox = await start({ dir });
  const files = [
    "cloudflare.yaml",
    "cluster.yaml",
    "digitalocean.yaml",
    "dns.yaml",
    "faults.yaml",
    "hetzner.yaml",
    "issuers.yaml",
    "nodes.yaml",
    "pods.yaml",
    "pools.yaml",
    "routed-ips.yaml",
    "services.yaml",
    "webhook.yaml",
  ];
  expect(readdirSync(dir).filter((name) => name.endsWith(".yaml"))).toEqual(files);
  for (const file of files) expect(readFileSync(join(dir, file), "utf8")).toMatch(/^# \S/);
  expect(await names(sandbox, "/api/v1/nodes")).toHaveLength(7);
  expect(await names(sandbox, "/api/v1/namespaces/ingress/pods?labelSelector=app%3Dweb")).toHaveLength(7);
  expect(await names(sandbox, "/apis/flipop.digitalocean.com/v1alpha1/floatingippools")).toEqual(["web"]);
  expect(await names(sandbox, "/apis/flipop.digitalocean.com/v1alpha1/nodednsrecordsets")).toEqual(["nodes"]);
  expect(await (await account(sandbox)).json()).toMatchObject({ meta: { total: 4 } });
  expect(await (await zones(sandbox)).json()).toMatchObject({ success: true, result: [{ name: "example.net" }] });
});

test("the RoutedIP of the example is there once it is no comment, and so is all that it names", async () => {
  const dir = join(parent, "w");
  const sandbox = await start({ dir });
  const of = async (plural: string): Promise<readonly string[]> =>
    await names(sandbox, `/apis/flipop.digitalocean.com/v1alpha1/namespaces/ingress/${plural}`);
  expect(await of("routedips")).toEqual([]);
  const file = join(dir, "routed-ips.yaml");
  writeFileSync(file, uncomment(readFileSync(file, "utf8")));
  expect(await of("routedips")).toEqual(["web"]);
  const { issuer, serviceName, address } = parse(readFileSync(file, "utf8")).spec;
  expect(await of("routedipissuers")).toEqual([issuer]);
  expect(await names(sandbox, "/api/v1/namespaces/ingress/services")).toEqual([serviceName]);
  const { reserved_ips } = (await (await account(sandbox)).json()) as { reserved_ips: readonly { ip: string }[] };
  expect(reserved_ips.map(({ ip }) => ip)).toContain(address);
});

test("the kubeconfig is one that flipop can use, and is gone when the sandbox is closed", async () => {
  const sandbox = await start({ dir: join(parent, "w") });
  const { kubeconfig } = sandbox;
  const connection = await loadConfig({ kubeconfig, home: "", inCluster: {}, environment: {} });
  expect(connection.server).toBe(serverOf(sandbox));
  await sandbox.close();
  expect(existsSync(kubeconfig)).toBe(false);
  await expect(fetch(connection.server)).rejects.toThrow();
});

test("a directory that has a world keeps it", async () => {
  const dir = join(parent, "w");
  await (await start({ dir })).close();
  writeFileSync(join(dir, "nodes.yaml"), "metadata: {name: mine}\n");
  rmSync(join(dir, "pods.yaml"));
  const sandbox = await start({ dir });
  expect(await names(sandbox, "/api/v1/nodes")).toEqual(["mine"]);
  expect(await names(sandbox, "/api/v1/pods")).toEqual([]);
  expect(await names(sandbox, "/apis/flipop.digitalocean.com/v1alpha1/floatingippools")).toEqual(["web"]);
});

test("a directory with other files is refused and left alone", async () => {
  writeFileSync(join(parent, "letter.txt"), "dear");
  await expect(startSandbox({ dir: parent })).rejects.toThrow(
    `cannot use ${parent} as a sandbox: it holds other files (letter.txt); name a new or an empty directory`,
  );
  expect(readdirSync(parent)).toEqual(["letter.txt"]);
});

test("a path that is a file is refused", async () => {
  const dir = join(parent, "file");
  writeFileSync(dir, "");
  await expect(startSandbox({ dir })).rejects.toThrow(
    `cannot use ${dir} as a sandbox: it is a file; name a directory that can be written`,
  );
});

test.skipIf(!existsSync("/proc/self"))(
  "a directory that nobody can make is refused, and those above one are made",
  async () => {
    await expect(startSandbox({ dir: "/proc/flipop/world" })).rejects.toThrow(
      "cannot use /proc/flipop/world as a sandbox: ENOENT: no such file or directory, mkdir '/proc/flipop'; name",
    );
    writeFileSync(join(parent, "note"), "");
    await expect(startSandbox({ dir: join(parent, "note", "world") })).rejects.toThrow("ENOTDIR");
    const dir = join(parent, "new", "deeper", "world");
    await (await startSandbox({ dir })).close();
    expect(existsSync(join(dir, "nodes.yaml"))).toBe(true);
  },
);

test("a broken file ends the start with its place", async () => {
  const dir = join(parent, "w");
  await (await start({ dir })).close();
  writeFileSync(join(dir, "pools.yaml"), "metadata:\n  name: [web\n");
  await expect(startSandbox({ dir })).rejects.toThrow(`cannot read ${join(dir, "pools.yaml")}:`);
});

test("without a directory the world lives in a temporary one, which is removed at the end", async () => {
  const sandbox = await start();
  expect(await names(sandbox, "/api/v1/nodes")).toHaveLength(7);
  await sandbox.close();
  await sandbox.close();
  expect(existsSync(sandbox.dir)).toBe(false);
});

test("every API tells the time of the world", async () => {
  const sandbox = await start({ now: () => Date.UTC(2026, 0, 2, 3, 4, 5) });
  const expected = "Fri, 02 Jan 2026 03:04:05 GMT";
  expect((await fetch(`${serverOf(sandbox)}/version`)).headers.get("date")).toBe(expected);
  expect((await account(sandbox)).headers.get("date")).toBe(expected);
  expect((await zones(sandbox)).headers.get("date")).toBe(expected);
});

test("faults come from the list given first, then from faults.yaml, also when it is edited meanwhile", async () => {
  const dir = join(parent, "w");
  const faults = new FaultList([{ server: "kubernetes", path: "/nodes$", status: 503 }]);
  const sandbox = await start({ dir, faults });
  const status = async (): Promise<number> => (await fetch(`${serverOf(sandbox)}/api/v1/nodes`)).status;
  writeFileSync(join(dir, "faults.yaml"), "- {server: kubernetes, path: /nodes$, status: 429}\n");
  expect([await status(), await status(), await status()]).toEqual([503, 429, 200]);
  writeFileSync(join(dir, "faults.yaml"), "- {server: digitalocean, status: 500, times: 1}\n");
  expect([(await account(sandbox)).status, (await account(sandbox)).status]).toEqual([500, 200]);
});

test("every request to any of the APIs is reported", async () => {
  const calls: RecordedCall[] = [];
  const sandbox = await start({ onCall: (call) => calls.push(call) });
  await fetch(`${serverOf(sandbox)}/api/v1/nodes?limit=1`);
  await account(sandbox);
  await zones(sandbox);
  expect(calls.map(({ server, method, path, query, status }) => [server, method, path, query, status])).toEqual([
    ["kubernetes", "GET", "/api/v1/nodes", "limit=1", 200],
    ["digitalocean", "GET", "/v2/reserved_ips", "", 200],
    ["cloudflare", "GET", "/client/v4/zones", "", 200],
  ]);
});

test("a file that is broken while the sandbox runs is reported and answered with its place", async () => {
  const dir = join(parent, "w");
  const errors: unknown[] = [];
  const sandbox = await start({ dir, onError: (error) => errors.push(error) });
  writeFileSync(join(dir, "nodes.yaml"), "metadata: {name: Bad}\n");
  const response = await fetch(`${serverOf(sandbox)}/api/v1/nodes`);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ message: expect.stringContaining(`${join(dir, "nodes.yaml")}:1:`) });
  expect(errors).toHaveLength(1);
});

test("a name that no world has is told of, with the one that was meant; the files of a served world are known", async () => {
  const dir = join(parent, "w");
  await (await start({ dir })).close();
  for (const name of ["nodes.yml", "letter.txt", "pod.yaml", "nodes.yaml~", ".nodes.yaml.swp"])
    writeFileSync(join(dir, name), "");
  for (const name of ["kubeconfig", "exports.sh"]) writeFileSync(join(dir, name), "");
  const warnings: string[] = [];
  const sandbox = await start({ dir, warn: (text) => warnings.push(text) });
  expect(warnings.sort()).toEqual([
    `${join(dir, "letter.txt")} is no file of a sandbox and is not read`,
    `${join(dir, "nodes.yml")} is no file of a sandbox and is not read; do you mean nodes.yaml?`,
    `${join(dir, "pod.yaml")} is no file of a sandbox and is not read; do you mean pods.yaml?`,
  ]);
  expect(await names(sandbox, "/api/v1/nodes")).toHaveLength(7);
});

test("of many such names three are told, and how many more", async () => {
  const dir = join(parent, "w");
  await (await start({ dir })).close();
  for (const name of ["a", "b", "c", "d", "e"]) writeFileSync(join(dir, `${name}.txt`), "");
  const warnings: string[] = [];
  await start({ dir, warn: (text) => warnings.push(text) });
  expect(warnings).toHaveLength(4);
  expect(warnings.at(-1)).toBe(`${dir} holds 2 more that are not read`);
});

test("a directory whose only file is misspelt is refused, and says what is meant", async () => {
  writeFileSync(join(parent, "nodes.yml"), "metadata: {name: mine}\n");
  await expect(startSandbox({ dir: parent })).rejects.toThrow(
    "it holds other files (nodes.yml; do you mean nodes.yaml?)",
  );
  expect(readdirSync(parent)).toEqual(["nodes.yml"]);
});

test("two sandboxes on one directory see each other's changes, and the end of one is not the end of the other", async () => {
  const dir = join(parent, "w");
  const [one, other] = [await start({ dir, isServed: true }), await start({ dir })];
  expect(one.kubeconfig).toBe(join(dir, "kubeconfig"));
  const body = JSON.stringify({ metadata: { name: "added" } });
  await fetch(`${serverOf(other)}/api/v1/nodes`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  expect(await names(one, "/api/v1/nodes")).toContain("added");
  await other.close();
  expect(existsSync(one.kubeconfig)).toBe(true);
  expect(await names(one, "/api/v1/nodes")).toContain("added");
});

test("a directory is served once; what a killed process left there is no server", async () => {
  const dir = join(parent, "w");
  const first = await start({ dir, isServed: true });
  await expect(startSandbox({ dir, isServed: true })).rejects.toThrow(
    `cannot serve ${dir}: another process serves it (kubeconfig leads there); use that one, or end it`,
  );
  expect(await names(first, "/api/v1/nodes")).toHaveLength(7);
  const left = readFileSync(first.kubeconfig, "utf8");
  await first.close();
  for (const text of [left, "", "server: http://elsewhere.example.test\n"]) {
    writeFileSync(join(dir, "kubeconfig"), text);
    const next = await start({ dir, isServed: true });
    expect(await names(next, "/api/v1/nodes")).toHaveLength(7);
    await next.close();
  }
});

test("work on the files waits for another process, but not for one that has died, nor where there is nothing to wait for", async () => {
  const dir = join(parent, "locked");
  mkdirSync(dir);
  const { exclusively } = new SharedFiles(dir);
  const lock = join(dir, ".lock");
  expect(await exclusively(() => readFileSync(lock, "utf8"))).toBe(String(process.pid));
  expect(existsSync(lock)).toBe(false);
  const { pid } = spawnSync("true");
  writeFileSync(lock, String(pid));
  expect(await exclusively(() => "done")).toBe("done");
  writeFileSync(lock, "");
  utimesSync(lock, 1, 1);
  expect(await exclusively(() => "done")).toBe("done");
  await expect(exclusively(() => readFileSync(join(dir, "none")))).rejects.toThrow("ENOENT");
  expect(existsSync(lock)).toBe(false);
  rmSync(dir, { recursive: true });
  expect(await exclusively(() => "done")).toBe("done");
});

/** Stands for a write of large files. */
function takeMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Does so much work in a row that is to be written, 5 ms each time; returns how often it was, and for how long that went on, milliseconds. */
async function written(files: SharedFiles, changes: number): Promise<{ readonly writes: number; readonly ms: number }> {
  const startMs = performance.now();
  let writes = 0;
  const write = (): void => {
    writes += 1;
    takeMs(5);
  };
  for (let at = 0; at < changes; at += 1) await files.exclusively(() => files.save(write));
  await files.close();
  return { writes, ms: performance.now() - startMs };
}

test("a change is written at once after a quiet time, and of thousands in a row writing takes a fifth of the time", async () => {
  const files = new SharedFiles(parent);
  expect((await written(files, 1)).writes).toBe(1);
  const { writes, ms } = await written(new SharedFiles(parent), 3000);
  expect(writes).toBeGreaterThan(1);
  expect(writes).toBeLessThanOrEqual(2 + ms / 25);
});

test("the lock is kept until all is written, and what goes wrong then is told", async () => {
  const errors: unknown[] = [];
  const files = new SharedFiles(parent, (error) => errors.push(error));
  const lock = join(parent, ".lock");
  const written: string[] = [];
  const fail = (): void => {
    takeMs(30);
    throw new Error("the disk is full");
  };
  await expect(files.exclusively(() => files.save(fail))).rejects.toThrow("the disk is full");
  expect(existsSync(lock)).toBe(false);
  await files.exclusively(() => files.save(fail));
  await files.exclusively(() => files.save(() => written.push("second")));
  expect([existsSync(lock), written]).toEqual([true, []]);
  const other = new SharedFiles(parent);
  expect(await other.exclusively(() => [...written])).toEqual(["second"]);
  expect(errors).toEqual([new Error("the disk is full")]);
  await Promise.all([files.close(), other.close()]);
  expect(existsSync(lock)).toBe(false);
});
