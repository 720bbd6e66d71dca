import type { AcquireIP, DeleteIP } from "../model/action.ts";
import type { Address } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { ProviderError } from "../model/errors.ts";
import type { Learned } from "../model/outcome.ts";
import type { Reason } from "../model/reason.ts";
import { compareText } from "../model/resource.ts";
import { nextTryMs, TRIES } from "../model/waits.ts";
import { readAllPages } from "../ports/listing.ts";
import type { Buyer, IPProvider } from "../ports/providers.ts";
import { explainRefusal, PROTECTED } from "./assign-ip.ts";
import { erroredAction } from "./change-address.ts";
import {
  type ApplyContext,
  acquisitionMutex,
  applied,
  failed,
  learn,
  lookAt,
  notFound,
  obstacle,
  type Result,
  skipped,
  toolsOf,
  unread,
} from "./context.ts";
import { AcquisitionRecord } from "./on-record.ts";

/** A time on the Lease that is older than this is no longer that of the creation, milliseconds. */
const LATE_MS = 2000;

/**
 * Buys one address, never twice. Acquisitions of one source of addresses run one at a time, over all pools:
 * 1. stores the pending acquisition with the account's addresses, in the status and in the annotation;
 * 2. notes its time on the Lease and makes the call;
 * 3. stores the answer before anything else happens.
 *
 * Without an answer the acquisition stays pending, and a later pass resolves it from the account's list.
 */
export function acquireIP(action: AcquireIP, context: ApplyContext): Promise<Result> {
  return acquisitionMutex(action.provider, context).run(() => acquire(action, context));
}

async function acquire(action: AcquireIP, context: ApplyContext): Promise<Result> {
  const { provider } = toolsOf(action.provider, context);
  const store = context.stores.ownersOf(action.object);
  const pool = store.get(action.object);
  if (pool === undefined || store.hasFailedWrite(action.object))
    return skipped("PrerequisiteFailed", "its status could not be written");
  const listing = await readAllPages(provider, { isVerified: true });
  if (!listing.isComplete) return skipped("Unreadable", "the account's list of addresses changed while it was read");
  const knownIPs = listing.addresses.map(({ ip }) => ip).toSorted(compareText);
  const record = new AcquisitionRecord(action, pool, knownIPs, context);
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  await record.begin();
  const obstacleNow = await lastObstacle(action.provider, context).catch(async (error: unknown) => {
    await record.withdraw();
    throw error;
  });
  if (obstacleNow !== undefined) {
    await record.withdraw();
    return skipped(obstacleNow);
  }
  const acquired = pool.status.acquired.map(({ ip }) => ip);
  return await purchase(action, { uid: pool.meta.uid, knownIPs: [...knownIPs, ...acquired] }, record, context);
}

async function purchase(
  action: AcquireIP,
  buyer: Buyer,
  record: AcquisitionRecord,
  context: ApplyContext,
): Promise<Result> {
  const { provider } = toolsOf(action.provider, context);
  const acceptedAtMs = context.cluster.now();
  const { after, object } = action;
  try {
    const place = "node" in after ? { machineID: after.node.machineID } : after;
    const address = await provider.create(place, buyer);
    await record.answer(address);
    return await confirmOnNode(action, address, context, acceptedAtMs);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (!error.isAmbiguous) await record.withdraw();
    // If the machine is to blame only its node waits: the pool goes on with the next one.
    return "node" in after
      ? await explainRefusal(error, { object, place: after.node }, { provider, learned: [] }, context)
      : failed(error);
  }
}

/** What is in the way of the creation once its time is noted. @throws as {@link noteOnLock} */
async function lastObstacle(provider: string, context: ApplyContext): Promise<Reason | undefined> {
  return (await noteOnLock(provider, context)) ? obstacle(context) : "CreationRate";
}

/**
 * Leaves the time for other runs, which share the provider's limit on creations; anew where it took so long to write that the creation would come much later. Returns false where
 * others have used the limit up since it was planned. @throws KubeError where it cannot be noted
 */
async function noteOnLock(provider: string, context: ApplyContext): Promise<boolean> {
  const { lock, cluster, registry } = context;
  const perMinute = registry.get(provider)?.addresses?.acquisitionsPerMinute ?? 0;
  const { family } = sourceNamed(provider);
  let notedMs: number | undefined;
  do {
    const nowMs = cluster.now();
    const insteadOf = notedMs === undefined ? {} : { insteadOf: notedMs };
    if (!(await lock.noteAcquisition({ ms: nowMs, family, perMinute, ...insteadOf }))) return false;
    notedMs = nowMs;
  } while (cluster.now() - notedMs > LATE_MS && obstacle(context) === undefined);
  return true;
}

async function confirmOnNode(
  action: AcquireIP,
  address: Address,
  context: ApplyContext,
  acceptedAtMs: number,
): Promise<Result> {
  if (!("node" in action.after)) return applied({ address, acceptedAtMs });
  const { machineID } = action.after.node;
  const { confirmer } = toolsOf(action.provider, context);
  const confirmation = await confirmer.confirm(
    { ip: address.ip, actionID: "" },
    ({ holderID }) => holderID === machineID,
  );
  if (confirmation.kind === "confirmed") return applied({ address: confirmation.address, acceptedAtMs });
  const learned = [learn(address.ip, confirmation.address ?? address)];
  if (confirmation.kind === "errored")
    return failed(erroredAction(address.ip, toolsOf(action.provider, context).provider, "create"), {
      acceptedAtMs,
      learned,
    });
  const { kind } = confirmation;
  const ended = kind === "pending" && confirmation.endedBy !== undefined ? { endedBy: confirmation.endedBy } : {};
  return { outcome: "unconfirmed", address: confirmation.address ?? address, acceptedAtMs, learned, ...ended };
}

/** Gives one unattached address back. It is read first: an attached or locked one is never deleted. */
export async function deleteIP(action: DeleteIP, context: ApplyContext): Promise<Result> {
  const { provider } = toolsOf(action.provider, context);
  for (let attempt = 0; ; attempt += 1) {
    const result = await tryOnce(action.ip, provider, context);
    const wait = nextTryMs(TRIES.busyDelete, attempt);
    if (result !== "busy") return result;
    if (wait === undefined) return skipped("InProgress");
    await context.clock.sleep(wait, context.stopWaiting);
    if (context.stopWaiting.aborted) return skipped(obstacle(context) ?? "InProgress");
  }
}

async function tryOnce(ip: string, provider: IPProvider, context: ApplyContext): Promise<Result | "busy"> {
  const look = await lookAt(ip, provider);
  if ("failure" in look) return look.failure;
  const { address } = look;
  if (address === undefined) return skipped("IPNotFound", "", [notFound(ip)]);
  const learned = [learn(ip, address)];
  if (address.holderID !== undefined) return skipped("Stale", "it is attached", learned);
  if (address.isProtected === true) return skipped("Stale", PROTECTED, learned);
  return address.isLocked ? "busy" : await deleteFree(ip, provider, learned, context);
}

async function deleteFree(
  ip: string,
  provider: IPProvider,
  learned: readonly Learned[],
  context: ApplyContext,
): Promise<Result | "busy"> {
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  try {
    await provider.delete(ip);
    return applied({ learned: [learn(ip, undefined)] });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.failure === "busy") return "busy";
    if (await isGone(error, ip, provider)) return applied({ learned: [learn(ip, undefined)] });
    return failed(error, { learned: isUnproven(error) ? [unread(ip, error.message)] : learned });
  }
}

/** True where its former machine contradicts the reading that shows an address free, or cannot be read. */
function isUnproven({ operation }: ProviderError): boolean {
  return operation === "machine";
}

/** True where a deletion that failed had its effect all the same. */
async function isGone({ isAmbiguous }: ProviderError, ip: string, provider: IPProvider): Promise<boolean> {
  if (!isAmbiguous) return false;
  try {
    return (await provider.getAddress(ip)) === undefined;
  } catch (error) {
    if (error instanceof ProviderError) return false;
    throw error;
  }
}
