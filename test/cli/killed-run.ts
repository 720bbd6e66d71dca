import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { FLIPOP } from "../programs/entry.ts";

/** What changes before a run, and how that run is ended. */
export interface Round {
  readonly number: number;
  /** The node that cannot serve; 0 = all can. */
  readonly unready: number;
  readonly desiredIPs: number;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** When the signal comes, as a share of how long a whole run takes on this machine. */
  readonly share: number;
  /** The pool is deleted before the run, and made again after it. */
  readonly isDeleted: boolean;
}

/** How a run ended. */
export interface RunEnding {
  /** `itself` when the signal came too late. */
  readonly endedBy: "itself" | Round["signal"];
  readonly code: number | null;
  /** From the signal to the end of the process. */
  readonly farewellMs: number;
  readonly stderr: string;
}

/** Starts a run and sends it the round's signal. @throws Error when SIGTERM ends it with another code than its own, or 143 */
export async function endRun(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { signal, share }: Round,
  wholeMs: number,
): Promise<RunEnding> {
  const child = spawn(FLIPOP, args, {
    env: { PATH: process.env["PATH"], HOME: tmpdir(), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let signalledAtMs: number | undefined;
  const timer = setTimeout(() => {
    signalledAtMs = performance.now();
    child.kill(signal);
  }, share * wholeMs);
  const [code, endedBy] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on("error", reject).on("close", (status, name) => resolve([status, name]));
  });
  clearTimeout(timer);
  const farewellMs = signalledAtMs === undefined ? 0 : performance.now() - signalledAtMs;
  if (endedBy !== null || code === 143) return { endedBy: signal, code, farewellMs, stderr };
  if (code === null || ![0, 3, 75].includes(code)) throw new Error(`a run ended with ${code}: ${stderr}`);
  return { endedBy: "itself", code, farewellMs, stderr };
}

/** The same rounds every time: a linear congruential generator is random enough to hit every phase of a run. */
export function rounds(count: number, name: string): readonly Round[] {
  let state = [...name].reduce((sum, char) => sum * 31 + (char.codePointAt(0) ?? 0), 20_261) & 0x7fff_ffff;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % limit;
  };
  return Array.from({ length: count }, (_, number) => ({
    number,
    unready: below(5),
    desiredIPs: 1 + below(3),
    signal: below(5) < 2 ? "SIGTERM" : "SIGKILL",
    share: (25 + below(85)) / 100,
    isDeleted: below(12) === 0,
  }));
}
