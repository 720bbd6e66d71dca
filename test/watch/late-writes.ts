import type { Gate, GateCall } from "./gate.ts";

const WINDOW_MS = 2000;
const WINDOWS = 5;

/** What still goes through gates that do not become quiet; empty as soon as nothing was written for two seconds: on a busy machine the last Events take a while. */
export async function lateWrites(...gates: readonly Gate[]): Promise<readonly GateCall[]> {
  let late: readonly GateCall[] = [];
  for (let window = 0; window < WINDOWS; window += 1) {
    const before = gates.map(({ writes }) => writes.length);
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    late = gates.flatMap(({ writes }, at) => writes.slice(before[at]));
    if (late.length === 0) break;
  }
  return late;
}
