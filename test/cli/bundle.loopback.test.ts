import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../../bin/bundle.ts";
import { INVOKED_TOKENS } from "../fake/fake-tokens.ts";
import { IN_IMAGE, PACKAGE } from "../programs/entry.ts";
import { PLAYS_ALL } from "../programs/plays-all.ts";
import { failNode } from "../setup/fail-node.ts";
import { runCommand } from "./cluster-run.ts";
import { describeProcess } from "./process-suite.ts";
import { withoutWaiting } from "./without-waiting.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** A copy of the package, to put a program of the tests beside its own. */
const built = `${mkdtempSync(join(tmpdir(), "flipop-bundle-"))}/`;
beforeAll(async () => {
  cpSync(PACKAGE, built, { recursive: true, verbatimSymlinks: true });
  await bundle("test/cli/big-plan.ts", join(built, "process"));
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

describeProcess("the process as a bundle", () => join(built, "process/big-plan.js"));

/** Command lines that need no world, by what is told. */
const LINES_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  "what it is": ["--version", "version"],
  help: [
    "reconcile --help",
    "--help",
    "help plan",
    "status --help",
    "manifests --help",
    "validate --help",
    "snapshot --help",
  ],
  manifests: ["manifests --only=cronjob,secret,configmap,alerts -n ops --image x:1 --schedule @hourly", "manifests"],
  "what is wrong with the line": [
    "plan --request-timeout soon",
    "reconcile --push-grouping instance= --pushgateway http://127.0.0.1:1",
    "plann",
    "plan --nothing",
    "manifests --only=nothing",
    "validate --suppress FLP299 x",
  ],
  "what is not there": [
    "validate nowhere.yaml",
    "status -o json --log-format json",
    "status",
    "plan --from nowhere.yaml",
  ],
  "a stack": [
    "plan --kubeconfig ROOT/README.md -vv",
    "plan --sandbox /dev/null/x -vv",
    "plan --kubeconfig /nowhere/config -vv",
  ],
};

/** Of each kind the first two, and with `PACKAGING=all` all. Nearly all other suites run the one file of the image. */
const LINES = Object.values(LINES_BY_KIND).flatMap((lines) => lines.slice(0, PLAYS_ALL ? lines.length : 2));

/** Told in order, on a world of its own for each program; before some of them somebody changes a file of it. */
const STORY: readonly (readonly [string, ((world: string) => void)?])[] = [
  ["plan"],
  ["plan --all -o wide --color always"],
  ["plan -o yaml --detailed-exitcode"],
  ["plan node/worker-1 ip/203.0.113.10"],
  ["reconcile -o json"],
  ["status -o wide"],
  ["status --check -o yaml"],
  ["reconcile --log-format json", (world) => fail(world, "worker-1")],
  ["reconcile --settle --log-format json -v", (world) => refuse(world, "status: 422")],
  ["reconcile -o json -vv", (world) => refuse(world, "cut: before, times: 0")],
  ["plan -vv", (world) => writeFileSync(join(world, "pools.yaml"), "spec: [")],
];

function fail(world: string, node: string): void {
  const file = join(world, "nodes.yaml");
  writeFileSync(file, failNode(readFileSync(file, "utf8"), node, new Date()));
}

function refuse(world: string, how: string): void {
  fail(world, "worker-2");
  writeFileSync(join(world, "faults.yaml"), `- {server: digitalocean, method: POST, path: /actions$, ${how}}\n`);
}

/** A line of a stack as its file and line: functions have other names where they are bundled, and a minified call begins at another column. */
function plainFrame(line: string): string {
  return line.replace(/^( +at ).*?([^ (]+:\d+):\d+\)?$/, "$1$2");
}

/** Runs a program of a folder; what differs from run to run is replaced by what it is, and the folders by what they hold. */
async function transcript(root: string, args: readonly string[], cwd = tmpdir()): Promise<object> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", TZ: "UTC", ...INVOKED_TOKENS };
  const command = [process.execPath, join(root, "bin/start.js"), ...args.map((arg) => arg.replace("ROOT/", root))];
  const { code: status, stdout, stderr } = await runCommand(["env", "-C", cwd, ...command], env);
  const plain = (text: string): readonly string[] =>
    text
      .replaceAll(pathToFileURL(root).href, root)
      .replaceAll(root, "ROOT/")
      .replace(/flipop:(?=(src|node_modules)\/)|(?:file:\/\/|(?<=\())\/[^ ()]*(?=node_modules\/)/g, "ROOT/")
      .replaceAll(cwd, "CWD")
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)/g, "TIME")
      .replace(/(?<=127\.0\.0\.1:)\d+/g, "PORT")
      .replace(/\b[0-9a-f]{14}\b/g, "PLANID")
      .replace(/(?<="runID":")[0-9a-f]{8}/g, "RUNID")
      .replace(/(?<="(ms|durationMs)": ?)\d+/g, "0")
      .replace(/\b(\d+m)?\d+s\b/g, "0s")
      .replace(/ +/g, " ")
      .split("\n")
      .map(plainFrame);
  return { status, stdout: plain(stdout), stderr: plain(withoutWaiting(stderr)) };
}

/** What the sources answer, by the command line. */
const answers = new Map<string, Promise<object>>();

function answerOfSources(line: string): Promise<object> {
  const known = answers.get(line) ?? transcript(ROOT, line.split(" "));
  answers.set(line, known);
  return known;
}

/** The programs that are built, by what they are. */
const PROGRAMS: Readonly<Record<string, () => string>> = {
  "the bundle": () => built,
  "the one file of an image": () => `${IN_IMAGE}/`,
};

describe.for(Object.entries(PROGRAMS))("%s", ([, root]) => {
  test.for(LINES)("answers 'flipop %s' as the sources do", async (line) => {
    const [told, ofSources] = await Promise.all([transcript(root(), line.split(" ")), answerOfSources(line)]);
    expect(told).toEqual(ofSources);
  });

  test("names files and lines of the sources where it shows a stack", () => {
    const args = [join(root(), "bin/start.js"), "plan", "--kubeconfig=/nowhere", "-vv"];
    const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stderr).toMatch(/^ {4}at .*flipop:src\/adapters\/kube\/config\.ts:\d+:\d+\)?$/m);
  });
});

describe("each of them", () => {
  // All do a step at the same time, since they tell of times. On a busy machine one may fall behind, so the story is told up to three times.
  test("tells a whole story as the sources do", { retry: 2 }, async () => {
    const programs = [ROOT, ...Object.values(PROGRAMS).map((root) => root())];
    const folders = programs.map((root) => [root, mkdtempSync(join(tmpdir(), "flipop-story-"))] as const);
    try {
      for (const [line, change] of STORY) {
        const [ofSources, ...ofPrograms] = await Promise.all(
          folders.map(([root, folder]) => {
            change?.(join(folder, "world"));
            return transcript(root, ["--sandbox=world", ...line.split(" ")], folder);
          }),
        );
        for (const told of ofPrograms) expect(told, line).toEqual(ofSources);
      }
    } finally {
      for (const [, folder] of folders) rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("starting the bundle loads commander and no other package: the rest comes with the command that needs it", () => {
  const loaded = new Set(["main.js"]);
  // A Set iterates over what is added on the way.
  for (const name of loaded) {
    const text = readFileSync(join(PACKAGE, "lib", name), "utf8");
    for (const [, path = ""] of text.matchAll(/^(?:import|export)[^"(]*"\.\/([^"]+)";$/gm)) loaded.add(path);
  }
  const files = [...loaded].flatMap(
    (name) => JSON.parse(readFileSync(join(PACKAGE, "lib", `${name}.map`), "utf8")).sources,
  );
  const packages = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  // The way into the program is among them, or nothing was found at all.
  expect(files).toContain("flipop:src/cli/main.ts");
  expect(loaded.size).toBeGreaterThan(1);
  expect([...new Set(packages)]).toEqual(["commander"]);
});

test("a bundle in which a CommonJS package is loaded late is refused, because it would lack its members", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "flipop-late-")), "late.ts");
  writeFileSync(file, `await import(${JSON.stringify(join(ROOT, "node_modules/yaml/dist/index.js"))});\n`);
  await expect(bundle(file, join(dirname(file), "out"))).rejects.toThrow(/late\.ts loads the CommonJS module .*yaml/);
  rmSync(dirname(file), { recursive: true });
});
