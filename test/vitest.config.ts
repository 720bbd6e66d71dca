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
  // A poll ends as soon as it is true; the limit only ends what never is, on a busy machine, too.
  expect: { requireAssertions: true, poll: { timeout: 10_000 } },
  sequence: { shuffle: true },
  setupFiles: ["test/setup/watch-tokens.ts"],
};

const inMemory = {
  ...common,
  // Nothing here takes long; the limit only ends what hangs, on a busy machine, too.
  testTimeout: 30_000,
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: "cluster",
          include: NEEDS_CLUSTER,
          globalSetup: ["test/programs/global-setup.ts", "test/cluster/global-setup.ts"],
          // The programs may have to be built first, and an API server for each worker keeps two cores busy.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
};

export default config;
