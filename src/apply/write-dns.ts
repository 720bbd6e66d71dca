import type { WriteDNS } from "../model/action.ts";
import { type RecordsFact, recordAddresses } from "../model/dns.ts";
import { InternalError, KubeError, ProviderError } from "../model/errors.ts";
import { type DNSMemory, objectKey } from "../model/resource.ts";
import type { DNSProvider } from "../ports/providers.ts";
import { type ApplyContext, applied, obstacle, ownerJournal, type Result, skipped } from "./context.ts";

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
  const { addresses, ttlSeconds } = action.after;
  try {
    const mayWrite = (): boolean => context.lock.isHeld();
    const change = { before: action.before.addresses, after: { addresses, ttlSeconds }, mayWrite };
    const { kind, records } = await provider.writeRecords(action.zone, action.fqdn, change);
    const known: RecordsFact = { kind: "known", records };
    if (kind === "stopped") return { ...skipped("LockLost"), records: known };
    if (kind === "written") return { ...applied(), records: known };
    return { ...skipped("Stale", "the records were changed meanwhile"), records: known };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.failure === "put-off") return putOff(error, context);
    const records = await afterFailure(action, error, provider);
    if (records.kind === "gap") await rememberAttempt(action, context);
    return { outcome: "failed", error, records };
  }
}

/** Nothing was sent: the change is made once calls may be spent on it. */
function putOff({ message, notBeforeMs }: ProviderError, { cluster, clock }: ApplyContext): Result {
  const leftMs = (notBeforeMs ?? clock.wallMs()) - clock.wallMs();
  const records = { kind: "gap", error: message, isRefused: false, putOffUntilMs: cluster.now() + leftMs } as const;
  return { ...skipped("RateLimited", message), records };
}

/** What is known of the records after a failed change: part of it may be done, so they are read again, unless the provider is not to be asked. */
async function afterFailure(
  { zone, fqdn }: WriteDNS,
  error: ProviderError,
  provider: DNSProvider,
): Promise<RecordsFact> {
  const unknown = { kind: "gap", error: error.message, isRefused: false } as const;
  const isUnanswered = error.status === 0;
  if (isUnanswered || error.failure === "rate-limited" || error.failure === "unauthorized") return unknown;
  try {
    return { kind: "known", records: await provider.readRecords(zone, fqdn) };
  } catch (failure) {
    if (failure instanceof ProviderError) return unknown;
    throw failure;
  }
}

/**
 * Puts on record what a change of a name may have added whose records could not be read after it failed: only addresses on record are ever taken out of a name that
 * was left. One status write, where status does not show them yet; as far as possible: a failure stops nothing.
 */
async function rememberAttempt(action: WriteDNS, { journals }: ApplyContext): Promise<void> {
  const key = objectKey(action.object);
  const owners = ownerJournal(action.object, journals);
  const isOwner = action.object.kind !== "dns";
  const memory = (isOwner ? owners : journals.dns).object(key)?.status;
  if (memory === undefined || attempted(memory, action) === undefined) return;
  const remembered = <S extends DNSMemory>(status: S): S => ({ ...status, ...attempted(status, action) });
  const work = isOwner ? owners.record(key, remembered) : journals.dns.record(key, remembered);
  await work.catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
  });
}

/** The published name with what was to be added; undefined when that is known, or the name is another one. */
function attempted(
  { publishedDNS }: DNSMemory,
  { dnsProvider, fqdn, after }: WriteDNS,
): Partial<DNSMemory> | undefined {
  if (publishedDNS?.provider !== dnsProvider || publishedDNS.name !== fqdn) return undefined;
  if (after.addresses.every((address) => publishedDNS.addresses.includes(address))) return undefined;
  return {
    publishedDNS: { ...publishedDNS, addresses: recordAddresses([...publishedDNS.addresses, ...after.addresses]) },
  };
}
