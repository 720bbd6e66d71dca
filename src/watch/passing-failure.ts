import { ConfigError, KubeError } from "../model/errors.ts";

/**
 * True for a failure of the cluster that a process which goes on waits out. A right that is missing is one only where it has been there before: what never worked
 * does not mend itself, and whoever started the process should see it end.
 */
export function isPassingFailure(error: unknown, hasWorked: boolean): error is KubeError {
  if (error instanceof ConfigError || !(error instanceof KubeError)) return false;
  return hasWorked || (error.failure !== "forbidden" && error.failure !== "unauthorized");
}
