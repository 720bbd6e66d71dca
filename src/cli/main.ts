import { runProcess } from "./run-process.ts";

await runProcess(async () => (await import("./build.ts")).createBackend());
