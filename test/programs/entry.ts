import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The program of the checkout, which runs the sources. */
export const CHECKOUT: string = fileURLToPath(new URL("../../bin/flipop", import.meta.url));

/** The folder of the package, as `npm run build` makes it, built for this run; no test changes it. `""` outside of suites that run processes. */
export const PACKAGE: string = process.env["FLIPOP_PACKAGE"] ?? "";

/** The folder with the program as the image holds it, built for this run; `""` outside of suites that run processes. */
export const IN_IMAGE: string = process.env["FLIPOP_IN_IMAGE"] ?? "";

/** The program that suites run as a process: the one that FLIPOP_PROGRAM names, as in `FLIPOP_PROGRAM=bin/flipop npm test`, else the one that was built for this run, else the checkout's. */
export const FLIPOP: string = resolve(process.env["FLIPOP_PROGRAM"] ?? CHECKOUT);
