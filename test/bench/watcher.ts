import { readFileSync } from "node:fs";
import { startWatch, type WatchProcess } from "../watch/watch-process.ts";
import { peakOf } from "./program.ts";
import { until } from "./until.ts";

/** How a watcher is run other than by default. */
export interface WatcherOptions {
  /** The program, without arguments. */
  readonly command?: readonly string[];
  /** How often all is looked at again; so rarely by default that nothing but changes causes calls while something is counted. */
  readonly interval?: string;
}

/** Ticks of a process's clock in `/proc`, per second: fixed on Linux. */
const TICKS_PER_SECOND = 100;

/** A running `flipop reconcile --watch`. */
export interface Watcher {
  /** `performance.now()` of this process just before it was started. */
  readonly startedAtMs: number;
  /** Its caches are as the cluster is: `/readyz` says so. */
  synced(): Promise<void>;
  /** It holds the Lease and has made its first pass. */
  atWork(): Promise<void>;
  /** It has printed that it waits for the Lease, and its caches are warm. */
  standingBy(): Promise<void>;
  /** Highest resident memory so far, MB; undefined where the system does not tell. */
  peakMB(): number | undefined;
  /** Processor time so far, milliseconds; undefined where the system does not tell. */
  cpuMs(): number | undefined;
  /** Ends it, and waits for that. */
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Starts one with exactly this environment, its Lease as shipped. */
export function openWatcher(
  environment: Readonly<Record<string, string>>,
  { command, interval = "10m" }: WatcherOptions = {},
): Watcher {
  const startedAtMs = performance.now();
  const watch = startWatch(["--interval", interval, "--metrics-addr", "127.0.0.1:0"], environment, command);
  const { pid } = watch.child;
  const synced = async (): Promise<void> => {
    const port = await until(() => /on port (\d+)/.exec(watch.stderr())?.[1], `its port; it said: ${watch.stderr()}`);
    await until(async () => (await isReady(port)) || undefined, "/readyz");
  };
  return {
    startedAtMs,
    synced,
    atWork: async () => {
      await until(() => watch.stdout().includes("watching for changes") || undefined, `a first pass: ${said(watch)}`);
    },
    standingBy: async () => {
      await synced();
      if (watch.isLeading()) throw new Error("a standby holds the Lease");
    },
    peakMB: () => peakOf(pid),
    cpuMs: () => cpuOf(pid),
    stop: async (signal) => {
      watch.child.kill(signal);
      await watch.end;
    },
  };
}

function said(watch: WatchProcess): string {
  return `${watch.stdout()}${watch.stderr()}`;
}

async function isReady(port: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  await answer.arrayBuffer();
  return answer.ok;
}

function cpuOf(pid: number | undefined): number | undefined {
  try {
    // After the name in brackets, user and system time are the 12th and 13th field (proc_pid_stat(5)).
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
