// Set up before every test file: whatever a child process or this one prints is searched for the fake tokens, and the test that
// ran fails. Nothing is changed in how output flows: chunks are looked at as they arrive.
import childProcess, { ChildProcess, type SpawnSyncReturns } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import type { Readable } from "node:stream";
import { afterEach } from "vitest";
import { shownTokens } from "../fake/fake-tokens.ts";

/** Longer than any form of a token, so that one that is cut between two chunks is seen. */
const OVERLAP = 100;

interface Watched {
  flipopShown?: string[];
}

/** What was shown since it was last asked for. */
export function takeShownTokens(): readonly string[] {
  return shownHere().splice(0);
}

function shownHere(): string[] {
  const place = globalThis as Watched;
  place.flipopShown ??= [];
  return place.flipopShown;
}

/** Returns a function that is to be given everything one stream delivers. */
function watcher(): (chunk: unknown) => void {
  let tail = "";
  return (chunk) => {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    const text = tail + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("latin1"));
    shownHere().push(...shownTokens(text));
    tail = text.slice(-OVERLAP);
  };
}

function watchStream(stream: Readable | null | undefined): void {
  if (stream === null || stream === undefined) return;
  const look = watcher();
  const push = stream.push.bind(stream);
  stream.push = (chunk, encoding) => {
    look(chunk);
    return push(chunk, encoding);
  };
}

function watchSync<Args extends unknown[], Result>(run: (...args: Args) => Result): (...args: Args) => Result {
  const look = (output: unknown): void => {
    watcher()(output);
    const { stdout, stderr } = (output ?? {}) as Partial<SpawnSyncReturns<unknown>>;
    watcher()(stdout);
    watcher()(stderr);
  };
  return (...args) => {
    try {
      const result = run(...args);
      look(result);
      return result;
    } catch (error) {
      look(error);
      throw error;
    }
  };
}

if ((globalThis as Watched).flipopShown === undefined) {
  shownHere();
  // Every asynchronous way to start a process comes through here; TypeScript's types leave it out.
  const prototype = ChildProcess.prototype as unknown as { spawn: (...args: unknown[]) => unknown };
  const spawn = prototype.spawn;
  prototype.spawn = function spawnWatched(this: ChildProcess, ...args) {
    const result = spawn.apply(this, args);
    watchStream(this.stdout);
    watchStream(this.stderr);
    return result;
  };
  childProcess.spawnSync = watchSync(childProcess.spawnSync) as typeof childProcess.spawnSync;
  childProcess.execSync = watchSync(childProcess.execSync) as typeof childProcess.execSync;
  childProcess.execFileSync = watchSync(childProcess.execFileSync) as typeof childProcess.execFileSync;
  syncBuiltinESMExports();
  for (const stream of [process.stdout, process.stderr]) {
    const look = watcher();
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = ((...args: unknown[]) => {
      look(args[0]);
      return write(...args);
    }) as typeof stream.write;
  }
}

afterEach(() => {
  const shown = takeShownTokens();
  if (shown.length > 0) throw new Error(`${shown.length} times a token was printed, such as ${shown[0]?.slice(0, 6)}…`);
});
