import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The program that suites run as a process: the checkout's, or the one that FLIPOP_PROGRAM names, as in `FLIPOP_PROGRAM=dist/bin/flipop npm test`. */
export const FLIPOP: string = resolve(
  process.env["FLIPOP_PROGRAM"] ?? fileURLToPath(new URL("../../bin/flipop", import.meta.url)),
);
