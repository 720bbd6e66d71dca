import { PROVIDERS } from "../../src/adapters/registry.ts";
import { Attempts } from "../../src/apply/attempts.ts";
import { EventWriter } from "../../src/apply/event-writer.ts";
import type { ProviderRegistry } from "../../src/model/provider.ts";
import type { PassResult } from "../../src/model/run.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import type { WriterDeps } from "../../src/pass.ts";
import type { ProviderAccess } from "../../src/ports/providers.ts";
import { pass, settle } from "../../src/reconcile.ts";
import { kubernetesSandbox, shippedCRDs } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { type WatchAnswer, watch } from "../../src/watch/watch.ts";
import type { WatchedPass } from "../../src/watch/watch-loop.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { type MemoryDNSProvider, memoryDNSProvider } from "../fake/memory-dns-provider.ts";
import { MemoryFirewallProvider } from "../fake/memory-firewall-provider.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { MemoryWarmCluster } from "../fake/memory-warm-cluster.ts";
import { sandboxWarmCluster } from "../fake/sandbox-warm-cluster.ts";
import { type PortCall, slowed } from "../fake/slowed.ts";
import { emptyAccount } from "../scenario/account.ts";
import { type MemoryDNS, memoryDNS } from "../scenario/memory-dns.ts";
import { sandboxRest } from "../scenario/memory-world.ts";
import { heldLock } from "../scenario/scenario-run.ts";
import { WorldCloud } from "../scenario/world-cloud.ts";
import { WorldNodes } from "../scenario/world-nodes.ts";
import { WorldPods } from "../scenario/world-pods.ts";
import { WorldPools } from "../scenario/world-pools.ts";
import { WorldRecordSets } from "../scenario/world-record-sets.ts";
import { WorldRoutedIPs } from "../scenario/world-routed-ips.ts";

/** One watching process. */
export interface Watcher {
  readonly cluster: MemoryWarmCluster;
  readonly provider: MemoryIPProvider;
  readonly providerIPv6: MemoryIPProvider;
  readonly dns: Readonly<Record<"digitalocean" | "cloudflare", MemoryDNSProvider>>;
  readonly firewalls: MemoryFirewallProvider;
  readonly turns: WatchedPass[];
  readonly failures: string[];
  isLeading: boolean;
  /** As SIGTERM does. */
  stop(): void;
  readonly end: Promise<WatchAnswer>;
}

/** How a watcher is made. */
export interface WatcherOptions {
  readonly intervalMs?: number;
  readonly onLocked?: "fail" | "wait";
  /** Faults of its calls to the cluster, from the first on. */
  readonly beforeCall?: NonNullable<MemoryWarmCluster["beforeCall"]>;
  /** True = with the lists and watches that users have, instead of those of the fake. */
  readonly hasRealLists?: boolean;
}

const LEASE = { namespace: "shop", name: "flipop" };

/** A cluster and accounts in which watchers run by a clock that the test moves. */
export class WatchWorld {
  readonly clock: FakeClock = new FakeClock();
  readonly nodes: WorldNodes;
  readonly pods: WorldPods;
  readonly pools: WorldPools;
  readonly recordSets: WorldRecordSets;
  readonly routedIPs: WorldRoutedIPs;
  readonly cloud: WorldCloud;
  /** How long a call to a provider, or an Event, takes before it leaves, milliseconds; absent = no time. The port of Events is `cluster`. */
  takesMs: ((call: PortCall) => number | undefined) | undefined;
  /** What a slow machine needs to find out the machine of one node, milliseconds, in which nothing else runs; a plan asks that many times. */
  machineIDMs = 0;
  readonly #kubernetes = kubernetesSandbox({ now: () => this.clock.wallMs(), crds: shippedCRDs() });
  readonly #account = emptyAccount({ now: () => this.clock.wallMs() });
  readonly dns: MemoryDNS = memoryDNS(this.#account, () => this.clock.wallMs());
  readonly #rest = sandboxRest(this.#kubernetes);
  #watchers = 0;

  constructor() {
    const time = { nowMs: () => this.clock.wallMs() };
    const access = { rest: this.#rest, clock: time, prefix: "", provider: "digitalocean" };
    this.nodes = new WorldNodes(access);
    this.pods = new WorldPods(access);
    this.pools = new WorldPools(access);
    this.recordSets = new WorldRecordSets(access);
    this.routedIPs = new WorldRoutedIPs(access);
    this.cloud = new WorldCloud(this.#account, time);
  }

  /** The registry, whose answers about machines take the time of {@link machineIDMs}. */
  #registry(): ProviderRegistry {
    return new Proxy(PROVIDERS, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (key === "machineID") this.clock.suspend(this.machineIDMs);
          return Reflect.apply(value, target, args);
        };
      },
    });
  }

  /** Namespace `shop`, and nodes of these names, each with its droplet. */
  async setUp(...names: readonly string[]): Promise<void> {
    await this.#rest("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    for (const name of names) {
      this.cloud.droplet(name);
      await this.nodes.create(name);
    }
  }

  /** Starts a watcher; it does nothing until the clock is moved. */
  watch({ intervalMs = 60_000, onLocked = "wait", beforeCall, hasRealLists = false }: WatcherOptions = {}): Watcher {
    this.#watchers += 1;
    const identity = `watcher-${this.#watchers}`;
    const { clock } = this;
    const memory = new MemoryWarmCluster({ sandbox: this.#kubernetes, now: () => clock.wallMs() });
    memory.beforeCall = beforeCall;
    const cluster = hasRealLists ? sandboxWarmCluster({ sandbox: this.#kubernetes, clock }) : memory;
    const { access, provider, providerIPv6, dns, firewalls, slow } = this.#providers();
    const stopping = new AbortController();
    const end = watch(
      {
        cluster,
        clock,
        identity,
        onWarm: () => undefined,
        onStandbyFailure: (error) => watcher.failures.push(error.message),
        onLead: () => {
          watcher.isLeading = true;
        },
        onPass: (turn) => watcher.turns.push(turn),
        lead: (lock) => {
          const reusable = new ReusableFacts(clock);
          const attempts = new Attempts({ isLasting: true });
          const events = new EventWriter(slow("cluster", cluster), clock);
          return ({ isFullLook, ...manner }) => {
            if (isFullLook) reusable.forget();
            return pass(
              {
                cluster,
                ...access,
                lock,
                reusable,
                attempts,
                events,
              },
              { selection: {}, deadlineMs: clock.monotonicMs() + 50_000, signal: stopping.signal, ...manner },
            );
          };
        },
      },
      { ...LEASE, identity, durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000, onLocked },
      { intervalMs, signal: stopping.signal },
    );
    end.catch(() => undefined);
    const watcher: Watcher = {
      cluster: memory,
      provider,
      providerIPv6,
      dns,
      firewalls,
      turns: [],
      failures: [],
      isLeading: false,
      stop: () => stopping.abort(),
      end,
    };
    return watcher;
  }

  /** Begins a run that settles; it does nothing until the clock is moved. */
  settle(timeoutMs: number): Pick<Watcher, "cluster" | "provider" | "dns"> & { readonly end: Promise<PassResult> } {
    const { clock } = this;
    const cluster = new MemoryWarmCluster({ sandbox: this.#kubernetes, now: () => clock.wallMs() });
    const { access, provider, dns } = this.#providers();
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const options = { selection: {}, deadlineMs, signal: new AbortController().signal };
    return { cluster, provider, dns, end: settle({ cluster, ...access, lock: heldLock() }, options) };
  }

  /** The providers as one process sees them. */
  #providers(): Pick<Watcher, "provider" | "providerIPv6" | "dns" | "firewalls"> & {
    readonly access: Pick<
      WriterDeps,
      "providers" | "dnsProviders" | "firewallProviders" | "registry" | "clock" | "leaseName"
    >;
    readonly slow: <T extends object>(name: string, port: T) => T;
  } {
    const { clock } = this;
    const provider = new MemoryIPProvider({ cloud: this.#account.cloud(), clock });
    const providerIPv6 = new MemoryIPProvider({
      cloud: this.#account.cloud(),
      clock,
      family: "IPv6",
      sharing: provider,
    });
    const firewalls = new MemoryFirewallProvider({ cloud: this.#account.cloud(), clock, sharing: provider });
    const dnsProvider = (name: "digitalocean" | "cloudflare"): MemoryDNSProvider =>
      memoryDNSProvider({
        account: this.dns[name],
        clock,
        afterWrite: () => this.dns.world.note(name, "flipop"),
      });
    const dns = {
      digitalocean: dnsProvider("digitalocean"),
      cloudflare: dnsProvider("cloudflare"),
    };
    const slow = <T extends object>(name: string, port: T): T =>
      slowed(name, port, clock, (call) => this.takesMs?.(call));
    const access = {
      providers: usable({
        digitalocean: slow("addresses", provider),
        [providerIPv6.name]: slow("IPv6 addresses", providerIPv6),
      }),
      dnsProviders: usable({
        digitalocean: slow("digitalocean", dns.digitalocean),
        cloudflare: slow("cloudflare", dns.cloudflare),
      }),
      firewallProviders: usable({ digitalocean: slow("firewalls", firewalls) }),
      registry: this.#registry(),
      clock,
      leaseName: LEASE,
    };
    return { provider, providerIPv6, dns, firewalls, slow, access };
  }
}

function usable<P>(providers: Readonly<Record<string, P>>): ReadonlyMap<string, ProviderAccess<P>> {
  return new Map(Object.entries(providers).map(([name, provider]) => [name, { kind: "usable", provider }]));
}
