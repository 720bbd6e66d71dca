import { durationText } from "../model/time.ts";
import { isFresh } from "./runs.ts";
import { allOr, type Checks, check, failing, fine, notApplicable, suspicious } from "./verdict.ts";

/** The Lease of the Go operator of the same name, in whatever namespace it runs (its source, read 2026-11-23). */
export const OPERATOR_LEASE = "floating-ip-pool-controller-leader-election";

const MOST_SILENT_MS = 3 * 60_000;

/** The checks of metrics, and of other controllers on the same objects. */
export const OTHER_CHECKS: Checks<"FLP181" | "FLP182" | "FLP191"> = {
  FLP181: check(["pushgateway"], ({ pushgateway }) => {
    if (pushgateway.kind === "unset") return notApplicable("PUSHGATEWAY_URL is not set");
    return pushgateway.kind === "answers" ? fine(pushgateway.url) : failing(pushgateway.message);
  }),
  FLP182: check(["pushgateway", "server"], ({ pushgateway, server: { nowMs } }) => {
    if (pushgateway.kind !== "answers") return notApplicable("PUSHGATEWAY_URL is not set");
    const { pushedAtMs, url } = pushgateway;
    if (pushedAtMs === undefined) return suspicious(`${url} has no metrics of flipop`);
    const agoMs = Math.max(0, nowMs - pushedAtMs);
    if (agoMs <= MOST_SILENT_MS) return fine(`metrics were pushed ${durationText(agoMs)} ago`);
    return suspicious(`${url} got the last metrics of flipop ${durationText(agoMs)} ago`);
  }),
  FLP191: check(["operatorLeases", "server"], ({ operatorLeases, server: { nowMs } }) =>
    allOr(
      operatorLeases
        .filter((lease) => isFresh(lease, nowMs))
        .map(({ namespace, holder }) =>
          failing(`the Go operator runs in namespace ${namespace}: ${holder} renews its Lease`, {
            command: `kubectl -n ${namespace} scale deployment flipop --replicas=0`,
          }),
        ),
      fine("no Go operator runs"),
    ),
  ),
};
