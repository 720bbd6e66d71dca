import type { AssignIP } from "../model/action.ts";
import type { Address } from "../model/address.ts";
import { providerIDOf } from "../model/node.ts";
import { objectKey } from "../model/resource.ts";
import { timestamp } from "../model/time.ts";
import { statusOf } from "../plan/addresses/position.ts";
import type { IPProvider } from "../ports/providers.ts";
import { type ApplyContext, ownerJournal } from "./context.ts";
import { explainRefusal, missingMachine } from "./explain-refusal.ts";
import { holderKeeps, LastLook } from "./judge-holder.ts";
import type { Preparation } from "./preparations.ts";
import { toolsOf } from "./provider-tools.ts";
import { learn, type Result, skipped } from "./result.ts";
import { settleChange } from "./settle-change.ts";

/** An address seen free longer ago than this may have been taken by somebody else, milliseconds. */
const FRESH_MS = 2000;

/**
 * Assigns or moves one address. A move reads the address and its holder first, and so does an assignment that comes late; a target that may carry an unreadable address
 * is looked at first. All of that, and what goes on record, goes on at once: it is time in which nothing serves. An address that leaves a machine on record does not
 * wait until the next one is: that is on its way to the API server before anything is asked of the provider, and a write that takes its time delays no failover.
 */
export async function assignIP(action: AssignIP, context: ApplyContext, prepared: Preparation): Promise<Result> {
  const { provider, confirmer } = toolsOf(action.provider, context);
  const target = action.after.machineID;
  const ready = leavesKnownMachine(action, context) ? prepared.vital : prepared.whole;
  const lastLook = new LastLook(() => objectionTo(action, provider, context), context);
  const [objection] = await Promise.all([lastLook.objection(), ready]);
  if (objection !== undefined) return objection;
  const withdraw = await recordCoolOff(action, context);
  const result = await settleChange(
    {
      ip: action.ip,
      provider,
      confirmer,
      call: () => provider.assign(action.ip, target),
      objection: () => lastLook.objection(),
      isTrue: ({ holderID }) => holderID === target,
      isAsPlanned: ({ holderID }) => holderID === action.before?.machineID,
      explain: (error, address) => explainRefusal(error, action.after, provider, [learn(action.ip, address)]),
    },
    context,
  );
  if (!("acceptedAtMs" in result) || result.acceptedAtMs === undefined) await withdraw();
  return result;
}

function leavesKnownMachine({ object, ip, provider, before }: AssignIP, { journals }: ApplyContext): boolean {
  if (before === undefined) return false;
  const stored = ownerJournal(object, journals).object(objectKey(object));
  return stored !== undefined && statusOf(stored, ip)?.providerID === providerIDOf(provider, before.machineID);
}

/** What speaks against the change as things are now; undefined when nothing does. */
async function objectionTo(action: AssignIP, provider: IPProvider, context: ApplyContext): Promise<Result | undefined> {
  const objections = await Promise.all([
    targetCarries(action, provider),
    hasMoved(action, provider, context),
    holderKeeps(action, context),
  ]);
  return objections.find((one) => one !== undefined);
}

async function targetCarries(action: AssignIP, provider: IPProvider): Promise<Result | undefined> {
  if (action.mustNotCarry.length === 0) return undefined;
  const carried = await provider.machineAddresses(action.after.machineID);
  if (carried === undefined) return skipped("MachineNotFound", missingMachine(action.after, provider));
  const ip = action.mustNotCarry.find((unreadable) => carried.includes(unreadable));
  if (ip === undefined) return undefined;
  const address: Address = { ip, region: "", holderID: action.after.machineID, isLocked: false };
  return skipped("NodeHasOtherIP", ip, [learn(ip, address)]);
}

async function hasMoved(
  action: AssignIP,
  provider: IPProvider,
  { cluster, readAtMs }: ApplyContext,
): Promise<Result | undefined> {
  const ageMs = cluster.now() - (readAtMs.get(action.provider) ?? 0);
  if (action.before === undefined && ageMs <= FRESH_MS) return undefined;
  const address = await provider.getAddress(action.ip);
  if (address === undefined) return skipped("IPNotFound", "", [learn(action.ip, undefined)]);
  if (address.isLocked) return skipped("InProgress", "", [learn(action.ip, address)]);
  if (address.holderID === action.before?.machineID) return undefined;
  return skipped("Stale", "it is not where it was when the pass began", [learn(action.ip, address)]);
}

/**
 * With a cool-off the time of an assignment is on record before the call, so that a run that dies in between leaves the next one waiting rather than early.
 * Returns what takes it back when the provider did not accept.
 */
async function recordCoolOff(action: AssignIP, { journals, cluster }: ApplyContext): Promise<() => Promise<unknown>> {
  const key = objectKey(action.object);
  const journal = ownerJournal(action.object, journals);
  const before = journal.object(key);
  if (before === undefined || before.spec.assignmentCoolOffSeconds <= 0) return () => Promise.resolve();
  const { lastAssignmentTime } = before.status;
  await journal.record(key, (status) => ({ ...status, lastAssignmentTime: timestamp(cluster.now()) }));
  return () =>
    journal.record(key, ({ lastAssignmentTime: _withdrawn, ...rest }) =>
      lastAssignmentTime === undefined ? rest : { ...rest, lastAssignmentTime },
    );
}
