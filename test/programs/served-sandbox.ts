// `flipop sandbox` as a process of its own, for tests that use it as a person does.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { FLIPOP } from "./entry.ts";

/** A running `flipop sandbox`. */
export interface ServedSandbox {
  /** What it printed before it served. */
  readonly stdout: string;
  /** What it has printed there until now. */
  readonly stderr: () => string;
  /** What it says to export; empty unless it was asked for JSON. */
  readonly env: Readonly<Record<string, string>>;
  /** Sends a signal, SIGTERM unless told otherwise, and returns the exit code; null when the signal ended it. Repeatable. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `flipop sandbox` on a folder, and resolves once it serves.
 * @param args - arguments behind the folder; default: a document of JSON
 * @param env - its whole environment, the PATH aside
 */
export async function serveSandbox(
  folder: string,
  { args = ["-o", "json"], env = {} }: { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<ServedSandbox> {
  const child = spawn(FLIPOP, ["sandbox", folder, ...args], { env: { PATH: process.env["PATH"], ...env } });
  const out = { stdout: "", stderr: "" };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (out.stderr += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out.stdout += text));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const isServing = async (): Promise<void> => {
    await vi.waitUntil(() => out.stderr.includes("until it is interrupted") && out.stdout.endsWith("\n"), 30_000);
  };
  await Promise.race([
    isServing(),
    ended.then((code) => Promise.reject(new Error(`it ended with ${code}: ${out.stderr}`))),
  ]);
  return {
    stdout: out.stdout,
    stderr: () => out.stderr,
    env: args.includes("json") ? JSON.parse(out.stdout).environment : {},
    end: async (signal = "SIGTERM") => {
      child.kill(signal);
      return await ended;
    },
  };
}

/** Waits until the files of a world hold all that was answered: a change that follows another at once is written up to 200 ms later, and until then the lock is kept. */
export async function allWritten(world: string): Promise<void> {
  await vi.waitUntil(() => !existsSync(join(world, ".lock")), 30_000);
}
