import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-waiting-"));
const WORLD = join(root, "world");

/** Runs a command line on an embedded world. Returns what it said on stderr. */
async function said(dir: string, ...args: readonly string[]): Promise<string> {
  return (await realCommand([`--sandbox=${dir}`, ...args], { identity: "waiting" })).said;
}

/** The same, on a world whose APIs misbehave as told. */
async function saidBeside(faults: string, ...args: readonly string[]): Promise<string> {
  writeFileSync(join(WORLD, "faults.yaml"), faults);
  return await said(WORLD, ...args);
}

beforeAll(async () => {
  await said(WORLD, "plan");
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

// Long enough to be told of twice: on a busy machine others may not have answered at the first time.
const SLOW_PROVIDER = "- {server: digitalocean, method: GET, path: reserved_ips, delayMs: 4600, times: 0}\n";
const SLOW_CLUSTER = "- {server: kubernetes, path: floatingippools, delayMs: 4600, times: 0}\n";

test.for([
  ["plan", SLOW_PROVIDER, "digitalocean"],
  ["doctor", SLOW_PROVIDER, "digitalocean"],
  ["status", SLOW_CLUSTER, "the cluster"],
  ["reconcile", SLOW_CLUSTER, "the cluster"],
  ["suspend pool/ingress/web --reason test", SLOW_CLUSTER, "the cluster"],
] as const)("%s says after 2 s for whom it waits", async ([command, faults, whom]) => {
  expect(await saidBeside(faults, ...command.split(" "))).toMatch(
    // A busy machine looks late.
    new RegExp(`^flipop: waiting [2-4] s for (.*\\nflipop: waiting \\d s for )?${whom}\\n`),
  );
  if (command.startsWith("suspend")) await saidBeside("[]", "resume", "pool/ingress/web");
});

test("reconcile says what is under way at the provider", async () => {
  const world = join(root, "busy");
  await said(world, "plan");
  writeFileSync(
    join(world, "faults.yaml"),
    "- {server: digitalocean, method: POST, path: actions$, delayMs: 4600, times: 0}\n",
  );
  expect(await said(world, "reconcile", "--timeout", "20s")).toMatch(
    /^flipop: waiting \d s for digitalocean \(203\.0\.113\.11 on its way to worker-2 and 203\.0\.113\.12 on its way to worker-3\)$/m,
  );
});

test("reconcile --settle says which hold it waits for", async () => {
  const world = join(root, "cool");
  await said(world, "plan");
  const pools = join(world, "pools.yaml");
  writeFileSync(pools, readFileSync(pools, "utf8").replace("  ips:\n", "  assignmentCoolOffSeconds: 6\n  ips:\n"));
  // A busy machine is still at work after two seconds, and says so first.
  expect(await said(world, "reconcile", "--settle", "--timeout", "30s")).toMatch(
    /^flipop: waiting \d+ s: CoolOff of pool\/ingress\/web$/m,
  );
});
