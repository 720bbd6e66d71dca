// The program as the image holds it: one file, and what V8 made of it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { onSettledExample, warmUp } from "../../bin/one-file.ts";
import { cronJobContainer } from "../bench/container.ts";
import { IN_IMAGE } from "./entry.ts";

const parent = mkdtempSync(join(tmpdir(), "flipop-one-file-"));
const cache = `main.${process.version}-${process.arch}.cache`;

afterAll(() => rmSync(parent, { recursive: true }));

/** Returns a copy that a test may change. */
function copied(): string {
  const copy = mkdtempSync(join(parent, "app-"));
  cpSync(IN_IMAGE, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Run {
  return spawnSync(process.execPath, args, { encoding: "utf8", env });
}

/** True if V8 refuses its file of a program. */
function isRefused(app: string, env: Readonly<Record<string, string>>): boolean {
  const loader = JSON.stringify(pathToFileURL(join(app, "bin/compiled.js")).href);
  const program = JSON.stringify(join(app, "lib/main.cjs"));
  const code = `import(${loader}).then(({ compile }) => console.log(compile(${program}).cachedDataRejected))`;
  const { stdout, stderr } = node(["-e", code], env);
  expect([stderr, stdout]).toEqual(["", expect.stringMatching(/^(true|false)\n$/)]);
  return stdout === "true\n";
}

test("is a program, its source map and what V8 made of it for this Node, and nothing else", () => {
  expect(readdirSync(join(IN_IMAGE, "lib")).toSorted()).toEqual(["main.cjs", "main.cjs.map", cache]);
});

test("is ASCII, and loads no module of its own late", () => {
  const text = readFileSync(join(IN_IMAGE, "lib/main.cjs"), "latin1");
  expect([...text].find((letter) => letter > "~")).toBeUndefined();
  // A text of the SDKs names one in backticks.
  expect(/[^`\w]import\(["'`]/.test(text)).toBe(false);
});

test("V8 takes what it made, with the flags that the CronJob sets and without them", () => {
  expect(isRefused(IN_IMAGE, {})).toBe(false);
  const { environment } = cronJobContainer(IN_IMAGE);
  expect(environment["NODE_OPTIONS"]).toContain("--max-old-space-size");
  expect(isRefused(IN_IMAGE, environment)).toBe(false);
});

const DAMAGES: Readonly<Record<string, (content: Buffer) => Buffer>> = {
  "is cut": (content) => content.subarray(0, content.length / 2),
  "is empty": () => Buffer.alloc(0),
  "is of another V8": (content) => Buffer.concat([Buffer.from("another one"), content.subarray(11)]),
};

test.for(Object.entries(DAMAGES))("starts also where what V8 made %s", ([, damage]) => {
  const copy = copied();
  const file = join(copy, "lib", cache);
  writeFileSync(file, damage(readFileSync(file)));
  expect(isRefused(copy, {})).toBe(true);
  expect(node([join(copy, "bin/start.js"), "--version"])).toMatchObject({
    ...{ status: 0, stderr: "" },
    stdout: expect.stringMatching(/^flipop \d/),
  });
});

test("starts where there is nothing that V8 made, and shows a stack also without the map", () => {
  const copy = copied();
  for (const name of [cache, "main.cjs.map"]) rmSync(join(copy, "lib", name));
  const { status, stderr } = node([join(copy, "bin/start.js"), "plan", "--kubeconfig=/nowhere", "-vv"]);
  expect(status).toBe(78);
  expect(stderr).toMatch(/^flipop: The kubeconfig \/nowhere does not exist\./);
  expect(stderr).toMatch(/^ {4}at .*main\.cjs:\d+:\d+/m);
});

test("V8 makes the same file on a slow machine, where each answer arrives late", async () => {
  const copy = copied();
  rmSync(join(copy, "lib", cache));
  const program = join(copy, "lib/main.cjs");
  const [quick, slow] = await onSettledExample(
    copy,
    async (env): Promise<readonly [Buffer, Buffer]> => [
      await warmUp(program, { ...env, NODE_OPTIONS: late(0) }),
      await warmUp(program, { ...env, NODE_OPTIONS: late(350) }),
    ],
  );
  expect(slow.equals(quick)).toBe(true);
});

/** What makes each request of a program late, milliseconds. */
function late(ms: number): string {
  const code = `import { Agent } from "node:http";
    const { addRequest } = Agent.prototype;
    const { setTimeout } = globalThis;
    Agent.prototype.addRequest = function (...all) { setTimeout(() => addRequest.apply(this, all), ${String(ms).padStart(4)}); };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}
