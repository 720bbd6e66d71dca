// Plain JavaScript, so that the compile cache is on before the first TypeScript file: a start then takes half the time.
// The cache lies beside the installed packages, writable only for whoever could change those; elsewhere there is none.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/flipop", import.meta.url)));
await import("../src/cli/main.ts");
