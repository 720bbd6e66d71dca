import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Document, isMap, isScalar, parse, parseAllDocuments, visit } from "yaml";
import { schemaErrors } from "../report/schemas.ts";
import { type Printed, realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-snapshot-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Runs a command line in this process. */
async function flipop(...argv: readonly string[]): Promise<Printed> {
  return await realCommand(argv, { identity: "snapshot" });
}

const at = (name: string): string => join(root, name);

/** What was printed, without the times that pass, and the place that it was read from. */
function timeless({ stdout, exitCode }: Printed): object {
  const text = stdout
    .replace(/http:\/\/127\.0\.0\.1:\d+|[\w-]+\.yaml(?=[,"\n])/g, "PLACE")
    .replace(/(\d{4}-\d\d-\d\d[T ])?\d\d:[\d:.]+( UTC|Z)/g, "TIME")
    .replace(/\b\d+[smh](\d+[sm])?\b/g, "AGE")
    .replace(/ +/g, " ");
  return { text, exitCode };
}

/** Changes every document of a file of a world. */
function change(world: string, file: string, by: (document: Document) => void): void {
  const path = join(at(world), file);
  const documents = parseAllDocuments(readFileSync(path, "utf8")) as Document[];
  for (const document of documents) if (isMap(document.contents)) by(document);
  writeFileSync(path, documents.map(String).join("---\n"));
}

/** `SNAPSHOTS=all` asks all of them of every world; else each is asked of two. */
const isAll = process.env["SNAPSHOTS"] === "all";
const READINGS: readonly (readonly string[])[] = [
  ["plan"],
  ["plan", "-o", "wide", "--all"],
  ["plan", "-o", "json"],
  ["plan", "-o", "yaml", "pool/ingress/web"],
  ["plan", "node/worker-1"],
  ["plan", "ip/203.0.113.11"],
  ["plan", "-n", "ingress"],
  ["explain", "pool/ingress/web"],
  ["explain", "ip/203.0.113.11", "node/worker-2"],
  ["explain", "node/worker-1", "-o", "json"],
  ["history"],
  ["history", "-o", "json"],
  ["history", "-n", "ingress", "--failed"],
  ["plan", "-o", "name"],
  ["plan", "--if", "node/worker-1=NotReady", "--if", "+5m"],
  ["simulate"],
  ["simulate", "-o", "json"],
  ["simulate", "--drain", "worker-2"],
  ["simulate", "--n-1"],
  ["simulate", "--rolling-upgrade", "topology.kubernetes.io/region=nyc3"],
  ["status"],
  ["status", "-o", "wide"],
  ["status", "-o", "json"],
  ["status", "--check"],
  ["status", "pool/ingress/web", "-o", "name"],
];

describe("flipop snapshot", () => {
  test.for([
    ["as it is", [], "", 0],
    ["after a run", ["reconcile"], "", 1],
    ["in which a node died after a run", ["reconcile"], "nodes.yaml", 0],
    ["in which a provider shows no address", [], "digitalocean.yaml", 1],
  ] as const)(
    "of the example world %s gives plan and status what the world gave them",
    async ([title, before, broken, first]) => {
      const world = title.replaceAll(" ", "-");
      const sandbox = `--sandbox=${at(world)}`;
      await flipop(sandbox, "status");
      if (before.length > 0) expect(await flipop(sandbox, ...before)).toMatchObject({ exitCode: 0 });
      if (broken === "nodes.yaml")
        change(world, broken, (document) => {
          if (document.getIn(["metadata", "name"]) === "worker-1")
            document.setIn(["status", "conditions", 0, "status"], "False");
        });
      if (broken === "digitalocean.yaml") change(world, broken, (document) => document.setIn(["reserved_ips"], []));
      const file = at(`${world}.yaml`);
      expect(await flipop(sandbox, "snapshot", file)).toMatchObject({ stdout: "", stderr: "", exitCode: 0 });
      expect(schemaErrors(parse(readFileSync(file, "utf8")), "Snapshot")).toEqual([]);
      for (const words of READINGS.filter((_, place) => isAll || place % 2 === first)) {
        const [live, from] = [await flipop(sandbox, ...words), await flipop(...words, "--from", file)];
        expect({ words, ...timeless(from) }).toEqual({ words, ...timeless(live) });
      }
    },
  );

  test("is a file that only its owner may read, and replaces another one only when told to", async () => {
    const sandbox = `--sandbox=${at("files")}`;
    const file = at("files.yaml");
    expect(await flipop(sandbox, "snapshot", file)).toMatchObject({ exitCode: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await flipop(sandbox, "snapshot", file)).toMatchObject({
      stdout: "",
      stderr: `flipop: ${file} exists. --force replaces it.\n`,
      exitCode: 64,
    });
    writeFileSync(file, "mine", { mode: 0o644 });
    expect(await flipop(sandbox, "snapshot", file, "--force")).toMatchObject({ exitCode: 0 });
    expect([statSync(file).mode & 0o777, readFileSync(file, "utf8").includes("kind: Snapshot")]).toEqual([0o600, true]);
    for (const none of [[], ["-"]])
      expect((await flipop(sandbox, "snapshot", ...none)).stdout).toContain("kind: Snapshot");
    expect(await flipop(sandbox, "snapshot", at("no/such/folder.yaml"))).toMatchObject({ exitCode: 78 });
  });

  test("has nothing of what nobody asked for, wherever it stands", async () => {
    const world = "planted";
    const sandbox = `--sandbox=${at(world)}`;
    await flipop(sandbox, "reconcile");
    let count = 0;
    const plant = (): string => {
      count += 1;
      return `pl4nted-${count}`;
    };
    const metadata = (document: Document): void => {
      document.setIn(["metadata", "annotations", "example.com/note"], plant());
      document.setIn(["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"], plant());
      document.setIn(
        ["metadata", "ownerReferences"],
        [{ apiVersion: "apps/v1", kind: "X", name: plant(), uid: plant() }],
      );
      document.setIn(["metadata", "managedFields"], [{ manager: plant(), operation: "Update" }]);
    };
    for (const file of ["pools.yaml", "dns.yaml", "nodes.yaml", "pods.yaml", "cluster.yaml"])
      change(world, file, metadata);
    change(world, "nodes.yaml", (document) => {
      document.setIn(["metadata", "labels", "example.com/rack"], plant());
      document.setIn(["status", "nodeInfo"], { machineID: plant(), kernelVersion: plant(), osImage: plant() });
      document.setIn(["status", "images"], [{ names: [plant()] }]);
    });
    change(world, "pods.yaml", (document) => {
      document.setIn(["metadata", "name"], plant());
      document.setIn(["metadata", "labels", "example.com/team"], plant());
      document.setIn(["spec", "containers", 0, "image"], plant());
      document.setIn(["spec", "containers", 0, "env"], [{ name: "PASSWORD", value: plant() }]);
    });
    change(world, "digitalocean.yaml", (document) => {
      visit(document, {
        Pair: (_, { key, value }) => {
          const isOfDroplet = isScalar(key) && key.value === "droplets";
          if (!isOfDroplet) return;
          visit(value as never, {
            Map: (__, droplet) => {
              if (isMap(droplet)) droplet.set("name", plant());
            },
          });
        },
      });
      document.addIn(["domains", 0, "records"], { type: "TXT", name: plant(), data: plant() });
      document.addIn(["domains", 0, "records"], { type: "A", name: plant(), data: "192.0.2.77", ttl: 60 });
    });
    const { stdout, exitCode } = await flipop(sandbox, "snapshot");
    expect(exitCode).toBe(0);
    expect(count).toBeGreaterThan(60);
    expect(stdout).toContain("203.0.113.10");
    expect(stdout.match(/pl4nted-\d+/g) ?? []).toEqual([]);
    expect(stdout).not.toMatch(/127\.0\.0\.1|192\.0\.2\.77|nodeInfo|managedFields/);
  });

  test.for([
    "dop_v1_0123456789abcdef0123456789abcdef",
    "Bearer 0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6.eyJpc3MiOiJrdWJlcm5ldGVzL3Nl.c2lnbmF0dXJl",
  ])("is not made where it would hold what looks like a token: %s", async (token) => {
    const world = `token-${token.slice(0, 3)}`;
    const sandbox = `--sandbox=${at(world)}`;
    await flipop(sandbox, "status");
    change(world, "pools.yaml", (document) => document.setIn(["spec", "region"], token));
    const file = at(`${world}.yaml`);
    const { stdout, stderr, exitCode } = await flipop(sandbox, "snapshot", file);
    expect([stdout, exitCode, existsSync(file)]).toEqual(["", 1, false]);
    expect(stderr).toBe("flipop: The snapshot would hold a token, so none was written. Please report it as a bug.\n");
  });

  test("that lacks what could not be read says so, and ends with 3", async () => {
    const world = "gaps";
    await flipop(`--sandbox=${at(world)}`, "status");
    change(world, "digitalocean.yaml", (document) => document.setIn(["tokens"], { other: ["*"] }));
    const file = at("gaps.yaml");
    const { stderr, exitCode } = await flipop(`--sandbox=${at(world)}`, "snapshot", file);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: expect.stringMatching(/^flipop: not read: digitalocean: /),
    });
    expect((await flipop("plan", "--from", file)).stdout).toContain("3 addresses, not readable now");
  });

  test("knows of one Lease, and says which where another one is asked for", async () => {
    const file = at("lease.yaml");
    await flipop(`--sandbox=${at("gaps")}`, "snapshot", file);
    const { stdout, stderr, exitCode } = await flipop("status", "--from", file, "--lease-namespace", "ops");
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr:
        "flipop: The snapshot knows of the Lease flipop/flipop, not of ops/flipop. Pass --lease-namespace flipop --lease-name flipop.\n",
      exitCode: 78,
    });
  });
});

test("with --anonymize a snapshot holds no name of the world, and says the same of other names", async () => {
  const sandbox = `--sandbox=${at("anonymous")}`;
  await flipop(sandbox, "reconcile");
  change("anonymous", "nodes.yaml", (document) => {
    if (document.getIn(["metadata", "name"]) === "worker-1")
      document.setIn(["status", "conditions", 0, "status"], "False");
  });
  const [file, plain] = [at("anonymous.yaml"), at("named.yaml")];
  expect(await flipop(sandbox, "snapshot", plain)).toMatchObject({ stdout: "", stderr: "", exitCode: 0 });
  expect(await flipop(sandbox, "snapshot", "--anonymize", file)).toMatchObject({ stdout: "", stderr: "", exitCode: 0 });
  const text = readFileSync(file, "utf8");
  expect(schemaErrors(parse(text), "Snapshot")).toEqual([]);
  expect(text.match(/worker|ingress|nyc3|example|203\.0|192\.0\.2|10\.0\.0|\b100\d\b/g)).toBeNull();
  const document = async (...words: readonly string[]) => JSON.parse((await flipop(...words, "-o", "json")).stdout);
  const plan = await document("plan", "--from", file);
  expect(plan.planId).toBe(parse(text).planId);
  const told = (name: string, world: string) =>
    flipop(name, "--from", world).then(({ exitCode, stdout, stderr }) => ({
      name,
      exitCode,
      stderr,
      lines: stdout.split("\n").length,
    }));
  for (const name of ["plan", "simulate", "status", "history"])
    expect(await told(name, file)).toEqual(await told(name, plain));
  for (const name of ["status", "history"]) {
    const { stdout } = await flipop(name, "--from", file);
    expect({ name, stdout, hasLease: /last run: +\d+|last run ended/.test(stdout) }).toMatchObject({ hasLease: true });
    expect({ name, left: stdout.match(/.*….*/g) }).toEqual({ name, left: null });
  }
  const kinds = async (world: string) =>
    (await document("plan", "--from", world)).actions.map(({ kind, reason }: { kind: string; reason: string }) => [
      kind,
      reason,
    ]);
  expect(await kinds(file)).toEqual(await kinds(plain));
  expect((await kinds(file)).length).toBeGreaterThan(0);
  const [pool] = plan.pools;
  const object = `pool/${pool.object.namespace}/${pool.object.name}`;
  expect(await flipop("explain", object, "--from", file)).toMatchObject({ exitCode: 0, stderr: "" });
});

describe("the past in a snapshot", () => {
  test("is what flipop wrote of it, and nothing of others", async () => {
    const sandbox = `--sandbox=${at("past")}`;
    await flipop(sandbox, "reconcile");
    change("past", "cluster.yaml", (document) => {
      if (document.get("kind") === "Event" && String(document.get("note")).startsWith("Annotated"))
        document.set("reportingController", "example.com/somebody");
    });
    const file = at("past.yaml");
    expect(await flipop(sandbox, "snapshot", file)).toMatchObject({ exitCode: 0 });
    const live = (await flipop(sandbox, "history")).stdout;
    const kept = (await flipop("history", "--from", file)).stdout;
    expect([live.includes("Annotated node"), kept.includes("nnotated node")]).toEqual([true, false]);
    expect(kept).toContain("assigned 203.0.113.11 to worker-2");
  });

  test("may be left out, which history and explain say", async () => {
    const file = at("without.yaml");
    const sandbox = `--sandbox=${at("without")}`;
    await flipop(sandbox, "reconcile");
    expect(await flipop(sandbox, "snapshot", file, "--no-events")).toMatchObject({ exitCode: 0 });
    const history = await flipop("history", "--from", file);
    expect([history.exitCode, history.stderr]).toEqual([0, ""]);
    expect(history.stdout).toContain("Events are not shown. The snapshot holds none.\n");
    expect(history.stdout).toContain("is ready");
    const { stdout } = await flipop("explain", "ip/203.0.113.10", "--from", file);
    expect(stdout).toMatch(/\nHistory:\n {2}Events are not shown\. The snapshot holds none\.\n$/);
  });
});

describe("--from", () => {
  const file = at("from.yaml");
  beforeAll(async () => {
    await flipop(`--sandbox=${at("from")}`, "snapshot", file);
  });

  const edited = (by: (text: string) => string): string => {
    writeFileSync(at("edited.yaml"), by(readFileSync(file, "utf8")));
    return at("edited.yaml");
  };

  test("refuses what only a cluster could say, and files that are no snapshots", async () => {
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [["plan", "--from", file, "--context", "prod"], 64, "--from needs no cluster: leave out --context."],
      [["--sandbox", "status", "--from", file], 64, "--from needs no cluster: leave out --sandbox."],
      [["--sandbox", "snapshot", "--pods", "app=web"], 64, "Write it like ingress/app=web."],
      [["--sandbox", "snapshot", "--pods", "/"], 64, "Write it like ingress/app=web."],
      [["--sandbox", "snapshot", "--pods", "ingress/app in web"], 64, "It selects no pods: "],
      [["plan", "--from", file, "--grants", "require"], 78, "Take one with --grants require."],
      [["plan", "--from", at("nowhere.yaml")], 78, "There is no file"],
      [["history", "--from", at("nowhere.yaml")], 78, "There is no file"],
    ];
    for (const [words, exitCode, said] of cases) {
      const printed = await flipop(...words);
      expect({ words, exitCode: printed.exitCode, stderr: printed.stderr }).toEqual({
        words,
        exitCode,
        stderr: expect.stringContaining(said),
      });
    }
  });

  test.for([
    [
      "a: [",
      78,
      "It is no YAML: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 5.\n",
    ],
    ["kind: Pod", 78, "It is no snapshot: its kind is not Snapshot."],
    ["newer", 78, "Its apiVersion is cli.flipop.digitalocean.com/v2"],
    ["wrong", 78, "observed.pools[0].spec.desiredIPs must be a number"],
  ] as const)("refuses %s", async ([text, exitCode, said]) => {
    const path = edited((whole) => {
      if (text === "newer") return whole.replace("digitalocean.com/v1\n", "digitalocean.com/v2\n");
      return text === "wrong" ? whole.replace(/desiredIPs: \d+/, "desiredIPs: many") : text;
    });
    const printed = await flipop("plan", "--from", path);
    expect([printed.exitCode, printed.stderr]).toEqual([exitCode, expect.stringContaining(said)]);
  });

  test("warns of a snapshot that was edited, and plans for what stands there now", async () => {
    const path = edited((text) => `${text.replace("suspend: false", "suspend: true")}\nunknownSection: {a: 1}\n`);
    const { stdout, stderr } = await flipop("plan", "--from", path);
    expect(stderr).toContain("edited.yaml was edited since it was taken: its digest is another one.");
    expect(stdout).toContain("suspended");
  });

  test("plans for later: what waits for a time is over then", async () => {
    const { stdout } = await flipop("plan", "--from", file, "--if", "+1d");
    expect(stdout).toMatch(/^Plan for from\.yaml, read /);
  });
});
