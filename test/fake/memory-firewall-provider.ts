import { FIREWALL, FIREWALL_CALLS, openRule } from "../../src/adapters/digitalocean/firewalls.ts";
import { read } from "../../src/adapters/http/answer.ts";
import type { CallInfo } from "../../src/adapters/http/failures.ts";
import type { Firewall, FirewallLimits, PortRange } from "../../src/model/firewall.ts";
import type { FirewallProvider } from "../../src/ports/providers.ts";
import type { Caller } from "../../src/sandbox/digitalocean/calls.ts";
import { type FirewallState, readRules } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import {
  addDroplets,
  addRules,
  firewallJSON,
  listFirewalls,
  readFirewall,
  removeDroplets,
  removeRules,
} from "../../src/sandbox/digitalocean/firewalls.ts";
import { MemoryCloudCalls } from "./memory-cloud-calls.ts";

const pageSize = 200;

/**
 * The FirewallProvider port straight on an emulated account, without HTTP: same errors, same texts, same rate-limit gate as the
 * DigitalOcean adapter, in microseconds. Every method settles within promise reactions alone.
 */
export class MemoryFirewallProvider extends MemoryCloudCalls implements FirewallProvider {
  readonly name = "digitalocean";
  readonly firewallLimits: FirewallLimits = { rules: 50, machines: 10 };

  async listFirewalls(): Promise<readonly Firewall[]> {
    const firewalls = this.pages(FIREWALL_CALLS.list, (caller) =>
      listFirewalls(this.cloud.state, caller).map((firewall) => shown(firewall, caller)),
    );
    return firewalls.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  async getFirewall(id: string): Promise<Firewall | undefined> {
    const facts = FIREWALL_CALLS.get(id);
    return this.callUnless("not-found", facts, (caller) =>
      shown(readFirewall(this.cloud.state, caller, facts.subject), caller),
    );
  }

  async machinesWithTag(tag: string): Promise<ReadonlySet<string>> {
    const ids = this.pages(
      (page) => FIREWALL_CALLS.tagged(tag, page),
      (caller) => this.cloud.droplets(caller, tag).map(({ droplet }) => String(droplet.id)),
    );
    return new Set(ids);
  }

  async openPorts(id: string, ports: readonly PortRange[]): Promise<void> {
    if (ports.length === 0) return;
    const facts = FIREWALL_CALLS.open(id, ports);
    this.call(facts, (caller) => addRules(this.cloud.state, caller, facts.subject, rulesOf(ports)));
  }

  async closePorts(id: string, ports: readonly PortRange[]): Promise<void> {
    if (ports.length === 0) return;
    const facts = FIREWALL_CALLS.close(id, ports);
    this.call(facts, (caller) => removeRules(this.cloud.state, caller, facts.subject, rulesOf(ports)));
  }

  async addMachines(id: string, machineIDs: readonly string[]): Promise<void> {
    if (machineIDs.length === 0) return;
    const { dropletIds, ...facts } = FIREWALL_CALLS.add(id, machineIDs);
    this.call(facts, (caller) => addDroplets(this.cloud.state, caller, facts.subject, dropletIds));
  }

  async removeMachines(id: string, machineIDs: readonly string[]): Promise<void> {
    if (machineIDs.length === 0) return;
    const { dropletIds, ...facts } = FIREWALL_CALLS.remove(id, machineIDs);
    this.call(facts, (caller) => removeDroplets(this.cloud.state, caller, facts.subject, dropletIds));
  }

  /** A whole list, by one call per page as the adapter makes them. */
  private pages<T>(factsOf: (page: number) => CallInfo, list: (caller: Caller) => readonly T[]): readonly T[] {
    const items: T[] = [];
    for (let page = 1; ; page += 1) {
      const all = this.call(factsOf(page), list);
      items.push(...all.slice((page - 1) * pageSize, page * pageSize));
      if (page * pageSize >= all.length) return items;
    }
  }
}

function shown(firewall: FirewallState, caller: Caller): Firewall {
  return read(FIREWALL, firewallJSON(firewall, caller));
}

function rulesOf(ports: readonly PortRange[]): ReturnType<typeof readRules> {
  return readRules({ inbound_rules: ports.map(openRule) });
}
