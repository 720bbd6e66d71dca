import { PROVIDERS } from "../../src/adapters/registry.ts";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import type { Progress } from "../../src/model/progress.ts";
import type { PassResult, Selection } from "../../src/model/run.ts";
import { type Shard, shardName } from "../../src/model/shard.ts";
import { Interrupted } from "../../src/observe/interrupt.ts";
import { listRecordSets } from "../../src/observe/read-cluster.ts";
import type { PassOptions, WriterDeps } from "../../src/pass.ts";
import { shardOf } from "../../src/plan/shards.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import type { DNSProvider, ProviderAccess } from "../../src/ports/providers.ts";
import type { Clock, LockState } from "../../src/ports/system.ts";
import { planPass, reconcilePass, settle } from "../../src/reconcile.ts";
import { NO_LOCK } from "../../src/watch/lease.ts";
import { withShardLease } from "../../src/watch/shard-lock.ts";
import type { DNSAccount } from "../fake/dns-account.ts";
import { deathOf, failureBy, frozenMsOf } from "./blow.ts";
import type { Failure, SimCall } from "./faults.ts";
import type { Slot, Strike } from "./history.ts";
import { identityOf } from "./identity.ts";
import { KeptReadings } from "./kept-readings.ts";
import { Readings } from "./readings.ts";
import { simCluster } from "./sim-cluster.ts";
import { simDNS } from "./sim-dns.ts";
import { simFirewall } from "./sim-firewall.ts";
import { simProviders } from "./sim-provider.ts";
import type { Simulation } from "./simulation.ts";

/** One incarnation of the program: it knows nothing of earlier ones, and after its death nothing it does has any effect. */
export class Process {
  readonly simulation: Simulation;
  readonly slot: number;
  readonly settings: Slot;
  readonly identity: string;
  readonly clock: Clock;
  isDead = false;
  /** When the pass under way began to read, milliseconds; and whether its reading of the cluster failed. */
  passStartMs = 0;
  hasFailedList = false;
  /** When the pass under way began to list objects, whatever facts of providers it reuses, milliseconds: whose an object was before it cannot know. */
  listsFromMs = 0;
  /** True while it works under its Lease. */
  isAtWork = false;
  /** The lock that it works under; absent before it does. */
  lock: LockState | undefined;
  /** Since when it is in this pass, of the clock it sleeps by, where it tells of its passes: what it asked for before is none of the pass's. */
  passBeganMs = 0;
  /** True for a process that reads the cluster for more than its passes: it says itself when one begins. */
  readonly tellsOfPasses: boolean = false;
  /** True between the first and the second of its two lists; and once it has written something. */
  isListing = false;
  /** The lists of nodes that a single run asked for alone, within a pass: a look at what has changed since, without which it goes by the first one. */
  readonly secondLooks: WeakSet<SimCall> = new WeakSet();
  /** When it last asked for the pools, of the clock it sleeps by: a pass asks for the nodes at the same time. */
  #askedForPoolsAtMs = Number.NEGATIVE_INFINITY;
  hasWritten = false;
  /** The lists of the cluster that were answered in the pass under way: one that fails afterwards leaves it with what it knew. */
  readonly answeredLists: Set<string> = new Set();
  /** Whether the pass under way was told by the Lease to stay away from a provider until then. */
  readonly notBeforeMs: Map<string, number> = new Map();
  /** When a 429 of its own ends, by provider, milliseconds. */
  readonly closedUntilMs: Map<string, number> = new Map();
  /** True when the Lease could not be read in the pass under way. */
  lacksLease = false;
  /** How many readings of its pass under way were answered as they were before. */
  misled = 0;
  /** The pool that a purchase is for; undefined where this process put no intent of that pool on record. */
  intentOf({ args: [, , buyer] }: SimCall): string | undefined {
    return this.intents.get(buyer as string);
  }

  /** True once a reading of its pass under way was answered as it was before. */
  get isMisled(): boolean {
    return this.misled > 0;
  }

  /** The pools whose intents to acquire it put on record, by uid: one pool's may be stored anew while another one buys. */
  readonly intents: Map<string, string> = new Map();
  /** What its run came to, once it has. */
  result: PassResult | undefined;
  readonly readings: Readings;
  readonly died: Promise<void>;
  readonly #stop = new AbortController();
  #startedAtMs = Number.POSITIVE_INFINITY;
  /** Set once all lists of the cluster are answered as they were. */
  #past: Strike | undefined;
  #markDead: () => void = () => undefined;

  constructor(simulation: Simulation, slot: number, settings: Slot, incarnation: number) {
    this.simulation = simulation;
    this.slot = slot;
    this.settings = settings;
    this.identity = identityOf(slot, incarnation);
    // A run that settles goes on with what its first pass was shown.
    this.readings = settings.settles ? new KeptReadings() : new Readings();
    const { scheduler } = simulation.world;
    this.clock = {
      monotonicMs: () => scheduler.elapsedMs(),
      wallMs: () => scheduler.nowMs() + this.skewMs,
      sleep: (ms, signal) => (this.isDead ? never() : scheduler.sleep(this, ms, signal)),
    };
    this.died = new Promise((resolve) => {
      this.#markDead = resolve;
    });
  }

  /** The shard that it works for; undefined = none. */
  get shard(): Shard | undefined {
    return shardOf(this.settings);
  }

  /** The objects that it works for. */
  get selection(): Selection {
    const { target, shard } = this.settings;
    return {
      ...(target === undefined ? {} : { objects: [`pool/${target}`] }),
      ...(shard === undefined ? {} : { shard }),
    };
  }

  /** The name of the Lease that it holds while it works. */
  get leaseName(): string {
    return this.shard === undefined ? "flipop" : shardName("flipop", this.shard);
  }

  /** Is told what it waits for: from its first action on it no longer only looks. */
  protected readonly progress: Progress = {
    begin: ({ kind }) => {
      if (kind === "action") this.readings.isActing = true;
      return () => undefined;
    },
  };

  /** How far its clock is ahead of the server's, milliseconds. */
  get skewMs(): number {
    return (this.settings.skewMs ?? 0) + (this.simulation.leaptMs[this.slot] ?? 0);
  }

  /** When the facts that its pass may reuse were read, milliseconds: what has changed since may surprise it. */
  factsReadAtMs(): number {
    return this.settings.settles ? this.#startedAtMs : Number.POSITIVE_INFINITY;
  }

  /** Ends it where it stands. */
  kill(): void {
    this.isDead = true;
    this.simulation.world.scheduler.forget(this);
    this.#markDead();
  }

  /** Asks it to end, as SIGTERM does. */
  terminate(): void {
    this.#stop.abort();
  }

  /** One run of the command. @throws what the program would end with, an expected error of the world aside */
  async run(): Promise<PassResult | undefined> {
    try {
      if (this.settings.isReader === true) return await this.read();
      if (!this.simulation.history.hasLock) return await this.work(NO_LOCK);
      const { onLocked, timeoutMs } = this.settings;
      const answer = await withShardLease(
        {
          shard: this.shard,
          cluster: simCluster(this),
          clock: this.clock,
          namespace: "flipop",
          name: "flipop",
          identity: this.identity,
          durationMs: 15_000,
          renewDeadlineMs: 10_000,
          retryMs: 2000,
          onLocked,
          deadline: this.clock.monotonicMs() + timeoutMs,
          signal: this.#stop.signal,
        },
        (lock) => this.work(lock),
      );
      return answer.kind === "done" ? answer.value : undefined;
    } catch (error) {
      this.simulation.monitor.records.refusals.clear();
      if (error instanceof KubeError || error instanceof ConfigError || error instanceof Interrupted) return undefined;
      throw error;
    }
  }

  /** Makes one call: its time, its faults and its effect. */
  async call<T>(call: SimCall, effect: () => Promise<T>): Promise<T> {
    const { simulation } = this;
    const startedAtMs = this.clock.monotonicMs();
    this.noteLook(call, startedAtMs);
    await this.pass(simulation.latency());
    const struck = simulation.strike(call);
    const death = deathOf(struck) ?? simulation.faults.takeCrash(call, this.slot);
    if (death === "before") return this.die();
    const closed = simulation.monitor.refusal(this, call);
    if (closed !== undefined) throw closed;
    const nowMs = this.clock.wallMs();
    const failure = failureBy(struck, call, nowMs) ?? simulation.faults.take(call, nowMs);
    simulation.trace(this, call, failure);
    if (failure !== undefined && !failure.hasEffect) await this.fail(call, failure, startedAtMs);
    const result = await simulation.monitor.watch(this, call, this.answering(call, struck, effect));
    if (death === "after") return this.die();
    await this.freeze(frozenMsOf(struck) || simulation.faults.takeFreezeMs(call, this.slot));
    if (failure !== undefined) await this.fail(call, failure, startedAtMs);
    await this.pass(simulation.latency());
    return result;
  }

  private noteLook(call: SimCall, startedAtMs: number): void {
    if (call.operation === "list-pools") this.#askedForPoolsAtMs = startedAtMs;
    const isFirst = this.tellsOfPasses || startedAtMs === this.#askedForPoolsAtMs;
    if (call.operation === "list-nodes" && !isFirst) this.secondLooks.add(call);
  }

  /** The effect of a call and its answer: true, as it was before, or in part. */
  private answering<T>(call: SimCall, struck: Strike | undefined, effect: () => Promise<T>): () => Promise<T> {
    const { faults, blow, monitor } = this.simulation;
    if (struck?.how === "stale-pass") this.#past = struck;
    const past = call.operation.startsWith("list-") ? this.#past : undefined;
    const isStale = faults.takeStale(call);
    const isPartial = faults.takePartial(call);
    if (call.isWrite) return effect;
    const isMisleading = isStale || struck?.how === "stale" || past !== undefined;
    // Counted with the answer: the call may be the first one of a pass.
    const answer = (): Promise<T> => {
      // What an old list of firewalls says is no excuse.
      if (isMisleading && call.side !== "firewall") this.misled += 1;
      if (isMisleading && call.side !== "firewall") monitor.records.wasMisled = true;
      return blow.answer(call, past ?? struck, isStale, effect);
    };
    return isPartial ? () => partOf(answer) : answer;
  }

  private async pass(ms: number): Promise<void> {
    if (ms > 0) await this.simulation.world.scheduler.sleep(this, ms);
    if (this.isDead) await never();
  }

  private async fail(call: SimCall, failure: Failure, startedAtMs: number): Promise<never> {
    // What a process learns after its death nobody can remember.
    const { subject, operation } = call;
    const { newest } = this.readings;
    const before = newest.get(subject);
    if (!this.isDead) this.simulation.monitor.failed(this, call, failure, startedAtMs);
    await this.pass(failure.waitMs);
    // Until nobody has answered what was known before stands, and what another call was answered meanwhile.
    if (operation === "get" && newest.get(subject) === before) newest.set(subject, "failed");
    throw failure.error;
  }

  /** The whole process stands still; where calls take time one could be caught before its effect, which nothing could prevent. */
  private async freeze(ms: number): Promise<void> {
    if (ms === 0 || this.simulation.history.latencyMs > 0) return;
    this.simulation.note(`      ${this.identity} stands still for ${ms} ms`);
    await this.simulation.world.scheduler.freeze(this, ms);
    if (this.isDead) await never();
  }

  private die(): Promise<never> {
    this.simulation.note(`      ${this.identity} dies`);
    this.simulation.deaths += 1;
    this.simulation.monitor.records.refusals.clear();
    this.kill();
    return never();
  }

  /** What `plan` and `status` ask for. */
  private async read(): Promise<undefined> {
    const deps = this.access();
    await planPass(deps, {});
    await Promise.all([
      deps.cluster.listPools(),
      listRecordSets(deps.cluster),
      deps.cluster.readLease(deps.leaseName.namespace, deps.leaseName.name),
    ]);
    return undefined;
  }

  /** What it reaches the world by. */
  private access(): Omit<WriterDeps, "lock"> {
    const { simulation } = this;
    const dnsAccess = (account: DNSAccount): ProviderAccess<DNSProvider> => ({
      kind: "usable",
      provider: simDNS(this, account),
    });
    const cluster: ClusterWriter = simCluster(this);
    return {
      cluster,
      providers: simProviders(this),
      dnsProviders: new Map(Object.values(simulation.world.dns).map((account) => [account.name, dnsAccess(account)])),
      registry: PROVIDERS,
      firewallProviders: new Map([["digitalocean", { kind: "usable" as const, provider: simFirewall(this) }]]),
      clock: this.clock,
      progress: this.progress,
      leaseName: { namespace: "flipop", name: "flipop" },
      shard: this.shard,
    };
  }

  private async work(lock: LockState): Promise<PassResult> {
    const { timeoutMs, settles } = this.settings;
    this.#startedAtMs = this.simulation.world.nowMs();
    const deps: WriterDeps = { ...this.access(), lock };
    const options: PassOptions = {
      selection: this.selection,
      deadlineMs: this.clock.monotonicMs() + timeoutMs,
      signal: this.#stop.signal,
    };
    this.isAtWork = true;
    this.lock = lock;
    const working = settles ? settle(deps, options) : reconcilePass(deps, options);
    const result = await working.finally(() => {
      this.isAtWork = false;
    });
    this.result = result;
    this.simulation.monitor.ended(this, result);
    return result;
  }
}

/** A page that says how many addresses there are, and shows only every other one. */
async function partOf<T>(answer: () => Promise<T>): Promise<T> {
  const page = await answer();
  const { addresses } = page as { readonly addresses: readonly unknown[] };
  return { ...page, addresses: addresses.filter((_, index) => index % 2 === 0) };
}

/** Another one for each: who waits for it is kept for as long as the promise is. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
