import type { DNSView, WorldDNS } from "../scenario/world-dns.ts";

/**
 * Two clusters of which nothing serves may leave a name in the same moment, each beside the other's addresses: no provider can be asked to change records only
 * while others are there. That alone may empty a name, and each of them puts its addresses back before its pass ends.
 */
export class LeavingTogether {
  readonly violations: string[] = [];
  readonly #isServing: (address: string) => boolean;
  #areTogether = false;
  #isEmptied = false;

  /** Stands in front of what checks each change of the world: that is not told of a name emptied so, and of what is put back. */
  constructor(dns: WorldDNS, isServing: (address: string) => boolean) {
    this.#isServing = isServing;
    const check = dns.onView;
    dns.onView = (view) => {
      if (!this.#isExcused(view)) check?.(view);
    };
  }

  /** Passes of both clusters begin, or of one. */
  begin(areTogether: boolean): void {
    this.#areTogether = areTogether;
  }

  /** They have ended; the name has these addresses now. */
  end(addresses: readonly string[]): void {
    if (this.#isEmptied && addresses.length === 0) this.violations.push("emptied: nobody put anything back");
    this.#areTogether = false;
    this.#isEmptied = false;
  }

  #isExcused({ before, after }: DNSView): boolean {
    if (!this.#areTogether || before.some(this.#isServing)) return false;
    if (after.length === 0) this.#isEmptied = true;
    return this.#isEmptied && (after.length === 0 || before.every((address) => after.includes(address)));
  }
}
