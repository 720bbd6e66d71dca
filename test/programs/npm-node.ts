// Where the tests get other versions of Node: from the cache, or fetched once from npm.
import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { skipOrFail } from "../cluster/assets.ts";

const run = promisify(execFile);

/**
 * Returns the folder that holds `node` of exactly this version, for this system. Where npm does not give it, {@link skipOrFail} decides: then it throws, or returns undefined.
 */
export async function npmNode(version: string): Promise<string | undefined> {
  const name = `node-${process.platform}-${process.arch}`;
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "flipop-test", "node");
  const kept = join(cache, `${name}-${version}`);
  try {
    if (!(await isThere(join(kept, "bin/node")))) await fetchNode(`${name}@${version}`, { cache, kept });
    return join(kept, "bin");
  } catch (cause) {
    const message = `Node ${version} is not here and cannot be fetched: ${cause instanceof Error ? cause.message.trim() : cause}`;
    skipOrFail(new Error(message, { cause }), `TESTS WITH Node ${version}`);
    return undefined;
  }
}

/** Unpacks beside its place and moves there at the end, so that two callers at once do no harm. */
async function fetchNode(spec: string, { cache, kept }: { readonly cache: string; readonly kept: string }) {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, ".fetch-"));
  try {
    const { stdout } = await run("npm", ["pack", spec, "--json", "--pack-destination", folder], { timeout: 300_000 });
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    await run("tar", ["-xzf", join(folder, filename), "-C", folder], { timeout: 60_000 });
    await rename(join(folder, "package"), kept).catch(async (error: NodeJS.ErrnoException) => {
      if (!(await isThere(join(kept, "bin/node")))) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
