import type { Address, AddressFact } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import type { NodeFacts } from "../model/node.ts";
import type { ProviderFacts } from "../model/observation.ts";
import { machineID } from "../model/provider-id.ts";
import type { Pool } from "../model/resource.ts";
import type { IPProviderReader } from "../ports/ip-provider.ts";
import type { Listing } from "../ports/listing.ts";
import type { ProviderAccess } from "../ports/provider-access.ts";
import { readListing } from "./read-listing.ts";
import { SkewNotes } from "./skew-notes.ts";
import { unusableWhy } from "./unusable-why.ts";
import { type WantedAddresses, wantedAddresses } from "./wanted-addresses.ts";
import { concernsWholeProvider } from "./whole-provider-failure.ts";

/** What one provider is asked for. */
export interface ReadProviderOptions {
  readonly name: string;
  readonly access: ProviderAccess<IPProviderReader>;
  readonly pools: readonly Pool[];
  readonly nodes: readonly NodeFacts[];
  /** No call before this time, as an earlier run was told; milliseconds of the API server's clock. */
  readonly notBeforeMs: number | undefined;
  /** The API server's clock, milliseconds. */
  readonly nowMs: number;
  /** How far it is ahead of the local one at this moment, milliseconds: providers' times are local, an observation's are the server's. */
  readonly skewMs: () => number;
  /** What the last pass left; used where it says all that is wanted. */
  readonly known?: ProviderFacts | undefined;
}

/** How many single reads are under way at once. */
const PARALLEL_READS = 4;

/**
 * Reads what a pass must know of a provider, or why it cannot be used; undefined when no object names it. Cheap when nothing changed: the account's list, one call
 * per 200 addresses, and single calls only for addresses that are not in it. Never throws for a provider's failure.
 */
export async function readProvider(options: ReadProviderOptions): Promise<ProviderFacts | undefined> {
  const { name, access, pools, nodes, known } = options;
  if (!pools.some(({ spec }) => spec.provider === name)) return undefined;
  const why = unusableWhy(options);
  if (why !== undefined || access.kind === "no-token") return why === undefined ? undefined : unusable(name, why);
  const wanted = wantedAddresses(name, pools, nodes);
  if (known !== undefined && isEnough(known, wanted)) return known;
  const skews = new SkewNotes(options.skewMs);
  try {
    return await read(name, access.provider, options, wanted, skews);
  } catch (error) {
    if (error instanceof ProviderError) return refusal(name, error, skews.of(error));
    throw error;
  }
}

async function read(
  name: string,
  provider: IPProviderReader,
  { nodes, nowMs }: ReadProviderOptions,
  wanted: WantedAddresses,
  skews: SkewNotes,
): Promise<ProviderFacts> {
  const listing = await readListing(provider, wanted);
  const addresses = new Map<string, AddressFact>(
    listing.addresses.map((address) => [address.ip, { kind: "known", address }]),
  );
  // A list can lag behind: what it shows elsewhere than status has it is looked at by itself.
  const isDoubtful = (ip: string): boolean => {
    const fact = addresses.get(ip);
    const expected = wanted.holders.get(ip);
    return fact?.kind !== "known" || (expected !== undefined && fact.address.holderID !== expected);
  };
  const doubtful = [...wanted.ips].filter(isDoubtful);
  for (const [ip, fact] of await readSingly(provider, doubtful, listing.hasFailed, skews)) addresses.set(ip, fact);
  const known = [...addresses.values()].flatMap((fact) => (fact.kind === "known" ? [fact.address] : []));
  if (known.length > 0 || (listing.isComplete && wanted.mayAcquire)) {
    await proveMachinesAreReadable(name, provider, known, nodes);
  }
  const limit = wanted.mayAcquire ? await readLimit(provider) : undefined;
  return {
    name,
    addresses,
    isComplete: listing.isComplete,
    readAtMs: nowMs,
    ...counts(listing),
    ...(limit === undefined ? {} : { addressLimit: limit }),
  };
}

/** True when every address is known, at rest and where status has it, and none is to be bought, for which the whole account would matter. */
function isEnough(known: ProviderFacts, { ips, holders, mayAcquire }: WantedAddresses): boolean {
  if (mayAcquire || known.unusable !== undefined) return false;
  return [...ips].every((ip) => {
    const fact = known.addresses.get(ip);
    if (fact?.kind !== "known" || fact.address.isLocked) return false;
    const expected = holders.get(ip);
    return expected === undefined || fact.address.holderID === expected;
  });
}

function counts({ total }: Listing): Pick<ProviderFacts, "addressCount"> {
  return total === undefined ? {} : { addressCount: total };
}

/**
 * Reads addresses one by one, a few at a time. Where the list has failed and a single read gets no answer either, the provider is taken to be away: what is
 * left is not asked for, since every call would only wait for its deadline.
 */
async function readSingly(
  provider: IPProviderReader,
  ips: readonly string[],
  hasListFailed: boolean,
  skews: SkewNotes,
): Promise<ReadonlyMap<string, AddressFact>> {
  const facts = new Map<string, AddressFact>();
  let away: AddressFact | undefined;
  let failure: unknown;
  const queue = ips.values();
  const readNext = async (): Promise<void> => {
    for (const ip of queue) {
      if (failure !== undefined) return;
      const reading = away === undefined ? await readOne(provider, ip) : { fact: away, isAnswered: false };
      if (hasListFailed && !reading.isAnswered) away = reading.fact;
      facts.set(ip, reading.fact);
    }
  };
  const guarded = (): Promise<void> =>
    readNext().catch((error: unknown) => {
      skews.note(error);
      // Until when to wait must reach later runs, whatever else failed beside it.
      const isLimit = error instanceof ProviderError && error.failure === "rate-limited";
      if (failure === undefined || isLimit) failure = error;
    });
  await Promise.all(Array.from({ length: PARALLEL_READS }, guarded));
  if (failure !== undefined) throw failure;
  return facts;
}

async function readOne(
  provider: IPProviderReader,
  ip: string,
): Promise<{ readonly fact: AddressFact; readonly isAnswered: boolean }> {
  try {
    const address = await provider.getAddress(ip);
    return { fact: address === undefined ? { kind: "gone" } : { kind: "known", address }, isAnswered: true };
  } catch (error) {
    if (!(error instanceof ProviderError) || concernsWholeProvider(error)) throw error;
    return { fact: { kind: "gap", error: error.message }, isAnswered: error.status > 0 };
  }
}

/** The account's limit only spares a refusal: without it the provider is asked. */
async function readLimit(provider: IPProviderReader): Promise<number | undefined> {
  try {
    return await provider.addressLimit();
  } catch (error) {
    if (error instanceof ProviderError && !concernsWholeProvider(error)) return undefined;
    throw error;
  }
}

/**
 * A token without the right to read droplets makes every address look unattached (DigitalOcean, verified 2026-08). Any address with a holder proves the
 * right; else one node's machine is asked for.
 */
async function proveMachinesAreReadable(
  name: string,
  provider: IPProviderReader,
  known: readonly Address[],
  nodes: readonly NodeFacts[],
): Promise<void> {
  if (known.some(({ holderID }) => holderID !== undefined)) return;
  const [machine] = nodes.flatMap((node) => machineID(name, node.providerID) ?? []);
  if (machine !== undefined) await provider.machineAddresses(machine);
}

function refusal(name: string, error: ProviderError, skewMs: number): ProviderFacts {
  const { failure, message, notBeforeMs } = error;
  if (failure === "rate-limited") {
    const until = notBeforeMs === undefined ? {} : { notBeforeMs: notBeforeMs + skewMs };
    return unusable(name, { reason: "RateLimited", message, ...until });
  }
  const isToken = failure === "unauthorized" || failure === "forbidden";
  return unusable(name, { reason: isToken ? "ProviderUnavailable" : "Unreadable", message });
}

function unusable(name: string, why: NonNullable<ProviderFacts["unusable"]>): ProviderFacts {
  return { name, unusable: why, addresses: new Map(), isComplete: false, readAtMs: 0 };
}
