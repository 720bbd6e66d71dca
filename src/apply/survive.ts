import { KubeError } from "../model/errors.ts";

/** For the `catch` of a write to the cluster that the next run makes good: what the API refused is passed over, everything else is thrown. */
export function survive(error: unknown): void {
  if (!(error instanceof KubeError)) throw error;
}
