import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { EXIT } from "../report/exit-code.ts";
import type { Backend } from "./backend.ts";
import { reportCrash, runCommandLine } from "./command-line.ts";
import { takeEnvironment } from "./environment.ts";
import type { Invocation } from "./invocation.ts";
import { KnownSecrets } from "./outgoing-text.ts";
import type { OutputStream } from "./write.ts";

const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Runs the process's own command line and sets its exit code; the process ends by itself once all output is written. The
 * first SIGINT or SIGTERM asks the command to end in order, the second ends the process at once.
 */
export async function runProcess(loadBackend: () => Promise<Backend>): Promise<void> {
  const stopping = new AbortController();
  let stoppedBy: keyof typeof SIGNAL_CODES | undefined;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stoppedBy !== undefined) process.exit(SIGNAL_CODES[signal]);
      stoppedBy = signal;
      stopping.abort(signal);
    });
  }
  const runID = randomBytes(4).toString("hex");
  const invocation = {
    argv: process.argv.slice(2),
    env: takeEnvironment(),
    streams: { stdout: outputStream(process.stdout), stderr: outputStream(process.stderr) },
    signal: stopping.signal,
    runID,
    identity: `${hostname()}_${process.pid}_${runID}`,
    wallMs: () => Date.now(),
    secrets: new KnownSecrets(),
    loadBackend,
  };
  process.on("uncaughtException", (error) => void crash(invocation, error));
  const exitCode = await runCommandLine(invocation);
  // Never process.exit() here: of a large output into a pipe only the first part would arrive.
  process.exitCode = stoppedBy === undefined ? exitCode : SIGNAL_CODES[stoppedBy];
  // After a signal a reader may have left a call in flight, which would keep the process alive.
  if (stoppedBy !== undefined) process.stdout.write("", () => process.exit());
}

/** Reports an error that nobody caught, and ends the process. Node's own report would show secrets, and the line of source that threw. */
async function crash(invocation: Invocation, error: unknown): Promise<void> {
  const exitCode = await reportCrash(invocation, error).catch(() => EXIT.unexpected);
  process.stderr.write("", () => process.stdout.write("", () => process.exit(exitCode)));
}

/** A closed pipe (`| head`) is the reader's choice, not an error: what follows is dropped. */
function outputStream(stream: NodeJS.WriteStream): OutputStream {
  let isClosed = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    isClosed = true;
    if (error.code !== "EPIPE") process.exitCode = 1;
  });
  return {
    isTTY: stream.isTTY === true,
    ...(stream.isTTY ? { columns: stream.columns } : {}),
    write: (text) => {
      if (!isClosed) stream.write(text);
    },
  };
}
