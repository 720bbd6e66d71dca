import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { PastEvent } from "../../src/model/change.ts";
import { KubeError, type KubeFailure } from "../../src/model/errors.ts";
import { eventsTold, linesTold } from "../history/told.ts";
import { applied, aRun, failed } from "../report/runs.ts";
import { schemaErrors } from "../report/schemas.ts";
import { afterFailure, aLease, aPool, NOW_MS, reconciled } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const MOVED = aRun(afterFailure(), reconciled(), applied);
const scene: Scene = { observation: afterFailure(), lease: aLease(), events: eventsTold(MOVED) };
const root = mkdtempSync(join(tmpdir(), "flipop-history-"));
afterAll(() => rmSync(root, { recursive: true }));

function logFile(name: string, lines: readonly string[]): string {
  const path = join(root, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

interface Told {
  readonly changes: readonly {
    readonly time: string;
    readonly object: { readonly kind: string; readonly name: string } | null;
    readonly kind: string;
    readonly outcome: string;
    readonly message: string;
    readonly sources: readonly string[];
  }[];
  readonly gaps: readonly string[];
  readonly older: number;
  readonly reach: object;
}

async function told(argv: readonly string[], of: Scene = scene): Promise<Told> {
  const { stdout, stderr, exitCode } = await invoke(["history", "-o", "json", ...argv], of);
  expect([stderr, exitCode]).toEqual(["", 0]);
  const document = JSON.parse(stdout);
  expect(schemaErrors(document, "History")).toEqual([]);
  return document;
}

const kinds = ({ changes }: Told): readonly string[] => changes.map(({ kind }) => kind);

const refusal = (failure: KubeFailure): KubeError =>
  new KubeError({ failure, operation: "list", subject: "", status: 403, message: `It is ${failure}.` });

describe("flipop history", () => {
  test("tells of Events, of logs and of both the same changes", async () => {
    const file = logFile("run.log", await linesTold(MOVED));
    const actions = ({ changes }: Told): readonly string[] =>
      changes
        .filter(({ sources }) => sources.includes("event") || sources.includes("log"))
        .filter(({ kind }) => kind !== "run")
        .map(({ message }) => message)
        .toSorted();
    const both = await told(["--logs", file]);
    expect(actions(both)).toHaveLength(MOVED.outcomes.length);
    expect(actions(await told([]))).toEqual(actions(both));
    expect(actions(await told(["--logs", file], { ...scene, events: [] }))).toEqual(actions(both));
    expect(both.reach).toMatchObject({ logs: { from: expect.any(String), to: expect.any(String) } });
  });

  test("is the newest first, back to --since, and says how much it left out", async () => {
    const at = (hours: number, name: string): PastEvent => {
      const [event] = eventsTold(MOVED);
      const ms = NOW_MS - hours * 3_600_000;
      if (event === undefined) throw new Error("no Event");
      return { ...event, firstMs: ms, lastMs: ms, note: `Moved ${name}: it was due.` };
    };
    const old = {
      ...scene,
      observation: { ...afterFailure(), pools: [] },
      events: [at(30, "a"), at(1, "b"), at(2, "c")],
    };
    const some = await told([], old);
    expect(some.changes.map(({ message }) => message).filter((text) => text.startsWith("moved"))).toEqual([
      "moved b: it was due.",
      "moved c: it was due.",
    ]);
    expect(some.older).toBe(1);
    expect((await told(["--since", "2d"], old)).older).toBe(0);
    const { stdout } = await invoke(["history"], old);
    expect(stdout).toContain("1 change before 2026-07-31 12:00:00 UTC is left out: --since reaches further back.\n");
  });

  test("of a pool, an address, a node or a name tells of these only", async () => {
    const all = await told([]);
    const ofPool = await told(["pool/ingress/web"]);
    expect(ofPool.changes.length).toBeLessThan(all.changes.length);
    expect(ofPool.changes.every(({ object }) => object?.name === "web")).toBe(true);
    for (const [target, word] of [
      ["ip/203.0.113.10", "203.0.113.10"],
      ["node/worker-3", "worker-3"],
    ] as const) {
      const { changes } = await told([target]);
      expect(changes.length).toBeGreaterThan(0);
      expect(changes.every(({ message }) => message.includes(word))).toBe(true);
    }
    const two = await told(["ip/203.0.113.10", "node/worker-3"]);
    expect(two.changes.length).toBeGreaterThanOrEqual((await told(["node/worker-3"])).changes.length);
  });

  test("narrowed by -n or -l does not tell of runs, which are about all objects", async () => {
    expect(kinds(await told([]))).toContain("run");
    expect(kinds(await told(["-n", "ingress"]))).not.toContain("run");
    expect(kinds(await told(["-n", "ingress", "-A"]))).toContain("run");
    const empty = await invoke(["history", "-n", "other"], { ...scene, namespaces: ["other"] });
    expect(empty.stdout).toMatch(/^No object in namespace other\. There is .*pool\/ingress\/web/);
    const ofNone = await invoke(["history", "-l", "app=none", "-o", "json"], scene);
    expect([JSON.parse(ofNone.stdout).changes, ofNone.stderr]).toEqual([[], expect.stringContaining("app=none")]);
    const labelled = await told(["-l", "app=web"]);
    expect(labelled.changes.every(({ object }) => object?.name === "web")).toBe(true);
    expect(labelled.changes.length).toBeGreaterThan(0);
  });

  test("--failed tells only what failed or waits for a person", async () => {
    const refused = { ...scene, events: eventsTold(aRun(afterFailure(), afterFailure(), (action) => failed(action))) };
    const { changes } = await told(["--failed"], refused);
    expect(changes.length).toBeGreaterThan(1);
    expect(new Set(changes.map(({ outcome }) => outcome))).toEqual(new Set(["failed"]));
    expect((await told(["--failed"])).changes.every(({ outcome }) => outcome !== "applied")).toBe(true);
  });

  test("-o name prints each object once", async () => {
    const { stdout } = await invoke(["history", "-o", "name"], scene);
    expect(stdout.split("\n").filter((line) => line === "pool/ingress/web")).toHaveLength(1);
  });

  test("of an object that is deleted is told as long as something is known of it", async () => {
    const [event] = eventsTold(MOVED);
    if (event === undefined) throw new Error("no Event");
    const gone = {
      ...scene,
      events: [{ ...event, object: { kind: "pool", namespace: "ingress", name: "gone" } as const }],
    };
    expect((await told(["pool/ingress/gone"], gone)).changes).toHaveLength(1);
    expect((await told(["-n", "ingress", "pool/gone"], gone)).changes).toHaveLength(1);
    const { stderr, exitCode } = await invoke(["history", "pool/ingress/gone"], scene);
    expect([exitCode, stderr]).toEqual([78, expect.stringContaining("There is no FloatingIPPool named gone")]);
  });
});

describe("without the right", () => {
  test("to list Events, status and the Lease are told, and one line says so", async () => {
    const { changes, gaps } = await told([], { ...scene, eventsError: refusal("forbidden") });
    expect(gaps).toEqual(["Events are not shown. It is forbidden."]);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.flatMap(({ sources }) => sources)).not.toContain("event");
  });

  test("to list Events explain answers all the same, and says so", async () => {
    const argv = ["explain", "ip/203.0.113.10", "-o", "json"];
    const { stdout, exitCode } = await invoke(argv, { ...scene, eventsError: refusal("forbidden") });
    const document = JSON.parse(stdout);
    expect([exitCode, schemaErrors(document, "Explanation")]).toEqual([0, []]);
    expect(document.historyGaps).toEqual(["Events are not shown. It is forbidden."]);
    expect(document.history.map(({ kind }: { kind: string }) => kind)).toContain("match");
    const asked = JSON.parse(
      (await invoke([...argv, "--no-history"], { ...scene, eventsError: refusal("timeout") })).stdout,
    );
    expect([asked.history, asked.historyGaps]).toEqual([undefined, undefined]);
  });

  test("to read the Lease, the rest is told, and one line says so", async () => {
    const { changes, gaps } = await told([], { ...scene, leaseError: refusal("forbidden") });
    expect(gaps).toEqual(["The last run is not known. It is forbidden."]);
    expect(changes.length).toBeGreaterThan(0);
  });

  test("to list pools nothing is told", async () => {
    const { exitCode, stdout } = await invoke(["history"], { ...scene, error: refusal("forbidden") });
    expect([exitCode, stdout]).toEqual([77, ""]);
  });

  test.for(["unavailable", "timeout", "malformed"] as const)(
    "Events that cannot be read because of '%s' end it with 75",
    async (failure) => {
      const { exitCode, stdout } = await invoke(["history"], { ...scene, eventsError: refusal(failure) });
      expect([exitCode, stdout]).toEqual([75, ""]);
    },
  );
});

describe("logs", () => {
  test("of a pipe are read when somebody writes to it", async () => {
    const pipe = join(root, "pipe");
    execFileSync("mkfifo", [pipe]);
    const telling = told(["--logs", pipe], { ...scene, events: [] });
    const writer = await open(pipe, "w");
    await writer.write(`${(await linesTold(MOVED)).join("\n")}\n`);
    await writer.close();
    expect((await telling).reach).toMatchObject({ logs: { from: expect.any(String) } });
  });

  test("with lines that are none of flipop's are told, with how many, and where the first is", async () => {
    const lines = await linesTold(MOVED);
    const some = await told(["--logs", logFile("mixed.log", [...lines, "(node:1) Warning", "{"])]);
    expect(some.gaps).toEqual([
      `2 of ${lines.length + 2} lines of ${join(root, "mixed.log")} are no log lines of flipop, the first is line ${lines.length + 1}.`,
    ]);
    const none = await told(["--logs", logFile("none.log", ["a", "b"])]);
    expect(none.gaps).toEqual([
      `${join(root, "none.log")} has no log line of flipop. Runs write them with --log-format json, and in a pod by themselves.`,
    ]);
  });

  test("with more changes than are kept say so", async () => {
    const line = (n: number): string =>
      JSON.stringify({
        time: new Date(NOW_MS - n * 1000).toISOString(),
        level: "info",
        runID: "1",
        msg: `moved 203.0.113.10 from worker-${n} to worker-${n + 1}: it was due.`,
        object: "pool/ingress/web",
        kind: "move-ip",
        outcome: "applied",
      });
    const path = logFile(
      "long.log",
      Array.from({ length: 10_050 }, (_, n) => line(n)),
    );
    const { gaps, changes } = await told(["--logs", path, "pool/ingress/web"], { ...scene, events: [] });
    expect(gaps).toEqual([`Of ${path} only the newest 10000 changes are told.`]);
    expect(changes.filter(({ sources }) => sources.includes("log"))).toHaveLength(10_000);
  });
});

describe("bad input is refused", () => {
  test.for<readonly [readonly string[], number, string]>([
    [["--since", "soon"], 64, "Write it like 30m, 24h or 7d: more than 0s, at most 366d."],
    [["--since", "0s"], 64, "more than 0s, at most 366d"],
    [["--since", "367d"], 64, "at most 366d"],
    [["--logs"], 64, "argument missing"],
    [["--logs", "-", "--from", "-"], 64, "--logs and --from cannot both read standard input."],
    [["--logs", join(root, "nowhere.log")], 78, "There is no file"],
    [["--logs", root], 78, "is a folder, and no file"],
    [["ip/203.0.113"], 64, "is no IP address"],
    [["ip/"], 64, `Unknown target 'ip/': "" is no IP address`],
    [["ip/203.0.113.250"], 78, "No object has the address 203.0.113.250, and no change of it is known"],
    [["node/worker-77"], 78, "There is no node named worker-77, and no change of it is known"],
    [["pool/nope"], 78, "There is no FloatingIPPool named nope in any namespace"],
    [["nope"], 78, "There is no FloatingIPPool, RoutedIP or NodeDNSRecordSet named nope"],
    [["-n", "nope"], 78, "There is no namespace nope."],
    [["--watch"], 64, "Unknown option '--watch'"],
  ])("%j", async ([argv, exitCode, said]) => {
    const printed = await invoke(["history", ...argv], { ...scene, namespaces: ["ingress"] });
    expect([printed.exitCode, printed.stdout, printed.stderr]).toEqual([exitCode, "", expect.stringContaining(said)]);
  });

  test("but not a node or an address that is there, of which nothing is known", async () => {
    const observation = afterFailure();
    const quiet = { ...scene, observation: { ...observation, pools: [aPool("web", ["203.0.113.10"])] }, events: [] };
    for (const target of ["node/worker-1", "ip/203.0.113.10"]) {
      const { stdout, exitCode } = await invoke(["history", target], quiet);
      expect([exitCode, stdout]).toEqual([
        0,
        expect.stringMatching(/^No change is known since 2026-07-31 12:00:00 UTC\.\n/),
      ]);
    }
  });
});
