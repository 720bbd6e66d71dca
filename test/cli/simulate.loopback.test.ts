import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { schemaErrors } from "../report/schemas.ts";
import { type Printed, realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-simulate-"));
const WORLD = join(root, "world");

/** Runs a command line in this process. */
async function flipop(...argv: readonly string[]): Promise<Printed> {
  return await realCommand(argv, { identity: "simulate" });
}

interface Told {
  readonly steps: readonly {
    readonly atSeconds: number;
    readonly event?: string;
    readonly actions: readonly { readonly kind: string; readonly subject: string; readonly message: string }[];
  }[];
  readonly names: readonly { readonly name: string; readonly unservedSeconds: number }[];
  readonly moves: { readonly made: number };
}

interface LossCase {
  readonly lost: string;
  readonly nodes: readonly string[];
  readonly moves: number;
}

async function simulated(dir: string, ...args: readonly string[]): Promise<Told> {
  const { stdout, stderr, exitCode } = await flipop(`--sandbox=${dir}`, "simulate", "-q", "-o", "json", ...args);
  expect([stderr, exitCode]).toEqual(["", 0]);
  const document = JSON.parse(stdout);
  expect(schemaErrors(document, "Simulation")).toEqual([]);
  return document;
}

/** A copy of the world in which a file is another one. */
function copied(name: string, file: string, change: (text: string) => string): string {
  const dir = join(root, name);
  cpSync(WORLD, dir, { recursive: true });
  writeFileSync(join(dir, file), change(readFileSync(join(dir, file), "utf8")));
  return dir;
}

function withNode(
  text: string,
  name: string,
  change: (node: ReturnType<typeof parseAllDocuments>[number]) => void,
): string {
  const documents = parseAllDocuments(text);
  for (const document of documents) if (document.getIn(["metadata", "name"]) === name) change(document);
  return documents
    .map(String)
    .join("---\n")
    .replace(/---\n---\n/g, "---\n");
}

function filesOf(dir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

/** Leaves out what differs from call to call: the port, and when it was read. */
function timeless(text: string): string {
  return text
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "URL")
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z| UTC)/g, "THEN")
    .replace(/\d\d:\d\d:\d\d UTC/g, "THEN");
}

/** What is done in all: kind and subject, in order. */
function done({ steps }: Told): readonly string[] {
  return steps.flatMap(({ actions }) => actions.map(({ kind, subject }) => `${kind} ${subject}`));
}

beforeAll(async () => {
  const { stderr, exitCode } = await flipop(`--sandbox=${WORLD}`, "reconcile", "-q", "--settle", "--timeout", "40s");
  expect([stderr, exitCode]).toEqual(["", 0]);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("simulate on the embedded world", () => {
  test("at rest: nothing happens", async () => {
    const { stdout, exitCode } = await flipop(
      `--sandbox=${WORLD}`,
      "simulate",
      "--expect",
      "no-outage",
      "--detailed-exitcode",
    );
    expect(exitCode).toBe(0);
    expect(timeless(stdout)).toBe(`What happens next in URL, read THEN (an assignment takes 10 s, a DNS write 1 s)

Nothing: all is as it should be, or waits for a change.

No address moves.
nodes.example.net and www.example.com always have service.
At rest now.
Expected no outage: so it is.
`);
  });

  test("where a node is lost: the move, the names, the calls", async () => {
    const { stdout, exitCode } = await flipop(`--sandbox=${WORLD}`, "simulate", "--if", "node/worker-1=NotReady");
    expect(exitCode).toBe(0);
    expect(
      timeless(stdout),
    ).toBe(`What happens next in URL, read THEN, if node/worker-1=NotReady (an assignment takes 10 s, a DNS write 1 s)

  t+00:00  ~ update DNS nodes.example.net at cloudflare (-192.0.2.1 =192.0.2.2 =192.0.2.3 =192.0.2.4 =192.0.2.5)
  t+00:00  > move 203.0.113.10 from worker-1 to worker-5
  t+00:10  ~ 2 annotations (-o wide shows them)

1 move, 1 needed. 1 DNS write. cloudflare: at least 2 calls, at most 2 in a minute (limit 1200 in 5m); digitalocean: at least 3 calls, at most 3 in a minute (limit 250 in 1m).
nodes.example.net: 1 of 5 addresses answers nobody for 61 s in all (TTL 60).
www.example.com: 1 of 3 addresses answers nobody for 10 s in all.
nodes.example.net and www.example.com always have service.
pool/ingress/web has no spare node in the end.
At rest from t+00:10 on.
`);
  });

  test("is what reconcile does where the same is so by hand", async () => {
    const told = await simulated(WORLD, "--if", "node/worker-1=NotReady");
    const dir = copied("broken", "nodes.yaml", (text) =>
      withNode(text, "worker-1", (node) => node.setIn(["status", "conditions", 0, "status"], "False")),
    );
    expect(done(await simulated(dir))).toEqual(done(told));
    const { stdout, exitCode } = await flipop(
      `--sandbox=${dir}`,
      "reconcile",
      "--settle",
      "--timeout",
      "40s",
      "-o",
      "json",
    );
    expect(exitCode).toBe(0);
    const { outcomes } = JSON.parse(stdout);
    const really = outcomes.map(({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`);
    expect(really.toSorted()).toEqual(done(told).toSorted());
    expect(done(await simulated(dir))).toEqual([]);
  });

  test("--n-1 tells of each node what reconcile does when it is lost really", async () => {
    const { stdout, exitCode } = await flipop(`--sandbox=${WORLD}`, "simulate", "--n-1", "-o", "json");
    expect(exitCode).toBe(0);
    const document = JSON.parse(stdout);
    expect(schemaErrors(document, "Simulation")).toEqual([]);
    const cases: readonly LossCase[] = document.cases;
    expect(cases.map(({ lost, moves }) => [lost, moves])).toEqual([
      ["worker-1", 1],
      ["worker-2", 1],
      ["worker-3", 1],
      ["worker-4", 0],
      ["worker-5", 0],
      ["2 others", 0],
    ]);
    for (const { lost, nodes, moves } of cases) {
      const dir = copied(`without-${lost.replace(" ", "-")}`, "nodes.yaml", (text) =>
        nodes.reduce(
          (now, name) => withNode(now, name, (node) => node.setIn(["status", "conditions", 0, "status"], "False")),
          text,
        ),
      );
      const { stdout: ran } = await flipop(
        `--sandbox=${dir}`,
        "reconcile",
        "--settle",
        "--timeout",
        "40s",
        "-o",
        "json",
      );
      const { outcomes } = JSON.parse(ran);
      const moved = outcomes.filter(({ kind }: { kind: string }) => kind === "move-ip" || kind === "assign-ip");
      expect([lost, moved.length]).toEqual([lost, moves]);
    }
  });

  test("--expect and --detailed-exitcode make exit codes", async () => {
    const all = ["1", "2", "3", "4", "5"].flatMap((number) => ["--if", `node/worker-${number}=NotReady`]);
    const coded = async (...args: readonly string[]): Promise<number> =>
      (await flipop(`--sandbox=${WORLD}`, "simulate", ...args)).exitCode;
    expect(await coded("--if", "node/worker-1=NotReady", "--detailed-exitcode")).toBe(2);
    expect(await coded(...all, "--expect", "no-outage=24h")).toBe(6);
    expect(await coded(...all, "--expect", "no-outage=24h", "--detailed-exitcode", "-o", "yaml")).toBe(6);
    expect(await coded(...all)).toBe(0);
    // Two of three holders are lost at once, and one node waits.
    const some = ["--if", "node/worker-1=NotReady", "--if", "node/worker-2=NotReady"];
    expect(await coded(...some, "--expect", "no-outage")).toBe(0);
  });

  test("-n and -l choose what flipop works on", async () => {
    const lost = ["--if", "node/worker-1=NotReady"];
    expect(done(await simulated(WORLD, ...lost, "-n", "nowhere-else"))).toEqual([]);
    expect(done(await simulated(WORLD, ...lost, "-n", "ingress"))).toEqual(done(await simulated(WORLD, ...lost)));
  });

  test("-f begins with other objects", async () => {
    const file = join(root, "web.yaml");
    const { stdout } = await flipop(`--sandbox=${WORLD}`, "snapshot");
    expect(stdout).toContain("recordName: www");
    writeFileSync(
      file,
      `apiVersion: flipop.digitalocean.com/v1alpha1
kind: NodeDNSRecordSet
metadata: { name: more, namespace: ingress }
spec: { match: {}, dnsRecordSet: { provider: cloudflare, zone: example.net, recordName: more } }
`,
    );
    expect(done(await simulated(WORLD, "-f", file))).toEqual(["update-dns more.example.net"]);
  });

  test("a snapshot tells the same, byte for byte", async () => {
    const file = join(root, "world.yaml");
    expect(await flipop(`--sandbox=${WORLD}`, "snapshot", file)).toMatchObject({ exitCode: 0 });
    for (const output of ["table", "wide", "json", "yaml"]) {
      for (const how of [
        [],
        ["--n-1"],
        ["--drain", "worker-3"],
        ["--rolling-upgrade", "topology.kubernetes.io/region=nyc3"],
      ]) {
        const words = [
          "simulate",
          "-q",
          "-o",
          output,
          "--if",
          "node/worker-1=Cordoned",
          "--if",
          "node/worker-2=NotReady",
          ...how,
        ];
        const [live, from] = [await flipop(`--sandbox=${WORLD}`, ...words), await flipop(...words, "--from", file)];
        expect(timeless(from.stdout).replaceAll("world.yaml", "URL")).toBe(
          timeless(live.stdout).replaceAll("world.yaml", "URL"),
        );
        expect([from.stderr, from.exitCode]).toEqual([live.stderr, live.exitCode]);
      }
    }
  });

  test("a snapshot holds the zones of nodes, and no label that nobody selects by", async () => {
    const file = join(root, "zones.yaml");
    const dir = copied("zones", "nodes.yaml", (text) =>
      withNode(text, "worker-1", (node) => {
        node.setIn(["metadata", "labels", "topology.kubernetes.io/zone"], "a");
        node.setIn(["metadata", "labels", "kept"], "back");
      }),
    );
    expect(await flipop(`--sandbox=${dir}`, "snapshot", file)).toMatchObject({ exitCode: 0 });
    const { cases } = JSON.parse((await flipop("simulate", "--n-1=zone", "-o", "json", "--from", file)).stdout);
    expect(cases.map(({ lost }: LossCase) => lost)).toEqual(["(no topology.kubernetes.io/zone)", "a"]);
    expect(await flipop("simulate", "-q", "--rolling-upgrade", "kept=back", "--from", file)).toMatchObject({
      stdout: "",
      stderr:
        "flipop: --rolling-upgrade kept=back selects no node. Of nodes a snapshot holds the labels that objects select by, and those of places; more with --node-labels KEY.\n",
      exitCode: 78,
    });
  });

  test("nothing is written", async () => {
    const before = filesOf(WORLD);
    await simulated(WORLD, "--if", "node/worker-1=NotReady", "--if", "node/worker-2=Gone");
    expect({ ...filesOf(WORLD), "digitalocean.yaml": "" }).toEqual({ ...before, "digitalocean.yaml": "" });
  });
});
