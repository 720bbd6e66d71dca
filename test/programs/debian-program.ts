// Where the tests get programs of Debian's packages: named by the environment, from the PATH, from the cache, or fetched once.
import { execFile } from "node:child_process";
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { skipOrFail } from "../cluster/assets.ts";

const run = promisify(execFile);

/**
 * Returns the path of a program; undefined where it is not here and cannot be fetched, or throws then with `CI=true`: a gate
 * must not pass because it checked nothing. Order: `TEST_ASSET_PROGRAM` (promtool: `TEST_ASSET_PROMTOOL`), the PATH, the cache,
 * the Debian package, which is fetched by apt-get and unpacked into the cache, not installed. The packages that it needs `beside` are unpacked into the
 * same folder: its libraries lie in `../lib/*-linux-gnu` then, beside the folder of the program.
 */
export async function debianProgram(
  packageName: string,
  program: string,
  beside: readonly string[] = [],
): Promise<string | undefined> {
  try {
    return await findProgram(packageName, program, beside);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.trim() : String(cause);
    const variable = variableOf(program);
    const message = `${program} is not here and cannot be fetched: ${why}. Install it, or set ${variable} to its path.`;
    skipOrFail(new Error(message, { cause }), `TESTS WITH ${program}`);
    return undefined;
  }
}

async function findProgram(packageName: string, program: string, beside: readonly string[]): Promise<string> {
  const named = process.env[variableOf(program)];
  if (named) {
    // A typing error must not go unnoticed.
    await access(named, constants.X_OK);
    return named;
  }
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  const folder = join(cacheDirectory(), packageName);
  const cached = [join(folder, "usr", "bin", program), join(folder, "bin", program)];
  for (const file of [...onPath, ...cached]) if (await isExecutable(file)) return file;
  await fetchPackage(packageName, beside);
  for (const file of cached) if (await isExecutable(file)) return file;
  throw new Error(`the package ${packageName} has no ${program}`);
}

function variableOf(program: string): string {
  return `TEST_ASSET_${program.replaceAll("-", "_").toUpperCase()}`;
}

/** Unpacks beside its place and moves there at the end, so that two callers at once do no harm. */
async function fetchPackage(packageName: string, beside: readonly string[]): Promise<void> {
  const cache = cacheDirectory();
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, ".fetch-"));
  try {
    await run("apt-get", ["download", packageName, ...beside], { cwd: folder, timeout: 120_000 });
    const files = (await readdir(folder)).filter((name) => name.endsWith(".deb"));
    if (files.length !== 1 + beside.length) throw new Error(`apt-get left no package ${packageName}`);
    for (const file of files) await run("dpkg-deb", ["-x", file, "unpacked"], { cwd: folder, timeout: 60_000 });
    await rename(join(folder, "unpacked"), join(cache, packageName)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function cacheDirectory(): string {
  const root = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(root, "flipop-test", "debian");
}

async function isExecutable(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
