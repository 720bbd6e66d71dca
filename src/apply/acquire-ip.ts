import type { AcquireIP, DeleteIP } from "../model/action.ts";
import type { Address, PendingAcquisition } from "../model/address.ts";
import { KubeError, ProviderError } from "../model/errors.ts";
import { ACQUISITIONS_ANNOTATION } from "../model/lease-annotations.ts";
import { compareText, objectKey, type Pool, type PoolStatus } from "../model/resource.ts";
import { timestamp } from "../model/time.ts";
import { nextTryMs, TRIES } from "../model/waits.ts";
import { readAllPages } from "../ports/listing.ts";
import type { IPProvider } from "../ports/providers.ts";
import { explainRefusal } from "./assign-ip.ts";
import { type ApplyContext, applied, failed, learn, obstacle, ownerJournal, type Result, skipped } from "./context.ts";
import { mayBeDone } from "./journal.ts";
import { toolsOf } from "./settle-change.ts";

/** A time on the Lease that is older than this is no longer that of the creation, milliseconds. */
const LATE_MS = 2000;

/**
 * Buys one address, never twice: the intent is on record with the account's addresses as they were before the call is made, in the status and beside it, and the
 * answer is on record before anything else happens. What got no answer stays on record as an intent, for a later pass to resolve from the account's list.
 */
export function acquireIP(action: AcquireIP, context: ApplyContext): Promise<Result> {
  return context.acquisitions.pass(() => acquire(action, context));
}

async function acquire(action: AcquireIP, context: ApplyContext): Promise<Result> {
  const { provider } = toolsOf(action.provider, context);
  const key = objectKey(action.object);
  const journal = ownerJournal(action.object, context.journals);
  const pool = journal.object(key);
  if (pool === undefined || journal.isBroken(key))
    return skipped("PrerequisiteFailed", "its status could not be written");
  const listing = await readAllPages(provider, { isVerified: true });
  if (!listing.isComplete) return skipped("Unreadable", "the account's list of addresses changed while it was read");
  const intent = intentOf(action, listing.addresses, context);
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  await recordIntent(action, intent, pool, context);
  await noteOnLock(action.provider, context);
  const obstacleNow = obstacle(context);
  if (obstacleNow !== undefined) {
    await journal.record(key, (status) => withdrawn(status, intent, pool.status));
    return skipped(obstacleNow);
  }
  const acceptedAtMs = context.cluster.now();
  try {
    const address = await provider.create(
      "node" in action.after ? { machineID: action.after.node.machineID } : action.after,
    );
    await journal.record(key, (status) => withAddress(withoutIntent(status, intent), address, intent));
    return await confirmOnNode(action, address, context, acceptedAtMs);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (!error.isAmbiguous) await journal.record(key, (status) => withdrawn(status, intent, pool.status));
    return await explain(error, action, context);
  }
}

/** Where the machine is to blame only its node waits: the pool goes on with the next one. */
async function explain(error: ProviderError, { provider, after }: AcquireIP, context: ApplyContext): Promise<Result> {
  if (!("node" in after)) return failed(error);
  return await explainRefusal(error, after.node, toolsOf(provider, context).provider, []);
}

/** What was noted beside the status, or may have been, is never taken back from it alone: only a refusal shows that it was not. */
async function recordIntent(
  action: AcquireIP,
  intent: PendingAcquisition,
  pool: Pool,
  { journals }: ApplyContext,
): Promise<void> {
  const key = objectKey(action.object);
  const journal = ownerJournal(action.object, journals);
  try {
    await journal.record(key, (status) =>
      withIntent(status, intent, pool.spec.assignmentCoolOffSeconds > 0 && "node" in action.after),
    );
  } catch (error) {
    if (error instanceof KubeError && !mayBeDone(error))
      await journal.record(key, (status) => withdrawn(status, intent, pool.status));
    throw error;
  }
}

function intentOf(action: AcquireIP, addresses: readonly Address[], context: ApplyContext): PendingAcquisition {
  const common = {
    startedAt: timestamp(context.cluster.now()),
    knownIPs: addresses.map(({ ip }) => ip).toSorted(compareText),
  };
  if (!("node" in action.after)) return { ...common, region: action.after.region };
  const { machineID, nodeName } = action.after.node;
  return { ...common, providerID: context.registry.providerID(action.provider, machineID), nodeName };
}

/** With a target node the creation is an assignment: with a cool-off its time is on record before the call. */
function withIntent(status: PoolStatus, intent: PendingAcquisition, startsCoolOff: boolean): PoolStatus {
  const time = startsCoolOff ? { lastAssignmentTime: intent.startedAt } : {};
  return { ...status, ...time, pendingAcquisitions: [...status.pendingAcquisitions, intent] };
}

function withoutIntent(status: PoolStatus, intent: PendingAcquisition): PoolStatus {
  return {
    ...status,
    pendingAcquisitions: status.pendingAcquisitions.filter(
      ({ startedAt, knownIPs }) => startedAt !== intent.startedAt || knownIPs.length !== intent.knownIPs.length,
    ),
  };
}

/** Nothing was bought: the intent goes, and the time of the last assignment is what it was, unless another assignment set it meanwhile. */
function withdrawn(status: PoolStatus, intent: PendingAcquisition, before: PoolStatus): PoolStatus {
  const { lastAssignmentTime, ...rest } = withoutIntent(status, intent);
  if (lastAssignmentTime !== intent.startedAt || intent.providerID === undefined) return withoutIntent(status, intent);
  return before.lastAssignmentTime === undefined ? rest : { ...rest, lastAssignmentTime: before.lastAssignmentTime };
}

/** With its machine, so that it is known as a node's even if this run and that node end here. */
function withAddress(
  status: PoolStatus,
  { ip }: Address,
  { startedAt, nodeName, providerID }: PendingAcquisition,
): PoolStatus {
  const acquired = [...status.acquired, { ip, acquiredAt: startedAt }];
  if (nodeName === undefined || providerID === undefined) return { ...status, acquired };
  return { ...status, acquired, ips: { ...status.ips, [ip]: { state: "in-progress", nodeName, providerID } } };
}

/** Leaves the time for other runs, which share the provider's limit on creations; anew where it took so long to write that the creation would come much later. */
async function noteOnLock(provider: string, context: ApplyContext): Promise<void> {
  const { lock, cluster, registry } = context;
  const perMinute = registry.get(provider)?.addresses?.acquisitionsPerMinute ?? 0;
  const earlier = (lock.annotations()[ACQUISITIONS_ANNOTATION] ?? "").split(",").filter((time) => time !== "");
  let notedMs: number;
  do {
    notedMs = cluster.now();
    await lock.annotate({
      [ACQUISITIONS_ANNOTATION]: [...earlier.slice(-Math.max(1, perMinute - 1)), timestamp(notedMs)].join(","),
    });
  } while (cluster.now() - notedMs > LATE_MS && obstacle(context) === undefined);
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
  return { outcome: "unconfirmed", address: confirmation.address ?? address, acceptedAtMs, learned };
}

/** Gives one unattached address back. It is read first: an attached or locked one is never deleted. Already gone is done. */
export async function deleteIP(action: DeleteIP, context: ApplyContext): Promise<Result> {
  const { provider } = toolsOf(action.provider, context);
  for (let attempt = 0; ; attempt += 1) {
    const result = await tryOnce(action.ip, provider, context);
    const wait = nextTryMs(TRIES.busyDelete, attempt);
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
