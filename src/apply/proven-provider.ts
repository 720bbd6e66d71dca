import type { AddressFact } from "../model/address.ts";
import type { FirewallFact } from "../model/firewall.ts";
import type { FirewallProvider, IPProvider } from "../ports/providers.ts";
import { knownHolder, looksFree, proveFree, withTrueHolder, withTrueMachines } from "../ports/true-holder.ts";

/** A change of an address that the provider has accepted in this pass. */
interface Sent {
  /** The machine to which it was sent, or from which it was taken. */
  readonly machine: string;
  readonly isLeaving: boolean;
  /** How many answers may still show it on no machine before that machine is asked. */
  patience: number;
}

/** So many answers after an assignment are believed without a question: until then the provider may be at work. */
const ASSIGNMENT_PATIENCE = 1;

/**
 * Returns the same provider, which never takes an address for free because the token may not see its machine any more. No answer about an address that is on a machine, as all are in
 * the normal case, costs another call.
 *
 *   the address was on a machine when the pass read it    an answer without one is believed after that machine was asked
 *   it was sent to a machine in this pass                 the first such answer is believed; then that machine is asked once
 *   it was taken from a machine in this pass              such answers are believed; the machine is asked before the address is deleted
 *
 * `getAddress` and `delete` throw as `proveFree` does.
 *
 * @param factOf - what the pass knows of an address at the moment
 */
export function provenProvider(provider: IPProvider, factOf: (ip: string) => AddressFact | undefined): IPProvider {
  const allSent = new Map<string, Sent>();
  const suspect = (ip: string): string | undefined => {
    const sent = allSent.get(ip);
    if (sent === undefined) return knownHolder(factOf(ip));
    if (sent.isLeaving) return undefined;
    sent.patience -= 1;
    return sent.patience === -1 ? sent.machine : undefined;
  };
  const { getUnconfirmed } = provider;
  return {
    name: provider.name,
    pageSize: provider.pageSize,
    ...(getUnconfirmed === undefined ? {} : { getUnconfirmed: (ip) => getUnconfirmed.call(provider, ip) }),
    listPage: (page) => provider.listPage(page),
    machineAddresses: (machine) => provider.machineAddresses(machine),
    addressLimit: () => provider.addressLimit(),
    actionState: (action) => provider.actionState(action),
    async getAddress(ip) {
      const address = await provider.getAddress(ip);
      // An answer is counted only where it looks free.
      return looksFree(address) ? await withTrueHolder(provider, address, suspect(ip)) : address;
    },
    async assign(ip, machine) {
      const accepted = await provider.assign(ip, machine);
      allSent.set(ip, { machine, isLeaving: false, patience: ASSIGNMENT_PATIENCE });
      return accepted;
    },
    async unassign(ip) {
      const machine = knownHolder(factOf(ip));
      const accepted = await provider.unassign(ip);
      if (machine !== undefined) allSent.set(ip, { machine, isLeaving: true, patience: 0 });
      return accepted;
    },
    async create(place, buyer) {
      const address = await provider.create(place, buyer);
      if ("machineID" in place)
        allSent.set(address.ip, { machine: place.machineID, isLeaving: false, patience: ASSIGNMENT_PATIENCE });
      return address;
    },
    async delete(ip) {
      const sent = allSent.get(ip);
      if (sent?.isLeaving === true) await proveFree(provider, ip, sent.machine);
      await provider.delete(ip);
    },
  };
}

/** What helps to tell a firewall without machines from one whose machines are hidden. */
interface FirewallProof {
  /** Reads machines of the same account; undefined where nothing can. */
  readonly machines: Pick<IPProvider, "machineAddresses"> | undefined;
  /** What the pass knows of the firewalls at the moment. */
  readonly facts: () => Iterable<FirewallFact>;
}

/**
 * Returns the same provider, which never takes a firewall for empty because the token may not see its machines any more. Where one that has machines, by what is known or because they were added in
 * this pass, shows none, one of them is asked: once a pass. `getFirewall` throws as `withTrueMachines` does.
 */
export function provenFirewalls(provider: FirewallProvider, { machines, facts }: FirewallProof): FirewallProvider {
  /** By firewall, a machine that was added; undefined where an empty one is to be believed. */
  const expected = new Map<string, string | undefined>();
  const known = (id: string): string | undefined =>
    [...facts()].flatMap((fact) =>
      fact.kind === "known" && fact.firewall.id === id ? fact.firewall.machineIDs : [],
    )[0];
  return {
    name: provider.name,
    firewallLimits: provider.firewallLimits,
    listFirewalls: () => provider.listFirewalls(),
    machinesWithTag: (tag) => provider.machinesWithTag(tag),
    openPorts: (id, ports) => provider.openPorts(id, ports),
    closePorts: (id, ports) => provider.closePorts(id, ports),
    async getFirewall(id) {
      const firewall = await provider.getFirewall(id);
      const machine = expected.has(id) ? expected.get(id) : known(id);
      await withTrueMachines(machines, firewall, machine);
      if (firewall?.machineIDs.length === 0) expected.set(id, undefined);
      return firewall;
    },
    async addMachines(id, machineIDs) {
      await provider.addMachines(id, machineIDs);
      expected.set(id, machineIDs[0]);
    },
    async removeMachines(id, machineIDs) {
      await provider.removeMachines(id, machineIDs);
      expected.set(id, undefined);
    },
  };
}
