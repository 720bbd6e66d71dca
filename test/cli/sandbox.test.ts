import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { separateSandbox } from "../../src/cli/program.ts";
import { startSandbox } from "../../src/sandbox/start.ts";
import { realCommand } from "./real-command.ts";

const dir = mkdtempSync(join(tmpdir(), "flipop-refused-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const letters = join(dir, "letters");
mkdirSync(letters);
const file = join(letters, "letter.txt");
writeFileSync(file, "dear");

test.for<[what: string, argv: readonly string[], error: string]>([
  ["a file", [file], `cannot use ${file} as a sandbox: it is a file; name a directory that can be written`],
  [
    "a folder of something else",
    [letters],
    `cannot use ${letters} as a sandbox: it holds other files (letter.txt); name a new or an empty directory`,
  ],
  ["--sandbox beside it", ["--sandbox", dir], "flipop sandbox takes its folder as an argument: leave out --sandbox."],
  [
    "two folders",
    ["a", "b"],
    "Too many arguments for 'sandbox'. Expected 1 argument but got 2: a, b. See flipop sandbox --help.",
  ],
  ["a flag of others", ["--kubeconfig", "x"], "Unknown option '--kubeconfig'. See flipop sandbox --help."],
])("sandbox refuses %s", async ([, argv, error]) => {
  const { stdout, stderr, exitCode } = await realCommand(["sandbox", ...argv], { identity: "test" });
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: "", stderr: `flipop: ${error}\n`, exitCode: 64 });
});

test("sandbox refuses a folder that is served, with -o json in a document, too", async () => {
  const served = await startSandbox({ dir: join(dir, "world"), isServed: true });
  const { stdout, exitCode } = await realCommand(["sandbox", served.dir, "-o", "json"], { identity: "test" });
  await served.close();
  expect(exitCode).toBe(64);
  expect(JSON.parse(stdout)).toMatchObject({
    kind: "Error",
    message: `cannot serve ${served.dir}: another process serves it (kubeconfig leads there); use that one, or end it`,
  });
});

test("a command on a folder names the files there that it does not read", async () => {
  const world = join(dir, "other");
  await (await startSandbox({ dir: world })).close();
  writeFileSync(join(world, "nodes.yml"), "");
  const { stderr, exitCode } = await realCommand(["--sandbox", world, "status"], { identity: "test" });
  expect(stderr).toBe(
    `flipop: ${join(world, "nodes.yml")} is no file of a sandbox and is not read; do you mean nodes.yaml?\n`,
  );
  expect(exitCode).toBe(0);
});

test("a folder that is called sandbox is no command behind --sandbox", () => {
  expect(separateSandbox(["--sandbox", "sandbox", "plan"])).toEqual(["--sandbox", "sandbox", "plan"]);
  expect(separateSandbox(["--sandbox", "plan"])).toEqual(["--sandbox=sandbox", "plan"]);
  expect(separateSandbox(["explain", "--sandbox", "node/n1"])).toEqual(["explain", "--sandbox=sandbox", "node/n1"]);
  expect(separateSandbox(["plan", "--sandbox", "./node/n1"])).toEqual(["plan", "--sandbox", "./node/n1"]);
  expect(separateSandbox(["plan", "--sandbox", "worlds/n1"])).toEqual(["plan", "--sandbox", "worlds/n1"]);
});
