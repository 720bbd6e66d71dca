import { ownPart, type WriteDNS } from "../model/action.ts";
import type { RecordsFact } from "../model/dns.ts";
import { InternalError, NotSent, ProviderError } from "../model/errors.ts";
import type { DNSProvider, RecordSetChange } from "../ports/providers.ts";
import { type ApplyContext, applied, obstacle, type Result, skipped } from "./context.ts";
import { recordAttemptedNames } from "./on-record.ts";

/**
 * Makes the A records of a name as planned, if they still are what the plan was made on. After a lost answer the name is unknown for the rest of the pass: the
 * change may yet take effect.
 */
export async function writeDNS(action: WriteDNS, context: ApplyContext): Promise<Result> {
  const provider = context.dnsProviders.get(action.dnsProvider);
  if (provider === undefined)
    throw new InternalError(`The plan uses DNS provider "${action.dnsProvider}", which is not available.`);
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  try {
    const { kind, records } = await provider.writeRecords(action.zone, action.fqdn, changeOf(action));
    const known: RecordsFact = { kind: "known", records };
    if (kind === "written") return { ...applied(), records: known };
    return { ...skipped("Stale", "the records were changed meanwhile"), records: known };
  } catch (error) {
    if (error instanceof NotSent) return cutOff(error);
    if (!(error instanceof ProviderError)) throw error;
    if (error.failure === "put-off") return putOff(error, context);
    const records = await afterFailure(action, error, provider);
    if (records.kind === "gap") await recordAttemptedNames(action, context);
    return { outcome: "failed", error, records };
  }
}

/** The change ends where it is: how much of it is done is not looked at, since this process may do nothing about it. */
function cutOff({ message }: NotSent): Result {
  return { ...skipped("LockLost"), records: { kind: "gap", error: message, isRefused: false } };
}

/** What the provider is asked to change: the object's own records. */
function changeOf(action: WriteDNS): RecordSetChange {
  const { before, after, others } = action;
  return {
    before: ownPart(action, before.addresses),
    after: { addresses: ownPart(action, after.addresses), ttlSeconds: after.ttlSeconds },
    ...(others === undefined ? {} : { others: others.expected }),
  };
}

/** Nothing was sent: the change is made once calls may be spent on it. */
function putOff({ message, notBeforeMs }: ProviderError, { cluster, clock }: ApplyContext): Result {
  const leftMs = (notBeforeMs ?? clock.wallMs()) - clock.wallMs();
  const records = { kind: "gap", error: message, isRefused: false, putOffUntilMs: cluster.now() + leftMs } as const;
  return { ...skipped("RateLimited", message), records };
}

/**
 * What is known of the records after a failed change. Part of it may be done, so they are read again, unless the provider is not to be asked. A rate limit before
 * anything took effect leaves them as they were.
 */
async function afterFailure(
  { zone, fqdn, before, after }: WriteDNS,
  error: ProviderError,
  provider: DNSProvider,
): Promise<RecordsFact> {
  const unknown = { kind: "gap", error: error.message, isRefused: false } as const;
  const isRateLimited = error.failure === "rate-limited";
  const hasChange = before.addresses.join() !== after.addresses.join();
  if (isRateLimited && hasChange && !error.isAmbiguous)
    return { kind: "known", records: { fqdn, ...before, isTTLAutomatic: false, hasDuplicates: false } };
  if (error.status === 0 || isRateLimited) return unknown;
  try {
    return { kind: "known", records: await provider.readRecords(zone, fqdn) };
  } catch (failure) {
    if (failure instanceof ProviderError) return unknown;
    throw failure;
  }
}
