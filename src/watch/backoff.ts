import { jittered } from "./lease-jitter.ts";

const FIRST_MS = 800;
const LONGEST_MS = 5000;

/** How long to wait after so many failures in a row (from 1), milliseconds: twice as long each time, at most 6 s, different for each process. Pure. */
export function backoffMs(failures: number, identity: string): number {
  return jittered(Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS), identity, failures);
}
