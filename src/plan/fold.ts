import {
  type Action,
  type AnnotateNode,
  type AssignIP,
  isAssign,
  type ObjectRef,
  refKey,
  type WriteDNS,
} from "../model/action.ts";
import { changesAddress, changesAnnotation, changesFirewall, changesName, providerOf } from "../model/action-kinds.ts";
import { type Address, type AddressFact, entryOf } from "../model/address.ts";
import { type IPFamily, sourceNamed } from "../model/address-source.ts";
import { marksOf, withMarks } from "../model/annotated.ts";
import { addressesWithout, type DNSFacts, type RecordsFact, recordsKey } from "../model/dns.ts";
import type { FirewallFact, FirewallFacts } from "../model/firewall.ts";
import { withAcquisitions } from "../model/lease-notes.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation, ProviderFacts } from "../model/observation.ts";
import type { LearnedFirewall, Outcome } from "../model/outcome.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { annotatedFamily, memoryOf, type RecordType, setNamed, withMemory } from "../model/record-types.ts";
import { type DNSMemory, FINALIZER, type IPStatus, type Pool, type RecordSet } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { timestamp } from "../model/time.ts";
import { forgottenBy } from "./addresses/claims.ts";
import { cacheSeconds, rememberedLeft } from "./drain.ts";
import { afterWrites } from "./names/fights.ts";
import { refusalIn, withOutcome } from "./retries.ts";
import { ownership } from "./shards.ts";
import { foldIntoStatus, withDrains } from "./status/stored-status.ts";

/** The same instant by the API server's clock and by the local one, milliseconds: providers' times are local, an observation's the server's. */
interface Now {
  readonly nowMs: number;
  readonly wallMs: number;
}

/**
 * The observation as it would be read after these outcomes: what was learned of addresses, annotations written, and in each pool's status what the
 * next decision needs (attempts, assignments, what was acquired). Planning the result again shows what remains, and the status to write. Pure.
 */
export function fold(
  observation: Observation,
  outcomes: readonly Outcome[],
  { nowMs, wallMs }: Now,
  selection: Selection = {},
): Observation {
  if (outcomes.length === 0) return observation;
  const byObject = Map.groupBy(outcomes, ({ action }) => refKey(action.object));
  const of = (kind: ObjectRef["kind"], { meta }: Pool | RecordSet): readonly Outcome[] =>
    byObject.get(refKey({ kind, ...meta })) ?? [];
  const isForgotten = forgottenBy(observation.pools, ownership(observation, selection).ownPools);
  return {
    ...observation,
    observedAtMs: nowMs,
    providers: foldProviders(observation, outcomes, nowMs - wallMs),
    nodes: foldNodes(observation, outcomes),
    pods: foldPods(observation.pods, outcomes),
    pools: observation.pools
      .filter((pool) => !isGone(pool, of(pool.kind, pool)))
      .map((pool) => withLeft(pool, of(pool.kind, pool), isForgotten, nowMs))
      .map((pool) => foldPool(withdrawn(pool, outcomes, nowMs), of(pool.kind, pool), nowMs, observation.registry)),
    recordSets: observation.recordSets
      .filter((recordSet) => !isGone(recordSet, of("dns", recordSet)))
      .map((recordSet) => withLeft(recordSet, of("dns", recordSet), isForgotten, nowMs))
      .map((recordSet) => foldRecordSet(recordSet, of("dns", recordSet), nowMs)),
    dns: foldDNS(observation.dns, outcomes, nowMs - wallMs),
    firewalls: foldFirewalls(observation.firewalls, outcomes, nowMs - wallMs),
    lease: withAcquisitions(observation.lease, outcomes.flatMap(acquiredFamily), nowMs),
  };
}

/**
 * The observation as it would be read while these actions are under way: an address that one of them is about is being worked on, and nothing else is decided for it. Pure.
 *
 * @param refused - those of them that a busy provider has refused for a while: until it does not, their addresses serve nobody
 */
export function duringActions(
  observation: Observation,
  actions: readonly Action[],
  now: Now,
  refused: readonly Action[] = [],
): Observation {
  const outcomes = actions.flatMap((action): readonly Outcome[] => {
    const outcome = WHILE_RUNNING[action.kind];
    // It is about to be accepted: what has to wait after it waits from now.
    return outcome === undefined ? [] : [{ action, ms: 0, outcome, acceptedAtMs: now.nowMs }];
  });
  const during = fold(observation, outcomes, now);
  // What still serves where it is goes on serving there.
  const moves = refused.filter(isAssign).filter(({ isServing }) => isServing !== true);
  return moves.length === 0 ? during : { ...during, providers: withRefused(during.providers, moves) };
}

function withRefused(providers: Observation["providers"], moves: readonly AssignIP[]): Observation["providers"] {
  return new Map(
    [...providers].map(([name, facts]) => {
      const addresses = new Map<string, AddressFact>(facts.addresses);
      for (const { ip, provider } of moves) {
        const fact = provider === name ? addresses.get(ip) : undefined;
        if (fact?.kind === "known") addresses.set(ip, { ...fact, isRefused: true });
      }
      return [name, { ...facts, addresses }] as const;
    }),
  );
}

/** As what an action counts while it runs; undefined where only one action at a time may touch what it changes. */
const WHILE_RUNNING: Readonly<Record<Action["kind"], "unconfirmed" | undefined>> = {
  "assign-ip": "unconfirmed",
  "move-ip": "unconfirmed",
  "unassign-ip": "unconfirmed",
  "delete-ip": "unconfirmed",
  "acquire-ip": "unconfirmed",
  "annotate-node": undefined,
  "clear-annotation": undefined,
  "update-dns": undefined,
  "withdraw-dns": undefined,
  "delete-dns": undefined,
  "open-ports": undefined,
  "close-ports": undefined,
  "add-to-firewall": undefined,
  "remove-from-firewall": undefined,
  "add-finalizer": undefined,
  "remove-finalizer": undefined,
};

/** The family of an address that an action asked for. */
function acquiredFamily(outcome: Outcome): readonly IPFamily[] {
  const { action } = outcome;
  return action.kind === "acquire-ip" && wasAskedFor(outcome) ? [sourceNamed(action.provider).family] : [];
}

/** A creation that was refused because of its machine was asked for all the same, whether its node still has that machine or was read to have another. */
function wasAskedFor(outcome: Outcome): boolean {
  return outcome.outcome !== "skipped" || outcome.isMachineUnfit === true || outcome.learnedNode !== undefined;
}

/** True for an object that is deleted once its last finalizer has gone. Somebody else's keeps it, and its status goes on telling how it stands. */
function isGone({ meta }: Pool | RecordSet, outcomes: readonly Outcome[]): boolean {
  if (!meta.isDeleting || meta.finalizers.some((finalizer) => finalizer !== FINALIZER)) return false;
  return outcomes.some(({ action, outcome }) => action.kind === "remove-finalizer" && outcome === "applied");
}

function foldPool(pool: Pool, outcomes: readonly Outcome[], nowMs: number, registry: ProviderRegistry): Pool {
  return outcomes.length === 0 ? pool : { ...pool, status: foldIntoStatus(pool, outcomes, nowMs, registry) };
}

/** An object with what has just left its name, and nothing but that remembers. */
function withLeft<T extends Pool | RecordSet>(
  object: T,
  outcomes: readonly Outcome[],
  isForgotten: ReturnType<typeof forgottenBy>,
  nowMs: number,
): T {
  const writes = outcomes.flatMap(({ action, outcome }) =>
    changesName(action) && outcome === "applied" ? [action] : [],
  );
  if (writes.length === 0) return object;
  const { status, spec } = object;
  const isReserved = "addressType" in spec && annotatedFamily(spec.addressType) !== undefined;
  const withLeftOf = (known: T["status"], type: RecordType): T["status"] => {
    const own = writes.filter(({ fqdn }) => setNamed(fqdn).type === type);
    const stored = memoryOf(known, type).leftDNS;
    if (own.length === 0) return known;
    return withMemory(known, type, rememberedLeft(stored, own, { isForgotten, isReserved }, nowMs));
  };
  return { ...object, status: withLeftOf(withLeftOf(status, "A"), "AAAA") };
}

/** A pool with the time until which resolvers may hand out what has just left a name, of whatever object: counted from when it left. */
function withdrawn(pool: Pool, outcomes: readonly Outcome[], nowMs: number): Pool {
  const { ips, released } = pool.status;
  const extraSeconds = pool.spec.drainSeconds ?? 0;
  const left = outcomes.flatMap(({ action, outcome }) => {
    if (!changesName(action) || outcome !== "applied") return [];
    const { before, after } = action;
    const untilMs = nowMs + (cacheSeconds(action) + extraSeconds) * 1000;
    return addressesWithout(before.addresses, after.addresses).map((ip) => [ip, untilMs] as const);
  });
  const own = left.filter(([ip]) => hasServed(pool, entryOf(ips, ip)) || released.some((entry) => entry.ip === ip));
  if (own.length === 0) return pool;
  const latest = new Map(
    own.toSorted(([, a], [, b]) => a - b).map(([ip, untilMs]) => [ip, { drainingUntil: timestamp(untilMs) }]),
  );
  return { ...pool, status: { ...pool.status, ...withDrains({ ips, released }, latest) } };
}

/** False for an address that does not serve its object: its node had failed, or it was another object's when it left the name. Of a deleted one all addresses are `no-match`. */
function hasServed({ meta }: Pool, entry: IPStatus | undefined): boolean {
  if (entry === undefined) return false;
  return meta.isDeleting || entry.state !== "no-match" || entry.drainingUntil !== undefined || entry.inherited === true;
}

function foldRecordSet(recordSet: RecordSet, outcomes: readonly Outcome[], nowMs: number): RecordSet {
  if (outcomes.length === 0) return recordSet;
  const { status } = recordSet;
  const retries = outcomes.reduce((list, outcome) => withOutcome(list, outcome, { nowMs }), status.retries);
  const fought = (type: RecordType): Pick<DNSMemory, "fight"> =>
    afterWrites(memoryOf(status, type).fight, type, outcomes, nowMs);
  const known = withMemory(withMemory(status, "A", fought("A")), "AAAA", fought("AAAA"));
  return { ...recordSet, status: { ...known, retries } };
}

function foldProviders(
  observation: Observation,
  outcomes: readonly Outcome[],
  skewMs: number,
): ReadonlyMap<string, ProviderFacts> {
  const of = (name: string): readonly Outcome[] => outcomes.filter(({ action }) => providerOf(action) === name);
  return new Map([...observation.providers].map(([name, facts]) => [name, foldProvider(facts, of(name), skewMs)]));
}

function foldProvider(facts: ProviderFacts, outcomes: readonly Outcome[], skewMs: number): ProviderFacts {
  const addresses = new Map<string, AddressFact>(facts.addresses);
  for (const outcome of outcomes) {
    for (const { ip, fact } of outcome.learned ?? []) addresses.set(ip, fact);
    const address = outcome.address ?? lastKnown(outcome, addresses);
    if (address !== undefined) addresses.set(address.ip, afterwards(outcome, address));
  }
  const bought = outcomes.filter(
    ({ action, outcome, address }) => action.kind === "acquire-ip" && outcome !== "failed" && address !== undefined,
  ).length;
  const given = outcomes.filter(({ action, outcome }) => action.kind === "delete-ip" && outcome === "applied").length;
  const count = facts.addressCount === undefined ? {} : { addressCount: facts.addressCount + bought - given };
  const refusal = refusalIn(outcomes, skewMs);
  const unusable = refusal === undefined ? {} : { unusable: refusal };
  return { ...facts, addresses, ...count, ...unusable };
}

/** The address of a change whose effect could not be read at all, as it was known before. */
function lastKnown({ action, outcome }: Outcome, addresses: ReadonlyMap<string, AddressFact>): Address | undefined {
  const fact = outcome === "unconfirmed" && changesAddress(action) ? addresses.get(action.ip) : undefined;
  return fact?.kind === "known" ? fact.address : undefined;
}

/** An accepted change that could not be confirmed counts as being worked on, whatever the provider shows meanwhile. */
function afterwards({ action, outcome }: Outcome, address: Address): AddressFact {
  if (outcome !== "unconfirmed") return { kind: "known", address };
  const movesTo = isAssign(action) ? action.after.machineID : "";
  return { kind: "known", address: { ...address, isLocked: true }, movesTo };
}

/** What was read of the pods of one node replaces what was observed of them. */
function foldPods(pods: Observation["pods"], outcomes: readonly Outcome[]): Observation["pods"] {
  const learned = outcomes.flatMap(({ learnedPods }) => learnedPods ?? []);
  if (learned.length === 0) return pods;
  const folded = new Map(pods);
  for (const { key, nodeName, pods: onNode } of learned) {
    const reading = folded.get(key);
    // What is known of one node says nothing of the others.
    if (reading?.kind !== "read") continue;
    const byNode = new Map(reading.byNode);
    if (onNode === undefined) byNode.delete(nodeName);
    else byNode.set(nodeName, onNode);
    folded.set(key, { kind: "read", byNode });
  }
  return folded;
}

function foldNodes(observation: Observation, outcomes: readonly Outcome[]): Observation["nodes"] {
  const written = Map.groupBy(
    outcomes.flatMap(({ action, outcome }) => (changesAnnotation(action) && outcome === "applied" ? [action] : [])),
    ({ nodeName }) => nodeName,
  );
  const learned = new Map(
    outcomes.flatMap(({ learnedNode }) =>
      learnedNode === undefined ? [] : [[learnedNode.name, learnedNode] as const],
    ),
  );
  // A list that is the same need not be judged again.
  if (written.size === 0 && learned.size === 0) return observation.nodes;
  const returned = [...learned.values()].filter(({ name }) => observation.nodes.every((node) => node.name !== name));
  return [...observation.nodes, ...returned].map((observed) => {
    const node = learned.get(observed.name) ?? observed;
    return written.get(node.name)?.reduce(withWritten, node) ?? node;
  });
}

function withWritten(node: NodeFacts, { after, ipFamily = "IPv4" }: AnnotateNode): NodeFacts {
  const { host = marksOf(node, ipFamily).hostAnnotation ?? "" } = after;
  return withMarks(node, ipFamily, {
    ...(host === "" ? {} : { hostAnnotation: host }),
    ...(after.address === undefined ? {} : { addressAnnotation: after.address }),
    ...(after.pool === undefined ? {} : { poolAnnotation: after.pool }),
  });
}

/** The DNS providers as they are known after these outcomes. */
function foldDNS(
  dns: ReadonlyMap<string, DNSFacts>,
  outcomes: readonly Outcome[],
  skewMs: number,
): ReadonlyMap<string, DNSFacts> {
  return new Map(
    [...dns].map(([name, facts]) => {
      const own = outcomes.filter(({ action }) => changesName(action) && action.dnsProvider === name);
      const records = new Map<string, RecordsFact>(facts.records);
      for (const { action, outcome, records: fact } of own)
        if (changesName(action) && fact !== undefined) {
          const key = recordsKey(action.zone, action.fqdn);
          records.set(key, afterChange(fact, records.get(key), outcome === "applied" ? takenOut(action) : []));
        }
      const refusal = refusalIn(own, skewMs);
      return [name, { ...facts, records, ...(refusal === undefined ? {} : { unusable: refusal }) }] as const;
    }),
  );
}

/** What is known of a name once it was changed, with what this change and earlier ones took out. */
function afterChange(fact: RecordsFact, before: RecordsFact | undefined, out: readonly string[]): RecordsFact {
  if (fact.kind === "gap" || before?.kind !== "known") return fact;
  const removed = [...(before.removed ?? []), ...out];
  return removed.length === 0 ? fact : { ...fact, removed };
}

function takenOut({ before, after }: WriteDNS): readonly string[] {
  return addressesWithout(before.addresses, after.addresses);
}

/**
 * The firewalls as they are known after these outcomes.
 * @param skewMs - how far the API server's clock is ahead of the local one
 */
function foldFirewalls(
  firewalls: ReadonlyMap<string, FirewallFacts>,
  outcomes: readonly Outcome[],
  skewMs: number,
): ReadonlyMap<string, FirewallFacts> {
  return new Map(
    [...firewalls].map(([name, facts]) => {
      const own = outcomes.filter(({ action }) => changesFirewall(action) && action.provider === name);
      const refusal = refusalIn(own, skewMs);
      const entered = own.reduce(
        (known, { firewall }) => (firewall === undefined ? known : enter(known, firewall)),
        facts,
      );
      return [name, refusal === undefined ? entered : { ...entered, unusable: refusal }] as const;
    }),
  );
}

/** A reading replaces what was known of that firewall, under whatever name it was asked for. */
function enter(facts: FirewallFacts, { id, fact }: LearnedFirewall): FirewallFacts {
  const entries = [...facts.firewalls].map(([key, known]): [string, FirewallFact] => {
    const isSame = known.kind === "known" ? known.firewall.id === id : key === id;
    return [key, isSame ? learned(known, fact) : known];
  });
  return { ...facts, firewalls: new Map(entries) };
}

function learned(known: FirewallFact, fact: LearnedFirewall["fact"]): FirewallFact {
  if (fact.kind !== "known") return fact;
  const taggedMachineIDs = known.kind === "known" ? known.taggedMachineIDs : new Set<string>();
  return { ...fact, taggedMachineIDs };
}
