import type { UnassignIP } from "../model/action.ts";
import type { ApplyContext } from "./context.ts";
import { holderKeeps, LastLook } from "./judge-holder.ts";
import { toolsOf } from "./provider-tools.ts";
import { applied, failed, learn, type Result, skipped } from "./result.ts";
import { settleChange } from "./settle-change.ts";

/** Detaches one address, if it still is where the plan saw it, and its node does not match again. Already detached is done. */
export async function unassignIP(action: UnassignIP, context: ApplyContext): Promise<Result> {
  const { provider, confirmer } = toolsOf(action.provider, context);
  const { ip } = action;
  const address = await provider.getAddress(ip);
  if (address === undefined) return applied({ learned: [learn(ip, undefined)] });
  if (address.isLocked) return skipped("InProgress", "", [learn(ip, address)]);
  if (address.holderID === undefined) return applied({ address });
  if (address.holderID !== action.before.machineID)
    return skipped("Stale", "it is on another machine now", [learn(ip, address)]);
  const holder = new LastLook(() => holderKeeps(action, context), context);
  return await settleChange(
    {
      ip,
      provider,
      confirmer,
      call: () => provider.unassign(ip),
      objection: () => holder.objection(),
      isTrue: ({ holderID }) => holderID === undefined,
      isAsPlanned: ({ holderID }) => holderID === action.before.machineID,
      explain: async (error, reading) => failed(error, { learned: [learn(ip, reading)] }),
    },
    context,
  );
}
