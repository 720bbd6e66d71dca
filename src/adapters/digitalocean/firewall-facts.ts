import { type PortRange, portText } from "../../model/firewall.ts";
import type { CallFacts } from "../provider-http/call-facts.ts";
import { firewallSubject, machineSubject, tagSubject } from "./subject.ts";

/**
 * What texts, errors and counters need to know about the calls to firewalls. Pure.
 * @throws ProviderError `refused`, before anything is sent, when an id is none or a tag is empty
 */
export const FIREWALL_FACTS = {
  list(page: number): CallFacts {
    const doing = `list the firewalls (page ${page})`;
    return { operation: "firewalls", subject: "", doing, scope: "firewall:read", isWrite: false };
  },

  get(id: string): CallFacts {
    const facts = { operation: "firewall", doing: `read the firewall ${id}`, scope: "firewall:read", isWrite: false };
    return { ...facts, subject: firewallSubject(facts, id) };
  },

  tagged(tag: string, page: number): CallFacts {
    const doing = `list the droplets with the tag ${JSON.stringify(tag)} (page ${page})`;
    const facts = { operation: "tagged-machines", doing, scope: "droplet:read and tag:read", isWrite: false };
    return { ...facts, subject: tagSubject(facts, tag) };
  },

  open: (id: string, ports: readonly PortRange[]): CallFacts =>
    changeFacts(id, "open-ports", `open ${textOf(ports)} in the firewall ${id}`),

  close: (id: string, ports: readonly PortRange[]): CallFacts =>
    changeFacts(id, "close-ports", `close ${textOf(ports)} in the firewall ${id}`),

  add(id: string, machineIDs: readonly string[]): MachineFacts {
    const facts = changeFacts(id, "add-machines", `add ${dropletsOf(machineIDs)} to the firewall ${id}`);
    const notFoundAdvice = `Either the account has no firewall ${facts.subject}, or it has not all of these droplets.`;
    return { ...facts, notFoundAdvice, dropletIds: numbersOf(facts, machineIDs) };
  },

  remove(id: string, machineIDs: readonly string[]): MachineFacts {
    const facts = changeFacts(id, "remove-machines", `remove ${dropletsOf(machineIDs)} from the firewall ${id}`);
    return { ...facts, dropletIds: numbersOf(facts, machineIDs) };
  },
};

/** Those of a call about machines, and the machines as the API numbers them. */
interface MachineFacts extends CallFacts {
  readonly dropletIds: readonly number[];
}

function changeFacts(id: string, operation: string, doing: string): CallFacts {
  const facts = { operation, doing, scope: "firewall:update", isWrite: true };
  const subject = firewallSubject(facts, id);
  const notFoundAdvice = `The account has no firewall ${subject}: make one, and name it in routedIPFirewallName.`;
  return { ...facts, subject, notFoundAdvice };
}

function numbersOf(facts: CallFacts, machineIDs: readonly string[]): readonly number[] {
  return machineIDs.map((machineID) => machineSubject(facts, machineID));
}

function textOf(ports: readonly PortRange[]): string {
  return ports.map(portText).join(", ");
}

function dropletsOf(machineIDs: readonly string[]): string {
  return `${machineIDs.length === 1 ? "droplet" : "droplets"} ${machineIDs.join(", ")}`;
}
