import type { IPFamily } from "../../src/model/address-source.ts";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import { familyOf } from "../../src/sandbox/digitalocean/actions.ts";
import type { SimCall } from "./faults.ts";
import { type NameReading, Readings } from "./readings.ts";

/** What a process that makes several passes was shown, by its pass under way and those before it whose facts it reuses. */
export class KeptReadings extends Readings {
  /** Whether the pass that begins reuses what earlier ones were shown of addresses. */
  reusesAddresses = true;
  readonly #names = new Map<string, NameReading>();
  /** The families whose addresses the pass under way has not listed: a pass that does reuses nothing of what earlier ones were shown of them. */
  readonly #keepsAddresses = new Set<IPFamily>();

  override name(key: string): NameReading {
    const known = this.#names.get(key) ?? this.unseenName(key);
    this.#names.set(key, known);
    return known;
  }

  protected override knownNames(): readonly string[] {
    return [...this.#names.keys()];
  }

  override asked(call: SimCall): void {
    if (call.operation !== "list") return;
    const family = listedFamily(call);
    // Whoever buys lists the account, too, and decides nothing else by that.
    if (this.#keepsAddresses.has(family) && !this.isActing) this.#forgetAddresses(family);
  }

  override clear(): void {
    this.isActing = false;
    this.former.clear();
    this.singly.clear();
    this.nodes.clear();
    this.learnedMs.clear();
    for (const family of IP_FAMILIES)
      if (this.reusesAddresses) this.#keepsAddresses.add(family);
      else this.#forgetAddresses(family);
    // What was known of a name stands while it is looked at anew. Whoever writes it reads it once more, in the same pass.
    for (const name of this.#names.values()) name.reads = Math.min(1, name.reads);
  }

  /** What the pass under way was shown of an address by itself it keeps: it may list the account later, to buy another one. */
  #forgetAddresses(family: IPFamily): void {
    this.#keepsAddresses.delete(family);
    this.listedMs = undefined;
    for (const [ip, reading] of this.newest) if (familyOf(ip) === family) this.former.set(ip, reading);
    for (const memory of [this.newest, this.everSingly, this.listed, this.seen])
      for (const ip of memory.keys()) if (familyOf(ip) === family && !this.singly.has(ip)) memory.delete(ip);
  }
}

/** The family that a call lists the addresses of. */
function listedFamily({ args }: SimCall): IPFamily {
  return args.includes("IPv6") ? "IPv6" : "IPv4";
}
