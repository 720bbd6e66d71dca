import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schemaErrors } from "../report/schemas.ts";
import { type Printed, realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-explain-"));
const WORLD = join(root, "world");

/** Runs a command line in this process on the embedded world of a folder. */
async function flipop(dir: string, ...args: readonly string[]): Promise<Printed> {
  return await realCommand([`--sandbox=${dir}`, ...args], { identity: "explain" });
}

async function explained(dir: string, ...args: readonly string[]): Promise<Explained> {
  const { stdout, stderr, exitCode } = await flipop(dir, "explain", "-o", "json", ...args);
  expect([stderr, exitCode]).toEqual(["", 0]);
  const document = JSON.parse(stdout);
  expect(schemaErrors(document, "Explanation")).toEqual([]);
  return document;
}

interface Explained {
  readonly holds: boolean;
  readonly history?: readonly { readonly kind: string }[];
  readonly sections: readonly {
    readonly object: { readonly kind: string };
    readonly holds: boolean;
    readonly gates: readonly { readonly id: string; readonly pass: boolean | null; readonly message: string }[];
    readonly change: { readonly edits: readonly { readonly edit: string | null }[] } | null;
  }[];
}

function filesOf(dir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

/** The ids of the gates of a section that are shut. */
function shut({ sections }: Explained, at = 0): readonly string[] {
  return (sections[at]?.gates ?? []).filter(({ pass }) => pass === false).map(({ id }) => id);
}

function editsOf({ sections }: Explained, at = 0): readonly string[] {
  return (sections[at]?.change?.edits ?? []).map(({ edit }) => edit ?? "");
}

beforeAll(async () => {
  const { stderr, exitCode } = await flipop(WORLD, "reconcile", "--settle", "--timeout", "40s");
  expect([stderr, exitCode]).toEqual(["", 0]);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Leaves out what the world's clock says. */
function timeless(text: string): string {
  return text.replace(/\d+ plans? tried/g, "N plans tried");
}

describe("explain on the embedded world", () => {
  test("a pair: every gate, and the smallest change", async () => {
    const { stdout, exitCode } = await flipop(WORLD, "explain", "node/worker-6", "ip/203.0.113.10", "--no-history");
    expect(exitCode).toBe(0);
    expect(timeless(stdout)).toBe(`203.0.113.10 is active on worker-1. It is not on worker-6.
  www.example.com shows it.

pool/ingress/web
  = spec, suspend, provider, address, in-use, deleting, provider-id, condition-taints, pods, machine, free
  ! stays             worker-1 matches, and an address never leaves a node that matches
  . node-label        not asked
  ! taints            cordoned since 2026-01-06 09:30:00 UTC; node.kubernetes.io/unschedulable:NoSchedule is not tolerated
  = ready             since 2026-01-05 08:00:00 UTC
  ! turn              worker-5 comes first

Smallest change: 2 facts (N plans tried)
  1 kubectl uncordon worker-6
      or kubectl -n ingress patch floatingippool web --type=merge -p '{"spec":{"match":{"tolerations":[{"key":"node.kubernetes.io/unschedulable","operator":"Equal","effect":"NoSchedule"}]}}}'
  2 move 203.0.113.10 to worker-6 (machine 1006) by hand at digitalocean (--if ip/203.0.113.10=on:node/worker-6)
Then (an assignment takes 10 s, a DNS write 1 s):
  t+00:00  annotate node worker-6 with 203.0.113.10
  t+00:00  clear the annotation 203.0.113.10 of node worker-1

digitalocean has 203.0.113.10 on worker-1 (machine 1001).
worker-6 is machine 1006 of digitalocean.
`);
  });

  test("a pair that is so needs no change", async () => {
    const told = await explained(WORLD, "ip/203.0.113.10", "node/worker-1");
    expect(told).toMatchObject({ holds: true, sections: [{ change: null, plans: 1, next: [] }] });
    expect(shut(told)).toEqual([]);
  });

  test("a node: one section per object, each with what it asks for", async () => {
    const told = await explained(WORLD, "node/worker-7");
    expect(told.sections.map(({ object }) => object.kind)).toEqual(["pool", "dns"]);
    expect(shut(told)).toEqual(["ready", "condition-taints", "pods"]);
    expect(editsOf(told)).toEqual(["node/worker-7=Ready", "node/worker-7.pods=Ready"]);
    const one = await explained(WORLD, "node/worker-7", "--in", "dns/ingress/nodes");
    expect(one.sections.map(({ object }) => object.kind)).toEqual(["dns"]);
  });

  test("a pool and a name that are as they should be", async () => {
    expect((await explained(WORLD, "pool/ingress/web")).holds).toBe(true);
    const name = await explained(WORLD, "www.example.com");
    expect(name).toMatchObject({ holds: true, subject: { kind: "name", name: "www.example.com" } });
    expect((await explained(WORLD, "dns/ingress/nodes")).holds).toBe(true);
  });

  test("an address that no object names says who has it", async () => {
    const { stdout } = await flipop(WORLD, "explain", "ip/203.0.113.99", "--no-history");
    expect(stdout).toBe(
      "No object names 203.0.113.99: flipop leaves it where it is. A pool takes it once it stands in spec.ips.\ndigitalocean has 203.0.113.99 on worker-4 (machine 1004).\n",
    );
  });

  test("ends with what happened before: to the address, to the node, to the objects", async () => {
    const past = async (...targets: readonly string[]): Promise<readonly string[]> => {
      const { stdout, exitCode } = await flipop(WORLD, "explain", ...targets);
      expect(exitCode).toBe(0);
      const [, section = ""] = stdout.split("\nHistory:\n");
      return section
        .replace(/\d\d:\d\d:\d\d UTC/g, "TIME")
        .split("\n")
        .filter((line) => line !== "");
    };
    expect(await past("ip/203.0.113.11")).toEqual([
      expect.stringMatching(/^ {2}TIME {2}~ updated DNS www\.example\.com .*\(RecordsDiffer\)$/),
      "  TIME  ~ annotated node worker-2 with 203.0.113.11 (Verified)",
      "  TIME  + assigned 203.0.113.11 to worker-2 (NodeMatched)",
    ]);
    const ofNode = await past("node/worker-2");
    expect(ofNode.length).toBeGreaterThan(0);
    for (const line of ofNode) expect(line).toMatch(/pool\/ingress\/web: .*worker-2/);
    expect((await past("pool/ingress/web")).at(-1)).toMatch(/^ {2}\d+ more: flipop history pool\/ingress\/web$/);
    expect(await past("ip/203.0.113.11", "node/worker-1")).toEqual(await past("ip/203.0.113.11"));
    const told = await explained(WORLD, "ip/203.0.113.11");
    expect(told.history?.map(({ kind }) => kind)).toEqual(["update-dns", "annotate-node", "assign-ip"]);
    expect((await explained(WORLD, "ip/203.0.113.11", "--no-history")).history).toBeUndefined();
  });

  test("an address that left the spec says who has released it, and until when it drains", async () => {
    const dir = join(root, "released");
    cpSync(WORLD, dir, { recursive: true });
    const pools = join(dir, "pools.yaml");
    writeFileSync(pools, readFileSync(pools, "utf8").replace("    - 203.0.113.10\n", ""));
    expect((await flipop(dir, "reconcile")).exitCode).toBe(0);
    const { stdout } = await flipop(dir, "explain", "--no-history", "ip/203.0.113.10");
    expect(stdout).toMatch(
      /^pool\/ingress\/web has released 203\.0\.113\.10: it stays where it is until another address needs the machine\. Resolvers may hand it out until \d\d:\d\d:\d\d UTC \(in \d+[ms]\d*s?\)\.\ndigitalocean has 203\.0\.113\.10 on worker-1 \(machine 1001\)\.\n$/,
    );
  });

  test("a reason needs no cluster", async () => {
    const { stdout, exitCode } = await flipop(join(root, "nowhere"), "explain", "QuotaExceeded", "-o", "json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ subject: { kind: "reason", reason: "QuotaExceeded" }, gate: "quota" });
    expect(schemaErrors(JSON.parse(stdout), "Explanation")).toEqual([]);
    expect(readdirSync(root)).not.toContain("nowhere");
  });

  test("nothing is written", async () => {
    const before = filesOf(WORLD);
    for (const target of ["pool/ingress/web", "node/worker-6", "ip/203.0.113.11", "nodes.example.net"])
      expect((await flipop(WORLD, "explain", target, "-o", "wide")).exitCode).toBe(0);
    const after = filesOf(WORLD);
    expect({ ...after, "digitalocean.yaml": "" }).toEqual({ ...before, "digitalocean.yaml": "" });
  });

  test("the printed edits, made with --if, make it so; without any one of them they do not", async () => {
    const edits = editsOf(await explained(WORLD, "ip/203.0.113.10", "node/worker-6"));
    const isThere = async (some: readonly string[]): Promise<boolean> => {
      const args = some.flatMap((edit) => ["--if", edit]);
      const { stdout } = await flipop(WORLD, "plan", "-o", "json", ...args);
      const { actions, followUps } = JSON.parse(stdout);
      return JSON.stringify([...actions, ...followUps]).includes('"address":"203.0.113.10","pool":"ingress/web"}');
    };
    expect(edits).toHaveLength(2);
    expect(await isThere(edits)).toBe(true);
    for (const one of edits) expect(await isThere(edits.filter((other) => other !== one))).toBe(false);
  });

  test("a selector that selects nothing is told, and what serves stays", async () => {
    const dir = join(root, "selector");
    cpSync(WORLD, dir, { recursive: true });
    const path = join(dir, "pools.yaml");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(path, readFileSync(path, "utf8").replace("podLabel: app=web", "podLabel: app=wbe"));
    const told = await explained(dir, "pool/ingress/web");
    expect(told.holds).toBe(false);
    expect(shut(told)).toContain("selects");
  });

  test("a selector that selects nothing: the one that was meant is named, although nobody asks for it", async () => {
    const dir = join(root, "meant");
    cpSync(WORLD, dir, { recursive: true });
    rmSync(join(dir, "dns.yaml"));
    const path = join(dir, "pools.yaml");
    writeFileSync(path, readFileSync(path, "utf8").replace("podLabel: app=web", "podLabel: app=wbe"));
    const told = await explained(dir, "pool/ingress/web");
    const [section] = told.sections;
    const gate = section?.gates.find(({ id }) => id === "selects");
    expect(gate?.message).toContain("; app=web selects 7 pods, 6 of them ready.");
    expect(editsOf(told)).toEqual(["pool/ingress/web.match.podLabel=app=web"]);
    const edited = await flipop(dir, "plan", "-o", "json", "--if", editsOf(told).join(""));
    expect(JSON.parse(edited.stdout).holds).toEqual([]);
    const snapshot = join(root, "meant.snapshot");
    expect((await flipop(dir, "snapshot", snapshot)).exitCode).toBe(0);
    const taken = await realCommand(["explain", "--from", snapshot, "pool/ingress/web", "-o", "json"], {
      identity: "explain",
    });
    expect(JSON.parse(taken.stdout).sections).toEqual(JSON.parse(JSON.stringify(told.sections)));
    const node = await explained(dir, "node/worker-2");
    expect(editsOf(node)).toEqual(["pool/ingress/web.match.podLabel=app=web"]);
  });

  test("nodes that are not selected: the labels that were meant are named", async () => {
    const dir = join(root, "nodes");
    cpSync(WORLD, dir, { recursive: true });
    const path = join(dir, "pools.yaml");
    const label = "    nodeLabel: topology.kubernetes.io/region=ncy3\n    podLabel: app=web\n";
    writeFileSync(path, readFileSync(path, "utf8").replace("    podLabel: app=web\n", label));
    expect(editsOf(await explained(dir, "pool/ingress/web"))).toEqual([
      "pool/ingress/web.match.nodeLabel=topology.kubernetes.io/region=nyc3",
    ]);
  });
});
