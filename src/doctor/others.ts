import { durationText } from "../model/time.ts";
import type { OperatorDeployment } from "../ports/inspection.ts";
import { countText } from "../report/text/layout.ts";
import { isFresh } from "./runs.ts";
import { allOr, type Checks, check, failing, fine, notApplicable, suspicious, type Verdict } from "./verdict.ts";

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
  FLP191: check(["operatorLeases", "operatorDeployments", "server", "own"], (facts) => {
    const { operatorLeases, operatorDeployments, server, own } = facts;
    const running = operatorLeases.filter((lease) => isFresh(lease, server.nowMs));
    const others = operatorDeployments.filter(
      ({ namespace }) => !running.some((lease) => lease.namespace === namespace),
    );
    return allOr(
      [
        ...running.map(({ namespace, holder }) =>
          failing(`the Go operator runs in namespace ${namespace}: ${holder} renews its Lease`, scaledDown(namespace)),
        ),
        ...others.map((deployment) => ofDeployment(deployment, own.lease.namespace)),
      ],
      fine("no Go operator runs"),
    );
  }),
};

function ofDeployment({ namespace, replicas, image }: OperatorDeployment, ownNamespace: string): Verdict {
  const what = `the Deployment ${namespace}/flipop of the Go operator`;
  if (replicas > 0) {
    const count = `${countText(replicas, "replica", "replicas")} of ${image}`;
    return failing(`${what} has ${count}`, scaledDown(namespace));
  }
  const isInTheWay = namespace === ownNamespace;
  return suspicious(`${what} is still there, with 0 replicas of ${image}`, {
    consequence: `Scaling it up starts the Go operator.${isInTheWay ? " What flipop manifests --mode watch prints cannot replace it." : ""}`,
    hint: "Delete it, and the Role and RoleBinding of its name.",
    command: `kubectl -n ${namespace} delete deployment,role,rolebinding flipop`,
  });
}

function scaledDown(namespace: string): Pick<Verdict, "command"> {
  return { command: `kubectl -n ${namespace} scale deployment flipop --replicas=0` };
}
