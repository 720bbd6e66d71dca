import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { aroundCalls } from "../fake/slowed.ts";
import type { Ports } from "./backend.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Decides over the life of one process. */
export interface Process {
  /** Counts a write that is about to leave; true when the process dies instead of making it. */
  diesAt(method: string): boolean;
  isDead(): boolean;
  /** What the scenario wants done just before this call leaves. */
  before(method: string, args: readonly unknown[]): Promise<void>;
}

/** Every port as one process has it; see {@link instrument}. */
export function instrumented<C extends ClusterWriter>(
  ports: Ports<C>,
  clock: VirtualClock,
  process: Process,
  pending: Set<Promise<unknown>>,
): Ports<C> {
  const { cluster, provider, providerIPv6, otherProvider, dns, firewalls, close } = ports;
  return {
    cluster: instrument(cluster, clock, process, pending),
    provider: instrument(provider, clock, process, pending),
    ...(providerIPv6 === undefined ? {} : { providerIPv6: instrument(providerIPv6, clock, process, pending) }),
    ...(otherProvider === undefined ? {} : { otherProvider: instrument(otherProvider, clock, process, pending) }),
    firewalls: instrument(firewalls, clock, process, pending),
    dns: {
      digitalocean: instrument(dns.digitalocean, clock, process, pending),
      cloudflare: instrument(dns.cloudflare, clock, process, pending),
      hetzner: instrument(dns.hetzner, clock, process, pending),
      webhook: instrument(dns.webhook, clock, process, pending),
    },
    close,
  };
}

/**
 * A port as one process has it: virtual time stands still during its calls, and from the moment the process dies no call
 * leaves any more, and none returns.
 */
function instrument<T extends object>(
  port: T,
  clock: VirtualClock,
  process: Process,
  pending: Set<Promise<unknown>>,
): T {
  return aroundCalls(port, async (make, method, args) => {
    if (process.isDead() || process.diesAt(method)) return await never();
    const call = clock.during(async () => {
      await process.before(method, args);
      return await make();
    });
    pending.add(call);
    try {
      return await call;
    } finally {
      pending.delete(call);
      if (process.isDead()) await never();
    }
  });
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
