import type { DigitalOceanOptions } from "../../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { FirewallProvider, ProviderMeter } from "../../../src/ports/providers.ts";
import type { ReplyScript } from "../http/reply-script.ts";
import type { Received, Reply, ScriptedServer } from "./scripted-server.ts";
import { token, withServer } from "./with-server.ts";

/** The firewall of every test. */
export const id: string = "bb4b2611-3d72-467b-8602-280330ecd65c";
/** The sources of the rules that flipop writes. */
export const anybody: object = { addresses: ["0.0.0.0/0", "::/0"] };

/** The adapter and the server it talks to. */
export interface FirewallStage {
  readonly firewalls: FirewallProvider & ProviderMeter;
  readonly server: ScriptedServer;
}

/** Runs a test of the firewall adapter against a scripted server, see withServer. */
export async function withFirewallServer(
  script: ReplyScript<Received, Reply>,
  body: (stage: FirewallStage) => Promise<void>,
  options: Partial<DigitalOceanOptions> = {},
): Promise<void> {
  await withServer(script, async ({ server }) => {
    const firewalls = openDigitalOcean({
      token,
      baseURL: server.url,
      userAgent: "flipop/0 (test)",
      clock: SYSTEM_CLOCK,
      ...options,
    }).firewalls;
    await body({ firewalls, server });
  });
}

/** `METHOD path`, and the body when there is one, of each request. */
export function linesOf(server: ScriptedServer): readonly unknown[] {
  return server.requests.map(({ method, path, body }) => {
    const line = `${method} ${path.replace(`/v2/firewalls/${id}`, "ID")}`;
    return body === undefined ? line : [line, body];
  });
}

/** `firewall` as the API shows it, without rules and droplets. */
export function firewallJSON(more: object = {}): object {
  return {
    id,
    name: "web",
    status: "succeeded",
    inbound_rules: [],
    outbound_rules: [],
    created_at: "2026-01-01T00:00:00Z",
    droplet_ids: [],
    tags: [],
    pending_changes: [],
    ...more,
  };
}

/** A page of firewalls as the API shows it; `total` is by default how many there are. */
export function firewallPage(firewalls: readonly object[], total: number = firewalls.length): object {
  return { firewalls, links: {}, meta: { total } };
}

/** A page of droplets as the API shows it. */
export function dropletPage(droplets: readonly object[], total: number = droplets.length): object {
  return { droplets, links: {}, meta: { total } };
}

/** A rule as the API shows it. */
export function ruleJSON(protocol: string, ports: string, sources: object = anybody, more: object = {}): object {
  return { protocol, ports, sources, ...more };
}
