import { askedOfHost, asksItsHost, HOST_PODS, hostAgentOn } from "../model/host-agent.ts";
import { durationText } from "../model/time.ts";
import type { Facts } from "./facts.ts";
import { allOr, type Checks, check, failing, fine, notApplicable, unknown, type Verdict } from "./verdict.ts";

// The other half of an address that its machine must know itself: whether what puts it on the host runs on each node that is to have one.

/** The check of `flipop host`. */
export const HOST_CHECKS: Checks<"FLP155"> = {
  FLP155: check(["nodes", "host", "server"], ({ nodes, host, server }) => {
    const asking = nodes.filter(asksItsHost);
    const { pods, daemonSets } = host;
    if (asking.length === 0 || pods === undefined) return notApplicable("no node is to put an address on its host");
    if (pods.kind === "unread") return unknown(pods.error);
    const agents = asking.map((node) => ({ node, agent: hostAgentOn(node.name, pods) }));
    const wrong = agents.flatMap(({ node, agent: { kind, sinceMs } }): readonly Verdict[] => {
      const addresses = askedOfHost(node).join(", ");
      if (kind === "unknown") return [unknown(`${node.name}: the pod of flipop host cannot be understood`)];
      if (kind === "missing") return [failing(missingText(node.name, addresses, daemonSets), missingHelp(daemonSets))];
      if (kind === "ready") return [];
      const since = sinceMs === undefined ? "" : ` for ${durationText(Math.max(server.nowMs - sinceMs, 0))}`;
      return [
        failing(`flipop host is not ready${since} on ${node.name}, which is to have ${addresses}`, podHelp(node.name)),
      ];
    });
    const count = asking.length;
    return allOr(wrong, fine(`flipop host is ready on ${count === 1 ? asking[0]?.name : `all ${count} nodes`}`));
  }),
};

type DaemonSets = Facts["host"]["daemonSets"];

function missingText(nodeName: string, addresses: string, daemonSets: DaemonSets): string {
  const [first] = daemonSets ?? [];
  const what = `no pod of flipop host is on ${nodeName}, which is to have ${addresses}`;
  if (daemonSets === undefined) return what;
  if (first === undefined) return `${what}: the cluster has no DaemonSet of flipop host`;
  const { namespace, name, wanted } = first;
  return `${what}: the DaemonSet ${namespace}/${name} wants ${wanted} ${wanted === 1 ? "pod" : "pods"}`;
}

function missingHelp(daemonSets: DaemonSets): Partial<Verdict> {
  const [first] = daemonSets ?? [];
  if (first === undefined) return {};
  const hint = "Let the DaemonSet run on this node: look at its nodeSelector and tolerations, and what its Events say.";
  return { hint, command: `kubectl -n ${first.namespace} describe daemonset ${first.name}` };
}

function podHelp(nodeName: string): Partial<Verdict> {
  const command = `kubectl describe pods -A -l ${HOST_PODS.label} --field-selector spec.nodeName=${nodeName}`;
  return { hint: "Look what its readiness probe and its log say: they name the address and the reason.", command };
}
