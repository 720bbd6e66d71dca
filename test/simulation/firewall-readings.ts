import type { Firewall } from "../../src/model/firewall.ts";
import type { SimCall } from "./faults.ts";

/** What a process was shown of firewalls in the pass under way. */
export class FirewallReadings {
  /** By id, newest last. */
  readonly shown: Map<string, Firewall[]> = new Map();
  /** Ids of those read by themselves, and of those that were said not to exist. */
  readonly singly: Set<string> = new Set();
  readonly missing: Set<string> = new Set();

  clear(): void {
    for (const memory of [this.shown, this.singly, this.missing]) memory.clear();
  }

  /** Enters what a call answered. */
  enter({ side, operation, subject }: SimCall, result: unknown): void {
    if (side !== "firewall") return;
    if (operation === "firewalls") for (const firewall of result as readonly Firewall[]) this.#show(firewall);
    if (operation !== "firewall") return;
    this.singly.add(subject);
    if (result === undefined) this.missing.add(subject);
    else this.#show(result as Firewall);
  }

  /** The newest reading; undefined when there is none. */
  newest(id: string): Firewall | undefined {
    return this.shown.get(id)?.at(-1);
  }

  /** All readings of the firewall with that name or id, newest last. */
  of(wanted: string): readonly Firewall[] {
    return [...this.shown.values()].flat().filter(({ id, name }) => id === wanted || name === wanted);
  }

  #show(firewall: Firewall): void {
    this.shown.set(firewall.id, [...(this.shown.get(firewall.id) ?? []), firewall]);
  }
}
