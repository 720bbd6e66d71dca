import type { SimCall } from "./faults.ts";
import { type NameReading, Readings } from "./readings.ts";

/** What a process that makes several passes was shown, by its pass under way and those before it whose facts it reuses. */
export class KeptReadings extends Readings {
  /** Whether the pass that begins reuses what earlier ones were shown of addresses, and of names. */
  reusesAddresses = true;
  reusesNames = true;
  readonly #names = new Map<string, NameReading>();
  /** Until the pass under way lists the account: a pass that does reuses nothing of what earlier ones were shown. */
  #keepsAddresses = false;

  override name(key: string): NameReading {
    const known = this.#names.get(key) ?? this.unseenName(key);
    this.#names.set(key, known);
    return known;
  }

  override asked({ operation }: SimCall): void {
    // Whoever buys lists the account, too, and decides nothing else by that.
    if (operation === "list" && this.#keepsAddresses && !this.isActing) this.#forgetAddresses();
  }

  override clear(): void {
    this.isActing = false;
    this.singly.clear();
    this.nodes.clear();
    this.learnedMs.clear();
    if (this.reusesAddresses) this.#keepsAddresses = true;
    else this.#forgetAddresses();
    if (!this.reusesNames) {
      this.#names.clear();
      this.zones.clear();
    }
    // Whoever writes a name reads it once more, in the same pass.
    for (const name of this.#names.values()) name.reads = Math.min(1, name.reads);
  }

  /** What the pass under way was shown of an address by itself it keeps: it may list the account later, to buy another one. */
  #forgetAddresses(): void {
    this.#keepsAddresses = false;
    this.listedMs = undefined;
    for (const memory of [this.newest, this.everSingly, this.listed, this.seen])
      for (const ip of memory.keys()) if (!this.singly.has(ip)) memory.delete(ip);
  }
}
