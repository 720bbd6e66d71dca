// How long flipop waits before it reads or tries again: one row for each thing that is waited for. The numbers are milliseconds.

/** A series of growing waits. */
export interface Waits {
  /** The wait after no, one, two, … earlier tries. */
  readonly ms: readonly number[];
  /** The share of each wait that chance may add, so that clients that failed together do not come back together. Absent means none. */
  readonly spread?: number;
}

type WaitName =
  | "confirmation"
  | "moving"
  | "unreadable"
  | "fruitlessPass"
  | "failedPass"
  | "fastRetry"
  | "slowRetry"
  | "toldStatus"
  | "restless"
  | "brokenWatch"
  | "refusedList"
  | "forbiddenWatch";

/** Rows whose last wait repeats for ever: flipop goes on until something else ends it. Use {@link waitMs}. */
export const WAITS: Readonly<Record<WaitName, Waits>> = {
  /** Before the readings of an address or a firewall whose change the provider has accepted. */
  confirmation: { ms: [0, 150, 350, 500, 1000, 1000, 2000] },
  /** Before the readings of something that the provider is changing, in a process that keeps running. */
  moving: { ms: [250, 500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000] },
  /** Before the readings of something that could not be read, in a process that keeps running. */
  unreadable: { ms: [1000, 2000, 5000, 10_000, 30_000, 60_000] },
  /** Before the next pass, after passes that left actions and achieved nothing. */
  fruitlessPass: { ms: [250, 500, 1000, 2000, 4000, 8000, 15_000, 30_000] },
  /** Before the next pass, after passes that the cluster made fail. The process adds its own share, see `jittered`. */
  failedPass: { ms: [800, 1600, 3200, 5000] },
  /** Before the next attempt of an action that a provider failed to do and may soon do. */
  fastRetry: { ms: [1000, 1000, 5000, 5000, 10_000, 10_000, 10_000, 60_000, 60_000, 60_000, 60_000, 60_000, 300_000] },
  /** Before the next attempt of an action that a provider refused. */
  slowRetry: { ms: [60_000, 300_000, 600_000] },
  /** Before a status is written again that only tells people something else, in a process that keeps running. */
  toldStatus: { ms: [0, 0, 0, 0, 0, 1000, 2000, 5000, 10_000] },
  /** Before a node counts again that was out of service one or more times in a row, in a process that keeps running. */
  restless: { ms: [0, 0, 1000, 2000] },
  /** Before a watch of the cluster is opened again. */
  brokenWatch: { ms: [800, 1600, 3200, 6400, 12_800, 25_600, 30_000], spread: 0.5 },
  /** Before a list of the cluster is read again that was refused for what it asks: only a change of the object or of the server helps. */
  refusedList: { ms: [800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400, 204_800, 300_000], spread: 0.5 },
  /** Before a watch is opened again that the cluster has never allowed. */
  forbiddenWatch: { ms: [30_000], spread: 0.5 },
};

type TryName = "busyChange" | "busyDelete" | "providerRead" | "shownWrite" | "sidecarStart" | "push" | "clusterCall";

/** Rows with an end: after the last wait comes a last try. Use {@link nextTryMs}. */
export const TRIES: Readonly<Record<TryName, Waits>> = {
  /** An address or its machine is busy at the provider, and a change of it is refused. */
  busyChange: { ms: [500, 1000, 2000, 2000, 5000, 5000] },
  /** An address is busy at the provider right after it was unassigned, and its deletion is refused. */
  busyDelete: { ms: [500, 1000, 2000, 5000] },
  /** A read of a provider failed with a 5xx or a broken connection. */
  providerRead: { ms: [250] },
  /** A DNS provider has accepted a change, and still shows what it had in a cache. */
  shownWrite: { ms: [500, 1000, 2000, 4000] },
  /** Nothing listens yet where a program of the same pod is to answer. */
  sidecarStart: { ms: [500, 500, 1000, 1000, 2000, 2000, 3000] },
  /** The Pushgateway, or a receiver of notices, failed with a 5xx or a broken connection. */
  push: { ms: [300] },
  /** A call of the cluster that may be repeated failed in passing. */
  clusterCall: { ms: [100, 200, 400], spread: 1 },
};

/** Returns the wait after `earlier` tries, milliseconds; the last one repeats. `random` is from 0 to 1. */
export function waitMs(waits: Waits, earlier: number, random = 0): number {
  return nextTryMs(waits, Math.min(Math.max(earlier, 0), waits.ms.length - 1), random) ?? 0;
}

/** Returns the wait after `earlier` tries, milliseconds; undefined after the last one. `random` is from 0 to 1. */
export function nextTryMs({ ms, spread = 0 }: Waits, earlier: number, random = 0): number | undefined {
  const wait = ms[earlier];
  return wait === undefined ? undefined : wait * (1 + random * spread);
}
