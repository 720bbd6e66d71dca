import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { WatchProcess } from "./watch-process.ts";

/** What a process holds, garbage collected. */
export interface Holdings {
  /** Bytes. */
  readonly heap: number;
  /** What keeps it running, by kind: timers, sockets, requests. */
  readonly resources: Readonly<Record<string, number>>;
  /** Live objects of the kinds that are left behind where somebody listens, or waits, and never stops to. */
  readonly objects: Readonly<Record<string, number>>;
  /** Open file descriptors. */
  readonly files: number;
  /** Node's own, such as too many listeners on one signal. */
  readonly warnings: readonly string[];
}

const ANSWER = "holdings.json";

/** Lets a process be asked what it holds; `directory` is for the files of both. */
export class Probe {
  /** The environment that the process needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly #answer: string;

  constructor(directory: string) {
    const preload = join(directory, "probe.mjs");
    this.#answer = join(directory, ANSWER);
    writeFileSync(preload, PRELOAD);
    this.env = { NODE_OPTIONS: `--import=${pathToFileURL(preload)}`, PROBE_ANSWER: this.#answer };
  }

  async ask({ child }: WatchProcess): Promise<Holdings> {
    rmSync(this.#answer, { force: true });
    child.kill("SIGUSR2");
    while (!existsSync(this.#answer)) await pause(20);
    return JSON.parse(readFileSync(this.#answer, "utf8")) as Holdings;
  }
}

const PRELOAD = `
import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
const warnings = [];
process.on("warning", ({ name, message }) => {
  if (name !== "ExperimentalWarning") warnings.push(name + ": " + message);
});
process.on("SIGUSR2", async () => {
  for (let round = 0; round < 4; round += 1) {
    gc();
    await pause(50);
  }
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const objects = {};
  for (const kind of [AbortSignal, Promise, Function, Map]) objects[kind.name] = queryObjects(kind, { format: "count" });
  const holdings = { objects, heap: process.memoryUsage().heapUsed, resources, files: readdirSync("/proc/self/fd").length, warnings };
  const answer = process.env.PROBE_ANSWER;
  writeFileSync(answer + ".part", JSON.stringify(holdings));
  renameSync(answer + ".part", answer);
});
`;
