import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { FLIPOP } from "../programs/entry.ts";
import { schemaErrors } from "../report/schemas.ts";
import { withoutWaiting } from "./without-waiting.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-status-watch-"));
afterAll(() => rmSync(root, { recursive: true }));

const ENV = { PATH: process.env["PATH"], HOME: root };

/** Processes that a test has started, and that a failing test would leave behind. */
const running: ChildProcessByStdio<null, Readable, Readable>[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** A process that watches, and what it has printed. */
interface Watching {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly exit: Promise<readonly unknown[]>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

function watch(world: string, ...args: readonly string[]): Watching {
  const child = spawn(FLIPOP, ["--sandbox", world, "status", "--watch", ...args], {
    env: ENV,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8");
    child[name].on("data", (text: string) => {
      written[name] += text;
    });
  }
  return { child, exit: once(child, "exit"), stdout: () => written.stdout, stderr: () => written.stderr };
}

/** Runs to its end on a world that another process may be looking at. */
function flipop(world: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(FLIPOP, ["--sandbox", world, ...args], { env: ENV, encoding: "utf8" });
  expect([status, withoutWaiting(stderr)]).toEqual([0, ""]);
}

/** Makes a world that no run has looked at. */
function newWorld(name: string): string {
  const world = join(root, name);
  flipop(world, "status", "-o", "name");
  return world;
}

function changeNode(world: string): void {
  const path = join(world, "nodes.yaml");
  writeFileSync(path, readFileSync(path, "utf8").replace(/status: "?True"?/, 'status: "False"'));
}

/** What stands in the files of a world, beside the emulated API server's own notes and the list of faults. */
function filesOf(world: string): Readonly<Record<string, string>> {
  const names = readdirSync(world).filter((name) => name.endsWith(".yaml") && name !== "faults.yaml");
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(world, name), "utf8")]));
}

const POLL = { interval: 50 };

describe("status --watch on the embedded world", () => {
  test("shows what a run does, goes on over a cluster that fails, changes nothing, and ends with 130", async () => {
    const world = newWorld("failing");
    flipop(world, "reconcile", "-q", "--settle", "--timeout", "40s");
    const { child, exit, stdout, stderr } = watch(world);
    await expect.poll(stdout, POLL).toContain("Reconciler");
    expect(stdout()).toContain("203.0.113.10   ingress/web   active   worker-1");
    writeFileSync(join(world, "faults.yaml"), "- { server: kubernetes, status: 503, times: 0 }\n");
    await expect.poll(stderr, POLL).toContain("The cluster cannot be read. ");
    // The embedded world may be about to write the file anew when it goes.
    const mended = (): string => {
      rmSync(join(world, "faults.yaml"), { force: true });
      return stderr();
    };
    await expect.poll(mended, POLL).toContain("the cluster can be read again after ");
    changeNode(world);
    const before = filesOf(world);
    await expect.poll(stdout, POLL).toMatch(/UTC {2}address {5}203\.0\.113\.10 .*worker-1 \(not ready/);
    expect(filesOf(world)).toEqual(before);
    flipop(world, "reconcile", "-q", "--settle", "--timeout", "40s");
    await expect.poll(stdout, POLL).toMatch(/UTC {2}address {5}203\.0\.113\.10 +ingress\/web +active +worker-5/);
    child.kill("SIGINT");
    expect(await exit).toEqual([130, null]);
  });

  test("prints documents for programs, and ends with 143 at SIGTERM", async () => {
    const world = newWorld("documents");
    const { child, exit, stdout } = watch(world, "-o", "json");
    await expect.poll(stdout, POLL).toContain("\n");
    flipop(world, "suspend", "pool/ingress/web", "--reason", "test", "--for", "2h");
    await expect.poll(() => stdout().split("\n").length, POLL).toBe(3);
    const documents = stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents.map((document) => schemaErrors(document, "Status"))).toEqual([[], []]);
    expect(documents.map(({ pools }) => pools[0].suspended)).toEqual([false, true]);
    child.kill("SIGTERM");
    expect(await exit).toEqual([143, null]);
  });

  test("ends by itself once its reader has gone away", async () => {
    const world = newWorld("pipe");
    const { child, exit, stdout, stderr } = watch(world);
    await expect.poll(stdout, POLL).toContain("Reconciler");
    child.stdout.destroy();
    flipop(world, "suspend", "pool/ingress/web", "--reason", "test", "--for", "2h");
    expect(await exit).toEqual([0, null]);
    expect(withoutWaiting(stderr())).toBe("");
  });
});

describe("status --check --wait on the embedded world", () => {
  test("waits until a run has made everything ready", async () => {
    const world = newWorld("waiting");
    const child = spawn(FLIPOP, ["--sandbox", world, "status", "--check", "--wait", "5m"], {
      env: ENV,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.push(child);
    const exit = once(child, "exit");
    let told = "";
    child.stderr.on("data", (text) => {
      told += text;
    });
    await expect.poll(() => told, POLL).toContain("s more: pool/ingress/web is not ready");
    flipop(world, "reconcile", "-q", "--settle", "--timeout", "40s");
    expect(await exit).toEqual([0, null]);
  });

  test("ends after its time while the cluster does not answer", async () => {
    const world = newWorld("silent");
    writeFileSync(join(world, "faults.yaml"), "- { server: kubernetes, delayMs: 600000, status: 503, times: 0 }\n");
    const { status, stderr } = spawnSync(FLIPOP, ["--sandbox", world, "status", "--check", "--wait", "3s"], {
      env: ENV,
      encoding: "utf8",
    });
    expect(stderr).toMatch(/^flipop: waiting \d+ s for the cluster$/m);
    expect([status, withoutWaiting(stderr)]).toEqual([75, "flipop: The cluster did not answer within 3s.\n"]);
  });
});
