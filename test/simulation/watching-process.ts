import { PROVIDERS } from "../../src/adapters/registry.ts";
import { Attempts } from "../../src/apply/attempts.ts";
import type { Limits } from "../../src/apply/context.ts";
import { EventWriter } from "../../src/apply/event-writer.ts";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import type { PassResult } from "../../src/model/run.ts";
import { Interrupted } from "../../src/observe/interrupt.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import type { WriterDeps } from "../../src/pass.ts";
import type { LockState } from "../../src/ports/system.ts";
import { pass } from "../../src/reconcile.ts";
import { NO_LOCK } from "../../src/watch/lease.ts";
import { watch } from "../../src/watch/watch.ts";
import type { WatchLoopDeps } from "../../src/watch/watch-loop.ts";
import { KeptReadings } from "./kept-readings.ts";
import { Process } from "./process.ts";
import { simDNS } from "./sim-dns.ts";
import { simFirewall } from "./sim-firewall.ts";
import { simProviders } from "./sim-provider.ts";
import { simWarmCluster } from "./sim-warm-cluster.ts";

/** What is read of the providers is believed for so long, milliseconds. */
const INTERVAL_MS = 10_000;

/** One incarnation of `reconcile --watch`. */
export class WatchingProcess extends Process {
  override readonly readings: KeptReadings = new KeptReadings();
  override readonly tellsOfPasses = true;
  readonly #stopping = new AbortController();
  /** When the facts that passes reuse were read, milliseconds. */
  #readAtMs = 0;

  override factsReadAtMs(): number {
    return this.#readAtMs;
  }

  override terminate(): void {
    this.#stopping.abort();
  }

  override async run(): Promise<PassResult | undefined> {
    const cluster = simWarmCluster(this);
    const { hasLock } = this.simulation.history;
    const lease = { namespace: "flipop", name: "flipop", identity: this.identity, onLocked: "wait" } as const;
    const periods = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 };
    try {
      await watch(
        {
          cluster,
          clock: this.clock,
          identity: this.identity,
          onWarm: () => undefined,
          onStandbyFailure: () => undefined,
          onLead: () => {
            this.isAtWork = true;
          },
          onPass: () => undefined,
          lead: (lock) => this.#passes(cluster, lock),
        },
        hasLock ? { ...lease, ...periods, shard: this.shard } : undefined,
        { intervalMs: this.settings.intervalMs ?? INTERVAL_MS, signal: this.#stopping.signal },
      );
    } catch (error) {
      this.simulation.monitor.records.refusals.clear();
      if (!(error instanceof KubeError || error instanceof ConfigError || error instanceof Interrupted)) throw error;
    } finally {
      this.isAtWork = false;
      cluster.close();
    }
    return undefined;
  }

  override kill(): void {
    super.kill();
    this.#stopping.abort();
  }

  #passes(cluster: ReturnType<typeof simWarmCluster>, lock: LockState): WatchLoopDeps["pass"] {
    const { world } = this.simulation;
    this.lock = lock;
    const usable = <P>(provider: P): { readonly kind: "usable"; readonly provider: P } => ({
      kind: "usable",
      provider,
    });
    const access = {
      providers: simProviders(this),
      dnsProviders: new Map(
        Object.values(world.dns).map((account) => [account.name, usable(simDNS(this, account))] as const),
      ),
      registry: PROVIDERS,
      firewallProviders: new Map([["digitalocean", usable(simFirewall(this))]]),
      clock: this.clock,
      progress: this.progress,
      leaseName: { namespace: "flipop", name: "flipop" },
      shard: this.shard,
    };
    const reusable = new ReusableFacts(this.clock);
    const attempts = new Attempts({ isLasting: true });
    const limits: Limits = new Map();
    const events = new EventWriter(cluster, this.clock);
    return async ({ isFullLook, nextChange, ...manner }) => {
      const nowMs = world.nowMs();
      if (isFullLook) reusable.forget();
      // A pass may also take what an earlier one asked for and did not wait for.
      this.readings.reusesAddresses = !isFullLook;
      if (isFullLook) this.#readAtMs = nowMs;
      this.passBeganMs = this.clock.monotonicMs();
      this.simulation.monitor.beginPass(this);
      // As long as the providers need not be asked anew the Lease need not be, either.
      const notes = isFullLook || lock === NO_LOCK ? undefined : lock.annotations();
      const deps: WriterDeps = { ...access, cluster, lock, reusable, attempts, limits, events, notes };
      const deadlineMs = this.clock.monotonicMs() + this.settings.timeoutMs;
      const { selection } = this;
      const goesOn = (): AbortSignal => {
        // A list that fails from now on leaves the pass with what it knew.
        this.passBeganMs = Number.POSITIVE_INFINITY;
        return nextChange();
      };
      const bounds = { selection, deadlineMs, signal: this.#stopping.signal };
      const made = await pass(deps, { ...bounds, ...manner, nextChange: goesOn });
      this.result = made.result;
      this.simulation.monitor.ended(this, made.result);
      return made;
    };
  }
}
