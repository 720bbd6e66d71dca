import { askedOfHost, hostAgentOn, isUnkept } from "../model/host-agent.ts";
import type { NodeFacts } from "../model/node.ts";
import { readHostPods } from "../observe/host-pods.ts";
import { UNKEPT_HELP, unkeptTexts } from "../report/text/node-problems.ts";
import type { Planner } from "./wiring.ts";

/**
 * Returns what a person must know of addresses that nodes are to put on their hosts: no ready `flipop host` is there, or nobody knows. One list of pods, and only if some
 * node is to put one there.
 * @param isMeant - of which addresses it is to be told
 */
export async function hostNotices(
  cluster: Planner["cluster"],
  nodes: readonly NodeFacts[],
  isMeant: (ip: string, nodeName: string) => boolean = () => true,
): Promise<readonly string[]> {
  const pods = await readHostPods(cluster, nodes);
  if (pods === undefined) return [];
  if (pods.kind === "unread") return [`Whether flipop host runs where it is needed is not known: ${pods.error}`];
  const unkept = nodes.flatMap((node) => {
    const { name: nodeName, ready } = node;
    const agent = hostAgentOn(nodeName, pods);
    const ips = ready.isReady && isUnkept(agent) ? askedOfHost(node) : [];
    return ips.filter((ip) => isMeant(ip, nodeName)).map((ip) => ({ object: "", ip, nodeName, agent }));
  });
  return unkeptTexts(unkept, cluster.now()).map((text) => `${text} ${UNKEPT_HELP}`);
}
