import type { Address } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import { capital } from "../model/hold.ts";
import type { AcceptedAction, IPProvider } from "../ports/providers.ts";
import type { Confirmer } from "./confirmer.ts";
import {
  type ApplyContext,
  applied,
  failed,
  isTimeOver,
  learn,
  notFound,
  obstacle,
  type Result,
  skipped,
  unread,
} from "./context.ts";

/** So many refusals in a row are taken for a provider that is busy in passing, for a second or two. */
const PASSING_REFUSALS = 2;

/** A change of one address, and how to see that it is true. */
interface Change {
  readonly ip: string;
  /** Where the address is to come; `""` = nowhere. */
  readonly machine: string;
  readonly provider: IPProvider;
  readonly confirmer: Confirmer;
  readonly call: () => Promise<AcceptedAction>;
  /** What speaks against the call as things are now; asked right before every attempt. Undefined when nothing does. */
  readonly objection: () => Promise<Result | undefined>;
  readonly isTrue: (address: Address) => boolean;
  /** Whether the address is still where the plan saw it; asked again after every wait. */
  readonly isAsPlanned: (address: Address) => boolean;
  /** Why an address that is as planned stays as it was read after a wait, for people; undefined where nothing keeps it. */
  readonly keeps?: (address: Address) => string | undefined;
  /** Looks closer at a refusal that the address itself does not explain. */
  readonly explain: (error: ProviderError, address: Address) => Promise<Result>;
}

/**
 * Makes one change and waits until the address itself shows it. A refusal or a lost answer is never believed before the address is read again: what is
 * already true is success, a busy provider is waited for, and a call that may have taken effect is waited for like an accepted one.
 */
export async function changeAddress(change: Change, context: ApplyContext): Promise<Result> {
  const { clock, busyTries } = context;
  const address = `${change.provider.name} ${change.ip}`;
  const early = await untilDue(change, busyTries.dueInMs(address, change.machine, clock.monotonicMs()), context);
  if (early !== undefined) return early;
  for (;;) {
    const result = await attempt(change, context);
    if (!isBusy(result)) return forgetting(address, result, context);
    const { count, nextMs } = busyTries.refused(address, change.machine, clock.monotonicMs());
    if (nextMs === undefined) return await left(change, result, context);
    if (count > PASSING_REFUSALS) context.onBusy?.();
    const end = await pause(change, result, nextMs, context);
    if (end !== undefined) return end;
  }
}

/** What came of a change that the provider did not refuse for being busy: the next one begins a row of its own. */
function forgetting(address: string, result: Result, { busyTries }: ApplyContext): Result {
  if (result.outcome !== "skipped") busyTries.ended(address);
  return result;
}

/** Waits between two tries. Returns what ends them; undefined when the change may be tried again. */
async function pause(change: Change, busy: Busy, ms: number, context: ApplyContext): Promise<Result | undefined> {
  const { clock, stopWaiting } = context;
  await clock.sleep(ms, stopWaiting);
  if (stopWaiting.aborted || obstacle(context) !== undefined) return await left(change, busy, context);
  return await changedMeanwhile(change);
}

/** Waits on where an earlier pass left off: its change was refused by a busy provider. Where nothing is waited for any more the change is tried at once. */
async function untilDue(change: Change, ms: number, context: ApplyContext): Promise<Result | undefined> {
  if (ms === 0 || context.stopWaiting.aborted) return undefined;
  context.onBusy?.();
  await context.clock.sleep(ms, context.stopWaiting);
  return context.stopWaiting.aborted ? skipped("InProgress") : await changedMeanwhile(change);
}

/** The provider is busy, and not with the address, as it was read right after: so with its machine. */
interface Busy {
  readonly refusal: ProviderError;
  readonly address: Address;
}

function isBusy(result: Result | Busy): result is Busy {
  return "refusal" in result;
}

/** The provider was busy with the machine until the waits, or the run, were over. So the attempt has failed, and another machine may take the address. */
async function left(change: Change, { refusal, address }: Busy, context: ApplyContext): Promise<Result> {
  if (isTimeOver(context)) return failed(refusal);
  const reason = obstacle(context);
  return reason === undefined ? await change.explain(refusal, address) : skipped(reason);
}

/** A provider that was busy may have been busy with somebody else's change of this very address. */
async function changedMeanwhile(change: Change): Promise<Result | undefined> {
  const reading = await readResult(change);
  if (reading.kind === "unreadable") return skipped("Unreadable", reading.error, [unread(change.ip, reading.error)]);
  const { address } = reading;
  if (address === undefined) return skipped("IPNotFound", "", [notFound(change.ip)]);
  const kept = change.isTrue(address) ? undefined : change.keeps?.(address);
  if (kept !== undefined) return skipped("Stale", kept, [learn(change.ip, address)]);
  if (address.isLocked || change.isAsPlanned(address)) return undefined;
  if (change.isTrue(address)) return applied({ address });
  return skipped("Stale", "it is not where it was when the pass began", [learn(change.ip, address)]);
}

async function attempt(change: Change, context: ApplyContext): Promise<Result | Busy> {
  const objection = await change.objection();
  if (objection !== undefined) return objection;
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  const acceptedAtMs = context.cluster.now();
  try {
    const accepted = await change.confirmer.starting(change.call);
    return await confirm(change, accepted, acceptedAtMs);
  } catch (error) {
    if (error instanceof ProviderError) return await afterRefusal(change, error, acceptedAtMs, context);
    throw error;
  }
}

async function afterRefusal(
  change: Change,
  error: ProviderError,
  acceptedAtMs: number,
  context: ApplyContext,
): Promise<Result | Busy> {
  if (error.concernsProvider) return failed(error);
  const reading = await readResult(change);
  if (reading.kind === "unreadable")
    return error.isAmbiguous
      ? { outcome: "unconfirmed", acceptedAtMs }
      : failed(error, { learned: [unread(change.ip, reading.error)] });
  const { address } = reading;
  if (address === undefined) return skipped("IPNotFound", error.message, [notFound(change.ip)]);
  if (change.isTrue(address) && !address.isLocked) return applied({ address, acceptedAtMs });
  if (address.isLocked && (error.isAmbiguous || error.failure === "busy")) {
    tellBusy(error, context);
    return await confirm(change, { ip: change.ip, actionID: "" }, acceptedAtMs);
  }
  if (error.failure === "busy") return { refusal: error, address };
  return await change.explain(error, address);
}

/** Somebody else is at work on the address: nobody knows for how long. */
function tellBusy({ failure }: ProviderError, { onBusy }: ApplyContext): void {
  if (failure === "busy") onBusy?.();
}

async function confirm(change: Change, accepted: AcceptedAction, acceptedAtMs: number): Promise<Result> {
  const confirmation = await change.confirmer.confirm(accepted, change.isTrue);
  switch (confirmation.kind) {
    case "confirmed":
      return applied({ address: confirmation.address, acceptedAtMs });
    case "pending":
      return {
        outcome: "unconfirmed",
        acceptedAtMs,
        ...(confirmation.address === undefined ? {} : { address: confirmation.address }),
        ...(confirmation.endedBy === undefined ? {} : { endedBy: confirmation.endedBy }),
      };
    case "errored":
      return failed(erroredAction(change.ip, change.provider, "assign"), {
        acceptedAtMs,
        learned: [learn(change.ip, confirmation.address)],
      });
  }
}

/** Returns the error of a change of an address that the provider accepted, and that failed then. */
export function erroredAction(ip: string, provider: IPProvider, operation: "assign" | "create"): ProviderError {
  return new ProviderError({
    provider: provider.name,
    failure: "unavailable",
    operation,
    subject: ip,
    status: 0,
    message: `${capital(provider.name)} accepted the change of ${ip} and then reported that it failed.`,
  });
}

type Reading = { readonly kind: "read"; readonly address: Address | undefined } | Unreadable;

interface Unreadable {
  readonly kind: "unreadable";
  readonly error: string;
}

async function readResult({ provider, ip }: Change): Promise<Reading> {
  try {
    return { kind: "read", address: await provider.getAddress(ip) };
  } catch (error) {
    if (error instanceof ProviderError) return { kind: "unreadable", error: error.message };
    throw error;
  }
}
