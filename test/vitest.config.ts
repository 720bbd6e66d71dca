import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";
import { LongFilesFirst } from "./file-order.ts";

/** Files that need a real API server. */
const NEEDS_CLUSTER = ["test/cluster/**/*.test.ts", "test/**/*.cluster.test.ts"];

/** Files that play long stories over HTTP on the embedded world. */
const OVER_HTTP = ["test/**/*.loopback.test.ts"];

/** Files that need neither, and take longer than a few seconds all the same. */
const LONG = ["test/**/*.long.test.ts"];

const CORES = availableParallelism();

const common = {
  env: { TZ: "UTC", FORCE_COLOR: "0" },
  // Time judges nothing: a test ends when it is done, and a poll when it is true. The limits only end what hangs, on a machine ten times as slow, too.
  testTimeout: 900_000,
  hookTimeout: 600_000,
  expect: { requireAssertions: true, poll: { timeout: 60_000 } },
  sequence: { shuffle: true },
  setupFiles: ["test/setup/watch-tokens.ts"],
};

const inMemory = {
  ...common,
  // A third of the time went into loading the same modules again; none of them keeps state (a rule of test/architecture).
  isolate: false,
};

/**
 * Four projects: `quick` for every save and commit, `long` for histories in memory that take their time, `loopback` for the embedded world, `cluster` for what only a real
 * kube-apiserver can prove.
 */
const config: ViteUserConfig = {
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    // Much of what runs is waiting, so a small machine takes one worker more than it has cores.
    maxWorkers: Math.max(CORES - 1, Math.min(CORES + 1, 6)),
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        extends: true,
        test: {
          ...inMemory,
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [...NEEDS_CLUSTER, ...OVER_HTTP, ...LONG],
        },
      },
      { extends: true, test: { ...inMemory, name: "long", include: LONG } },
      {
        extends: true,
        test: {
          ...common,
          name: "loopback",
          include: OVER_HTTP,
          globalSetup: ["test/programs/global-setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: "cluster",
          include: NEEDS_CLUSTER,
          globalSetup: ["test/programs/global-setup.ts", "test/cluster/global-setup.ts"],
        },
      },
    ],
  },
};

export default config;
