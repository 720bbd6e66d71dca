import { fileURLToPath } from "node:url";
import { describeProcess } from "./process-suite.ts";

describeProcess("the process", () => fileURLToPath(new URL("big-plan.ts", import.meta.url)));
