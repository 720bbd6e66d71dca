import { KubeError, type KubeFailure } from "../model/errors.ts";

const MAY_BE_DONE: ReadonlySet<KubeFailure> = new Set<KubeFailure>(["unavailable", "timeout", "malformed"]);

/** True for the failure of a write to the cluster that may have taken effect all the same. Pure. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof KubeError && MAY_BE_DONE.has(error.failure);
}
