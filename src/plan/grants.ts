import { type ObjectRef, refKey } from "../model/action.ts";
import { portText } from "../model/firewall.ts";
import { type GrantFacts, type GrantWish, grantAdvice, isWishGranted, missingGrant } from "../model/grants.ts";
import type { Observation } from "../model/observation.ts";
import type { MissingGrant, Obstacle, PlanGrants } from "../model/plan.ts";
import { bySeniority, type DNSMemory, managedIPs, ownerKey, type Pool } from "../model/resource.ts";
import { personNeeded } from "./holds.ts";
import { nameKey, publishedKey } from "./names/name-claims.ts";
import { type DNSWish, nameTarget, poolWish, recordSetWish } from "./names/name-target.ts";
import { isNotOwn, statusOf } from "./pool-view.ts";

/*
 * What grants hold. The rule, in one sentence: what an object has on record it keeps, serves and moves as ever, whatever is granted now; what is new to it waits for its grant.
 *
 *   asked for           on record, and so kept, when                                        held: what does not happen
 *   an address          its status shows it as the object's, or a node's annotation does    it is claimed, and sent to a node
 *   a name              its status remembers it as written                                  it is claimed, and written; a name on record is served instead
 *   a firewall          its status remembers something added there                          ports are opened, machines added
 *   a port              its status remembers it as opened there                             it is opened
 *   a purchase          it was made: acquired, or without an answer                         another one is made
 *   a take-over         it began: the address is on its way to a node                       an address is taken off a machine outside the cluster
 *
 * So a grant that is withdrawn takes nothing away, and no recovery waits for one: an address on record moves, its name follows, its firewall lets the new node in.
 */

/** What one object may not do now. Empty without grants, and where they only warn. */
export interface HeldWishes {
  /** By address. */
  readonly ips: ReadonlyMap<string, Obstacle>;
  readonly name?: Obstacle;
  readonly firewall?: HeldFirewall;
  /** How many more addresses may be acquired for it, and why no more. */
  readonly purchases?: { readonly left: number; readonly why: Obstacle };
  readonly takeOver?: Obstacle;
  /** Says whether an address may become the object's that only its annotation can tell of; absent = any may. */
  readonly mayRestore?: (ip: string) => boolean;
}

/** A firewall that is not granted. */
export interface HeldFirewall {
  readonly why: Obstacle;
  /** Ports on record there, as `portText`; absent where nothing of the firewall is on record. */
  readonly ports?: ReadonlySet<string>;
  /** True for an object that has an address on record: that moves, whatever the firewall. */
  readonly isServed: boolean;
}

/** What grants say of all objects. */
export interface GrantJudgement {
  /** By {@link refKey}; what may be done is not in it. */
  readonly heldOf: (ref: ObjectRef) => HeldWishes;
  readonly missingOf: (ref: ObjectRef) => readonly MissingGrant[];
  /** What the plan tells of grants; absent without them. `isShown` says of which objects. */
  readonly told: (isShown: (missing: MissingGrant) => boolean) => PlanGrants | undefined;
}

const NOTHING_HELD: HeldWishes = { ips: new Map() };
const NO_GRANTS: GrantJudgement = { heldOf: () => NOTHING_HELD, missingOf: () => [], told: () => undefined };

/** Judges what every object asks of the account. Pure. */
export function judgeGrants(world: Observation): GrantJudgement {
  const { grants } = world;
  if (grants === undefined) return NO_GRANTS;
  const annotated = annotatedAddresses(world);
  const purchases = sharedPurchases(world, grants);
  const found = new Map<string, readonly Found[]>();
  const held = new Map<string, HeldWishes>();
  for (const pool of world.pools) {
    const ref: ObjectRef = { kind: pool.kind, namespace: pool.meta.namespace, name: pool.meta.name };
    const share = purchases.get(refKey(ref));
    const all = pool.meta.isDeleting ? [] : judged(poolAsks(pool, world, annotated, share), ref, grants);
    found.set(refKey(ref), all);
    const mayRestore = restorable(ref, annotated, grants);
    held.set(refKey(ref), { ...heldWishes(all, ref, grants, share), mayRestore });
  }
  for (const recordSet of world.recordSets) {
    const ref: ObjectRef = { kind: "dns", namespace: recordSet.meta.namespace, name: recordSet.meta.name };
    const asked = nameAsked(recordSetWish(recordSet, world.registry), recordSet.status, world);
    const all = judged(asked, ref, grants);
    found.set(refKey(ref), all);
    held.set(refKey(ref), heldWishes(all, ref, grants));
  }
  const missingOf = (ref: ObjectRef): readonly MissingGrant[] =>
    (found.get(refKey(ref)) ?? []).map(({ missing }) => missing);
  return {
    heldOf: (ref) => (grants.mode === "require" ? (held.get(refKey(ref)) ?? NOTHING_HELD) : NOTHING_HELD),
    missingOf,
    told: (isShown) => ({
      mode: grants.mode,
      missing: [...found.values()].flatMap((all) => all.map(({ missing }) => missing)).filter(isShown),
      problems: usedNamespaces(world).flatMap((name) => {
        const problems = grants.namespaces.get(name)?.problems ?? [];
        return problems.map((problem) => ({ namespace: name, ...problem }));
      }),
      ...(grants.refusal === undefined ? {} : { refusal: grants.refusal }),
    }),
  };
}

/** Who may write an object can write its annotation. So what that alone tells of has to be granted, or be shown by a node, where no tenant can write. */
function restorable(
  object: ObjectRef,
  annotated: ReadonlySet<string>,
  { namespaces }: GrantFacts,
): (ip: string) => boolean {
  const granted = namespaces.get(object.namespace);
  return (ip) =>
    annotated.has(`${ownerKey(object)} ${ip}`) ||
    (granted !== undefined && isWishGranted({ grant: "addresses", ip }, granted));
}

function usedNamespaces({ pools, recordSets }: Observation): readonly string[] {
  return [...new Set([...pools, ...recordSets].map(({ meta }) => meta.namespace))].toSorted();
}

/** Something that an object asks for. */
interface Asked {
  readonly wish: GrantWish;
  readonly isOnRecord: boolean;
  readonly firewall?: Omit<HeldFirewall, "why">;
}

/** Something that it asks for and is not granted. */
interface Found {
  readonly asked: Asked;
  readonly missing: MissingGrant;
}

function judged(asked: readonly Asked[], object: ObjectRef, grants: GrantFacts): readonly Found[] {
  const granted = grants.namespaces.get(object.namespace);
  return asked.flatMap((one): readonly Found[] => {
    if (granted !== undefined && isWishGranted(one.wish, granted)) return [];
    const effect = one.isOnRecord ? "kept" : grants.mode === "require" ? "held" : "would-be-held";
    return [
      { asked: one, missing: { object, grant: one.wish.grant, effect, ...missingText(one.wish, object, grants) } },
    ];
  });
}

/** What is said of a wish that is not granted. */
function missingText(
  wish: GrantWish,
  { namespace }: ObjectRef,
  { namespaces, refusal }: GrantFacts,
): Pick<MissingGrant, "reason" | "sentence" | "advice"> {
  if (refusal !== undefined) return { reason: "GrantsUnreadable", sentence: refusal };
  const granted = namespaces.get(namespace);
  const advice = grantAdvice(wish, namespace, granted);
  return { reason: "NotGranted", sentence: missingGrant(wish, namespace, granted), advice };
}

function obstacleOf({ reason, sentence, advice }: Pick<MissingGrant, "reason" | "sentence" | "advice">): Obstacle {
  const why = personNeeded(reason, sentence);
  return advice === undefined ? why : { ...why, advice };
}

/** What of it is held. A firewall on record is in it, too: for the ports that are not. */
function heldWishes(found: readonly Found[], ref: ObjectRef, grants: GrantFacts, share?: Purchases): HeldWishes {
  const ips = new Map<string, Obstacle>();
  let held: Omit<HeldWishes, "ips"> = {};
  for (const { asked, missing } of found) {
    const { wish, isOnRecord, firewall } = asked;
    const why = obstacleOf(missing);
    if (firewall !== undefined) held = { ...held, firewall: { why, ...firewall } };
    if (isOnRecord) continue;
    if (wish.grant === "addresses") ips.set(wish.ip, why);
    if (wish.grant === "names") held = { ...held, name: why };
    if (wish.grant === "take-over") held = { ...held, takeOver: why };
  }
  if (share === undefined) return { ips, ...held };
  const { left, wanted } = share;
  const why = obstacleOf(missingText({ grant: "purchases", count: Math.max(1, wanted) }, ref, grants));
  return { ips, ...held, purchases: { left, why } };
}

function poolAsks(
  pool: Pool,
  world: Observation,
  annotated: ReadonlySet<string>,
  purchases: Purchases | undefined,
): readonly Asked[] {
  const { spec, status } = pool;
  const key = ownerKey({ kind: pool.kind, ...pool.meta });
  const bought = new Set(status.acquired.map(({ ip }) => ip).filter((ip) => pool.restored?.includes(ip) !== true));
  const listed = new Set(spec.ips);
  const isOnRecord = (ip: string): boolean => annotated.has(`${key} ${ip}`) || isOwnByStatus(pool, ip, bought.has(ip));
  const addresses = managedIPs(pool).flatMap((ip): readonly Asked[] => {
    // An address that flipop bought is paid for by a purchase. One that only an annotation of the object tells of could be any address of the account.
    const isPurchase = !listed.has(ip) && isOnRecord(ip);
    return isPurchase ? [] : [{ wish: { grant: "addresses", ip }, isOnRecord: isOnRecord(ip) }];
  });
  return [
    ...nameAsked(poolWish(pool, world.registry), status, world),
    ...firewallAsked(pool, world),
    ...addresses,
    ...(purchases === undefined ? [] : purchasesAsked(purchases)),
    ...(spec.foreignHolder === "TakeOver" ? [{ wish: { grant: "take-over" as const }, isOnRecord: false }] : []),
  ];
}

/** True where status shows the address as the object's own: it was used, or at least claimed, before. */
function isOwnByStatus(pool: Pool, ip: string, isBought: boolean): boolean {
  const entry = statusOf(pool, ip);
  return entry === undefined ? isBought : !isNotOwn(entry);
}

/** `OWNER ADDRESS` for each address that a node's annotations show as an object's: no tenant can write there. */
function annotatedAddresses({ nodes }: Observation): ReadonlySet<string> {
  return new Set(
    nodes.flatMap(({ addressAnnotation, poolAnnotation }) =>
      addressAnnotation === undefined || poolAnnotation === undefined ? [] : [`${poolAnnotation} ${addressAnnotation}`],
    ),
  );
}

/** Nothing while the name is not known: then nothing is written either. */
function nameAsked(wish: DNSWish, { publishedDNS, formerDNS }: DNSMemory, { dns }: Observation): readonly Asked[] {
  const target = nameTarget(wish, dns);
  if (target.kind === "none" || target.name === undefined) return [];
  const key = nameKey(target.name);
  const isOnRecord = [publishedDNS ?? [], formerDNS].flat().some((name) => publishedKey(name) === key);
  return [{ wish: { grant: "names", name: target.name.fqdn }, isOnRecord }];
}

function firewallAsked(pool: Pool, { firewalls }: Observation): readonly Asked[] {
  const wish = pool.firewall;
  if (wish === undefined) return [];
  const fact = firewalls.get(wish.provider)?.firewalls.get(wish.firewall);
  // While it cannot be read nothing is changed there, and its id may be what is granted.
  if (fact?.kind === "gap" || fact === undefined) return [];
  const firewall = fact.kind === "known" ? fact.firewall : undefined;
  const known = [...new Set([wish.firewall, ...(firewall === undefined ? [] : [firewall.name, firewall.id])])];
  const memory = pool.status.firewalls?.find(({ provider, id }) => provider === wish.provider && id === firewall?.id);
  const isServed = Object.values(pool.status.ips).some(
    ({ providerID, fault }) => providerID !== undefined && fault !== "conflict",
  );
  const ports = memory === undefined ? {} : { ports: new Set(memory.ports) };
  const isOnRecord = memory !== undefined && wish.ports.every((range) => memory.ports.includes(portText(range)));
  return [{ wish: { grant: "firewalls", known }, isOnRecord, firewall: { ...ports, isServed } }];
}

/** What one object may acquire, as its namespace's grant is shared. */
interface Purchases {
  /** How many addresses its namespace would hold if it got all it asks for. */
  readonly wanted: number;
  readonly lacking: number;
  /** How many more it may acquire. */
  readonly left: number;
  /** True where its namespace holds more than is granted, and it has some of them. */
  readonly isOverdrawn: boolean;
}

function purchasesAsked({ wanted, lacking, left, isOverdrawn }: Purchases): readonly Asked[] {
  if (lacking <= left && !isOverdrawn) return [];
  return [{ wish: { grant: "purchases", count: wanted }, isOnRecord: lacking <= left }];
}

/**
 * Shares what each namespace may acquire among its objects, by {@link refKey}: those that have none get one first, then the senior one all it lacks. What is held already counts, of all
 * objects of the namespace, and so do acquisitions without an answer.
 */
function sharedPurchases(world: Observation, { namespaces }: GrantFacts): ReadonlyMap<string, Purchases> {
  const inNamespace = Map.groupBy(world.pools.toSorted(bySeniority), ({ meta }) => meta.namespace);
  return new Map(
    [...inNamespace].flatMap(([namespace, own]) => {
      const shares = own.map((pool) => shareOf(pool, world));
      const held = shares.reduce((sum, { holds }) => sum + holds, 0);
      const wanted = held + shares.reduce((sum, { lacking }) => sum + lacking, 0);
      const granted = namespaces.get(namespace)?.purchases ?? 0;
      shareOut(shares, Math.max(0, granted - held));
      return shares.map(({ pool, holds, lacking, left }): [string, Purchases] => [
        refKey({ kind: pool.kind, ...pool.meta }),
        { wanted, lacking, left, isOverdrawn: held > granted && holds > 0 },
      ]);
    }),
  );
}

/** What one object has, lacks and gets. */
interface Share {
  readonly pool: Pool;
  readonly holds: number;
  readonly lacking: number;
  left: number;
}

function shareOf(pool: Pool, world: Observation): Share {
  const bought = boughtIPs(pool, world);
  const holds = bought.length + pool.status.pendingAcquisitions.length;
  return { pool, holds, lacking: lackingCount(pool, bought), left: 0 };
}

function shareOut(shares: readonly Share[], most: number): void {
  let free = most;
  const give = (one: Share, count: number): void => {
    const given = Math.min(free, count);
    one.left += given;
    free -= given;
  };
  for (const one of shares) if (one.holds === 0 && one.pool.spec.ips.length === 0) give(one, Math.min(1, one.lacking));
  for (const one of shares) give(one, one.lacking - one.left);
}

/** Without those that the account does not have any more: they are forgotten, and may be replaced. */
function boughtIPs({ spec, status }: Pool, { providers }: Observation): readonly string[] {
  const facts = providers.get(spec.provider);
  const isGone = (ip: string): boolean => facts?.isComplete === true && facts.addresses.get(ip)?.kind === "gone";
  return status.acquired.map(({ ip }) => ip).filter((ip) => !isGone(ip));
}

function lackingCount({ meta, spec, status, decodeError }: Pool, bought: readonly string[]): number {
  if (meta.isDeleting || decodeError !== undefined) return 0;
  const counted = new Set([...spec.ips, ...bought]).size + status.pendingAcquisitions.length;
  return Math.max(0, spec.desiredIPs - counted);
}
