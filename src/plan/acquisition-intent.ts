import type { Address, AddressFact } from "../model/address.ts";
import type { ProviderFacts } from "../model/observation.ts";
import { machineID } from "../model/provider-id.ts";
import type { AcquiredIP, PendingAcquisition } from "../model/resource.ts";
import { compareText } from "./object-order.ts";
import { pastMs, timestamp } from "./time.ts";

/**
 * How long after its beginning a creation without an answer is watched for, before one unattached address is taken for it or another is made, milliseconds: longer
 * than a call may take (15 s) and lists may lag behind.
 */
export const UNANSWERED_WATCH_MS = 30_000;

/** What became of an acquisition whose answer was lost. */
export type IntentResolution =
  | { readonly kind: "found"; readonly acquired: AcquiredIP }
  | { readonly kind: "never-made" }
  | { readonly kind: "waiting"; readonly untilMs: number | undefined }
  | { readonly kind: "ambiguous"; readonly candidates: readonly string[] };

/**
 * Looks for the address of a recorded intent among those the account did not have before: the one on the droplet it was asked for; else the one unattached
 * address of the region that no object names, which is then only adopted, since another cluster of the account may have bought it.
 */
export function resolveIntent(
  intent: PendingAcquisition,
  provider: ProviderFacts,
  isNamed: (ip: string) => boolean,
  nowMs: number,
): IntentResolution {
  if (!provider.isComplete) return { kind: "waiting", untilMs: undefined };
  const startedMs = pastMs(intent.startedAt, nowMs) ?? nowMs;
  const untilMs = startedMs + UNANSWERED_WATCH_MS;
  // What was read before the creation began says nothing about it: an address that has gone since would pass for the new one.
  if (provider.readAtMs <= startedMs) return { kind: "waiting", untilMs };
  const known = new Set(intent.knownIPs);
  const fresh = [...provider.addresses.values()]
    .flatMap((fact: AddressFact) => (fact.kind === "known" ? [fact.address] : []))
    .filter((address) => !known.has(address.ip) && !isNamed(address.ip));
  const target = intent.providerID === undefined ? undefined : machineID(provider.name, intent.providerID);
  const onTarget = fresh.find((address) => target !== undefined && address.holderID === target);
  const acquiredAt = timestamp(startedMs);
  if (onTarget !== undefined) return { kind: "found", acquired: { ip: onTarget.ip, acquiredAt } };
  const possible = fresh.filter((address) => couldBe(address, intent));
  if (possible.some((address) => address.isLocked)) return { kind: "waiting", untilMs: undefined };
  // Lists lag behind: before the time is over an address of somebody else may be shown, and the new one not yet.
  if (provider.readAtMs < untilMs) return { kind: "waiting", untilMs };
  const [only, ...others] = possible.map(({ ip }) => ip).toSorted(compareText);
  if (only !== undefined && others.length > 0) return { kind: "ambiguous", candidates: [only, ...others] };
  if (only !== undefined) return { kind: "found", acquired: { ip: only, acquiredAt, adopted: true } };
  return { kind: "never-made" };
}

function couldBe(address: Address, intent: PendingAcquisition): boolean {
  if (address.holderID !== undefined) return false;
  return intent.region === undefined || address.region === "" || address.region === intent.region;
}
