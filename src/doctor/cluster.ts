import type { Answers, Facts } from "./facts.ts";
import { type Checks, check, failing, fine, suspicious, unknown } from "./verdict.ts";

const OLDEST = 27;
const POD_FAILURE_POLICY = 31;
const MOST_AHEAD_MS = 5000;

const TELLS_VERSION = check(
  ["connection", "server"],
  ({ connection, server }) => fine(`${connection.server}, ${server.version}, ${server.roundTripMs} ms`),
  (why) => failing(why.replace(/\.$/, "")),
);

/** The checks of the cluster itself. */
export const CLUSTER_CHECKS: Checks<"FLP101" | "FLP102" | "FLP103" | "FLP104" | "FLP105"> = {
  FLP101: check(
    ["connection"],
    ({ connection }) => fine(connection.source),
    (why) => failing(why.replace(/\.$/, "")),
  ),
  FLP102: {
    reads: TELLS_VERSION.reads,
    judge: (answers) => {
      const verdicts = TELLS_VERSION.judge(answers);
      const why = verdicts.every(({ result }) => result === "success") ? silentOn(answers) : undefined;
      return why === undefined ? verdicts : [failing(why.replace(/\.$/, ""))];
    },
  },
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

/** What every run lists, and what is asked before flipop is installed. It may take longer than the doctor waits. */
const MORE: readonly (keyof Facts)[] = ["objects", "nodes", "installing"];

/**
 * An API server may tell its version although nothing of what it stores can be read: a proxy tells it, or it has lost its store. Returns what it does not answer, of what was
 * read anyway for other checks and no run can do without: the Lease, which is small, and what is longer. Refusals are answers.
 */
function silentOn(answers: Answers): string | undefined {
  const { lease } = answers;
  if (lease !== undefined && "error" in lease && lease.silence !== undefined) return lease.error;
  const more = MORE.map((name) => answers[name]);
  return more.flatMap((one) =>
    one !== undefined && "error" in one && one.silence === "no answer" ? [one.error] : [],
  )[0];
}
