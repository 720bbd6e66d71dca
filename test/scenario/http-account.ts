import { createCloudflare } from "../../src/adapters/cloudflare/cloudflare.ts";
import { createClient } from "../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import { openHetzner } from "../../src/adapters/hetzner/hetzner.ts";
import { createWebhook } from "../../src/adapters/webhook/webhook.ts";
import type { IPProvider } from "../../src/ports/providers.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FaultList, type FaultSource } from "../../src/sandbox/faults.ts";
import type { HetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { webhookSandbox } from "../../src/sandbox/webhook/webhook-sandbox.ts";
import {
  boundlessCloudflare,
  boundlessHetzner,
  cloudflareDNSAccount,
  digitalOceanDNSAccount,
  EMPTY_WEBHOOK,
  hetznerDNSAccount,
  webhookDNSAccount,
} from "../fake/dns-account.ts";
import { emptyAccount } from "./account.ts";
import type { Life, ProviderPorts } from "./backend.ts";
import { type LoggedCall, loggedCloudRequest, loggedFloatingIPRequest } from "./call-log.ts";
import {
  loggedCloudflareRequest,
  loggedDomainRequest,
  loggedWebhookRequest,
  loggedZoneRequest,
} from "./dns-call-log.ts";
import { loggedFirewallRequest } from "./firewall-call-log.ts";
import { HETZNER_SETTINGS } from "./memory-world.ts";
import { timeoutAmong } from "./operation-fault.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { WorldDNS } from "./world-dns.ts";

/** The emulated DigitalOcean, Cloudflare, Hetzner Cloud and webhook behind HTTP on loopback, and the real adapters for them. */
export interface HTTPAccount {
  readonly account: DigitalOceanSandbox;
  readonly dns: WorldDNS;
  readonly faults: FaultList;
  /** Set where the addresses are at Hetzner. */
  readonly hetzner?: HetznerSandbox;
  /** @param timeoutMs - how long a call may take; default: what no planned hang keeps to */
  open(clock: Clock, life: Life, timeoutMs?: number): ProviderPorts;
  close(): Promise<void>;
}

/** The faults, each of whose answers has a request id of its own, as those of the providers have. */
function withRequestIDs(faults: FaultList): FaultSource {
  let answers = 0;
  return {
    take: (call) => {
      const fault = faults.take(call);
      if (fault?.status === undefined) return fault;
      answers += 1;
      const id = `fault-${answers}`;
      return { ...fault, headers: { "x-request-id": id, "cf-ray": id, "x-correlation-id": id, ...fault.headers } };
    },
  };
}

/** Serves empty accounts; every request they get is entered into the log. */
export async function httpAccount(
  clock: VirtualClock,
  calls: LoggedCall[],
  { isAtHetzner = false }: { readonly isAtHetzner?: boolean } = {},
): Promise<HTTPAccount> {
  const faults = new FaultList();
  const failing = withRequestIDs(faults);
  const now = (): number => clock.nowMs();
  const known = new Map<string | number, { readonly fqdn: string; readonly content: string }>();
  const account = emptyAccount({ now, faults: failing, onCall: (call) => onCloudCall(call) });
  const cloudflare = boundlessCloudflare({ now, faults: failing, onCall: (call) => onCloudflareCall(call) });
  const webhook = webhookSandbox({
    now,
    faults: failing,
    state: EMPTY_WEBHOOK,
    onCall: (call) => {
      calls.push(loggedWebhookRequest(call));
      dns.note("webhook", "flipop");
    },
  });
  const hetzner: HetznerSandbox = boundlessHetzner(
    {
      now,
      faults: failing,
      onCall: (call) => {
        const isOfZone = call.path.startsWith("/v1/zones");
        calls.push(isOfZone ? loggedZoneRequest(call) : loggedFloatingIPRequest(call, floatingIPOf));
        dns.note("hetzner", "flipop");
      },
    },
    isAtHetzner ? HETZNER_SETTINGS : {},
  );
  const floatingIPOf = (id: number): string | undefined =>
    hetzner.project().state.floating_ips.find((one) => one.id === id)?.ip;
  const dns = new WorldDNS([
    digitalOceanDNSAccount(account),
    cloudflareDNSAccount(cloudflare),
    hetznerDNSAccount(hetzner),
    webhookDNSAccount(webhook),
  ]);

  function onCloudCall(call: RecordedCall): void {
    if (!call.path.startsWith("/v2/domains")) {
      calls.push(loggedFirewallRequest(call, account.cloud().state.firewalls) ?? loggedCloudRequest(call));
      return;
    }
    for (const { name, records } of account.cloud().state.domains)
      for (const record of records)
        known.set(record.id, { fqdn: record.name === "@" ? name : `${record.name}.${name}`, content: record.data });
    calls.push(loggedDomainRequest(call, (id) => known.get(id)));
    dns.note("digitalocean", "flipop");
  }

  function onCloudflareCall(call: RecordedCall): void {
    for (const { dns_records } of cloudflare.account().state.zones)
      for (const { id, name, content } of dns_records) known.set(id, { fqdn: name, content });
    calls.push(loggedCloudflareRequest(call, (id) => known.get(id)?.fqdn));
    dns.note("cloudflare", "flipop");
  }

  const servers = [
    await account.serve(),
    await cloudflare.serve(),
    await webhook.serve(),
    await hetzner.serve(),
  ] as const;
  const options = { token: "token", userAgent: "flipop/scenario" };
  return {
    account,
    dns,
    faults,
    ...(isAtHetzner ? { hetzner } : {}),
    open: (processClock, life, timeoutMs = timeoutAmong(faults)) => {
      const mayWrite = (): boolean => life.mayWrite();
      const own = { ...options, timeoutMs, clock: processClock, baseURL: servers[0].url, mayWrite };
      const caller = createClient(own);
      const atHetzner = openHetzner({ ...own, baseURL: `${servers[3].url}/v1` });
      return {
        ...(isAtHetzner ? portsOf(atHetzner) : portsOf(openDigitalOcean(own, caller))),
        firewalls: openDigitalOcean(own, caller).firewalls,
        dns: {
          digitalocean: openDigitalOcean(own, caller).dns,
          cloudflare: createCloudflare({ ...own, baseURL: `${servers[1].url}/client/v4` }),
          hetzner: atHetzner.dns,
          webhook: createWebhook({ ...own, name: "webhook", token: undefined, baseURL: servers[2].url }),
        },
      };
    },
    close: async () => {
      for (const server of servers) await server.close();
    },
  };
}

/** The addresses of both families, where a provider has them. */
function portsOf({
  addresses,
  addressesIPv6,
}: {
  readonly addresses: IPProvider;
  readonly addressesIPv6?: IPProvider;
}): Pick<ProviderPorts, "provider" | "providerIPv6"> {
  return { provider: addresses, ...(addressesIPv6 === undefined ? {} : { providerIPv6: addressesIPv6 }) };
}
