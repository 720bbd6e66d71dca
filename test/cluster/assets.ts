// Where the tests get their etcd, kube-apiserver, kubectl, helm and doctl: named by the environment, from the cache, or compiled once.
import { createHash } from "node:crypto";
import { access, constants, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildKit, CLUSTER, type Kit, TOOLS, type Tool } from "./build.ts";

/** The two programs a test cluster is made of, as absolute paths of executables. */
export type Assets = { readonly etcd: string; readonly kubeAPIServer: string };

/** The programs can neither be found nor built, or the environment names some that do not exist. */
export class AssetsError extends Error {
  override readonly name = "AssetsError";
}

/**
 * Returns the programs without building anything; `undefined` when a build would be needed.
 * Order, for each program by itself: `TEST_ASSET_ETCD` / `TEST_ASSET_KUBE_APISERVER`, the directory
 * `KUBEBUILDER_ASSETS`, the cache.
 * @throws AssetsError when a variable names something that is not there: a typing error must not cost a build.
 */
export async function findAssets(): Promise<Assets | undefined> {
  const cache = await cacheDirectory(CLUSTER);
  const etcd = await find("etcd", "TEST_ASSET_ETCD", cache);
  const kubeAPIServer = await find("kube-apiserver", "TEST_ASSET_KUBE_APISERVER", cache);
  return etcd === undefined || kubeAPIServer === undefined ? undefined : { etcd, kubeAPIServer };
}

/**
 * Returns the programs, compiling them into the cache when they are not there: about 5 minutes, once.
 * Progress goes to stderr. Of two callers at once one builds, and the other waits for it.
 * @throws AssetsError when they can neither be found nor built.
 */
export async function ensureAssets(): Promise<Assets> {
  return (
    (await findAssets()) ??
    (await built(
      CLUSTER,
      findAssets,
      "etcd and kube-apiserver",
      "KUBEBUILDER_ASSETS to a directory with etcd and kube-apiserver",
    ))
  );
}

/**
 * Returns the path of a tool, compiling it into the cache when it is not there: a few minutes at most, once. Order: its variable (helm: `TEST_ASSET_HELM`),
 * the directory `KUBEBUILDER_ASSETS` if it holds one, the cache. The one of the machine is not asked: it may have any version.
 * @throws AssetsError when it can neither be found nor built.
 */
export async function ensureTool(tool: Tool): Promise<string> {
  return (
    (await findTool(tool)) ?? (await built(TOOLS[tool], () => findTool(tool), tool, `${variableOf(tool)} to its path`))
  );
}

/** Returns the path of a tool. Without one it says that tests are skipped, and returns undefined; with `CI=true` it throws. */
export async function toolOrSkip(tool: Tool): Promise<string | undefined> {
  return await ensureTool(tool).catch((error: unknown) => {
    if (!(error instanceof AssetsError)) throw error;
    skipOrFail(error, `TESTS WITH ${tool}`);
    return undefined;
  });
}

async function findTool(tool: Tool): Promise<string | undefined> {
  const file = process.env[variableOf(tool)];
  if (file) return await named(file, variableOf(tool));
  const directories = [process.env["KUBEBUILDER_ASSETS"] ?? "", await cacheDirectory(TOOLS[tool])];
  for (const directory of directories.filter((name) => name !== "")) {
    const path = join(directory, tool);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

function variableOf(tool: Tool): string {
  return `TEST_ASSET_${tool.replaceAll("-", "_").toUpperCase()}`;
}

/** Builds a kit into the cache and finds it there. @throws AssetsError that says what to install or to set */
async function built<Found>(
  kit: Kit,
  find: () => Promise<Found | undefined>,
  what: string,
  setting: string,
): Promise<Found> {
  const directory = await cacheDirectory(kit);
  try {
    // Somebody else may have built it meanwhile.
    await alone(async () => {
      if ((await find()) === undefined) await buildKit(kit, directory);
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AssetsError(
      `${what} cannot be found and cannot be built: ${why}\nInstall Go 1.25 or later, or set ${setting}.`,
      { cause },
    );
  }
  const found = await find();
  if (found === undefined) throw new AssetsError(`the build left nothing usable in ${directory}`);
  return found;
}

/** Does a build while no other process does one: then what several programs are made of is compiled once. A process that ended within its build is not waited for. */
async function alone(build: () => Promise<void>): Promise<void> {
  const lock = join(cacheRoot(), "building");
  await mkdir(cacheRoot(), { recursive: true });
  while (!(await isTaken(lock))) {
    const owner = Number(await readFile(lock, "utf8").catch(() => ""));
    if (owner > 0 && !isRunning(owner)) await rm(lock, { force: true });
    else await sleep(200);
  }
  try {
    await build();
  } finally {
    await rm(lock, { force: true });
  }
}

/** True when the lock was free, and is ours now. */
async function isTaken(lock: string): Promise<boolean> {
  return await writeFile(lock, `${process.pid}`, { flag: "wx" }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * The policy for missing programs: with `CI=true` throws what was given, otherwise says loudly on stderr that the
 * tests with them do not run, and returns. A person without Go can still run everything else; a gate must not pass
 * because it checked nothing.
 */
export function skipOrFail(error: Error, tests: string = "CLUSTER TESTS"): void {
  if (process.env["CI"] === "true") throw error;
  process.stderr.write(`\n*** ${tests} SKIPPED: ${error.message} ***\n\n`);
}

async function find(program: string, variable: string, cache: string): Promise<string | undefined> {
  const file = process.env[variable];
  if (file) return await named(file, variable);
  const directory = process.env["KUBEBUILDER_ASSETS"];
  if (directory) return await named(join(directory, program), "KUBEBUILDER_ASSETS");
  const cached = join(cache, program);
  return (await isExecutable(cached)) ? cached : undefined;
}

async function named(file: string, variable: string): Promise<string> {
  if (await isExecutable(file)) return file;
  throw new AssetsError(`${variable} leads to ${file}, which is not an executable file`);
}

async function isExecutable(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The cache directory is named after everything the build depends on, so a new version never meets an old build. */
async function cacheDirectory({ steps, sources }: Kit): Promise<string> {
  const hash = createHash("sha256").update(`${process.platform}-${process.arch} ${JSON.stringify(steps)}`);
  for (const file of sources) hash.update(await readFile(file));
  return join(cacheRoot(), hash.digest("hex").slice(0, 16));
}

function cacheRoot(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "flipop-test");
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(await ensureAssets(), null, 2)}\n`);
