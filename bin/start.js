// Plain JavaScript: what `npm run build` makes holds the program as a bundle in lib/, an image as one file there, a checkout its sources.
import { existsSync } from "node:fs";
import { enableCompileCache, setSourceMapsSupport } from "node:module";
import { fileURLToPath } from "node:url";

// Where the system's Node is old, the launcher stays as the parent of this process. When it is killed, this process ends, too.
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
// Whoever listens for that keeps the channel open, and with it the process, also when its work is done.
process.channel?.unref();

// Node writes a warning of its own, also between lines of JSON, where one variable asks for colour and another one for none. The first one counts.
if (process.env["FORCE_COLOR"] !== undefined) {
  delete process.env["NO_COLOR"];
  delete process.env["NODE_DISABLE_COLORS"];
}

// Node opens a port for a debugger at SIGUSR1 where nobody listens for it, and the launcher has not started this process, as in an image.
process.on("SIGUSR1", () => undefined);

const oneFile = fileURLToPath(new URL("../lib/main.cjs", import.meta.url));
const bundle = new URL("../lib/main.js", import.meta.url);
if (existsSync(oneFile)) {
  const { compile, run } = await import("./compiled.js");
  run(compile(oneFile), oneFile);
} else if (existsSync(bundle)) {
  // No compile cache: a bundle starts as fast without (measured on Node 24.21), and nothing is ever written beside it.
  setSourceMapsSupport(true, { nodeModules: true });
  await import(bundle.href);
} else {
  // On before the first TypeScript file: a start then takes half the time. The cache lies beside the installed packages,
  // writable only for whoever could change those; elsewhere there is none.
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/flipop", import.meta.url)));
  await import("../src/cli/main.ts");
}
