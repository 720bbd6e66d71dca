import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { FLIPOP } from "../programs/entry.ts";

/** How often the peak memory is looked up, milliseconds. The kernel's mark only rises, so only the very last growth can be missed. */
const LOOK_MS = 5;

/** How one run of the real program went. */
export interface ProgramRun {
  /** `performance.now()` of this process just before the program was started. */
  readonly startedAtMs: number;
  /** From there to its end. */
  readonly wallMs: number;
  /** Largest resident set, MB; undefined where there is no `/proc`. */
  readonly peakMB: number | undefined;
  /** Of the processor, user and system, all threads, to 10 ms; undefined where there is no `/proc`. */
  readonly processorMs: number | undefined;
  readonly stdout: string;
}

/**
 * Runs flipop with nothing of this process's environment but PATH.
 * @throws Error with the program's output when its exit code is not 0.
 */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ProgramRun> {
  return await runCommand([FLIPOP, ...args], { PATH: process.env["PATH"] ?? "", ...environment });
}

/**
 * Runs a command with exactly this environment.
 * @throws Error with the program's output when its exit code is not 0.
 */
export async function runCommand(
  [program = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProgramRun> {
  const startedAtMs = performance.now();
  const child = spawn(program, args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  let peakMB: number | undefined;
  let processorMs: number | undefined;
  const looking = setInterval(() => {
    peakMB = peakOf(child.pid) ?? peakMB;
    processorMs = processorOf(child.pid) ?? processorMs;
  }, LOOK_MS);
  try {
    const [code, endedAtMs] = await new Promise<[number | null, number]>((resolve, reject) => {
      let endedAt = 0;
      child.once("error", reject);
      child.once("exit", () => {
        endedAt = performance.now();
      });
      child.once("close", (status) => resolve([status, endedAt]));
    });
    if (code !== 0) throw new Error(`flipop ${args.join(" ")} ended with ${code}:\n${output.stdout}${output.stderr}`);
    return { startedAtMs, wallMs: endedAtMs - startedAtMs, peakMB, processorMs, stdout: output.stdout };
  } finally {
    clearInterval(looking);
  }
}

/** A process's time on the processors so far, milliseconds; undefined when it has ended or the system does not tell. */
function processorOf(pid: number | undefined): number | undefined {
  try {
    // Behind the name, which may hold anything: fields 14 and 15 are counted in hundredths of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    const ms = (Number(fields[11]) + Number(fields[12])) * 10;
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}

/** The high-water mark of a process's resident memory, MB; undefined when it has ended or the system does not tell. */
export function peakOf(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
