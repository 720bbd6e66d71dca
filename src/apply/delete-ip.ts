import type { DeleteIP } from "../model/action.ts";
import { ProviderError } from "../model/errors.ts";
import type { IPProvider } from "../ports/providers.ts";
import { type ApplyContext, obstacle } from "./context.ts";
import { toolsOf } from "./provider-tools.ts";
import { applied, failed, learn, type Result, skipped } from "./result.ts";

/** Waits between attempts right after an unassignment, when the provider may still be busy with the address, milliseconds. */
const BUSY_WAITS: readonly number[] = [500, 1000, 2000, 5000];

/** Gives one unattached address back. It is read first: an attached or locked one is never deleted. Already gone is done. */
export async function deleteIP(action: DeleteIP, context: ApplyContext): Promise<Result> {
  const { provider } = toolsOf(action.provider, context);
  for (let attempt = 0; ; attempt += 1) {
    const result = await tryOnce(action.ip, provider, context);
    const wait = BUSY_WAITS[attempt];
    if (result !== "busy") return result;
    if (wait === undefined) return skipped("InProgress");
    await context.clock.sleep(wait, context.patience);
    if (context.patience.aborted) return skipped(obstacle(context) ?? "InProgress");
  }
}

async function tryOnce(ip: string, provider: IPProvider, context: ApplyContext): Promise<Result | "busy"> {
  const address = await provider.getAddress(ip);
  const learned = [learn(ip, address)];
  if (address === undefined) return applied({ learned });
  if (address.holderID !== undefined) return skipped("Stale", "it is attached", learned);
  if (address.isLocked) return "busy";
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  try {
    await provider.delete(ip);
    return applied({ learned: [learn(ip, undefined)] });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.failure === "busy") return "busy";
    if (error.isAmbiguous && (await isGone(ip, provider))) return applied({ learned: [learn(ip, undefined)] });
    return failed(error, { learned });
  }
}

async function isGone(ip: string, provider: IPProvider): Promise<boolean> {
  try {
    return (await provider.getAddress(ip)) === undefined;
  } catch (error) {
    if (error instanceof ProviderError) return false;
    throw error;
  }
}
