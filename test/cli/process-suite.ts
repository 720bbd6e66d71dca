import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { withoutWaiting } from "./without-waiting.ts";

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream) text += chunk;
  return text;
}

async function until(stream: NodeJS.ReadableStream, word: string): Promise<void> {
  let text = "";
  while (!text.includes(word)) text += String((await once(stream, "data"))[0]);
}

/**
 * What a process promises about its output and its end. `programPath` names a program that runs {@link runProcess} on the
 * worlds of `big-plan.ts`.
 */
export function describeProcess(name: string, programPath: () => string): void {
  describe(name, () => {
    const start = (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcessWithoutNullStreams =>
      spawn(process.execPath, [programPath(), ...args], { env: { PATH: process.env["PATH"], ...env } });

    test("delivers more than 5 MB whole into a pipe that is read late, and exits with 2 for pending changes", async () => {
      const child = start(["plan", "-o", "json", "--detailed-exitcode"], { NODES: "50000" });
      const exit = once(child, "exit");
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const text = await textOf(child.stdout);
      expect(text.length).toBeGreaterThan(5_000_000);
      expect(JSON.parse(text).pools[0].notMatching).toHaveLength(50_000);
      expect((await exit)[0]).toBe(2);
    }, 30_000);

    test("ends without a word when the reader of its output goes away", async () => {
      const child = start(["plan", "-o", "json"], { NODES: "50000" });
      const stderr = textOf(child.stderr);
      const exit = once(child, "exit");
      await once(child.stdout, "data");
      child.stdout.destroy();
      expect((await exit)[0]).toBe(0);
      expect(withoutWaiting(await stderr)).toBe("");
    }, 30_000);

    test.for(["plan", "--version"])("says that the disk is full, and does not end with 0: %s", (command) => {
      const full = openSync("/dev/full", "w");
      try {
        const { status, stderr } = spawnSync(process.execPath, [programPath(), command], {
          env: { PATH: process.env["PATH"], NODES: "5" },
          stdio: ["ignore", full, "pipe"],
          encoding: "utf8",
        });
        expect(status).toBe(1);
        expect(withoutWaiting(stderr)).toMatch(/^flipop: its output could not be written: ENOSPC.*\n$/);
      } finally {
        closeSync(full);
      }
    });

    test.for([
      ["SIGTERM", 143],
      ["SIGINT", 130],
      ["SIGHUP", 129],
    ] as const)("finishes what is in flight after a %s and exits with %i", async ([signal, code]) => {
      const child = start(["reconcile"], { NODES: "1" });
      const exit = once(child, "exit");
      await until(child.stderr, "working");
      child.kill(signal);
      await until(child.stderr, "released");
      expect(await exit).toEqual([code, null]);
    });

    test("exits at once on a second signal while the first is not heeded", async () => {
      const child = start(["reconcile"], { NODES: "1", DEAF: "1" });
      const exit = once(child, "exit");
      await until(child.stderr, "working");
      child.kill("SIGTERM");
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(child.exitCode).toBeNull();
      child.kill("SIGTERM");
      expect(await exit).toEqual([143, null]);
    });
  });
}
