import { type Checks, check, failing, fine, suspicious, unknown } from "./verdict.ts";

const OLDEST = 27;
const POD_FAILURE_POLICY = 31;
const MOST_AHEAD_MS = 5000;

/** The checks of the cluster itself. */
export const CLUSTER_CHECKS: Checks<"FLP101" | "FLP102" | "FLP103" | "FLP104" | "FLP105"> = {
  FLP101: check(
    ["connection"],
    ({ connection }) => fine(connection.source),
    (why) => failing(why.replace(/\.$/, "")),
  ),
  FLP102: check(
    ["connection", "server"],
    ({ connection, server }) => fine(`${connection.server}, ${server.version}, ${server.roundTripMs} ms`),
    (why) => failing(why.replace(/\.$/, "")),
  ),
  FLP103: check(["server"], ({ server: { version } }) => {
    const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
    if (major === undefined || Number(major) !== 1) return unknown(`the version "${version}" cannot be read`);
    if (Number(minor) < OLDEST) return failing(`the API server is ${version}, older than 1.${OLDEST}`);
    if (Number(minor) >= POD_FAILURE_POLICY) return fine(version);
    return suspicious(`the API server is ${version}, older than 1.${POD_FAILURE_POLICY}`, {
      consequence: "Exit codes may not fail the Job of the CronJob at once: podFailurePolicy is not settled there.",
    });
  }),
  FLP104: check(["server"], ({ server: { aheadMs } }) => {
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    if (Math.abs(aheadMs) < MOST_AHEAD_MS) return fine("the clocks agree");
    return suspicious(`the local clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} that of the API server`);
  }),
  FLP105: check(["hasNamespace", "own"], ({ hasNamespace: { exists }, own: { lease } }) => {
    if (exists === undefined) return unknown(`namespaces may not be read; whether ${lease.namespace} exists is open`);
    if (exists) return fine(`namespace ${lease.namespace}`);
    const command = `kubectl create namespace ${lease.namespace}`;
    return failing(`there is no namespace ${lease.namespace}`, { command });
  }),
};
