import { createResolver } from "../adapters/resolver/resolver.ts";
import type { Beside, Facts, LookedName, Planned } from "../doctor/facts.ts";
import { type ObjectRef, refKey } from "../model/action.ts";
import { ProviderError } from "../model/errors.ts";
import { externalOwner, type ZoneTexts } from "../model/external-dns.ts";
import { recordTypesOf, setNamed } from "../model/record-types.ts";
import { LEAST_LIST_CALLS, plainTexts } from "../observe/owners.ts";
import {
  type DNSWish,
  type NamedWish,
  nameTarget,
  poolWish,
  type ReadyTarget,
  recordSetWish,
} from "../plan/names/name-target.ts";
import type { DNSProviderReader } from "../ports/providers.ts";
import type { Config, Runtime } from "./config.ts";
import { openProviderReaders } from "./providers.ts";

/** Reads what stands at the names that a plan knows the records of, beside these: one list for each zone; in a long one up to two calls for each name. */
export async function readNames(config: Config, runtime: Runtime, planned: Planned): Promise<Facts["names"]> {
  const { dnsProviders } = await openProviderReaders(config, runtime);
  const zones = Map.groupBy(knownNames(planned), ({ target: { name, zone } }) => `${name.provider} ${zone.id}`);
  const read = [...zones.values()].map(async (own) => {
    const access = dnsProviders.get(own[0]?.target.name.provider ?? "");
    return access?.kind === "usable" ? await namesInZone(access.provider, own) : [];
  });
  return (await Promise.all(read)).flat();
}

/** Asks DNS for the addresses of the same names, all at once. */
export async function readAnswers(planned: Planned, server: string | undefined): Promise<Facts["answers"]> {
  const resolver = createResolver(server);
  const asked = knownNames(planned).map(
    async ({ target: { name } }) => [name.fqdn, await resolver.addressesOf(name.fqdn)] as const,
  );
  return new Map(await Promise.all(asked));
}

/** A name whose records a plan knows, each once. */
interface KnownName {
  readonly object: ObjectRef;
  readonly wish: NamedWish;
  readonly target: ReadyTarget;
  readonly isAtRest: boolean;
}

function knownNames({ observation, plan }: Planned): readonly KnownName[] {
  const { registry, dns } = observation;
  const wishes: readonly (readonly [string, DNSWish])[] = [
    ...observation.pools.map(
      (pool) => [refKey({ kind: pool.kind, ...placeOf(pool) }), poolWish(pool, registry)] as const,
    ),
    ...observation.recordSets.flatMap((one) =>
      recordTypesOf(one).map(
        (type) => [refKey({ kind: "dns", ...placeOf(one) }), recordSetWish(one, registry, type)] as const,
      ),
    ),
  ];
  const wished = Map.groupBy(wishes, ([key]) => key);
  const known = [...plan.pools, ...plan.recordSets].flatMap((one): readonly KnownName[] =>
    (wished.get(refKey(one.object)) ?? []).flatMap(([, wish]) => {
      if (wish.kind !== "named") return [];
      const target = nameTarget(wish, dns);
      if (target.kind !== "ready") return [];
      const sets = "written" in one ? [one, one.ipv6 ?? []].flat() : [{ ...one, fqdn: target.name.fqdn }];
      const drift = sets.find(({ fqdn }) => fqdn === target.name.fqdn)?.drift;
      return [{ object: one.object, wish, target, isAtRest: drift === 0 }];
    }),
  );
  return [...new Map(known.map((one) => [`${one.target.name.provider} ${one.target.name.fqdn}`, one])).values()];
}

function placeOf({
  meta: { namespace, name },
}: {
  readonly meta: { readonly namespace: string; readonly name: string };
}) {
  return { namespace, name };
}

async function namesInZone(provider: DNSProviderReader, names: readonly KnownName[]): Promise<readonly LookedName[]> {
  const zone = names[0]?.target.zone;
  if (zone === undefined) return [];
  const list = await orError(() => provider.listTexts(zone, Math.max(LEAST_LIST_CALLS, names.length)));
  return await Promise.all(
    names.map(async ({ object, wish, target, isAtRest }) => ({
      object,
      fqdn: target.name.fqdn,
      provider: target.name.provider,
      writtenTTL: wish.ttlSeconds,
      acceptedTTL: target.ttlSeconds,
      records: target.records,
      isAtRest,
      beside: "error" in list ? list : await besideOf(provider, target, list.value),
    })),
  );
}

async function besideOf(
  provider: DNSProviderReader,
  { zone, name: { fqdn }, records }: ReadyTarget,
  list: ZoneTexts | undefined,
): Promise<LookedName["beside"]> {
  const texts = list === undefined ? await orError(() => plainTexts(provider, zone, fqdn)) : { value: list };
  if ("error" in texts) return texts;
  const owner = externalOwner(fqdn, texts.value, records.addresses.length > 0);
  const beside: Beside = owner === undefined ? {} : { owner };
  return list === undefined
    ? beside
    : { ...beside, hasCNAME: list.names.get(setNamed(fqdn).fqdn)?.has("CNAME") ?? false };
}

async function orError<T>(read: () => Promise<T>): Promise<{ readonly value: T } | { readonly error: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (error instanceof ProviderError) return { error: error.message };
    throw error;
  }
}
