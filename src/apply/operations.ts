import { type Action, type AnnotateNode, isAssign, refKey, type SetFinalizer } from "../model/action.ts";
import { ACTIONS, changesName } from "../model/action-kinds.ts";
import { ConfigError, KubeError, NotSent, ProviderError } from "../model/errors.ts";
import { acquireIP, deleteIP } from "./acquire-ip.ts";
import { assignIP, unassignIP } from "./assign-ip.ts";
import { changeMachines, changePorts } from "./change-firewall.ts";
import { type ApplyContext, answered, applied, beforeEnd, failed, obstacle, type Result, skipped } from "./context.ts";
import { type Preparation, UNPREPARED } from "./on-record.ts";
import { writeDNS } from "./write-dns.ts";

/**
 * Carries out one action: first stores what the next run must know of it, then changes the world. A refusal by the API server or a provider is a result.
 *
 * @throws InternalError and what else is a mistake in the program
 */
export async function operate(
  action: Action,
  prepared: (object: Action["object"]) => Preparation,
  context: ApplyContext,
): Promise<Result> {
  try {
    // What an annotation alone shows to be the pool's must be on record before the annotation goes.
    const isPrepared = ACTIONS[action.kind].target === "provider" || action.kind === "clear-annotation";
    return await perform(action, isPrepared ? prepared(action.object) : UNPREPARED, context);
  } catch (error) {
    if (error instanceof ProviderError || error instanceof KubeError || error instanceof ConfigError)
      return failed(error);
    if (error instanceof NotSent) return skipped("LockLost");
    throw error;
  }
}

/** Assignments wait for their preparation themselves: they have something to ask meanwhile. A run that is asked to end waits for no preparation. */
async function perform(action: Action, prepared: Preparation, context: ApplyContext): Promise<Result> {
  const first = prepared[neededBy(action)];
  if (!isAssign(action) && (await beforeEnd(first, context)) === "late") return skipped("Deadline");
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      return await assignIP(action, context, prepared);
    case "acquire-ip":
      return await acquireIP(action, context);
    case "unassign-ip":
      return await unassignIP(action, context);
    case "delete-ip":
      return await deleteIP(action, context);
    case "open-ports":
    case "close-ports":
      return await changePorts(action, context);
    case "add-to-firewall":
    case "remove-from-firewall":
      return await changeMachines(action, context);
    case "withdraw-dns":
    case "update-dns":
    case "delete-dns":
      return await writeDNS(action, context);
    case "annotate-node":
    case "clear-annotation":
      return await annotateNode(action, context);
    case "add-finalizer":
    case "remove-finalizer":
      return await setFinalizer(action, context);
  }
}

/** What of the first write of its object an action waits for. */
function neededBy(action: Action): keyof Preparation {
  if (action.kind === "acquire-ip") return "kept";
  return changesName(action) ? "named" : "whole";
}

/** Writes or removes our annotations of one node. A node that is gone needs none. */
async function annotateNode({ nodeName, after, ipFamily }: AnnotateNode, context: ApplyContext): Promise<Result> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  try {
    const { address = null, pool = null, host } = after;
    const write = context.cluster.annotateNode(nodeName, {
      address,
      pool,
      ...(host === undefined ? {} : { host: host || null }),
      ...(ipFamily === undefined ? {} : { ipFamily }),
    });
    await answered(write, { operation: "annotate node", subject: nodeName }, context);
    return applied();
  } catch (error) {
    if (error instanceof KubeError && error.failure === "not-found") return skipped("Stale", "the node is gone");
    throw error;
  }
}

/** Adds or removes flipop's finalizer. An object that is gone needs none. */
async function setFinalizer({ kind, object }: SetFinalizer, context: ApplyContext): Promise<Result> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  const write = context.stores[object.kind].setFinalizer(object, kind === "add-finalizer");
  const result = await answered(write, { operation: "write the finalizer of", subject: refKey(object) }, context);
  if (result === "set") return applied();
  return skipped("Stale", result === "gone" ? "the object is gone" : "its status changed meanwhile");
}
