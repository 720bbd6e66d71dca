// Builds the program once for all suites that run it as a process: it is what is shipped, and starts in half the time of the sources.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtPackage } from "./built-package.ts";

/** Names the built program to the tests, unless FLIPOP_PROGRAM names another one, and returns what removes it. */
export default function setup(): (() => void) | undefined {
  if (process.env["FLIPOP_PROGRAM"] !== undefined) return undefined;
  const folder = builtPackage();
  const bin = join(folder, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(bin, "node"));
  process.env["FLIPOP_PROGRAM"] = join(folder, "bin/flipop");
  return () => {
    delete process.env["FLIPOP_PROGRAM"];
    rmSync(dirname(folder), { recursive: true, force: true });
  };
}
