// `node bin/one-file.ts FOLDER` turns the program of a built package into one file. Beside it lies what V8 makes of that file.
// A pod of the image starts with it in little more than half the time.
// The package that people install stays as it is: its modules can be read, and it loads only what a command needs.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { environmentOf } from "../src/cli/sandbox.ts";
import { startSandbox } from "../src/sandbox/start.ts";
import { bundleOneFile } from "./bundle.ts";
import { cacheOf } from "./compiled.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const WARM_UP = join(ROOT, "bin/warm-up.js");
/** What starts the file. */
const LOADER = join(ROOT, "bin/compiled.js");

/**
 * V8 writes the same cache each time it makes one of the same program, if it is started with these flags (Node 24.21, tried 2026-11-27).
 * Without them a run may hash texts in another way, clear its memory at another moment, or drop or optimize another function.
 * `bin/warm-up.js` takes the flags back before the cache is written.
 */
const FLAGS: readonly string[] = [
  "--hash-seed=1",
  "--single-threaded-gc",
  "--no-memory-reducer",
  "--no-flush-bytecode",
  "--max-optimized-bytecode-size=0",
  "--no-sparkplug",
];

/** How many runs must make the same cache before it is taken. */
const ENOUGH = 2;
const MOST_TRIES = 20;
/** When a run has hung, milliseconds. */
const HUNG_MS = 300_000;

/**
 * Replaces `lib/` of a built package by one file, its source map, and V8's cache of it. V8 writes the cache when a run ends that did the work of a CronJob's pod.
 * The same sources give the same bytes. The cache holds for the Node that runs this, on the same architecture.
 * @throws Error when no cache is made again, or when V8 refuses it
 */
export async function makeOneFile(app: string): Promise<void> {
  const lib = join(app, "lib");
  for (const name of readdirSync(lib)) rmSync(join(lib, name));
  cpSync(LOADER, join(app, "bin", basename(LOADER)));
  const program = join(lib, "main.cjs");
  await bundleOneFile("src/cli/main.ts", program);
  const cache = await onSettledExample(app, (env) => reproducibleCache(program, env));
  writeFileSync(cacheOf(program), cache);
  if (!(await isAccepted(program))) throw new Error("V8 refuses the cache that it made");
}

/** True if a Node with nothing but its usual flags takes the cache of a program. */
async function isAccepted(program: string): Promise<boolean> {
  const code = `import(${JSON.stringify(pathToFileURL(LOADER).href)}).then(({ compile }) =>
    console.log(compile(${JSON.stringify(program)}).cachedDataRejected))`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", code], { env: {} });
  return stdout === "false\n";
}

async function reproducibleCache(program: string, env: Readonly<Record<string, string>>): Promise<Buffer> {
  const caches: Buffer[] = [];
  while (caches.length < MOST_TRIES) {
    const cache = await warmUp(program, env);
    caches.push(cache);
    if (caches.filter((one) => one.equals(cache)).length === ENOUGH) return cache;
  }
  throw new Error(`V8 made no cache of the program ${ENOUGH} times in ${MOST_TRIES} runs`);
}

/**
 * Returns the cache that V8 has made of a program when a run of the CronJob ends. The run must find nothing to do: no time passes in it.
 * The cache is the same however slowly the machine runs and the requests are answered.
 */
export async function warmUp(program: string, env: Readonly<Record<string, string>>): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "flipop-warm-"));
  try {
    const made = join(folder, "cache");
    const run = [...FLAGS, WARM_UP, program, made, ...cronJobArguments()];
    await promisify(execFile)(process.execPath, run, { env, timeout: HUNG_MS });
    return readFileSync(made);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Does work with the environment of a program on the example world, which ends with it.
 * The package in `app` has run there once, so another run finds nothing to do.
 */
export async function onSettledExample<T>(
  app: string,
  work: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const sandbox = await startSandbox();
  const gateway = await acceptingAll();
  try {
    const PUSHGATEWAY_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const env = { ...environmentOf(sandbox), PUSHGATEWAY_URL };
    await promisify(execFile)(process.execPath, [join(app, "bin/start.js"), ...cronJobArguments()], { env });
    return await work(env);
  } finally {
    gateway.close();
    await sandbox.close();
  }
}

/** Returns a server that answers every request with 202, as a Pushgateway does. */
async function acceptingAll(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(202).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** Returns the arguments of the shipped CronJob's container. */
function cronJobArguments(): readonly string[] {
  const documents = parseAllDocuments(readFileSync(join(ROOT, "cronjob/cronjob.yaml"), "utf8"));
  const cronJob = documents.find((document) => document.get("kind") === "CronJob");
  const args = cronJob?.getIn(["spec", "jobTemplate", "spec", "template", "spec", "containers", 0, "args"]);
  return JSON.parse(JSON.stringify(args));
}

if (import.meta.main) await makeOneFile(resolve(process.argv[2] ?? "dist"));
