import { afterEach, beforeEach, expect, test } from "vitest";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { startSandbox } from "../../src/sandbox/start.ts";
import { envOf, World } from "../doctor/world.ts";
import { realCommand } from "./real-command.ts";

let world: World;

beforeEach(async () => {
  world = await World.open();
});

afterEach(() => world.close());

/** What readers print in the world, and how often they listed the pods of flipop host. */
async function told(...argv: readonly string[]): Promise<{ text: string; stderr: string; lists: number }> {
  const calls: RecordedCall[] = [];
  const { dir, faults } = world;
  const sandbox = await startSandbox({ dir, faults, onCall: (call) => void calls.push(call) });
  try {
    const { stdout, stderr } = await realCommand(argv, { env: envOf(sandbox), identity: "reader" });
    return { text: stdout, stderr, lists: calls.filter(isList).length };
  } finally {
    await sandbox.close();
  }
}

const isList = ({ method, path, query }: RecordedCall): boolean =>
  method === "GET" && path === "/api/v1/pods" && decodeURIComponent(query).includes("component=host");

/** Brings the world to rest, and has worker-1, which has 203.0.113.10 then, put it on its host. */
async function ask(): Promise<void> {
  await told("reconcile", "--settle");
  const own = "flipop.digitalocean.com/ipv4-reserved-ip: 203.0.113.10\n";
  world.change("nodes.yaml", own, `${own}    flipop.digitalocean.com/host-addresses: 203.0.113.10\n`);
}

function agent(ready: "True" | "False"): void {
  world.add(
    "pods.yaml",
    `metadata: { name: flipop-host-x, namespace: flipop-host, labels: { app.kubernetes.io/name: flipop, app.kubernetes.io/component: host } }
spec: { nodeName: worker-1, containers: [{ name: flipop, image: "flipop:0.1.0" }] }
status: { phase: Running, conditions: [{ type: Ready, status: "${ready}", lastTransitionTime: "2026-01-05T08:01:00Z" }] }
`,
  );
}

const MISSING = "203.0.113.10 may answer nobody: flipop host does not run on worker-1.";
const UNREADY = /203\.0\.113\.10 may answer nobody: flipop host is not ready on worker-1 \(for [^)]+\)\./;

test("readers list no pod of flipop host while no node is to put an address on its host", async () => {
  for (const argv of [["status"], ["plan"], ["explain", "ip/203.0.113.10"], ["doctor", "--only", "addresses"]]) {
    const { text, stderr, lists } = await told(...argv);
    expect([lists, `${text}${stderr}`.includes("flipop host does")], argv.join(" ")).toEqual([0, false]);
  }
});

test("status, plan, explain and doctor say where it does not run, by one list", async () => {
  await ask();
  expect(await told("status")).toMatchObject({ text: expect.stringContaining(MISSING), lists: 1 });
  expect(await told("status", "--live")).toMatchObject({ text: expect.stringContaining(MISSING), lists: 1 });
  expect(await told("plan")).toMatchObject({ stderr: expect.stringContaining(MISSING), lists: 1 });
  for (const target of ["ip/203.0.113.10", "node/worker-1", "pool/ingress/web"])
    expect(await told("explain", target), target).toMatchObject({ stderr: expect.stringContaining(MISSING), lists: 1 });
  expect((await told("explain", "node/worker-2")).stderr).not.toContain("flipop host");
  const { text } = await told("doctor", "--only", "addresses");
  expect(text).toContain("no pod of flipop host is on worker-1, which is to have 203.0.113.10");
  expect(text).toContain("flipop manifests --only host --image IMAGE | kubectl apply -f -");
});

test("they say where it is not ready and since when, and nothing once it is", async () => {
  await ask();
  agent("False");
  expect((await told("status")).text).toMatch(UNREADY);
  expect((await told("plan")).stderr).toMatch(UNREADY);
  const unready = await told("doctor", "--only", "addresses");
  expect(unready.text).toMatch(/flipop host is not ready for \S+ on worker-1, which is to have 203\.0\.113\.10/);
  world.change("pods.yaml", 'status: "False", lastTransitionTime: "2026-01-05T08:01:00Z" }] }', 'status: "True" }] }');
  for (const argv of [["status"], ["plan"]]) {
    const { text, stderr, lists } = await told(...argv);
    expect([lists, `${text}${stderr}`.includes("answer nobody")], argv.join(" ")).toEqual([1, false]);
  }
  expect((await told("doctor", "--only", "addresses", "-o", "wide")).text).toContain(
    "flipop host is ready on worker-1",
  );
});

test("where its pods may not be read they say that it is not known, and go on", async () => {
  await ask();
  const message = 'pods is forbidden: User "x" cannot list resource "pods"';
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message, code: 403 };
  // The pool's own pods may be read: they are in a namespace.
  world.answer("^/api/v1/pods$", body, 403);
  const status = await told("status");
  expect(status.text).toContain("flipop host:    whether it runs is not known: ");
  expect(status.text).toContain("203.0.113.10");
  expect((await told("plan")).stderr).toContain("Whether flipop host runs where it is needed is not known: ");
  expect((await told("doctor", "--only", "addresses", "-o", "wide")).text).toMatch(/\? FLP155 .*forbidden/);
});

test("a world that a snapshot holds says nothing of it", async () => {
  await ask();
  const { text } = await told("snapshot");
  world.write("taken.json", text);
  const { stdout, stderr } = await realCommand(["status", "--from", `${world.dir}/taken.json`], { identity: "reader" });
  expect(stderr).toBe("");
  expect(stdout).toContain("flipop host:    whether it runs is not known: The snapshot does not hold its pods.");
});
