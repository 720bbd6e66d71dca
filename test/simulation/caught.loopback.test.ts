import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { CAUGHT_BY } from "./caught-by.ts";
import { MUTATIONS } from "./mutations.ts";

const PROGRAM = fileURLToPath(new URL("plant-bugs.ts", import.meta.url));

let running: ChildProcess | undefined;
afterAll(() => running?.kill("SIGKILL"));

/** Plants a bug in the process that plants all of them. Returns what it printed, the last line JSON; what it printed until it ended, if it did. */
async function plant(name: string, signal: AbortSignal): Promise<string> {
  const child = running ?? spawn(process.execPath, ["--disable-warning=ExperimentalWarning", PROGRAM]);
  running = child;
  let text = "";
  const read = (part: Buffer): void => {
    text += part.toString();
    if (/^\{.*\}\n/m.test(text)) over.resolve();
  };
  const over = Promise.withResolvers<void>();
  const end = (): void => {
    running = undefined;
    over.resolve();
  };
  // A bug may make it hang or end: the next one gets a new process.
  const kill = (): boolean => child.kill("SIGKILL");
  child.once("close", end);
  signal.addEventListener("abort", kill);
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", read);
  child.stdin?.write(`${name}\n`);
  await over.promise;
  child.off("close", end);
  signal.removeEventListener("abort", kill);
  for (const stream of [child.stdout, child.stderr]) stream?.off("data", read);
  return text;
}

test.for(MUTATIONS)("the simulator catches: $name", async ({ name }, { signal }) => {
  if (!CAUGHT_BY.has(name)) expect.fail("nothing is known to catch it: npm run mutations -- --record looks for it");
  const text = await plant(name, signal);
  expect(text, "its history no longer catches it: npm run mutations -- --record").toMatch(/^(seed|story) .+: .+: /m);
  expect(text.endsWith('{"isCaught":true,"isSound":true}\n'), text).toBe(true);
});
