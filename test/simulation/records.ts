import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { IPFamily } from "../../src/model/address-source.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { Plan } from "../../src/model/plan.ts";
import { objectKey, type Pool, type PoolStatus } from "../../src/model/resource.ts";
import { type KubeObject, storeKey } from "../../src/sandbox/kubernetes/object-store.ts";
import type { Failure, SimCall } from "./faults.ts";
import type { WorldEvent } from "./history.ts";
import { noteOwner } from "./note-owner.ts";
import type { Process } from "./process.ts";
import { nameKey, publishers, wishOf } from "./publishers.ts";
import { dropletOf, isNamedBy, managedBy } from "./truth.ts";
import type { World } from "./world.ts";

/** An address the program bought. */
export interface Bought {
  readonly ip: string;
  readonly key: string;
  readonly uid: string;
  readonly atMs: number;
  /** The machine it was asked for; absent when it was bought unattached. */
  readonly machine: string | undefined;
  /** When the pass that bought it began to read. */
  readonly passStartMs: number;
}

/** An assignment the provider accepted for a pool. */
export interface Accepted {
  readonly atMs: number;
  /** What status then had as its time: a pass that cannot store when it came to something leaves what it announced. */
  readonly announcedMs: number;
  readonly coolOffMs: number;
  readonly generation: number;
  /** Where which address was sent, when the answer was lost: what became of it nobody may ever learn. */
  readonly unanswered?: { readonly ip: string; readonly machine: string };
}

/** What stands under a name since the program last changed it. */
export interface WrittenName {
  /** Whose the name is; `""` where several objects ask for it. */
  readonly uid: string;
  readonly addresses: readonly string[];
}

/** Events by which the status of an object is no longer what runs wrote. */
const STATUS_EVENTS: ReadonlySet<string> = new Set([
  "wipe-status",
  "touch-status",
  "wipe-record-set",
  "wipe-routed-ip",
  "spoil-status",
]);
/** What RoutedIPs refer to: when it changes, what they ask for does. */
const REFERRED = ["issuers", "services"] as const;
const SLOW: ReadonlySet<string> = new Set(["refused", "not-found", "forbidden"]);
/** Says nothing of what a call was about: the whole provider waits. */
const OF_PROVIDER: ReadonlySet<string> = new Set(["rate-limited", "unauthorized"]);

/** A purchase: the provider counts those of each family by themselves. */
export interface Creation {
  readonly atMs: number;
  readonly family: IPFamily;
}

/** What really happened, as no process remembers it. */
export class Records {
  readonly bought: Map<string, Bought> = new Map();
  readonly everNamed: Set<string> = new Set();
  /** Which pools managed an address at any time, by their keys. */
  readonly namerKeys: Map<string, Set<string>> = new Map();
  readonly everNode: Set<number> = new Set();
  readonly creations: Creation[] = [];
  /** By uid of the pool. */
  readonly accepted_: Map<string, Accepted> = new Map();
  /** Refused assignments since the last success, event or loss of memory, by address and droplet. */
  readonly refusals: Map<
    string,
    { count: number; lastMs: number; isSlow: boolean; hadEffect?: boolean; isOfAddition?: boolean }
  > = new Map();
  /** Names, by key, of which something else than a removal has failed since it last did not: from then on each of the two waits for its own next attempt. */
  readonly inParts: Set<string> = new Set();
  /** When somebody else changed the status of a pool, by key. */
  readonly touchedAtMs: Map<string, number> = new Map();
  /** Addresses that somebody else moved, detached or deleted, with when it was last done, milliseconds. */
  readonly handMoved: Map<string, number> = new Map();
  readonly nodeBornMs: Map<string, number> = new Map();
  /** When a node or a pod on it last changed, by the node's name; and when any node of a droplet did. */
  readonly nodeChangedMs: Map<string, number> = new Map();
  readonly machineChangedMs: Map<number, number> = new Map();
  /** When an address came into being. */
  readonly bornMs: Map<string, number> = new Map();
  /** Droplets that a pool's status ever showed an address active on, as `UID IP DROPLET`. */
  readonly wasActive: Set<string> = new Set();
  /** Until when a process that ended well was told to make no calls, by provider, and when that was noted, milliseconds. */
  readonly closedUntilMs: Map<string, { readonly untilMs: number; readonly notedAtMs: number }> = new Map();
  /** When an object was last made, edited, deleted or robbed of its status, milliseconds. */
  lastChangeMs = 0;
  /** Every name that an object asks for, or asked for, by its key, with the objects' uids. */
  readonly everWished: Map<string, Set<string>> = new Map();
  /** What the program last wrote under a name, by its key. */
  readonly written: Map<string, WrittenName> = new Map();
  /** Names whose records somebody else changed, with when it was last done, milliseconds. */
  readonly handEdited: Map<string, number> = new Map();
  /** True once a reading of a name was answered as it was before: what it did not show was forgotten. */
  wasMisled = false;
  /** When somebody last spoilt the Lease, milliseconds. */
  leaseForgottenMs: number = Number.NEGATIVE_INFINITY;
  /** Addresses that a run took for the answer of a lost creation, as the manual says, since they were on its machine. */
  readonly onTarget: Set<string> = new Set();
  /** Addresses that a person was told of as candidates for the answer of a lost creation: which of them it was is for that person to say. */
  readonly told: Set<string> = new Set();
  /** Pools, by uid, of which a run took for such an answer what somebody else had moved there. */
  readonly mistaken: Set<string> = new Set();
  /** The intents to acquire on record in the status of a pool, by its key. */
  readonly #intents = new Map<string, readonly string[]>();
  readonly #world: World;
  readonly #changedAtMs = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    this.#world.kubernetes.api.store.subscribe(({ type, resource, key, object, previous }) => {
      if (resource === storeKey(world.type("nodes"))) this.#nodeChanged(object);
      if (resource === storeKey(world.type("pods"))) this.#podChanged(object);
      this.#aboutServices(resource);
      if (resource.startsWith("flipop.")) this.#objectChanged(key, object, type === "DELETED" ? undefined : previous);
    });
  }

  /** When a pool was last made, or deleted, or its spec changed, milliseconds. */
  changedAtMs(key: string): number {
    return this.#changedAtMs.get(key) ?? 0;
  }

  /** An event that has happened. */
  entered(event: WorldEvent): void {
    if (STATUS_EVENTS.has(event.kind) && "name" in event) this.#touched(`shop/${event.name}`);
    if (event.kind === "spoil-lease") this.#forgetLease();
    for (const { ip } of this.#world.addresses()) if (!this.bornMs.has(ip)) this.bornMs.set(ip, this.#world.nowMs());
    if (event.kind === "droplet") this.machineChangedMs.set(event.id, this.#world.nowMs());
    if (event.kind === "node") this.nodeBornMs.set(event.name, this.#world.nowMs());
    if (event.kind === "hand-record") this.handEdited.set(nameKey(event.provider, event.fqdn), this.#world.nowMs());
    if (event.kind === "zone") this.#zoneChanged(event.provider);
    this.refusals.clear();
    this.noteNames();
  }

  /** Takes in who is named and what is a node now. */
  noteNames(): void {
    for (const pool of this.#world.pools()) {
      for (const ip of managedBy(pool)) {
        this.everNamed.add(ip);
        this.namerKeys.set(ip, (this.namerKeys.get(ip) ?? new Set()).add(objectKey(pool.meta)));
      }
      this.#noteStatus(pool);
    }
    for (const node of this.#world.nodes()) {
      const droplet = dropletOf(node);
      if (droplet !== undefined) this.everNode.add(droplet);
    }
  }

  /** A write that the world accepted. */
  accepted(process: Process, call: SimCall, result: unknown): void {
    const nowMs = this.#world.nowMs();
    if (call.operation === "status" || call.operation === "routed-ip-status") this.#remembered(process, call);
    if (call.operation.endsWith("status")) noteOwner(this.written, this.#world, call);
    if (call.operation === "create") this.#created(process, call, (result as { readonly ip: string }).ip);
    if (call.operation === "assign") {
      const [machine] = call.args as readonly [string];
      this.refusals.delete(`${call.subject} ${machine}`);
      const owners = this.#world.pools().filter((pool) => managedBy(pool).has(call.subject));
      const [owner, ...others] = owners;
      if (owner !== undefined && others.length === 0) this.#assigned(process, owner, nowMs);
    }
    if (call.operation === "delete") this.bought.delete(call.subject);
  }

  #remembered(process: Process, { subject, args }: SimCall): void {
    const [status] = args as readonly [PoolStatus];
    const intents = status.pendingAcquisitions.map(({ startedAt, knownIPs }) => `${startedAt} ${knownIPs.length}`);
    const pool = this.#world.pool(subject);
    if (pool !== undefined && intents.some((intent) => !this.#intents.get(subject)?.includes(intent)))
      process.intents.set(pool.meta.uid, subject);
    this.#intents.set(subject, intents);
    for (const { ip } of status.acquired) this.#takenOver(subject, ip);
    for (const { candidates = [] } of status.pendingAcquisitions) for (const ip of candidates) this.told.add(ip);
    this.noteNames();
  }

  /** An assignment that was refused or not answered, without effect. */
  refused(call: SimCall, error: Error): void {
    if (!(error instanceof ProviderError) || OF_PROVIDER.has(error.failure) || error.failure === "busy") return;
    if (error.isAmbiguous) return;
    // That the address is gone is no failure of the attempt; a list that lags behind may show it as if it were there again.
    if (error.failure === "not-found" && this.#world.address(call.subject) === undefined) return;
    const pair = `${call.subject} ${String(call.args[0])}`;
    const count = (this.refusals.get(pair)?.count ?? 0) + 1;
    this.refusals.set(pair, { count, lastMs: this.#world.nowMs(), isSlow: SLOW.has(error.failure) });
  }

  /** A change of a name that failed, whether or not part of it was made. */
  nameRefused(call: SimCall, { error, hasEffect }: Failure): void {
    const { side, isWrite, provider = "digitalocean", subject } = call;
    if (side !== "dns" || !isWrite || !(error instanceof ProviderError) || OF_PROVIDER.has(error.failure)) return;
    const name = nameKey(provider, subject);
    const key = changeKey(name, call);
    if (key === name) this.inParts.add(name);
    const count = (this.refusals.get(key)?.count ?? 0) + 1;
    this.refusals.set(key, {
      count,
      lastMs: this.#world.nowMs(),
      isSlow: SLOW.has(error.failure),
      hadEffect: hasEffect,
      isOfAddition: isOfMore(call),
    });
  }

  /** A name that was read: whoever looks sees what a change did whose answer was bad. */
  nameSeen({ provider = "digitalocean", subject }: SimCall): void {
    const name = nameKey(provider, subject);
    for (const key of [name, removalKey(name)])
      if (this.refusals.get(key)?.hadEffect === true) this.refusals.delete(key);
  }

  /** A pass found its names as they are to be, some of them by itself: what is changed from then on is no second attempt. */
  namesRight({ pools, recordSets }: Plan): void {
    const names = [
      ...pools.map(({ dns, drift }) => ({ ...dns, drift })),
      ...recordSets.map(({ written, fqdn, drift }) => ({ provider: written.provider, fqdn, drift })),
    ];
    for (const { provider, fqdn, drift } of names)
      if (provider !== undefined && fqdn !== undefined && drift === 0) this.#nameRight(nameKey(provider, fqdn));
  }

  #nameRight(name: string): void {
    this.refusals.delete(name);
    this.refusals.delete(removalKey(name));
    this.inParts.delete(name);
  }

  /** An accepted assignment whose answer was lost and that has failed already, or is about to: nobody can know that it ever was accepted. */
  answerLost({ subject, args }: SimCall): void {
    const address = this.#world.address(subject);
    const isUnderWay = this.#world.cloud.state.actions.some(
      ({ ip, status, outcome }) => ip === subject && status === "in-progress" && outcome !== "errored",
    );
    const isLost = !isUnderWay && String(address?.droplet_id) !== args[0];
    for (const { meta } of this.namers(subject)) {
      const accepted = this.accepted_.get(meta.uid);
      if (isLost) this.accepted_.delete(meta.uid);
      else if (accepted !== undefined)
        this.accepted_.set(meta.uid, { ...accepted, unanswered: { ip: subject, machine: String(args[0]) } });
    }
  }

  /** An address that a run takes for the answer of a lost creation of the pool, since it is on its machine. */
  takenOnTarget(ip: string, { meta }: Pool): void {
    this.onTarget.add(ip);
    if (this.handMoved.has(ip)) this.mistaken.add(meta.uid);
  }

  /** Pools that manage or remember an address. */
  namers(ip: string): readonly Pool[] {
    return this.#world.pools().filter((pool) => isNamedBy(pool, ip));
  }

  /** What earlier runs left on the Lease nobody can know any more. */
  #forgetLease(): void {
    this.creations.length = 0;
    this.closedUntilMs.clear();
    this.leaseForgottenMs = this.#world.nowMs();
  }

  #touched(key: string): void {
    this.touchedAtMs.set(key, this.#world.nowMs());
    this.lastChangeMs = this.#world.nowMs();
  }

  #zoneChanged(provider: string): void {
    this.#noteWishes();
    for (const key of this.everWished.keys())
      if (key.startsWith(`${provider} `)) this.handEdited.set(key, this.#world.nowMs());
  }

  #noteWishes(): void {
    for (const object of publishers(this.#world)) {
      const wish = wishOf(this.#world, object);
      if (wish === undefined) continue;
      const key = nameKey(wish.provider, wish.fqdn);
      this.everWished.set(key, (this.everWished.get(key) ?? new Set()).add(object.meta.uid));
    }
  }

  #noteStatus({ meta, status }: Pool): void {
    for (const [ip, { state, providerID }] of Object.entries(status.ips)) {
      this.everNamed.add(ip);
      const machine = PROVIDERS.machineID("digitalocean", providerID ?? "");
      if (state === "active" && machine !== undefined) this.wasActive.add(`${meta.uid} ${ip} ${machine}`);
    }
  }

  /** An object of flipop's that was made, edited, or, without a previous state, made or deleted; its status does not count. */
  #objectChanged(key: string, { metadata }: KubeObject, previous: KubeObject | undefined): void {
    const before = previous?.metadata;
    const isSame = before?.generation === metadata.generation && before?.uid === metadata.uid;
    if (isSame && before?.deletionTimestamp === metadata.deletionTimestamp) return;
    this.lastChangeMs = this.#world.nowMs();
    if (!isSame) this.#changedAtMs.set(key, this.#world.nowMs());
    this.#noteWishes();
  }

  #aboutServices(resource: string): void {
    if (REFERRED.some((plural) => resource === storeKey(this.#world.type(plural)))) this.#referenceChanged();
    if (resource === storeKey(this.#world.type("endpointSlices"))) this.#endpointsChanged();
  }

  #referenceChanged(): void {
    const nowMs = this.#world.nowMs();
    this.lastChangeMs = nowMs;
    for (const { kind, meta } of this.#world.pools())
      if (kind === "routedip") this.#changedAtMs.set(objectKey(meta), nowMs);
  }

  #endpointsChanged(): void {
    for (const { name } of this.#world.nodes()) this.nodeChangedMs.set(name, this.#world.nowMs());
  }

  #nodeChanged(object: KubeObject): void {
    const nowMs = this.#world.nowMs();
    this.nodeChangedMs.set(object.metadata.name, nowMs);
    const { providerID } = (object["spec"] ?? {}) as { readonly providerID?: string };
    const machine = PROVIDERS.machineID("digitalocean", providerID ?? "");
    if (machine !== undefined) this.machineChangedMs.set(Number(machine), nowMs);
  }

  #podChanged(object: KubeObject): void {
    const { nodeName } = (object["spec"] ?? {}) as { readonly nodeName?: string };
    if (nodeName !== undefined) this.nodeChangedMs.set(nodeName, this.#world.nowMs());
  }

  #created(process: Process, call: SimCall, ip: string): void {
    const nowMs = this.#world.nowMs();
    // Another pool of the same name may have followed the buyer before the purchase.
    const [place, family, uid] = call.args as readonly [{ readonly machineID?: string }, IPFamily, string];
    // One under way while the Lease was spoilt was noted there before.
    if (process.passStartMs > this.leaseForgottenMs) this.creations.push({ atMs: nowMs, family });
    this.bornMs.set(ip, nowMs);
    const key = process.intentOf(call) ?? "";
    const pool = this.#world.pool(key);
    this.bought.set(ip, {
      ip,
      key,
      uid,
      atMs: nowMs,
      passStartMs: process.passStartMs,
      machine: place.machineID,
    });
    if (pool !== undefined && "machineID" in place) this.#assigned(process, pool, nowMs);
  }

  /** What another pool takes for the answer of its own lost creation is that one's from then on. */
  #takenOver(key: string, ip: string): void {
    const bought = this.bought.get(ip);
    const uid = this.#world.pool(key)?.meta.uid;
    if (bought !== undefined && uid !== undefined && bought.uid !== uid) this.bought.set(ip, { ...bought, key, uid });
  }

  #assigned(process: Process, { meta, spec, status }: Pool, atMs: number): void {
    // A pass that has read the spec before it was edited may not know of the cool-off; and what it noted first somebody may have overwritten.
    const key = objectKey(meta);
    const changedMs = Math.max(this.changedAtMs(key), this.touchedAtMs.get(key) ?? 0);
    const isKnown = changedMs < process.passStartMs;
    // A time in the future was written by somebody else.
    const announcedMs = Date.parse(status.lastAssignmentTime ?? "");
    const isAnnounced = announcedMs >= process.passStartMs && announcedMs <= atMs;
    this.accepted_.set(meta.uid, {
      atMs,
      announcedMs: isAnnounced ? announcedMs : atMs,
      coolOffMs: isKnown ? spec.assignmentCoolOffSeconds * 1000 : 0,
      generation: meta.generation,
    });
  }
}

/** The name of a pool in texts. */
export function nameOf({ meta }: Pool): string {
  return objectKey(meta);
}

/** Under what a failed change of a name is kept: one of its TTL holds back nothing but the next one. */
export function changeKey(nameKeyText: string, call: Pick<SimCall, "operation" | "batch">): string {
  if (call.operation === "set-ttl") return `${nameKeyText} ttl`;
  return isRemoval(call) ? removalKey(nameKeyText) : nameKeyText;
}

/** Under what a failed change is kept that only took addresses out of a name. */
export function removalKey(nameKeyText: string): string {
  return `${nameKeyText} removal`;
}

/** True for a request that only takes addresses out of a name. */
function isRemoval({ operation, batch }: Pick<SimCall, "operation" | "batch">): boolean {
  if (batch === undefined) return operation === "remove-record";
  return batch.removed > 0 && batch.added === 0 && batch.timed === 0;
}

/** True for a request after which, should it fail, what leaves the name goes by itself. */
function isOfMore({ operation, batch }: SimCall): boolean {
  if (batch === undefined) return operation === "add-record";
  return batch.added > 0 || (batch.timed > 0 && batch.removed > 0);
}
