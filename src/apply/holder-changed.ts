import type { AssignIP, UnassignIP } from "../model/action.ts";
import { nodeVersion } from "../model/node-version.ts";
import type { ClusterWriter } from "../ports/cluster.ts";
import { type Result, skipped } from "./result.ts";

/** What speaks against taking an address from its node: one that changed since it was observed may match again, and is judged anew first. One reading at most. */
export async function holderChanged(
  { before, holderVersion }: AssignIP | UnassignIP,
  { cluster }: { readonly cluster: Pick<ClusterWriter, "readNode"> },
): Promise<Result | undefined> {
  if (before?.nodeName === undefined || holderVersion === undefined) return undefined;
  const node = await cluster.readNode(before.nodeName);
  if (node === undefined || nodeVersion(node) === holderVersion) return undefined;
  return { ...skipped("Stale", `node ${node.name} changed meanwhile`), learnedNode: node };
}
