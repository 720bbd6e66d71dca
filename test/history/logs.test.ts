import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, test } from "vitest";
import { readLogFile } from "../../src/cli/log-files.ts";
import { type LogRead, LogReader } from "../../src/history/from-logs.ts";
import { mentions } from "../../src/history/texts.ts";
import { logOf, storyOf } from "./told.ts";

const MOVE = {
  time: "2026-08-01T12:00:50Z",
  level: "info",
  msg: "moved 203.0.113.10 from worker-1 to worker-5: worker-1 no longer matches.",
  runID: "0f1e2d3c",
  planID: "5f2c9a1e03b7d4",
  object: "pool/ingress/web",
  kind: "move-ip",
  subject: "203.0.113.10",
  outcome: "applied",
  reason: "HolderLost",
  attempts: 2,
  ms: 1234,
  endedAt: "2026-08-01T12:00:09.5Z",
};
const LINE = JSON.stringify(MOVE);
const TOLD =
  "pool/ingress/web move-ip 203.0.113.10 applied: moved 203.0.113.10 from worker-1 to worker-5: worker-1 no longer matches.";

describe("a log line", () => {
  test.for([
    ["as it is", LINE],
    ["behind the time of kubectl logs --timestamps", `2026-08-01T12:00:50.123456789Z ${LINE}`],
    ["as containerd keeps it", `2026-08-01T12:00:50.1Z stderr F ${LINE}`],
    ["behind the pod of kubectl logs --prefix", `[pod/flipop-1-x/flipop] ${LINE}`],
    ["with a carriage return", `${LINE}\r`],
    ["as Docker keeps it", JSON.stringify({ log: `${LINE}\n`, stream: "stderr", time: "2026-08-01T12:00:51Z" })],
    ["as an object in a field of a log store", JSON.stringify({ severity: "INFO", jsonPayload: MOVE })],
  ] as const)("is read %s", ([, line]) => {
    const { changes, foreign } = logOf([line]);
    expect([storyOf(changes), foreign]).toEqual([[TOLD], 0]);
    expect(changes[0]).toMatchObject({ tookMs: 1234, timeMs: Date.parse(MOVE.endedAt), sources: ["log"] });
  });

  test("says which pod wrote it where the log store does", () => {
    expect(logOf([`[pod/flipop-1-x/flipop] ${LINE}`]).changes[0]?.by).toBe("flipop-1-x");
    expect(logOf([LINE]).changes[0]).not.toHaveProperty("by");
  });

  test("that comes twice, since somebody read the logs of a pod twice, counts once", () => {
    const failure = {
      ...MOVE,
      outcome: "failed",
      attempts: 1,
      msg: "could not move 203.0.113.10 to worker-5: it was busy.",
    };
    const lines = [LINE, JSON.stringify(failure), JSON.stringify({ ...failure, endedAt: "2026-08-01T12:00:20Z" })];
    const [once, twice] = [logOf(lines), logOf([...lines, ...lines.map((line) => `[pod/flipop-1-x/flipop] ${line}`)])];
    expect(storyOf(twice.changes)).toEqual(storyOf(once.changes));
    expect(twice.changes.map(({ count }) => count).toSorted()).toEqual([1, 2]);
    expect(storyOf(logOf([LINE, JSON.stringify({ ...MOVE, endedAt: "2026-08-01T12:00:10Z" })]).changes)).toEqual([
      TOLD,
      TOLD,
    ]);
  });

  test("of a version that did not say when a change ended has the time of the line", () => {
    const { endedAt: _, ...old } = MOVE;
    expect(logOf([JSON.stringify(old)]).changes[0]?.timeMs).toBe(Date.parse(MOVE.time));
  });

  test.for<readonly [string, object, readonly string[]]>([
    [
      "a run that failed",
      { level: "error", msg: "No token.", exitCode: 77 },
      ["- run - failed: run ended with exit code 77: No token."],
    ],
    [
      "a run that a signal ended",
      { msg: "1 moved.", exitCode: 143 },
      ["- run - seen: run ended with exit code 143: 1 moved."],
    ],
    ["a run that went well", { msg: "Nothing to do.", exitCode: 0 }, []],
    [
      "a status that was not written",
      { level: "warn", object: "dns/a/b", msg: "Could not write the status of dns/a/b: no" },
      ["dns/a/b report - failed: could not write the status of dns/a/b: no"],
    ],
    [
      "that the cluster cannot be read",
      { level: "warn", msg: "The cluster cannot be read." },
      ["- report - failed: warned: The cluster cannot be read."],
    ],
    ["a warning that has a reason", { level: "warn", msg: "unencrypted", reason: "Unencrypted" }, []],
    ["who leads", { msg: "holds the Lease flipop/flipop and passes from now on" }, []],
    ["what is held", { ...MOVE, outcome: "held" }, []],
    ["what was left out", { ...MOVE, outcome: "skipped" }, []],
    ["a kind of a later version", { ...MOVE, kind: "polish-ip" }, [TOLD.replace("move-ip", "other")]],
    ["an object of a kind that this version does not know", { ...MOVE, object: "gateway/a/b" }, []],
    ["fields of wrong types", { ...MOVE, ms: "long", attempts: null, endedAt: 7, reason: [] }, [TOLD]],
  ])("tells of %s", ([, fields, expected]) => {
    const line = { time: MOVE.time, level: "info", runID: "1", ...fields };
    const { changes, foreign } = logOf([JSON.stringify(line)]);
    expect([storyOf(changes), foreign]).toEqual([expected, 0]);
  });
});

describe("lines that are none of flipop's, or broken,", () => {
  const BROKEN: readonly string[] = [
    "(node:1) Warning: something",
    LINE.slice(0, 80),
    `${LINE.slice(0, 80)}${LINE}`,
    "{}",
    "[]",
    "null",
    "{",
    '"text"',
    JSON.stringify({ ...MOVE, time: "yesterday" }),
    JSON.stringify({ ...MOVE, runID: undefined }),
    JSON.stringify({ ...MOVE, msg: 7 }),
    JSON.stringify({ log: LINE.slice(0, 80) }),
    `{"a":${"[".repeat(50_000)}`,
    "\u0000\ufffd\u001b[2J",
  ];

  test("are counted, and the others are told", () => {
    const { changes, foreign, firstForeign, lines } = logOf([LINE, "", ...BROKEN, "  "]);
    expect([storyOf(changes), foreign, firstForeign, lines]).toEqual([[TOLD], BROKEN.length, 3, BROKEN.length + 3]);
  });

  test("are all that there is", () => {
    expect(logOf(BROKEN)).toEqual({
      changes: [],
      lines: BROKEN.length,
      foreign: BROKEN.length,
      firstForeign: 1,
      isCut: false,
    });
  });
});

/** Bytes in use once nothing is left to collect. */
function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

describe("a log of any length", () => {
  const root = mkdtempSync(join(tmpdir(), "flipop-logs-"));
  afterAll(() => rmSync(root, { recursive: true }));

  function fileOf(name: string, lines: readonly string[], end = "\n"): string {
    const path = join(root, name);
    writeFileSync(path, lines.join("\n") + end);
    return path;
  }

  async function readFile(path: string, most?: number): Promise<LogRead> {
    const reader = new LogReader(() => true, most);
    await readLogFile(path, reader);
    return reader.end();
  }

  const lineAt = (second: number, node = second): string =>
    JSON.stringify({
      ...MOVE,
      endedAt: undefined,
      time: new Date(Date.UTC(2026, 7, 1) + second * 1000).toISOString(),
      msg: `moved 203.0.113.10 from worker-${node} to worker-${node + 1}: worker-${node} no longer matches.`,
    });

  test("of 100,000 lines is read in bounded memory: the newest changes stay, in whatever order they come", async () => {
    const count = 100_000;
    // 7 and 100,000 have no common divisor: every second once.
    const path = fileOf(
      "huge.log",
      Array.from({ length: count }, (_, n) => lineAt((n * 7) % count)),
    );
    const before = heapAfterCollection();
    const started = process.cpuUsage();
    const read = await readFile(path, 1000);
    const { user, system } = process.cpuUsage(started);
    const grown = heapAfterCollection() - before;
    expect([read.lines, read.foreign, read.changes.length, read.isCut]).toEqual([count, 0, 1000, true]);
    const seconds = read.changes.map(({ timeMs }) => (timeMs - Date.UTC(2026, 7, 1)) / 1000);
    expect([Math.min(...seconds), Math.max(...seconds)]).toEqual([count - 1000, count - 1]);
    expect([read.fromMs, read.toMs]).toEqual([Date.UTC(2026, 7, 1), Date.UTC(2026, 7, 1) + (count - 1) * 1000]);
    // The file has 38 MB.
    expect(grown).toBeLessThan(5_000_000);
    expect((user + system) / 1e6).toBeLessThan(20);
  });

  test("that says one failure 100,000 times tells it once, with its count", async () => {
    const failure = {
      ...MOVE,
      outcome: "failed",
      attempts: 1,
      msg: "could not move 203.0.113.10 to worker-5: DigitalOcean was busy.",
    };
    const lines = Array.from({ length: 100_000 }, (_, n) =>
      JSON.stringify({ ...failure, endedAt: undefined, time: new Date(Date.UTC(2026, 7, 1) + n * 1000).toISOString() }),
    );
    const { changes, isCut } = await readFile(fileOf("failing.log", lines), 1000);
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({ count: 100_000, firstMs: Date.UTC(2026, 7, 1) });
    expect(isCut).toBe(false);
  });

  test("that is one line without an end is read to its end, and is no line of flipop", async () => {
    const path = fileOf("endless.log", [`{"a":"${"x".repeat(30_000_000)}`, LINE], "");
    const { changes, foreign, lines } = await readFile(path);
    expect([storyOf(changes), foreign, lines]).toEqual([[TOLD], 1, 2]);
  });

  test("may be cut within a character, and need not end with a line end", async () => {
    const path = fileOf("letters.log", [LINE.replace("matches.", `matches ${"ä€😀".repeat(30_000)}.`), LINE], "");
    const { changes, foreign } = await readFile(path);
    expect([changes.length, foreign]).toEqual([2, 0]);
    expect(changes.some(({ why }) => why.endsWith("ä€😀.") && !why.includes("\ufffd"))).toBe(true);
    expect((await readFile(fileOf("empty.log", [], ""))).lines).toBe(0);
  });

  test.for([
    ["nowhere.log", "There is no file"],
    [".", "is a folder, and no file"],
  ] as const)("%s cannot be read, which is said", async ([name, said]) => {
    await expect(readFile(join(root, name))).rejects.toThrow(said);
  });
});

test.for([
  ["203.0.113.1", false],
  ["203.0.113.10", true],
  ["203.0.113.11", true],
  ["203.0.113.100", false],
  ["worker-1", true],
  ["worker", false],
  ["worker-10", false],
  ["my.worker-1", false],
  ["www.example.com", true],
  ["example.com", false],
  ["www.example", false],
  ["pool", false],
] as const)("a change mentions %s: %s", ([word, expected]) => {
  const change = {
    subject: "",
    what: "updated DNS www.example.com at digitalocean (-203.0.113.10 +203.0.113.11)",
    why: "worker-1 is gone.",
  };
  expect(mentions(change as never, word)).toBe(expected);
});
