// `npm run build [FOLDER]` makes dist/, the package: `npm pack ./dist` packs it, the image copies it.
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPackage } from "./package.ts";

await buildPackage(resolve(process.argv[2] ?? join(fileURLToPath(new URL("../", import.meta.url)), "dist")));
