import { isDeepStrictEqual } from "node:util";
import { CUSTOM_RESOURCES, type ReadableResource } from "../adapters/kube/custom-resources.ts";
import { atRecordedProvider } from "../model/acquisition-memory.ts";
import { type DNSFacts, recordsKey, type UnreadDNS } from "../model/dns.ts";
import { ConfigError } from "../model/errors.ts";
import { selectedLabels } from "../model/label-selector.ts";
import { podSelectorKey } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import { podsKeyOf } from "../model/pods.ts";
import { recordTypesOf } from "../model/record-types.ts";
import {
  compareText,
  managedIPs,
  type ObjectMeta,
  objectKey,
  type Pool,
  type RecordSet,
  shownText,
} from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../model/routed-ip.ts";
import { podSelectors } from "../observe/read-cluster.ts";
import { routedPool } from "../plan/addresses/routed-pool.ts";
import { type NamedWish, poolWish, recordSetWish, targetName } from "../plan/names/name-target.ts";
import type { Overlay } from "../ports/cluster.ts";
import { heldLabels, type Snapshot } from "../snapshot/snapshot.ts";

/*
 * Objects laid over those of a snapshot. A snapshot holds objects as flipop reads them, and edits change them as they are stored. So each object is written as it is stored, changed, and
 * read again. What an object asks for must be in the snapshot:
 *
 *   pods, labels of nodes, a Service      else the edit is refused: nobody can say what it would change
 *   addresses, zones, names, firewalls    else they count as not read
 */

/**
 * Returns a snapshot as its objects would be. An overlay that changes nothing returns the same objects.
 * @throws ConfigError `invalid` for what the snapshot does not hold
 */
export function editedSnapshot(snapshot: Snapshot, overlay: Overlay): Snapshot {
  const { observation, stored } = snapshot;
  const nowMs = observation.observedAtMs;
  const lay = <T extends Stored>(
    of: Parameters<Overlay["seen"]>[0],
    kind: ReadableResource<T>,
    objects: readonly T[],
  ): readonly T[] => laidOver({ of, kind, objects, overlay, nowMs });
  const floating = observation.pools.filter(({ kind }) => kind === "pool");
  const edited = {
    pools: lay("pool", CUSTOM_RESOURCES.pools, floating),
    recordSets: lay("dns", CUSTOM_RESOURCES.recordSets, observation.recordSets),
    routedIPs: lay("routedip", CUSTOM_RESOURCES.routedIPs, stored.routedIPs),
    issuers: lay("issuer", CUSTOM_RESOURCES.issuers, stored.issuers ?? []),
  };
  const pools = [...edited.pools, ...routedPools(snapshot, edited)].map(atRecordedProvider);
  const world = { ...observation, pools, recordSets: edited.recordSets };
  const known = new Set<Pool | RecordSet>([...observation.pools, ...observation.recordSets]);
  const changed = [...pools, ...edited.recordSets].filter((object) => !known.has(object));
  checkPods(world, changed);
  checkLabels(snapshot, changed);
  return {
    observation: withUnread(world, changed),
    stored: {
      ...stored,
      pools: lay("pool", CUSTOM_RESOURCES.pools, stored.pools),
      routedIPs: edited.routedIPs,
      ...(stored.issuers === undefined ? {} : { issuers: edited.issuers }),
    },
  };
}

/** Any of flipop's objects. */
interface Stored {
  readonly meta: ObjectMeta;
  readonly spec: object;
  readonly decodeError?: string;
}

/** Objects of one kind, and what is laid over them. */
interface Laid<T extends Stored> {
  readonly of: Parameters<Overlay["seen"]>[0];
  readonly kind: ReadableResource<T>;
  readonly objects: readonly T[];
  readonly overlay: Overlay;
  readonly nowMs: number;
}

/** The objects as they would be, by namespace and name. Those that nothing changes are the same. */
function laidOver<T extends Stored>({ of, kind, objects, overlay, nowMs }: Laid<T>): readonly T[] {
  const known = new Map(objects.map((object) => [objectKey(object.meta), object]));
  const decode = (wire: unknown): T | undefined => {
    const read = kind.decode(wire);
    const before = read === undefined ? undefined : known.get(objectKey(read.meta));
    return read === undefined || before === undefined ? read : changedTo(before, read, wire as Wire);
  };
  const seen = objects.flatMap((object) => overlay.seen(of, wireOf(kind, object), decode, nowMs) ?? []);
  const fresh = overlay.fresh(of, decode, nowMs).filter(({ meta }) => !known.has(objectKey(meta)));
  if (fresh.length === 0) return seen;
  return [...seen, ...fresh].toSorted(
    ({ meta: a }, { meta: b }) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
  );
}

/** Marks a spec of which a part could not be read, and so is not in the snapshot. Another spec, as of a file, has no such mark. */
const LACKING = Symbol("a part of it is not in the snapshot");

/** An object as it is stored. */
interface Wire {
  readonly spec?: { readonly [LACKING]?: true };
}

function wireOf<T extends Stored>(kind: ReadableResource<T>, object: T): Wire {
  const { metadata, spec } = kind.encode(object);
  const wire = { metadata, spec };
  return object.decodeError === undefined ? wire : { ...wire, spec: { ...spec, [LACKING]: true } };
}

/** The object of the snapshot, with what was read of a changed one. The object itself where nothing is changed. */
function changedTo<T extends Stored>(before: T, read: T, wire: Wire): T {
  const isSame = isDeepStrictEqual(read.spec, before.spec);
  const lacks = wire.spec?.[LACKING] === true;
  if (lacks && !isSame) {
    const { namespace, name } = before.meta;
    throw new ConfigError(
      "invalid",
      `The snapshot does not hold what could not be read of ${namespace}/${name}: ${before.decodeError}. Lay the whole object over it, with -f.`,
    );
  }
  // Annotations are not in the snapshot as texts, so those that are read are of a file.
  const { uid, resourceVersion, createdAtMs, ...laid } = read.meta;
  const meta = { ...before.meta, ...laid };
  if (isSame && lacks === (before.decodeError !== undefined) && isDeepStrictEqual(meta, before.meta)) return before;
  const { decodeError: _former, ...rest } = before;
  const decodeError = lacks ? before.decodeError : read.decodeError;
  return { ...(rest as T), meta, spec: read.spec, ...(decodeError === undefined ? {} : { decodeError }) };
}

/** The routed IPs as pools: those of the snapshot where neither they nor their issuer is another one. */
function routedPools(
  { observation, stored }: Snapshot,
  { routedIPs, issuers }: { readonly routedIPs: readonly RoutedIP[]; readonly issuers: readonly RoutedIPIssuer[] },
): readonly Pool[] {
  const before = new Map(
    observation.pools.flatMap((pool) => (pool.kind === "routedip" ? [[objectKey(pool.meta), pool]] : [])),
  );
  const known = new Set<unknown>([...stored.routedIPs, ...(stored.issuers ?? [])]);
  const seen = new Set<unknown>(issuers);
  const changed = new Set(
    [...issuers.filter((one) => !known.has(one)), ...(stored.issuers ?? []).filter((one) => !seen.has(one))].map(
      ({ meta }) => objectKey(meta),
    ),
  );
  const references = {
    issuers: new Map(issuers.map((issuer) => [objectKey(issuer.meta), issuer])),
    services: new Map((stored.services ?? []).map((service) => [objectKey(service), service])),
  };
  const named = new Set(stored.routedIPs.map(serviceOf));
  return routedIPs.map((routedIP) => {
    const { meta, spec } = routedIP;
    const issuer = objectKey({ namespace: meta.namespace, name: spec.issuer });
    const pool = before.get(objectKey(meta));
    const isSame = known.has(routedIP) && !changed.has(issuer);
    if (pool !== undefined && isSame) return pool;
    if (spec.serviceName !== "" && (stored.services === undefined || !named.has(serviceOf(routedIP))))
      throw new ConfigError(
        "invalid",
        `The snapshot does not hold Service ${shownText(serviceOf(routedIP))}: no routed IP named it when it was taken.`,
      );
    const made = routedPool(routedIP, references);
    return pool === undefined
      ? made
      : { ...made, status: pool.status, ...(pool.restored && { restored: pool.restored }) };
  });
}

function serviceOf({ meta: { namespace }, spec: { serviceName } }: RoutedIP): string {
  return objectKey({ namespace, name: serviceName });
}

/** @throws ConfigError for objects that ask for pods of which nothing is known */
function checkPods({ pods }: Observation, objects: readonly (Pool | RecordSet)[]): void {
  for (const selector of podSelectors(objects)) {
    const key = podSelectorKey(selector);
    if (pods.has(key)) continue;
    const { namespace, label } = selector;
    throw new ConfigError(
      "invalid",
      `The snapshot holds no pods of "${shownText(key)}". Take one with --pods ${shownText(`${namespace}/${label}`)}.`,
    );
  }
  for (const object of objects) {
    const { endpoints } = object as Pool;
    if (endpoints !== undefined && !pods.has(podsKeyOf(object) ?? ""))
      throw new ConfigError("invalid", `The snapshot holds no endpoints of Service ${objectKey(endpoints)}.`);
  }
}

/** @throws ConfigError for objects that select nodes by labels of which nothing is known */
function checkLabels(snapshot: Snapshot, objects: readonly (Pool | RecordSet)[]): void {
  const held = heldLabels(snapshot);
  for (const label of objects.flatMap(({ spec }) => selectedLabels(spec.match.nodeLabel))) {
    if (held.has(label)) continue;
    throw new ConfigError(
      "invalid",
      `The snapshot does not hold the label ${shownText(label)} of nodes. Take one with --node-labels ${shownText(label)}.`,
    );
  }
}

const UNREAD = "the snapshot does not hold it";

/** The world in which what changed objects ask of providers, and nobody asked for when the snapshot was taken, could not be read. */
function withUnread(world: Observation, changed: readonly (Pool | RecordSet)[]): Observation {
  const pools = changed.filter((object): object is Pool => "kind" in object);
  return { ...world, providers: withUnreadAddresses(world, pools), dns: withUnreadNames(world, changed) };
}

function withUnreadAddresses({ providers }: Observation, pools: readonly Pool[]): Observation["providers"] {
  const known = new Map(providers);
  for (const pool of pools) {
    const facts = known.get(pool.spec.provider);
    if (facts === undefined) continue;
    const missing = managedIPs(pool).filter((ip) => !facts.addresses.has(ip));
    const gaps = missing.map((ip) => [ip, { kind: "gap", error: UNREAD }] as const);
    known.set(facts.name, { ...facts, addresses: new Map([...facts.addresses, ...gaps]) });
  }
  return known;
}

function withUnreadNames({ dns, registry }: Observation, objects: readonly (Pool | RecordSet)[]): Observation["dns"] {
  const known = new Map(dns);
  const wishes = objects.flatMap((object) =>
    "kind" in object
      ? [poolWish(object, registry)]
      : recordTypesOf(object).map((type) => recordSetWish(object, registry, type)),
  );
  for (const wish of wishes) {
    const facts = wish.kind === "named" ? known.get(wish.provider) : undefined;
    if (wish.kind === "named" && facts !== undefined) known.set(facts.name, withUnreadName(facts, wish));
  }
  return known;
}

function withUnreadName(facts: DNSFacts, wish: NamedWish): DNSFacts {
  const gap: UnreadDNS = { kind: "gap", error: UNREAD, isRefused: false };
  const zone = facts.zones.get(wish.zone);
  if (zone === undefined) return { ...facts, zones: new Map(facts.zones).set(wish.zone, gap) };
  const name = targetName(wish, new Map([[facts.name, facts]]));
  if (zone.kind !== "known" || name === undefined) return facts;
  const key = recordsKey(zone.zone, name.fqdn);
  return facts.records.has(key) ? facts : { ...facts, records: new Map(facts.records).set(key, gap) };
}
