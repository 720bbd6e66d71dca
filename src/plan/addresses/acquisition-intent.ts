import type { AcquiredIP, Address, AddressFact, PendingAcquisition } from "../../model/address.ts";
import type { ProviderFacts } from "../../model/observation.ts";
import { compareText } from "../../model/resource.ts";
import { pastMs, timestamp } from "../../model/time.ts";

/**
 * How long after its beginning a creation without an answer is watched for, before one unattached address is taken for it or another is made, milliseconds: longer
 * than a call may take (15 s) and lists may lag behind.
 */
export const UNANSWERED_WATCH_MS = 30_000;

/** What became of an acquisition whose answer was lost. */
export type IntentResolution =
  | { readonly kind: "found"; readonly acquired: AcquiredIP }
  | { readonly kind: "never-made" }
  /** A person said which address it is, by listing this one. */
  | { readonly kind: "listed"; readonly ip: string }
  | { readonly kind: "waiting"; readonly untilMs: number | undefined }
  | { readonly kind: "ambiguous"; readonly candidates: readonly string[] };

/** What an intent is looked for with. */
interface IntentContext {
  readonly provider: ProviderFacts;
  /** The machine of a provider ID; undefined if it is none of this provider. */
  readonly machineOf: (providerID: string) => string | undefined;
  /** True for an address that some object manages or remembers, or that was found for another intent. */
  readonly isNamed: (ip: string) => boolean;
  /** True for an address that the pool's spec lists and that is not yet the answer to another intent. */
  readonly isListed: (ip: string) => boolean;
  readonly nowMs: number;
}

/**
 * Looks for the address of a recorded intent among those the account did not have before: the one on the droplet it was asked for; else the one unattached
 * address of the region that no object names, which is then only adopted, since another cluster of the account may have bought it. Where status had lost the intent,
 * so that nobody knows what the account had, one that is on no droplet is never taken, not even if it is the only one.
 */
export function resolveIntent(
  intent: PendingAcquisition,
  { provider, machineOf, isNamed, isListed, nowMs }: IntentContext,
): IntentResolution {
  if (!provider.isComplete) return { kind: "waiting", untilMs: undefined };
  const startedMs = pastMs(intent.startedAt, nowMs) ?? nowMs;
  const untilMs = startedMs + UNANSWERED_WATCH_MS;
  // What was read before the creation began says nothing about it: an address that has gone since would pass for the new one.
  if (provider.readAtMs <= startedMs) return { kind: "waiting", untilMs };
  const known = new Set(intent.knownIPs);
  const fresh = [...provider.addresses.values()]
    .flatMap((fact: AddressFact) => (fact.kind === "known" ? [fact.address] : []))
    .filter(({ ip }) => !known.has(ip) && !isNamed(ip) && isInTime(ip, intent, provider));
  const target = intent.providerID === undefined ? undefined : machineOf(intent.providerID);
  const onTarget = fresh.find((address) => target !== undefined && address.holderID === target);
  const acquiredAt = timestamp(startedMs);
  if (onTarget !== undefined) {
    const adopted = intent.restored === true ? { adopted: true } : {};
    return { kind: "found", acquired: { ip: onTarget.ip, acquiredAt, ...adopted } };
  }
  const answer = intent.candidates?.find((ip) => isListed(ip) && !known.has(ip));
  if (answer !== undefined) return { kind: "listed", ip: answer };
  const possible = fresh.filter((address) => couldBe(address, intent));
  if (possible.some((address) => address.isLocked)) return { kind: "waiting", untilMs: undefined };
  // Lists lag behind: before the time is over an address of somebody else may be shown, and the new one not yet.
  if (provider.readAtMs < untilMs) return { kind: "waiting", untilMs };
  return resolveUnattached(possible.map(({ ip }) => ip).toSorted(compareText), intent, acquiredAt);
}

function resolveUnattached(
  [only, ...others]: readonly string[],
  intent: PendingAcquisition,
  acquiredAt: string,
): IntentResolution {
  const isGuess = others.length > 0 || intent.restored === true;
  if (only !== undefined && isGuess) return { kind: "ambiguous", candidates: [only, ...others] };
  if (only !== undefined) return { kind: "found", acquired: { ip: only, acquiredAt, adopted: true } };
  return { kind: "never-made" };
}

/**
 * Once the candidates are on record every list has shown what the creation made: what comes later, also to its machine, was made for somebody else. Candidates that
 * the account does not have, or had before, are no record of that.
 */
function isInTime(
  ip: string,
  { candidates = [], knownIPs }: PendingAcquisition,
  { addresses }: ProviderFacts,
): boolean {
  const isNew = (candidate: string): boolean =>
    addresses.get(candidate)?.kind === "known" && !knownIPs.includes(candidate);
  const isRecord = candidates.some(isNew);
  return !isRecord || candidates.includes(ip);
}

function couldBe(address: Address, intent: PendingAcquisition): boolean {
  if (address.holderID !== undefined) return false;
  return intent.region === undefined || address.region === "" || address.region === intent.region;
}
