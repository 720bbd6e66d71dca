import { runProcess } from "./command-line.ts";

// Nothing waits for it: the program may be one file, which cannot wait while it is loaded.
void runProcess(async () => (await import("./wiring.ts")).createWiring());
