import { type ObjectRef, refKey } from "../model/action.ts";
import { annotatedNodes, annotatedOn } from "../model/annotated.ts";
import { portText } from "../model/firewall.ts";
import {
  type GrantFacts,
  type GrantWish,
  grantAdvice,
  isAddressGranted,
  isNameGranted,
  isWishGranted,
  missingGrant,
  type NamespaceGrants,
} from "../model/grants.ts";
import type { Observation } from "../model/observation.ts";
import type { MissingGrant, Obstacle, PlanGrants } from "../model/plan.ts";
import { rememberedNames, setNamed } from "../model/record-types.ts";
import {
  bySeniority,
  compareText,
  type DNSMemory,
  managedIPs,
  ownerKey,
  type Pool,
  type PublishedName,
  type RecordSetStatus,
} from "../model/resource.ts";
import { personNeeded } from "./holds.ts";
import { type DNSWish, poolWish, statedWish, targetName } from "./names/name-target.ts";
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
  /** How many more addresses may be acquired for it, and why no more; `again` = how many of its acquisitions without an answer may be made anew should they have brought nothing. */
  readonly purchases?: { readonly left: number; readonly again: number; readonly why: () => Obstacle };
  readonly takeOver?: Obstacle;
  /** Says whether an address may become the object's that only its annotation can tell of; absent = any may. */
  readonly mayRestore?: (ip: string) => boolean;
}

/** A firewall that is not granted. */
export interface HeldFirewall {
  readonly why: Obstacle;
  /** Ports on record there, as `portText`; absent where nothing of the firewall is on record. */
  readonly ports?: ReadonlySet<string>;
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
const NO_ADDRESSES: ReadonlySet<string> = new Set();
const NOTHING_ASKED: readonly Asked[] = [];
const NO_GRANTS: GrantJudgement = { heldOf: () => NOTHING_HELD, missingOf: () => [], told: () => undefined };

/** Judges what every object asks of the account. Most objects have all that they ask for: nothing is made for them. Pure. */
export function judgeGrants(world: Observation): GrantJudgement {
  const { grants } = world;
  if (grants === undefined) return NO_GRANTS;
  const lacking = [...lackingPools(world, grants), ...lackingRecordSets(world, grants)];
  const advice = adviceTogether(lacking, grants);
  const found = new Map<string, readonly Found[]>();
  const held = new Map<string, HeldWishes>();
  for (const { ref, asked, own, share } of lacking) {
    const all = judged(asked, ref, grants, advice);
    found.set(refKey(ref), all);
    held.set(refKey(ref), { ...heldWishes(all, ref, grants, share), mayRestore: restorable(ref, own, grants) });
  }
  const missing = [...found.values()].flatMap((all) => all.map((one) => one.missing));
  return {
    heldOf: (ref) =>
      grants.mode === "require" && held.size > 0 ? (held.get(refKey(ref)) ?? NOTHING_HELD) : NOTHING_HELD,
    missingOf: (ref) => (missing.length === 0 ? [] : (found.get(refKey(ref)) ?? []).map((one) => one.missing)),
    told: (isShown) => ({
      mode: grants.mode,
      missing: missing.filter(isShown),
      problems: problemsOf(world, grants),
      ...(grants.refusal === undefined ? {} : { refusal: grants.refusal }),
    }),
  };
}

/** An object that asks for more than is granted, or may acquire addresses. */
interface Lacking {
  readonly ref: ObjectRef;
  /** What it asks for and is not granted. */
  readonly asked: readonly Asked[];
  /** The addresses that nodes' annotations show as its own. */
  readonly own: ReadonlySet<string>;
  /** Absent where it acquires nothing. */
  readonly share?: Purchases;
}

function lackingPools(world: Observation, grants: GrantFacts): readonly Lacking[] {
  const annotated = annotatedAddresses(world);
  const purchases = sharedPurchases(world, grants);
  return world.pools.flatMap((pool): readonly Lacking[] => {
    const own = annotated.get(ownerKey({ kind: pool.kind, ...pool.meta })) ?? NO_ADDRESSES;
    const share = purchases.get(pool);
    const asked = pool.meta.isDeleting ? NOTHING_ASKED : ungrantedOf(pool, world, { own, share, grants });
    if (asked.length === 0 && share === undefined) return [];
    const ref: ObjectRef = { kind: pool.kind, namespace: pool.meta.namespace, name: pool.meta.name };
    return [{ ref, asked, own, ...(share === undefined ? {} : { share }) }];
  });
}

function lackingRecordSets(world: Observation, { namespaces }: GrantFacts): readonly Lacking[] {
  return world.recordSets.flatMap((recordSet): readonly Lacking[] => {
    const { namespace, name } = recordSet.meta;
    const wish = statedWish(recordSet, world.registry);
    const asked = nameLacking(wish, recordSet.status, world, namespaces.get(namespace));
    return asked.length === 0 ? [] : [{ ref: { kind: "dns", namespace, name }, asked, own: NO_ADDRESSES }];
  });
}

/** Who may write an object can write its annotation. So what that alone tells of has to be granted, or be shown by a node, where no tenant can write. */
function restorable(
  object: ObjectRef,
  annotated: ReadonlySet<string>,
  { namespaces }: GrantFacts,
): (ip: string) => boolean {
  const granted = namespaces.get(object.namespace);
  return (ip) => annotated.has(ip) || (granted !== undefined && isWishGranted({ grant: "addresses", ip }, granted));
}

/** What cannot be read of the grants of namespaces that have objects, by namespace. */
function problemsOf({ pools, recordSets }: Observation, { namespaces }: GrantFacts): PlanGrants["problems"] {
  const used = new Set([...pools, ...recordSets].map(({ meta }) => meta.namespace));
  return [...used]
    .flatMap((name) => namespaces.get(name) ?? [])
    .filter(({ problems }) => problems.length > 0)
    .toSorted((a, b) => compareText(a.namespace, b.namespace))
    .flatMap(({ namespace, problems }) => problems.map((problem) => ({ namespace, ...problem })));
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

/** By {@link grantKey} what grants all that the objects of a namespace lack of one kind: a person is told of it at once. */
type Advice = ReadonlyMap<string, string>;

function adviceTogether(
  objects: readonly { readonly ref: ObjectRef; readonly asked: readonly Asked[] }[],
  { namespaces, refusal }: GrantFacts,
): Advice {
  if (refusal !== undefined) return new Map();
  const lacked = objects.flatMap(({ ref, asked }) => asked.map(({ wish }) => ({ namespace: ref.namespace, wish })));
  const together = Map.groupBy(lacked, ({ namespace, wish }) => grantKey(namespace, wish));
  return new Map(
    [...together].flatMap(([key, [first, ...others]]) => {
      if (first === undefined) return [];
      const { namespace, wish } = first;
      return [[key, grantAdvice([wish, ...others.map((other) => other.wish)], namespace, namespaces.get(namespace))]];
    }),
  );
}

function grantKey(namespace: string, { grant }: GrantWish): string {
  return `${namespace} ${grant}`;
}

function judged(asked: readonly Asked[], object: ObjectRef, grants: GrantFacts, advice: Advice): readonly Found[] {
  return asked.map((one): Found => {
    const effect = one.isOnRecord ? "kept" : grants.mode === "require" ? "held" : "would-be-held";
    const told = advice.get(grantKey(object.namespace, one.wish));
    return {
      asked: one,
      missing: { object, grant: one.wish.grant, effect, ...missingText(one.wish, object, grants, told) },
    };
  });
}

/** What is said of a wish that is not granted; without `advice` with what would grant it alone. */
function missingText(
  wish: GrantWish,
  { namespace }: ObjectRef,
  { namespaces, refusal }: GrantFacts,
  advice?: string,
): Pick<MissingGrant, "reason" | "sentence" | "advice"> {
  if (refusal !== undefined) return { reason: "GrantsUnreadable", sentence: refusal };
  const granted = namespaces.get(namespace);
  const sentence = missingGrant(wish, namespace, granted);
  return { reason: "NotGranted", sentence, advice: advice ?? grantAdvice([wish], namespace, granted) };
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
  const { left, again, wanted } = share;
  const why = (): Obstacle => obstacleOf(missingText({ grant: "purchases", count: Math.max(1, wanted) }, ref, grants));
  return { ips, ...held, purchases: { left, again, why } };
}

/** What a pool asks for and is not granted. */
function ungrantedOf(
  pool: Pool,
  world: Observation,
  how: { readonly own: ReadonlySet<string>; readonly share: Purchases | undefined; readonly grants: GrantFacts },
): readonly Asked[] {
  const { own, share, grants } = how;
  const granted = grants.namespaces.get(pool.meta.namespace);
  const lacks = ({ wish }: Asked): boolean => granted === undefined || !isWishGranted(wish, granted);
  return [
    ...nameLacking(poolWish(pool, world.registry), pool.status, world, granted),
    ...firewallAsked(pool, world).filter(lacks),
    ...addressesLacking(pool, own, granted),
    ...(share === undefined ? NOTHING_ASKED : purchasesAsked(share).filter(lacks)),
    ...(pool.spec.foreignHolder === "TakeOver" ? TAKE_OVER.filter(lacks) : NOTHING_ASKED),
  ];
}

const TAKE_OVER: readonly Asked[] = [{ wish: { grant: "take-over" }, isOnRecord: false }];

function addressesLacking(
  pool: Pool,
  annotated: ReadonlySet<string>,
  granted: NamespaceGrants | undefined,
): readonly Asked[] {
  const lacking = managedIPs(pool).filter((ip) => granted === undefined || !isAddressGranted(ip, granted));
  if (lacking.length === 0) return NOTHING_ASKED;
  const { spec, status, restored } = pool;
  const bought = new Set(status.acquired.map(({ ip }) => ip).filter((ip) => restored?.includes(ip) !== true));
  return lacking.flatMap((ip): readonly Asked[] => {
    // An address that flipop bought is paid for by a purchase. One that only an annotation of the object tells of could be any address of the account.
    const isOnRecord = annotated.has(ip) || isOwnByStatus(pool, ip, bought.has(ip));
    const isPurchase = isOnRecord && !spec.ips.includes(ip);
    return isPurchase ? [] : [{ wish: { grant: "addresses", ip }, isOnRecord }];
  });
}

/** True where status shows the address as the object's own: it was used, or at least claimed, before. */
function isOwnByStatus(pool: Pool, ip: string, isBought: boolean): boolean {
  const entry = statusOf(pool, ip);
  return entry === undefined ? isBought : !isNotOwn(entry);
}

/** By `ownerKey` the addresses that nodes' annotations show as an object's: no tenant can write there. */
function annotatedAddresses({ nodes }: Observation): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { ip, owner } of annotatedNodes(nodes).flatMap(annotatedOn)) {
    if (owner === undefined) continue;
    const own = found.get(owner);
    if (own === undefined) found.set(owner, new Set([ip]));
    else own.add(ip);
  }
  return found;
}

/** Nothing while the name is not known: then nothing is written either. */
function nameLacking(
  wish: DNSWish,
  status: RecordSetStatus | DNSMemory,
  { dns }: Observation,
  granted: NamespaceGrants | undefined,
): readonly Asked[] {
  const name = targetName(wish, dns);
  if (name === undefined) return NOTHING_ASKED;
  const { fqdn } = setNamed(name.fqdn);
  if (granted !== undefined && isNameGranted(fqdn, granted)) return NOTHING_ASKED;
  const isSame = ({ provider, name: known }: PublishedName): boolean =>
    provider === name.provider && setNamed(known).fqdn === fqdn;
  return [{ wish: { grant: "names", name: fqdn }, isOnRecord: rememberedNames(status).some(isSame) }];
}

function firewallAsked(pool: Pool, { firewalls }: Observation): readonly Asked[] {
  const wish = pool.firewall;
  if (wish === undefined) return NOTHING_ASKED;
  const fact = firewalls.get(wish.provider)?.firewalls.get(wish.firewall);
  // While it cannot be read nothing is changed there, and its id may be what is granted.
  if (fact?.kind === "gap" || fact === undefined) return [];
  const firewall = fact.kind === "known" ? fact.firewall : undefined;
  const known = [...new Set([wish.firewall, ...(firewall === undefined ? [] : [firewall.name, firewall.id])])];
  const memory = pool.status.firewalls?.find(({ provider, id }) => provider === wish.provider && id === firewall?.id);
  const ports = memory === undefined ? {} : { ports: new Set(memory.ports) };
  const isOnRecord = memory !== undefined && wish.ports.every((range) => memory.ports.includes(portText(range)));
  return [{ wish: { grant: "firewalls", known }, isOnRecord, firewall: ports }];
}

/** What one object may acquire, as its namespace's grant is shared. */
interface Purchases {
  /** How many addresses its namespace would hold if it got all it asks for. */
  readonly wanted: number;
  readonly lacking: number;
  /** How many more it may acquire. */
  readonly left: number;
  /** How many of its acquisitions without an answer it may make anew. */
  readonly again: number;
  /** True where its namespace holds more than is granted, and it has some of them. */
  readonly isOverdrawn: boolean;
}

function purchasesAsked({ wanted, lacking, left, isOverdrawn }: Purchases): readonly Asked[] {
  if (lacking <= left && !isOverdrawn) return [];
  return [{ wish: { grant: "purchases", count: wanted }, isOnRecord: lacking <= left }];
}

/**
 * Shares what each namespace may acquire among its objects, those that have none first, then the senior one all it lacks. What is held already counts, of all objects
 * of the namespace, and so do acquisitions without an answer. An object that lists its addresses, and never acquired any, is not in it.
 */
function sharedPurchases(world: Observation, { namespaces }: GrantFacts): ReadonlyMap<Pool, Purchases> {
  const acquiring = world.pools.filter(mayAcquire).toSorted(bySeniority);
  const inNamespace = Map.groupBy(acquiring, ({ meta }) => meta.namespace);
  return new Map(
    [...inNamespace].flatMap(([namespace, own]) => {
      const shares = own.map((pool) => shareOf(pool, world));
      const held = shares.reduce((sum, { holds }) => sum + holds, 0);
      const wanted = held + shares.reduce((sum, { lacking }) => sum + lacking, 0);
      const granted = namespaces.get(namespace)?.purchases ?? 0;
      shareOut(shares, Math.max(0, granted - held));
      return shares.map(({ pool, holds, lacking, left }): [Pool, Purchases] => [
        pool,
        {
          wanted,
          lacking,
          left,
          again: held > granted ? 0 : pool.status.pendingAcquisitions.length,
          isOverdrawn: held > granted && holds > 0,
        },
      ]);
    }),
  );
}

/** True for an object that has acquired an address, may be about to, or may get one back. */
function mayAcquire({ spec, status, restored }: Pool): boolean {
  const { acquired, pendingAcquisitions } = status;
  return spec.desiredIPs > 0 || acquired.length > 0 || pendingAcquisitions.length > 0 || restored !== undefined;
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
