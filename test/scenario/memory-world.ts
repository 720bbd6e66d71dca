import { HETZNER_API } from "../../src/adapters/hetzner/api.ts";
import { openHetzner } from "../../src/adapters/hetzner/hetzner.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { HetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import {
  type KubernetesSandbox,
  kubernetesSandbox,
  shippedCRDs,
} from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { boundlessHetzner, type DNSName, hetznerDNSAccount } from "../fake/dns-account.ts";
import type { MemoryCall, MemoryFault } from "../fake/memory-cloud-calls.ts";
import { MemoryCluster, type MemoryClusterOptions } from "../fake/memory-cluster.ts";
import { hetznerClient, memoryClient } from "../fake/memory-dns-provider.ts";
import { MemoryFirewallProvider } from "../fake/memory-firewall-provider.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { MemoryWarmCluster } from "../fake/memory-warm-cluster.ts";
import { emptyAccount } from "./account.ts";
import type { Backend, Life, ProviderPorts, Rest } from "./backend.ts";
import { type LoggedCall, loggedMemoryCall, loggedMemoryWrite } from "./call-log.ts";
import { isOfFirewalls, loggedMemoryFirewallCall } from "./firewall-call-log.ts";
import { type MemoryDNS, memoryDNS, processDNSProvider } from "./memory-dns.ts";
import { cloudMemoryFault, clusterMemoryFault, clusterOperation } from "./memory-fault.ts";
import type { OperationFault } from "./operation-fault.ts";
import { PlannedFaults } from "./planned-faults.ts";
import { VirtualClock } from "./virtual-clock.ts";

const CRDS = shippedCRDs();

/** A world of function calls: no network, no real time. */
export function memoryWorld(): Backend {
  return makeWorld(() => undefined);
}

/** How an emulated project is set that stands in the place of the other world's account: its actions take as long. */
export const HETZNER_SETTINGS: object = {
  action_delay_ms: 300,
  floating_ip_limit: 100,
  // The other world's provider takes changes one upon the other.
  locks_firewalls: false,
  // Regions of the other world are locations here, each in a network zone of its own.
  locations: { nyc3: "nyc3", fra1: "fra1", ams3: "ams3", fsn1: "eu-central", nbg1: "eu-central", ash: "us-east" },
};

/** The same with its addresses at Hetzner. */
export function hetznerWorld(): Backend {
  return makeWorld((now) => boundlessHetzner({ now }, HETZNER_SETTINGS));
}

function makeWorld(makeHetzner: (now: () => number) => HetznerSandbox | undefined): Backend {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const account = emptyAccount({ now: () => clock.nowMs() });
  const hetzner = makeHetzner(() => clock.nowMs());
  const faults = {
    cloud: new PlannedFaults(),
    digitalocean: new PlannedFaults(),
    cloudflare: new PlannedFaults(),
    hetzner: new PlannedFaults(),
    webhook: new PlannedFaults(),
    cluster: new PlannedFaults(),
  };
  const accounts = { clock, account, calls: [], dns: memoryDNS(account, () => clock.nowMs()), faults };
  return memoryClusterOf({ ...accounts, ...(hetzner === undefined ? {} : { hetzner }) }, 0);
}

/** What all clusters of a world have in common. */
interface MemoryAccounts {
  readonly clock: VirtualClock;
  readonly account: DigitalOceanSandbox;
  readonly hetzner?: HetznerSandbox;
  readonly calls: LoggedCall[];
  readonly dns: MemoryDNS;
  readonly faults: Readonly<Record<"cloud" | DNSName | "cluster", PlannedFaults>>;
}

/** One cluster in memory. @param cluster - its number, from 0 */
function memoryClusterOf(accounts: MemoryAccounts, cluster: number): Backend {
  const { clock, account, hetzner, calls, dns, faults } = accounts;
  const kubernetes = kubernetesSandbox({ now: () => clock.nowMs(), crds: CRDS });
  const clusterOptions = (processClock: Clock): MemoryClusterOptions =>
    memoryClusterOptions(kubernetes, processClock, faults.cluster, calls);
  const providers = (processClock: Clock, life: Life): ProviderPorts => {
    const gate = limitGate(processClock);
    const domains = { clock: processClock, calls, life, cluster };
    return {
      ...memoryCloud(accounts, processClock, gate, life),
      dns: {
        digitalocean: processDNSProvider(dns, "digitalocean", { ...domains, ...gate, faults: faults.digitalocean }),
        cloudflare: processDNSProvider(dns, "cloudflare", {
          ...domains,
          ...limitGate(processClock),
          faults: faults.cloudflare,
        }),
        hetzner: processDNSProvider(dns, "hetzner", {
          ...domains,
          ...limitGate(processClock),
          faults: faults.hetzner,
        }),
        webhook: processDNSProvider(dns, "webhook", {
          ...domains,
          ...limitGate(processClock),
          faults: faults.webhook,
        }),
      },
    };
  };
  return {
    kind: "memory",
    prefix: "",
    clock,
    account,
    ...(hetzner === undefined ? {} : { hetzner }),
    dns: dns.world,
    rest: sandboxRest(kubernetes),
    open: (processClock, life) => ({
      cluster: new MemoryCluster(clusterOptions(processClock)),
      ...providers(processClock, life),
      close: () => undefined,
    }),
    openWatch: (processClock, life) => {
      const cluster = new MemoryWarmCluster(clusterOptions(processClock));
      const caughtUp = async (): Promise<void> => undefined;
      return { cluster, ...providers(processClock, life), close: () => cluster.close(), caughtUp };
    },
    beside: async () =>
      memoryClusterOf({ ...accounts, faults: { ...faults, cluster: new PlannedFaults() } }, cluster + 1),
    fail: (fault) => faults[fault.side === "dns" ? fault.provider : fault.side].add(fault),
    clearFaults: () => {
      for (const list of Object.values(faults)) list.clear();
    },
    log: () => calls,
    clearLog: () => {
      calls.length = 0;
    },
    close: async () => undefined,
  };
}

/** The administrator's requests, answered by the emulated API itself. */
export function sandboxRest(kubernetes: KubernetesSandbox): Rest {
  return async (method, path, body) => {
    const url = new URL(`http://localhost${path}`);
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const reply = kubernetes.handle({
      method,
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: body === undefined ? {} : { "content-type": type },
      body: structuredClone(body),
    });
    if (!("body" in reply) || reply.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return structuredClone(reply.body);
  };
}

/** A planned 429 does not pass the provider's own gate, for as long as it asked. */
interface LimitGate {
  readonly closed: () => OperationFault | undefined;
  readonly close: (fault: OperationFault) => void;
}

function limitGate(clock: Clock): LimitGate {
  let closed: { readonly fault: OperationFault; readonly untilMs: number } | undefined;
  return {
    closed: () => (closed !== undefined && clock.monotonicMs() < closed.untilMs ? closed.fault : undefined),
    close: (fault) => {
      closed = { fault, untilMs: clock.monotonicMs() + (fault.retryAfter ?? 60) * 1000 };
    },
  };
}

/** Addresses and firewalls of one account, with one rate limit. */
function memoryCloud(
  { account, hetzner, calls, faults: { cloud: faults } }: MemoryAccounts,
  clock: Clock,
  gate: LimitGate,
  life: Life,
): Pick<ProviderPorts, "provider" | "providerIPv6" | "otherProvider" | "firewalls"> {
  const beforeCall = (
    recorded: readonly MemoryCall[],
    logged: (call: MemoryCall) => LoggedCall,
    operation: string,
    subject: string,
  ): MemoryFault | undefined => {
    const facts = { operation, subject, nowMs: clock.wallMs() };
    const closed = gate.closed();
    if (closed !== undefined) return cloudMemoryFault(closed, facts);
    const call = recorded.at(-1);
    if (call !== undefined) calls.push(logged(call));
    const fault = faults.take(operation, subject);
    if (fault?.kind === "429") gate.close(fault);
    return fault === undefined ? undefined : cloudMemoryFault(fault, facts);
  };
  const cloud = account.cloud();
  const provider: MemoryIPProvider = new MemoryIPProvider({
    cloud,
    clock,
    beforeCall: (operation, subject) => beforeCall(provider.recorded, loggedMemoryCall, operation, subject),
  });
  const providerIPv6: MemoryIPProvider = new MemoryIPProvider({
    cloud,
    clock,
    family: "IPv6",
    // What is about no address is about all of its family.
    beforeCall: (operation, subject) =>
      beforeCall(providerIPv6.recorded, loggedMemoryCall, operation, subject || "IPv6"),
    sharing: provider,
  });
  const named = (call: MemoryCall): LoggedCall => loggedMemoryFirewallCall(call, account.cloud().state.firewalls);
  const firewalls: MemoryFirewallProvider = new MemoryFirewallProvider({
    cloud,
    clock,
    beforeCall: (operation, subject) => beforeCall(firewalls.recorded, named, operation, subject),
    sharing: provider,
  });
  if (hetzner === undefined) return { provider, providerIPv6, firewalls };
  const recorded: MemoryCall[] = [];
  const stage = { account: hetznerDNSAccount(hetzner), clock, recorded, mayWrite: () => life.mayWrite() };
  const inProject = (call: MemoryCall): LoggedCall =>
    isOfFirewalls(call)
      ? loggedMemoryFirewallCall(
          call,
          hetzner.project().state.firewalls.map(({ id, name }) => ({ id: String(id), name })),
        )
      : loggedMemoryCall(call);
  const logging = {
    beforeCall: (operation: string, subject: string) => beforeCall(recorded, inProject, operation, subject),
  };
  const client = memoryClient(HETZNER_API, hetznerClient(stage.account), stage, logging);
  const opened = openHetzner({ token: "token", userAgent: "flipop-test", clock }, client);
  const { addresses, addressesIPv6, firewalls: own } = opened;
  return { provider: addresses, providerIPv6: addressesIPv6, otherProvider: provider, firewalls: own };
}

function memoryClusterOptions(
  sandbox: KubernetesSandbox,
  clock: Clock,
  faults: PlannedFaults,
  calls: LoggedCall[],
): MemoryClusterOptions {
  return {
    sandbox,
    now: () => clock.wallMs(),
    beforeCall: (text, subject, part) => {
      const operation = clusterOperation(text);
      const logged = loggedMemoryWrite(part ?? operation, subject);
      if (logged !== undefined) calls.push(logged);
      const fault = operation === undefined ? undefined : faults.take(operation, subject);
      return fault === undefined ? undefined : clusterMemoryFault(fault, text.startsWith("list ") ? "" : subject);
    },
  };
}
