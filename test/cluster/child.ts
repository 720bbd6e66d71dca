// A server program as a child process: started with its output in a file, signalled by its own id only.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** An API server with an open watch waits for its end much longer, and keeps nothing that a hard end could lose. */
const stopTimeoutMs = 3000;

/** A running server program. */
export type Child = {
  readonly pid: number;
  /** Says whether the process still exists; never throws. */
  readonly isRunning: () => boolean;
  /** Sends a signal; no effect once the process has ended. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Sends SIGTERM, waits, sends SIGKILL after 3 s, and resolves when the process is gone. Repeatable. */
  readonly stop: () => Promise<void>;
  /** Returns the end of what the program has printed. */
  readonly log: () => string;
};

/**
 * Starts `command`; its output goes to `<directory>/<name>.log`, its id to `<directory>/<name>.pid` while it runs
 * (that file is what the guard reads). The process has its own group, so Ctrl-C reaches only the parent, which then
 * decides the order of ending. It runs in `cwd`; absent = where the parent runs.
 * @throws Error when the program cannot be started.
 */
export function startChild(
  name: string,
  command: string,
  args: readonly string[],
  directory: string,
  cwd: string = process.cwd(),
): Child {
  const logFile = join(directory, `${name}.log`);
  const pidFile = join(directory, `${name}.pid`);
  const output = openSync(logFile, "a");
  const child = spawn(command, args, {
    stdio: ["ignore", output, output],
    detached: true,
    cwd,
    // etcd refuses to start when an ETCD_* variable repeats a flag.
    env: { PATH: process.env["PATH"] },
  });
  closeSync(output);
  let running = true;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      running = false;
      rmSync(pidFile, { force: true });
      resolve();
    };
    child.once("exit", end);
    child.once("error", end);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} cannot be started from ${command}`);
  writeFileSync(pidFile, String(pid));
  // A forgotten stop() must not keep the parent alive: when the parent ends, the guard ends the child.
  child.unref();

  const signal = (signalName: NodeJS.Signals): void => {
    if (running) child.kill(signalName);
  };
  const stop = async (): Promise<void> => {
    // Whoever waits for the end must not end before: a program of gigabytes is gone only seconds after SIGKILL.
    child.ref();
    signal("SIGTERM");
    const timeout = new AbortController();
    const killed = sleep(stopTimeoutMs, undefined, { signal: timeout.signal }).then(
      () => signal("SIGKILL"),
      () => undefined,
    );
    await ended;
    timeout.abort();
    await killed;
  };
  return { pid, isRunning: () => running, signal, stop, log: () => readFileSync(logFile, "utf8").slice(-2000) };
}
