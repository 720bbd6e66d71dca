import { ProviderError } from "../../src/model/errors.ts";
import { NOT_BEFORE_PREFIX } from "../../src/model/lease-annotations.ts";
import { objectKey, type Pool } from "../../src/model/resource.ts";
import type { PassResult } from "../../src/model/run.ts";
import { DNS_NAMES } from "../fake/dns-account.ts";
import { DNS_ERRORS } from "../fake/dns-error.ts";
import { checkLeftNames } from "./cleaning.ts";
import { checkDNSChange } from "./dns-invariants.ts";
import { viewDNS } from "./dns-view.ts";
import type { Failure, SimCall } from "./faults.ts";
import { checkFirewallChange, checkSending } from "./firewall-invariants.ts";
import { checkFirewallFarewell, checkFirewallMemory } from "./firewall-memory-check.ts";
import { FirewallRecords } from "./firewall-records.ts";
import { viewFirewalls } from "./firewall-truth.ts";
import type { WorldEvent } from "./history.ts";
import { checkAnnotation, checkChange, checkCreation, checkPlan, checkWrite } from "./invariants.ts";
import { checkFarewell, checkMemory } from "./memory.ts";
import { Offers } from "./offers.ts";
import { checkOutcomes } from "./outcomes.ts";
import type { Process } from "./process.ts";
import { Records } from "./records.ts";
import { checkOverlap, ShardRecords } from "./shard-invariants.ts";
import type { Simulation } from "./simulation.ts";
import { Health } from "./truth.ts";
import { checkRecoveries, Voluntary } from "./voluntary.ts";

/** A promise that was broken, by its name in the manual. */
export interface Violation {
  readonly invariant: string;
  readonly text: string;
}

/** How long a look at the providers may take that began before another process was told to wait, milliseconds: a few calls without an answer. */
const LOOK_MS = 13_000;

const CLUSTER_LISTS: ReadonlySet<string> = new Set([
  "list-pools",
  "list-record-sets",
  "list-routed-ips",
  "list-issuers",
  "list-services",
  "list-endpoint-slices",
  "list-nodes",
  "list-pods",
]);

/** Watches every call of every process, keeps the truth about them, and holds them against the promises. */
export class Monitor {
  violation: Violation | undefined;
  readonly simulation: Simulation;
  /** Every write the world accepted, Leases aside. */
  readonly writes: string[] = [];
  /** How many writes were looked at. */
  effects = 0;
  readonly health: Health;
  readonly offers: Offers;
  readonly records: Records;
  readonly voluntary: Voluntary;
  readonly shards: ShardRecords;
  readonly firewalls: FirewallRecords;
  #holders: ReadonlyMap<string, number | null> = new Map();
  /** By provider, what the Lease says of it, and since when a pass may know, milliseconds. */
  readonly #notedMs = new Map<string, { readonly text: string | undefined; readonly sinceMs: number }>();

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.health = new Health(simulation.world);
    this.offers = new Offers(simulation.world);
    this.records = new Records(simulation.world);
    this.voluntary = new Voluntary(this);
    this.shards = new ShardRecords(simulation.world);
    this.firewalls = new FirewallRecords(simulation.world);
  }

  /** Enters a broken promise; the first one counts. */
  violated(invariant: string, text: string): void {
    if (this.violation !== undefined) return;
    this.violation = { invariant, text };
    this.simulation.note(`      VIOLATED ${invariant}: ${text}`);
  }

  beforeEvent(): void {
    this.health.refresh();
    this.offers.refresh();
    this.#holders = this.#holdersNow();
    this.firewalls.beforeEvent();
  }

  afterEvent(event: WorldEvent): void {
    const now = this.#holdersNow();
    for (const [ip, holder] of this.#holders)
      if (now.get(ip) !== holder) this.records.handMoved.set(ip, this.simulation.world.nowMs());
    this.records.entered(event);
    this.firewalls.afterEvent();
    this.health.refresh();
    this.offers.refresh();
  }

  /** What the adapter's own gate answers while a 429 lasts; undefined lets the call go out. */
  refusal(process: Process, call: SimCall): ProviderError | undefined {
    const { provider } = call;
    if (provider === undefined) return undefined;
    const nowMs = this.simulation.world.nowMs();
    const closedUntilMs = process.closedUntilMs.get(provider) ?? 0;
    if (nowMs < closedUntilMs) {
      return DNS_ERRORS[provider](
        { operation: call.operation, subject: call.subject, doing: call.operation, scope: "", isWrite: call.isWrite },
        {
          failure: "rate-limited",
          status: 0,
          reason: "an earlier answer said so",
          notBeforeMs: closedUntilMs + process.skewMs,
        },
      );
    }
    // Who may not read the Lease lacks what earlier runs noted there; and what it said before somebody spoilt it during the pass, nobody can tell.
    const { latencyMs } = this.simulation.history;
    if (process.lacksLease || this.records.leaseForgottenMs >= process.passStartMs - latencyMs) return undefined;
    // Of several processes each learns at its next look what others were told; one that is under way goes on.
    const isOthersNews = this.simulation.history.shards !== undefined && nowMs < this.#newsUntilMs(provider);
    if (isOthersNews) return undefined;
    if (nowMs < (process.notBeforeMs.get(provider) ?? 0))
      this.violated("P14", `${process.identity} calls ${provider} ${call.operation} although the Lease says to wait`);
    const noted = this.records.closedUntilMs.get(provider);
    if (noted !== undefined && nowMs < noted.untilMs && process.passStartMs > noted.notedAtMs)
      this.violated(
        "P14",
        `${process.identity} calls ${provider} ${call.operation} although an earlier run was told to wait`,
      );
    return undefined;
  }

  /** A call that failed as planned, with or without its effect. */
  failed(process: Process, call: SimCall, failure: Failure, startedAtMs: number): void {
    this.begin(process, call);
    process.readings.asked(call);
    process.hasFailedList ||= isFailedList(process, call, failure, startedAtMs);
    if (call.operation.endsWith("status")) this.records.refusals.clear();
    if (failure.how === "429" && failure.error instanceof ProviderError)
      process.closedUntilMs.set(call.provider ?? "", (failure.error.notBeforeMs ?? 0) - process.skewMs);
    if (call.operation === "read-lease") process.lacksLease = true;
    this.records.nameRefused(call, failure);
    if (call.operation === "assign" && failure.hasEffect) this.records.answerLost(call);
    if (call.operation === "assign" && !failure.hasEffect) this.records.refused(call, failure.error);
  }

  /** Lets a call have its effect, and looks at the world before and after. */
  async watch<T>(process: Process, call: SimCall, effect: () => Promise<T>): Promise<T> {
    this.begin(process, call);
    process.readings.asked(call);
    if (!call.isWrite) return this.#watchReading(process, call, effect);
    this.health.refresh();
    this.effects += 1;
    checkWrite(this, process, call);
    const promises = this.promises(process, call);
    if (call.side === "cloud") this.voluntary.move(process, call, viewDNS(this.simulation.world));
    const work = this.#change(process, call, effect);
    this.health.refresh();
    try {
      const result = await work;
      for (const broken of promises) this.violated(broken.invariant, broken.text);
      if (!call.operation.endsWith("-lease")) {
        this.writes.push(`${call.operation} ${call.subject}`);
        // A status or an Event of the pass before may still be on its way when the next one begins.
        const isTold = call.operation.endsWith("status") || call.operation === "event";
        process.hasWritten ||= process.answeredLists.size > 0 || !isTold;
      }
      process.readings.enter(call, result, !process.hasWritten, this.simulation.world.nowMs());
      this.records.accepted(process, call, result);
      return result;
    } catch (error) {
      if (call.operation === "assign" && error instanceof Error && !process.isDead) this.records.refused(call, error);
      if (call.operation.endsWith("status")) this.records.refusals.clear();
      throw error;
    }
  }

  async #watchReading<T>(process: Process, call: SimCall, effect: () => Promise<T>): Promise<T> {
    const result = await effect();
    if (CLUSTER_LISTS.has(call.operation)) process.answeredLists.add(call.operation);
    if (call.operation === "list") process.readings.listedMs = this.simulation.world.nowMs();
    if (call.operation === "records") this.records.nameSeen(call);
    process.readings.enter(call, result, !process.hasWritten, this.simulation.world.nowMs());
    return result;
  }

  /** A run that came to its end. */
  ended(process: Process, result: PassResult): void {
    checkPlan(this, process, result.plan);
    checkPlan(this, process, result.remaining);
    checkRecoveries(this, process, result.remaining);
    checkOutcomes(this, process, result);
    this.records.namesRight(result.remaining);
    if (result.wasInterrupted || result.reportFailures.length > 0) this.records.refusals.clear();
    const isNoted = this.simulation.history.hasLock && !result.wasInterrupted;
    const { closedUntilMs } = this.records;
    if (!isNoted) return;
    for (const [provider, untilMs] of process.closedUntilMs)
      if (untilMs > (closedUntilMs.get(provider)?.untilMs ?? 0))
        closedUntilMs.set(provider, { untilMs, notedAtMs: this.simulation.world.nowMs() });
  }

  /** The pools that name an address, and whether their specs are what the pass has read. */
  isStable(process: Process, pool: Pool): boolean {
    return this.records.changedAtMs(objectKey(pool.meta)) < process.passStartMs;
  }

  /** Until when what is noted of a provider is so new that a look may have begun before. */
  #newsUntilMs(provider: string): number {
    return (this.#notedMs.get(provider)?.sinceMs ?? Number.NEGATIVE_INFINITY) + LOOK_MS;
  }

  /** Enters since when the Lease says what it says of providers. */
  #readNotes(process: Process): void {
    const { world, history } = this.simulation;
    const annotations = history.hasLock ? world.leaseAnnotations() : {};
    for (const provider of DNS_NAMES) {
      const text = annotations[`${NOT_BEFORE_PREFIX}${provider}`];
      process.notBeforeMs.set(provider, text === undefined ? 0 : Date.parse(text));
      if (text !== this.#notedMs.get(provider)?.text) this.#notedMs.set(provider, { text, sinceMs: world.nowMs() });
    }
  }

  #change<T>(process: Process, call: SimCall, effect: () => Promise<T>): Promise<T> {
    if (call.side === "dns") return this.#changeDNS(process, call, effect);
    return call.side === "firewall" ? this.#changeFirewall(process, call, effect) : effect();
  }

  /** A request changes a firewall at once, if at all. */
  #changeFirewall<T>(process: Process, call: SimCall, effect: () => Promise<T>): Promise<T> {
    const { world } = this.simulation;
    const before = viewFirewalls(world);
    const work = effect();
    checkFirewallChange(this, process, call, { before, after: viewFirewalls(world) });
    return work;
  }

  /** A request changes the records at once, if at all. */
  #changeDNS<T>(process: Process, call: SimCall, effect: () => Promise<T>): Promise<T> {
    const { world } = this.simulation;
    this.offers.refresh();
    const before = viewDNS(world);
    const work = effect();
    checkDNSChange(this, process, call, before, viewDNS(world));
    return work;
  }

  #holdersNow(): ReadonlyMap<string, number | null> {
    return new Map(this.simulation.world.addresses().map(({ ip, droplet_id }) => [ip, droplet_id]));
  }

  private promises(process: Process, call: SimCall): readonly Violation[] {
    switch (call.operation) {
      case "create":
        return [...checkCreation(this, process, call), ...checkSending(this, process, call)];
      case "annotate":
        return checkAnnotation(this, process, call);
      case "status":
        return checkMemory(this, process, call);
      case "routed-ip-status":
        return [...checkMemory(this, process, call), ...checkFirewallMemory(this, process, call)];
      case "finalizer":
        return [...checkFarewell(this, process, call), ...checkLeftNames(this, process, call)];
      case "routed-ip-finalizer":
        return [
          ...checkFarewell(this, process, call),
          ...checkLeftNames(this, process, call),
          ...checkFirewallFarewell(this, process, call),
        ];
      case "record-set-finalizer":
        return checkLeftNames(this, process, call);
      default:
        return call.side === "cloud" ? [...checkChange(this, process, call), ...checkSending(this, process, call)] : [];
    }
  }

  /** A pass of a single run begins with lists of pools and of nodes, side by side. */
  private begin(process: Process, call: SimCall): void {
    const { operation } = call;
    if (process.tellsOfPasses || process.secondLooks.has(call)) return;
    if (operation !== "list-pools" && operation !== "list-nodes") return;
    if (!process.isListing) this.beginPass(process);
    process.isListing = !process.isListing;
  }

  beginPass(process: Process): void {
    const { world } = this.simulation;
    process.passStartMs = Math.min(world.nowMs(), process.factsReadAtMs());
    process.listsFromMs = world.nowMs();
    process.hasFailedList = false;
    process.hasWritten = false;
    process.answeredLists.clear();
    process.misled = 0;
    process.lacksLease = false;
    process.readings.clear();
    this.offers.refresh();
    this.#readNotes(process);
    if (this.simulation.history.shards !== undefined) checkOverlap(this, process, `${process.identity}: a pass`);
  }
}

/** True for a list of the cluster without which a pass does nothing. What is refused for what it asks is the affair of the object that asks. */
function isFailedList(process: Process, call: SimCall, { how }: Failure, startedAtMs: number): boolean {
  if (process.secondLooks.has(call)) return false;
  // A pass that has written something, or had this list once, has read the cluster: what it lists later is a second look, without which it goes by the first one.
  const isOfFirstLook =
    startedAtMs >= process.passBeganMs && !process.hasWritten && !process.answeredLists.has(call.operation);
  return !isOfSome(call, how) && CLUSTER_LISTS.has(call.operation) && isOfFirstLook;
}

/** True for a failure that concerns the objects alone which ask for the list: its selector is refused, or the permission is missing in their namespace. */
function isOfSome({ args: [namespace] }: SimCall, how: Failure["how"]): boolean {
  return how === "400" || (how === "forbidden" && namespace !== undefined);
}
