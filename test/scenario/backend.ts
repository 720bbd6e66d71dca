import type { ClusterWriter, WarmCluster } from "../../src/ports/cluster.ts";
import type { DNSProvider, FirewallProvider, IPProvider } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { HetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { DNSName } from "../fake/dns-account.ts";
import type { LoggedCall } from "./call-log.ts";
import type { OperationFault } from "./operation-fault.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import type { WorldDNS } from "./world-dns.ts";

/** The worlds a scenario runs in. */
export type WorldKind = "memory" | "sandbox" | "cluster";

/** The providers as one process has them. */
export interface ProviderPorts {
  readonly provider: IPProvider;
  /** The same provider's IPv6 addresses; absent where the world has none. */
  readonly providerIPv6?: IPProvider;
  /** The addresses of another account, for objects that come to name its provider; absent where the world has none. */
  readonly otherProvider?: IPProvider;
  readonly dns: Readonly<Record<DNSName, DNSProvider>>;
  readonly firewalls: FirewallProvider;
}

/** What one process reaches the world through. */
export interface Ports<C extends ClusterWriter = ClusterWriter> extends ProviderPorts {
  readonly cluster: C;
  close(): void;
}

/** What a watching process reaches the world through. */
export interface WatchPorts extends Ports<WarmCluster> {
  /** Resolves once the process's lists show the cluster as it is now. */
  caughtUp(): Promise<void>;
}

/** The administrator's way into the Kubernetes API: one request. @throws Error for a refusal, naming it */
export type Rest = (
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
) => Promise<unknown>;

/** What adapters ask about the process that they are of. */
export interface Life {
  /** Asked before every single write of DNS where a process can end there: true when it dies instead of making it. */
  diesAt(operation: string): boolean;
  /** Asked before every single write to a provider: false once the Lease is lost. */
  mayWrite(): boolean;
}

/** One world without the ways scenarios speak of it. */
export interface Backend {
  readonly kind: WorldKind;
  /** Begins every name of the cluster that others could collide with; `""` where nobody else is. */
  readonly prefix: string;
  readonly clock: VirtualClock;
  readonly account: DigitalOceanSandbox;
  /** Set where addresses are those of this project, and not of {@link account}. */
  readonly hetzner?: HetznerSandbox;
  readonly dns: WorldDNS;
  readonly rest: Rest;
  /** New adapters, as a new process has them. */
  open(clock: Clock, life: Life): Ports;
  /** The same for a process that watches; absent where none can. */
  openWatch?(clock: Clock, life: Life): WatchPorts;
  /** Another cluster, an emulated one, on the same accounts, with the same clock, faults of providers and log. */
  beside(): Promise<Backend>;
  fail(fault: OperationFault): void;
  clearFaults(): void;
  /** Every request of every process since {@link clearLog}, in order. */
  log(): readonly LoggedCall[];
  clearLog(): void;
  close(): Promise<void>;
}
