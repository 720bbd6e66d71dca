import { canonicalAddress } from "../../src/model/address.ts";
import type { WorldCloud } from "./world-cloud.ts";
import type { DNSView, WorldDNS } from "./world-dns.ts";
import type { NodeTruth } from "./world-nodes.ts";

/** What must never be shown to a resolver, checked at every single change that flipop makes. */
export class DNSSafety {
  /** Names that may end. */
  readonly #mayEnd = new Set<string>();
  /** Addresses that serve and that no node of the world has. */
  readonly #elsewhere = new Set<string>();
  #isOff = false;
  readonly violations: string[] = [];
  readonly #isServing: (address: string) => boolean;
  readonly #dns: WorldDNS;

  constructor(dns: WorldDNS, isServing: (address: string) => boolean) {
    this.#isServing = (address) => this.#elsewhere.has(address) || isServing(address);
    this.#dns = dns;
    dns.onView = (view) => this.#check(view);
  }

  /** The scenario asks for the end of this name: nothing that serves need stay in it. */
  allowEnd(fqdn: string): void {
    this.#mayEnd.add(fqdn);
  }

  /** Something outside the world serves this address. */
  servesElsewhere(address: string): void {
    this.#elsewhere.add(address);
  }

  /** The scenario publishes what the world does not know to serve. */
  turnOff(): void {
    this.#isOff = true;
  }

  /** An address is about to leave its droplet: no name shows it any more beside one that serves. */
  checkUnassignment(address: string): void {
    if (this.#isOff) return;
    for (const { provider, fqdn, addresses } of this.#dns.sets()) {
      const others = addresses.filter((other) => other !== address);
      if (!addresses.includes(address) || this.#mayEnd.has(fqdn) || !others.some(this.#isServing)) continue;
      this.violations.push(`unassigned ${address} while ${provider} ${fqdn} shows ${addresses.join(" ")}`);
    }
  }

  /** The addresses of a set that do not serve, although others of it do. */
  wrong(addresses: readonly string[]): readonly string[] {
    const dead = addresses.filter((address) => !this.#isServing(address));
    return this.#isOff || dead.length === addresses.length ? [] : dead;
  }

  #check({ provider, fqdn, before, after }: DNSView): void {
    if (this.#isOff) return;
    const change = `${provider} ${fqdn}: ${before.join(" ")} → ${after.join(" ")}`;
    const isLast = after.length === 0 && before.length > 0;
    const mayEnd = this.#mayEnd.has(fqdn);
    if (isLast && !mayEnd) this.violations.push(`emptied: ${change}`);
    const wrong = after.filter((address) => !before.includes(address) && !this.#isServing(address));
    if (wrong.length > 0) this.violations.push(`added ${wrong.join(" ")}, which does not serve: ${change}`);
    const isWorse = before.some(this.#isServing) && !after.some(this.#isServing);
    if (isWorse && !isLast && !mayEnd) this.violations.push(`took the last one out that serves: ${change}`);
  }
}

/** Whether an address serves: a ready node has it, or its droplet. */
export function isServedBy(cloud: WorldCloud, ready: () => readonly NodeTruth[]): (address: string) => boolean {
  return (address) => {
    cloud.settle();
    const holder = cloud.holderOf(address);
    return ready().some(({ droplet, addresses }) =>
      holder === undefined
        ? addresses.some((own) => canonicalAddress(own.address) === address)
        : droplet !== null && holder === droplet,
    );
  };
}
