import { runCommandLine } from "../../src/cli/command-line.ts";
import { given } from "../../src/cli/environment.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { createWiring } from "../../src/cli/wiring.ts";
import type { Clock } from "../../src/ports/system.ts";
import { withoutWaiting } from "./without-waiting.ts";

/** What a command line printed and returned. */
export interface Printed {
  readonly stdout: string;
  /** Without the lines that a slow machine makes it say: for whom it waits. */
  readonly stderr: string;
  /** All of stderr. */
  readonly said: string;
  readonly exitCode: number;
}

/** Where a command line runs. */
interface Place {
  /** Absent = none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it calls itself on a Lease, and in its logs. */
  readonly identity: string;
  /** Names the machine in Events. Absent = its host name. */
  readonly machine?: string;
  /** Absent = the machine's. */
  readonly clock?: Clock;
  /** Absent = the clock's. */
  readonly wallMs?: () => number;
}

/** Runs a command line in this process as it is shipped: with the real adapters, against whatever its flags and its environment name. Nobody sits at a terminal. */
export async function realCommand(
  argv: readonly string[],
  { env = {}, identity, machine, clock = SYSTEM_CLOCK, wallMs = () => clock.wallMs() }: Place,
): Promise<Printed> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    isTTY: false,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exitCode = await runCommandLine({
    argv,
    env,
    streams: { stdout: stream("stdout"), stderr: stream("stderr") },
    signal: new AbortController().signal,
    runID: identity,
    identity,
    wallMs,
    loadWiring: async () => createWiring({ clock, ...given({ machine }) }),
  });
  return { stdout: written.stdout, stderr: withoutWaiting(written.stderr), said: written.stderr, exitCode };
}
