import { isIPv6 } from "node:net";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";

/** One call to the provider, with `performance.now()` of its arrival. */
export interface TimedCall extends RecordedCall {
  readonly atMs: number;
}

/** An emulated DigitalOcean account over HTTP, without latency and with a rate limit that no benchmark reaches. */
export interface Cloud {
  readonly url: string;
  /** Every call so far, in order; emptied by {@link Cloud.forgetCalls}. */
  readonly calls: readonly TimedCall[];
  forgetCalls(): void;
  /** The droplets that have addresses now. */
  holders(): readonly number[];
  /** Detaches every address behind everybody's back. */
  detachAll(): void;
  close(): Promise<void>;
}

/** What the account holds: droplets 1, 2, … and the addresses, all in one region, none attached. */
export interface CloudOptions {
  readonly droplets: number;
  readonly ips: readonly string[];
  /** How long an accepted action takes, milliseconds. */
  readonly actionMs?: number;
  /** With it the account has a firewall `web` without rules that covers every droplet by this tag. */
  readonly firewallTag?: string;
}

/** The region of everything in a benchmark. */
export const REGION = "nyc3";

/** Starts an account. */
export async function openCloud({ droplets, ips, actionMs = 0, firewallTag }: CloudOptions): Promise<Cloud> {
  const calls: TimedCall[] = [];
  const tags = firewallTag === undefined ? {} : { tags: [firewallTag] };
  const account = digitaloceanSandbox({
    now: () => Date.now(),
    onCall: (call) => calls.push({ ...call, atMs: performance.now() }),
    state: {
      account: { reserved_ip_limit: ips.length, reserved_ipv6_limit: ips.length },
      settings: { action_delay_ms: actionMs, rate_limit: { per_hour: 1_000_000, per_minute: 1_000_000 } },
      droplets: Array.from({ length: droplets }, (_, index) => ({ id: index + 1, region: REGION, ...tags })),
      ...(firewallTag === undefined ? {} : { firewalls: [{ name: "web", ...tags }] }),
      reserved_ips: ips.filter((ip) => !isIPv6(ip)).map((ip) => ({ ip, region: REGION })),
      reserved_ipv6: ips.filter(isIPv6).map((ip) => ({ ip, region: REGION })),
    },
  });
  const server = await account.serve();
  return {
    url: server.url,
    calls,
    forgetCalls: () => {
      calls.length = 0;
    },
    holders: () => {
      account.cloud().settle(Date.now());
      return account
        .cloud()
        .state.reserved_ips.flatMap(({ droplet_id }) => (typeof droplet_id === "number" ? [droplet_id] : []));
    },
    detachAll: () => {
      for (const ip of ips) account.setAddress(ip, { droplet_id: null });
    },
    close: () => server.close(),
  };
}

/** True for a request to assign or move an address. */
export function isAssignRequest({ method, path }: RecordedCall): boolean {
  return method === "POST" && path.endsWith("/actions");
}
