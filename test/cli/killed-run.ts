import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { FLIPOP } from "../programs/entry.ts";

/** A moment of a run: a share of what a whole run takes, or some time after a call at a provider has taken effect; `never` comes never. */
export type Moment = { readonly share: number } | { readonly call: number; readonly plusMs: number } | "never";

/** What changes before a run, and how that run is ended. */
export interface Round {
  readonly number: number;
  /** The node that cannot serve; 0 = all can. */
  readonly unready: number;
  /** Up for a few rounds, then down for two: what an ended run began, the next one completes. */
  readonly desiredIPs: number;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** When the signal comes. By calls, every phase is hit however fast the machine is. */
  readonly moment: Moment;
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

/** Starts a run and sends it `signal` when `moment` resolves. @throws Error when SIGTERM ends it with another code than its own, or 143 */
export async function endRun(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: Round["signal"],
  moment: Promise<void>,
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
  void moment.then(() => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    signalledAtMs = performance.now();
    child.kill(signal);
  });
  const [code, endedBy] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on("error", reject).on("close", (status, name) => resolve([status, name]));
  });
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
  const moment = (): Moment =>
    below(4) === 0 ? { share: (20 + below(60)) / 100 } : { call: 1 + below(14), plusMs: below(2) * below(120) };
  return Array.from({ length: count }, (_, number) => ({
    number,
    unready: below(5),
    desiredIPs: (number % 10) % 4 < 2 ? 2 + below(2) : 1,
    signal: below(5) < 2 ? "SIGTERM" : "SIGKILL",
    // One that wants more and one that wants fewer come to rest: a machine on which no other does still buys and deletes.
    moment: [1, 3].includes(number % 10) ? "never" : moment(),
    isDeleted: below(12) === 0,
  }));
}
