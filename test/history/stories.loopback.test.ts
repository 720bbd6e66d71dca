import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Printed, realCommand } from "../cli/real-command.ts";
import { schemaErrors } from "../report/schemas.ts";

// Stories on the embedded world, over HTTP: what happened is told from Events alone, from logs alone, and from both.

const root = mkdtempSync(join(tmpdir(), "flipop-stories-"));
const FILLED = join(root, "filled");
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function flipop(dir: string, ...args: readonly string[]): Promise<Printed> {
  return await realCommand([`--sandbox=${dir}`, ...args], { identity: "stories" });
}

function filesOf(dir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

/** Changes a file of a world. */
function edit(dir: string, file: string, change: (text: string) => string): void {
  const path = join(dir, file);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
}

/** Reconciles as a CronJob does, and keeps its log. */
async function run(dir: string): Promise<number> {
  const { stderr, exitCode } = await flipop(dir, "reconcile", "--settle", "--log-format", "json");
  appendFileSync(`${dir}.log`, stderr);
  return exitCode;
}

interface Told {
  readonly time: string;
  readonly object: { readonly kind: string } | null;
  readonly kind: string;
  readonly outcome: string;
  readonly count: number;
  readonly message: string;
  readonly sources: readonly string[];
}

async function history(dir: string, ...args: readonly string[]): Promise<readonly Told[]> {
  const { stdout, stderr, exitCode } = await flipop(dir, "history", "-q", "-o", "json", ...args);
  expect([stderr, exitCode]).toEqual(["", 0]);
  const document = JSON.parse(stdout);
  expect(schemaErrors(document, "History")).toEqual([]);
  return document.changes;
}

/** What Events and logs tell, without how often: `kind outcome: message`. What only one of them can tell is left out. */
function storyOf(changes: readonly Told[]): readonly string[] {
  return changes
    .filter(
      ({ sources, kind }) =>
        !sources.includes("status") && !sources.includes("lease") && !["run", "stall"].includes(kind),
    )
    .map(({ kind, outcome, message }) => `${kind} ${outcome}: ${message}`);
}

const NOT_READY = (text: string): string => {
  const at = text.indexOf('status: "True"', text.indexOf("type: Ready", text.indexOf("name: worker-1\n")));
  return `${text.slice(0, at)}status: "False"${text.slice(at + 'status: "True"'.length)}`;
};

/** Lets the cluster forget its Events, as it does after an hour. */
function forgetEvents(dir: string): void {
  edit(dir, "cluster.yaml", (text) =>
    text
      .split(/^---\n/m)
      .filter((document) => !/^kind: Event$/m.test(document))
      .join("---\n"),
  );
}

beforeAll(async () => {
  expect(await run(FILLED)).toBe(0);
});

/** What happens to a world that was filled, and what of it must be told, the newest first. */
const STORIES: Readonly<
  Record<string, { readonly play: (dir: string) => Promise<void>; readonly told: readonly RegExp[] }>
> = {
  "a node fails, and its address moves": {
    play: async (dir) => {
      edit(dir, "nodes.yaml", NOT_READY);
      await run(dir);
    },
    told: [
      /^clear-annotation applied: cleared the annotation 203\.0\.113\.10 of node worker-1/,
      /^annotate-node applied: annotated node worker-5 with 203\.0\.113\.10/,
      /^move-ip applied: moved 203\.0\.113\.10 from worker-1 to worker-5: worker-1 no longer matches \(not ready\)/,
    ],
  },
  "a move is refused twice, and then it is made": {
    play: async (dir) => {
      edit(dir, "faults.yaml", (text) =>
        text.replace(/\[\]\s*$/, "- {server: digitalocean, method: POST, path: /actions$, status: 422, times: 2}\n"),
      );
      edit(dir, "nodes.yaml", NOT_READY);
      await run(dir);
      for (const _ of [1, 2]) {
        edit(dir, "pools.yaml", (text) =>
          text.replace(/nextAttemptTime: .*/g, "nextAttemptTime: 2020-01-01T00:00:00Z"),
        );
        await run(dir);
      }
    },
    told: [/^move-ip applied: moved 203\.0\.113\.10/, /^move-ip failed: could not move 203\.0\.113\.10/],
  },
  "somebody deletes a record, and it is put right": {
    play: async (dir) => {
      edit(dir, "digitalocean.yaml", (text) =>
        text.replace(/ {6}- id: \d+\n {8}type: A\n {8}name: www\n {8}data: 203\.0\.113\.12\n {8}ttl: 60\n/, ""),
      );
      await run(dir);
    },
    told: [/^update-dns applied: updated DNS www\.example\.com at digitalocean \(\+203\.0\.113\.12 /],
  },
  "an address leaves the spec": {
    play: async (dir) => {
      edit(dir, "pools.yaml", (text) => text.replace(/^ *- "?203\.0\.113\.12"?\n/m, ""));
      await run(dir);
    },
    told: [/^(update|withdraw)-dns applied: .*-203\.0\.113\.12/],
  },
};

describe.for(Object.keys(STORIES))("%s", (name) => {
  const { play, told: wantedLines } = STORIES[name] ?? expect.fail("no story");
  const dir = join(root, name.replaceAll(/\W+/g, "-"));

  test("is told once and in order, from Events alone, from logs alone, and from both", async () => {
    cpSync(FILLED, dir, { recursive: true });
    cpSync(`${FILLED}.log`, `${dir}.log`);
    await play(dir);
    const log = `${dir}.log`;
    const before = filesOf(dir);
    const told = await history(dir, "--logs", log);
    const times = told.map(({ time }) => Date.parse(time));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const both = storyOf(told);
    const ofEvents = storyOf(await history(dir));
    expect((await flipop(dir, "explain", "pool/ingress/web")).exitCode).toBe(0);
    // Explain asks the provider, which counts calls; history asks nobody but the cluster, and neither writes.
    expect({ ...filesOf(dir), "digitalocean.yaml": "" }).toEqual({ ...before, "digitalocean.yaml": "" });
    forgetEvents(dir);
    const ofLogs = storyOf(await history(dir, "--logs", log));
    expect(storyOf(await history(dir))).toEqual([]);
    let from = 0;
    for (const wanted of wantedLines) {
      const at = both.findIndex((line, index) => index >= from && wanted.test(line));
      expect({ wanted, both, isTold: at >= 0 }).toMatchObject({ isTold: true });
      from = at + 1;
    }
    expect(new Set(both).size).toBe(both.length);
    expect(ofEvents.toSorted()).toEqual(both.toSorted());
    expect(ofLogs.toSorted()).toEqual(both.toSorted());
  });
});

test("that an object waits for a person is told once: by its Event, and once that is forgotten by its status", async () => {
  const dir = join(root, "full");
  cpSync(FILLED, dir, { recursive: true });
  edit(dir, "digitalocean.yaml", (text) => text.replace(/^ {2}reserved_ip_limit: \d+/m, "  reserved_ip_limit: 4"));
  edit(dir, "pools.yaml", (text) => text.replace("  match:\n", "  desiredIPs: 5\n  match:\n"));
  await run(dir);
  const waits = async (): Promise<readonly (readonly string[])[]> => {
    const told = await history(dir, "pool/ingress/web", "--failed");
    expect(told.filter(({ outcome }) => outcome === "waiting").map(({ kind }) => kind)).toEqual(["stall"]);
    return told.filter(({ kind }) => kind === "stall").map(({ sources }) => sources);
  };
  expect(await waits()).toEqual([["event"]]);
  forgetEvents(dir);
  expect(await waits()).toEqual([["status"]]);
});
