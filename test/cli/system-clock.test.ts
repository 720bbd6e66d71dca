import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const CLOCK = fileURLToPath(new URL("../../src/cli/system-clock.ts", import.meta.url));

/** In a process of its own: Node tells of such a mistake once per process, on stderr, where a CronJob has JSON lines. */
test("the machine's clock wakes at once and without a word when the time to wait is over already", async () => {
  const program = `
    const { SYSTEM_CLOCK } = await import(${JSON.stringify(CLOCK)});
    for (const ms of [-448.5, Number.NEGATIVE_INFINITY, 0]) await SYSTEM_CLOCK.sleep(ms);
    process.stdout.write("awake");`;
  const run = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  expect(run).toEqual({ stdout: "awake", stderr: "" });
});
