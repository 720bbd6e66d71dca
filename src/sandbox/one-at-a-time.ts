import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Runs work that reads and writes the files of a world. */
export type Exclusively = <T>(work: () => T) => T;

const LOCK = ".lock";
const POLL_MS = 1;
/** Work takes milliseconds. A lock this old was left by a process that was ended in the middle. */
const OLDEST_MS = 5000;

/**
 * Returns what runs work while no other process works on the files of a directory. Each piece of work reads what changed, and
 * writes what it changes, so that processes on one directory see each other's changes and lose none. Synchronous, and not for work within work.
 */
export function oneAtATime(directory: string): Exclusively {
  const path = join(directory, LOCK);
  return (work) => {
    while (!take(path)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    try {
      return work();
    } finally {
      rmSync(path, { force: true });
    }
  };
}

function take(path: string): boolean {
  try {
    const file = openSync(path, "wx");
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    // A directory that was removed, or cannot be written, has nothing to protect: the work itself says what is wrong.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    if (isAbandoned(path)) rmSync(path, { force: true });
    return false;
  }
}

function isAbandoned(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > OLDEST_MS) return true;
    const pid = Number(readFileSync(path, "utf8"));
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
