import type { FirewallProvider, FirewallProviderReader } from "../../ports/providers.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import type { Caller } from "./caller.ts";
import { FIREWALL_FACTS } from "./firewall-facts.ts";
import { openRule } from "./open-rule.ts";
import type { Send } from "./sdk.ts";

/**
 * The writing half of the port over DigitalOcean's API, which adds and removes and never replaces: a PUT would reset whatever
 * it does not name. Without ports or machines nothing is sent.
 */
export function firewallWriteOperations(caller: Caller): Omit<FirewallProvider, keyof FirewallProviderReader> {
  const change = (facts: CallFacts, send: Send): Promise<void> =>
    caller.call({ ...facts, send, decode: () => undefined });
  return {
    async openPorts(id, ports) {
      if (ports.length === 0) return;
      const facts = FIREWALL_FACTS.open(id, ports);
      const inboundRules = ports.map(openRule);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).rules.post({ inboundRules }, configuration),
      );
    },
    async closePorts(id, ports) {
      if (ports.length === 0) return;
      const facts = FIREWALL_FACTS.close(id, ports);
      const inboundRules = ports.map(openRule);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).rules.delete({ inboundRules }, configuration),
      );
    },
    async addMachines(id, machineIDs) {
      if (machineIDs.length === 0) return;
      const { dropletIds, ...facts } = FIREWALL_FACTS.add(id, machineIDs);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).droplets.post({ dropletIds }, configuration),
      );
    },
    async removeMachines(id, machineIDs) {
      if (machineIDs.length === 0) return;
      const { dropletIds, ...facts } = FIREWALL_FACTS.remove(id, machineIDs);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).droplets.delete({ dropletIds }, configuration),
      );
    },
  };
}
