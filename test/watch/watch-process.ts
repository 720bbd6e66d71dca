import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { FLIPOP } from "../programs/entry.ts";

/** A real process of `flipop reconcile --watch`. */
export interface WatchProcess {
  readonly child: ChildProcess;
  /** All that it has printed so far. */
  stdout(): string;
  stderr(): string;
  isLeading(): boolean;
  /** Resolves when it has ended: its exit code, or the signal that ended it. */
  readonly end: Promise<number | string>;
}

/** Flags with which a process keeps the Lease although a renewal takes its time, as on a crowded machine. */
export const PATIENT_LOCK: readonly string[] = ["--lease-duration", "60s", "--renew-deadline", "50s"];

/** Starts one with exactly this environment, PATH and HOME aside; `command` stands before its arguments. */
export function startWatch(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  [program = "", ...first]: readonly string[] = [FLIPOP],
): WatchProcess {
  const child = spawn(program, [...first, "reconcile", "--watch", ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...env },
  });
  const out = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (out.stderr += text));
  const end = new Promise<number | string>((resolve, reject) => {
    child.on("error", reject).on("close", (code, signal) => resolve(code ?? signal ?? ""));
  });
  return {
    child,
    stdout: () => out.stdout,
    stderr: () => out.stderr,
    isLeading: () => out.stderr.includes("holds the Lease"),
    end,
  };
}
