import { memoryOf, publishedNames, setNamed, setText } from "../../src/model/record-types.ts";
import { objectKey, type PublishedName } from "../../src/model/resource.ts";
import { type DNSView, recordsOf, shownIn, viewDNS } from "./dns-view.ts";
import type { Violation } from "./monitor.ts";
import { offersOf, publisherName } from "./offers.ts";
import {
  claimants,
  isRecordSet,
  isSilent,
  isWorkable,
  nameKey,
  namesOnRecord,
  ownMemory,
  type Publisher,
  publishedKey,
  publishers,
  type WishedName,
  wishOf,
} from "./publishers.ts";
import type { Simulation } from "./simulation.ts";
import type { World } from "./world.ts";

/** Least TTL that a provider accepts, seconds. */
const LEAST_TTL = { digitalocean: 30, cloudflare: 60, hetzner: 60, webhook: 60 } as const;

/** What is wrong with the names of a world in which the program had all the time it needs. */
export function dnsAtRest(simulation: Simulation): readonly Violation[] {
  const { world } = simulation;
  const working = publishers(world).filter((object) => !isSilent(world, object) && isWorkable(world, object));
  return [
    ...working.flatMap((object) => wrongRecords(world, object)),
    ...working.flatMap((object) => leftBehind(simulation, object)),
    ...world
      .recordSets()
      .filter((object) => object.meta.isDeleting && !isSilent(world, object))
      .map((object) => ({ invariant: "P12", text: `${publisherName(object)} is never gone` })),
  ];
}

function wrongRecords(world: World, object: Publisher): readonly Violation[] {
  const wish = wishOf(world, object);
  if (wish === undefined || !isOwned(world, object, wish)) return [];
  const shown = shownIn(viewDNS(world), wish.provider, wish.fqdn);
  const offers = offersOf(world, object);
  const missing = [...offers].flatMap(([ip, verdict]) => (verdict === "yes" && !shown.includes(ip) ? [ip] : []));
  const serves = [...offers.values()].includes("yes");
  const isEmptied = isRecordSet(object) && object.spec.whenEmpty === "Delete" && offers.size === 0;
  const extra = serves || isEmptied ? shown.filter((ip) => !offers.has(ip)) : [];
  const name = `${wish.provider} ${wish.fqdn} of ${publisherName(object)} shows ${shown.join(" ")}`;
  const found = [
    ...missing.map((ip) => `${name} and not ${ip}`),
    ...extra.map((ip) => `${name}, where ${ip} does not serve`),
    ...(serves ? wrongForm(world, wish).map((text) => `${name} ${text}`) : []),
    ...(serves ? wrongMemory(object, wish, shown).map((text) => `${name}, ${text}`) : []),
  ];
  return found.map((text) => ({ invariant: "P12", text }));
}

/** True when the name is the object's and could be written. */
function isOwned(world: World, object: Publisher, { provider, zone, fqdn }: WishedName): boolean {
  const account = world.dns[provider];
  const isThere = account.zoneName(zone) !== undefined;
  const owners = claimants(world, nameKey(provider, fqdn));
  // Among newcomers the senior one has it; here it is enough that there is only one.
  return isThere && owners.length === 1 && owners[0]?.meta.uid === object.meta.uid;
}

function wrongForm(world: World, { provider, zone, fqdn, ttl }: WishedName): readonly string[] {
  const records = recordsOf(world.dns[provider], zone, fqdn);
  const isAutomatic = records.some((record) => record.isAutomatic === true) || (provider === "cloudflare" && ttl === 1);
  const all = wantedTTLs(world, { provider, zone, fqdn, ttl }).map((one) => Math.max(one, LEAST_TTL[provider]));
  const contents = records.map(({ content }) => content);
  return [
    ...(new Set(contents).size === contents.length ? [] : ["more than once"]),
    ...(isAutomatic || all.some((wanted) => records.every(({ ttlSeconds }) => ttlSeconds === wanted))
      ? []
      : [
          `with a TTL of ${records.map(({ ttlSeconds }) => ttlSeconds).join()} instead of ${[...new Set(all)].join(" or ")}`,
        ]),
  ];
}

/** At DigitalOcean all records of a name have one TTL: the lowest that any object asks for. */
function wantedTTLs(world: World, { provider, fqdn, ttl }: WishedName): readonly number[] {
  if (provider !== "digitalocean") return [ttl];
  const asked = publishers(world).flatMap((object) => {
    const wish = wishOf(world, object);
    const isSame = wish?.provider === provider && setNamed(wish.fqdn).fqdn === setNamed(fqdn).fqdn;
    return isSame && claimants(world, nameKey(provider, wish.fqdn)).includes(object) ? [wish] : [];
  });
  // Of several that ask for one set only its owner counts, which may be any of them.
  const sets = [...Map.groupBy(asked, (wish) => wish.fqdn).values()];
  return sets.reduce<readonly number[]>(
    (lowest, rivals) => lowest.flatMap((one) => rivals.map((rival) => Math.min(one, rival.ttl))),
    [ttl],
  );
}

function wrongMemory(object: Publisher, wish: WishedName, shown: readonly string[]): readonly string[] {
  const known = ownMemory(object).publishedDNS;
  const isKnown = known !== undefined && publishedKey(known) === nameKey(wish.provider, wish.fqdn);
  return isKnown && known.addresses.join() === shown.join() ? [] : [`and its status says ${JSON.stringify(known)}`];
}

/** Records that were written for an object, that nobody asks for any more, and that are not cleaned although they are to be. */
function leftBehind({ world, monitor }: Simulation, object: Publisher): readonly Violation[] {
  const wish = wishOf(world, object);
  if (object.spec.reclaimPolicy !== "Delete") return [];
  const view = viewDNS(world);
  // An old name stays until something serves under the new one.
  const isThere =
    object.spec.dnsRecordSet === undefined ||
    object.meta.isDeleting ||
    (wish !== undefined && isOwned(world, object, wish) && showsServing(world, object, wish));
  if (!isThere) return keptInVain(world, object);
  const isFree = (key: string): boolean => claimants(world, key).length === 0;
  const present = publishedNames(object.status);
  const remembered = namesOnRecord(object).filter(
    (former) =>
      !present.includes(former) &&
      isFree(publishedKey(former)) &&
      former.addresses.some((ip) => isShown(world, former, ip)),
  );
  const written = monitor.records.wasMisled ? [] : [...monitor.records.written];
  const forgotten = written.filter(
    ([key, { uid, addresses }]) =>
      uid === object.meta.uid &&
      isFree(key) &&
      !monitor.records.handEdited.has(key) &&
      !monitor.records.touchedAtMs.has(objectKey(object.meta)) &&
      addresses.some((ip) => view.some((record) => recordKey(record) === key && record.content === ip)),
  );
  return [...remembered.map(publishedKey), ...forgotten.map(([key]) => key)].map((key) => ({
    invariant: "DNS-leak",
    text: `${key} of ${publisherName(object)} is never cleaned`,
  }));
}

/** Addresses that serve no more, in an old name that waits for the new one and shows others that serve. */
function keptInVain(world: World, object: Publisher): readonly Violation[] {
  const offers = offersOf(world, object);
  const wish = wishOf(world, object);
  const present = wish === undefined ? undefined : nameKey(wish.provider, wish.fqdn);
  const former = namesOnRecord(object).filter((name) => {
    const key = publishedKey(name);
    return key !== present && claimants(world, key).length === 0;
  });
  return former.flatMap((name) => {
    const own = name.addresses.filter((ip) => isShown(world, name, ip));
    const isServed = own.some((ip) => offers.get(ip) === "yes");
    return own
      .filter((ip) => isServed && !offers.has(ip))
      .map((ip) => ({
        invariant: "P12",
        text: `${publishedKey(name)} of ${publisherName(object)} waits and shows ${ip}, which does not serve`,
      }));
  });
}

/** True where a name shows an address of its object that serves. */
function showsServing(world: World, object: Publisher, { provider, fqdn }: WishedName): boolean {
  const offers = offersOf(world, object);
  return shownIn(viewDNS(world), provider, fqdn).some((ip) => offers.get(ip) === "yes");
}

/** The set that a record is of, as a key of claims. */
function recordKey({ provider, fqdn, type }: DNSView[number]): string {
  return nameKey(provider, type === "AAAA" ? setText({ fqdn, type }) : fqdn);
}

function isShown(world: World, { provider, name }: PublishedName, ip: string): boolean {
  return shownIn(viewDNS(world), provider, name).includes(ip);
}

/**
 * True for an address that a name shows which may not be written, or which has nothing else to show: it keeps its annotation and its machine, and is not given back.
 * The name of the object with the uid `but` does not count.
 */
export function isStuck(world: World, ip: string, but?: string): boolean {
  const view = viewDNS(world);
  return publishers(world).some((object) => {
    if (object.meta.uid === but) return false;
    const hasOther = [...offersOf(world, object)].some(([other, verdict]) => verdict === "yes" && other !== ip);
    const isEmptied = isRecordSet(object) && object.spec.whenEmpty === "Delete";
    const silent = isSilent(world, object);
    if (!silent && (hasOther || isEmptied)) return false;
    const wish = wishOf(world, object);
    const isShown = wish !== undefined && shownIn(view, wish.provider, wish.fqdn).includes(ip);
    const memories = silent
      ? (["A", "AAAA"] as const).map((type) => memoryOf(object.status, type))
      : [ownMemory(object)];
    return isShown || memories.some(({ publishedDNS }) => publishedDNS?.addresses.includes(ip) === true);
  });
}
