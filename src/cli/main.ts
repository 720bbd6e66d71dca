import { runProcess } from "./command-line.ts";

await runProcess(async () => (await import("./wiring.ts")).createWiring());
