import type { AssignIP, UnassignIP } from "../model/action.ts";
import { machineID, type NodeFacts } from "../model/node.ts";
import type { PodSummary } from "../model/observation.ts";
import { objectKey, type Pool } from "../model/resource.ts";
import { statusOf } from "../plan/addresses/position.ts";
import { keepsAddress, summarizeEndpoints, summarizePods, summaryOn } from "../plan/nodes/judge-nodes.ts";
import { podsKeyOf } from "../plan/validate.ts";
import { type ApplyContext, ownerJournal } from "./context.ts";
import { type Result, skipped } from "./result.ts";

/** What speaks against a call may be this old when it is made, milliseconds. */
const FRESH_MS = 400;

/**
 * Asks again, right before a call, what speaks against it. An answer counts for less than half a second: whatever takes longer in between (a status write, a busy provider, a slow
 * answer) makes it ask once more.
 */
export class LastLook {
  readonly #ask: () => Promise<Result | undefined>;
  readonly #context: Pick<ApplyContext, "clock">;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(ask: () => Promise<Result | undefined>, context: Pick<ApplyContext, "clock">) {
    this.#ask = ask;
    this.#context = context;
  }

  /** What speaks against the call now; undefined when nothing does. */
  async objection(): Promise<Result | undefined> {
    const { clock } = this.#context;
    // An answer that was long in coming is old by the time it is there.
    for (let asked = 0; asked < 3 && clock.monotonicMs() - this.#askedAtMs > FRESH_MS; asked += 1) {
      this.#askedAtMs = clock.monotonicMs();
      const objection = await this.#ask();
      if (objection !== undefined) return objection;
    }
    return undefined;
  }
}

/**
 * Judges the holder of an address once more, node and pods, as they are now: one that matches again, is in grace, or cannot be read keeps its address. Reads the node and, where the
 * pool asks for pods, its pods. Undefined when the address may leave.
 */
export async function holderKeeps(
  action: AssignIP | UnassignIP,
  context: Pick<ApplyContext, "cluster" | "journals">,
): Promise<Result | undefined> {
  const { before, ip, object } = action;
  const pool = ownerJournal(object, context.journals).object(objectKey(object));
  if (!action.isHolderJudged || before === undefined || pool === undefined) return undefined;
  const name = before.nodeName ?? statusOf(pool, ip)?.nodeName;
  if (name === undefined) return undefined;
  const [node, pods] = await Promise.all([context.cluster.readNode(name), podsOn(name, pool, context)]);
  if (node === undefined || !mayBe(node, before.machineID, pool)) return undefined;
  const holder = { node, machine: before.machineID, pods };
  if (!keepsAddress(pool, ip, holder, context.cluster.now())) return undefined;
  const key = podsKeyOf(pool);
  const learned =
    key === undefined ? {} : { learnedPods: { key, nodeName: name, ...(pods === undefined ? {} : { pods }) } };
  const why = `node ${name}, which has the address, ${abilityOf(node, pods)}`;
  return { ...skipped("Stale", why), learnedNode: node, ...learned };
}

function abilityOf({ unreadable }: NodeFacts, pods: PodSummary | undefined): string {
  const doubt = unreadable ?? (pods?.ready === 0 ? pods.unreadable : undefined);
  return doubt === undefined ? "can serve again" : `may serve: ${doubt} cannot be read`;
}

/** True if the machine is the node's, or if the node's machine cannot be read. */
function mayBe({ providerID, unreadable }: NodeFacts, machine: string, { spec }: Pool): boolean {
  return machineID(spec.provider, providerID) === machine || (providerID === "" && unreadable !== undefined);
}

async function podsOn(
  nodeName: string,
  pool: Pool,
  { cluster }: Pick<ApplyContext, "cluster">,
): Promise<PodSummary | undefined> {
  if (podsKeyOf(pool) === undefined) return undefined;
  if (pool.endpoints !== undefined)
    return summaryOn(summarizeEndpoints(await cluster.readEndpointSlices(pool.endpoints)), nodeName);
  const { podNamespace, podLabel } = pool.spec.match;
  const pods = await cluster.readPodsOn({ namespace: podNamespace, label: podLabel }, nodeName);
  return summaryOn(summarizePods(pods), nodeName);
}
