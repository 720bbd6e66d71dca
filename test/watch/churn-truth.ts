import { DNSSafety, isServedBy } from "../scenario/dns-safety.ts";
import { nodeOf, short } from "../scenario/scenario-names.ts";
import type { NodeTruth } from "../scenario/world-nodes.ts";
import type { Watcher, WatchWorld } from "./watch-world.ts";

/** Judges every single effect of a watcher against what is true at that moment. */
export class ChurnTruth {
  /** What was done and must not have been; one sentence each. */
  readonly wrongs: string[] = [];
  readonly dnsSafety: DNSSafety;
  readonly #world: WatchWorld;
  readonly #watcher: Watcher;
  #seen: number;
  #readyBefore: readonly NodeTruth[] = [];
  #holders: Readonly<Record<string, string>>;

  constructor(world: WatchWorld, watcher: Watcher) {
    this.#world = world;
    this.#watcher = watcher;
    this.#seen = watcher.provider.recorded.length;
    this.dnsSafety = new DNSSafety(
      world.dns.world,
      // What was ready when a pass was planned may be published by it a moment later.
      isServedBy(world.cloud, () => [...this.#readyBefore, ...world.nodes.ready()]),
    );
    this.#holders = world.cloud.addresses();
  }

  /** Makes one change, lets the watcher act at once, and judges what it did: nobody who is ready has lost an address, and no node has two. */
  async step(change: () => Promise<unknown>, thenMs: number): Promise<void> {
    this.#readyBefore = this.#world.nodes.ready();
    await change();
    const ready = new Set(this.#world.nodes.ready().map(({ droplet }) => nodeOf(droplet ?? 0)));
    await this.#world.clock.advance(thenMs);
    const { recorded } = this.#watcher.provider;
    for (const { operation, subject, detail } of recorded.slice(this.#seen)) {
      const holder = this.#holders[short(subject)] ?? "-";
      if (operation === "assign" && ready.has(holder))
        this.wrongs.push(`${short(subject)} was taken from ${holder}, which is ready: ${detail}`);
    }
    this.#seen = recorded.length;
    this.#holders = this.#world.cloud.addresses();
    const held = Object.values(this.#holders).filter((node) => node !== "-");
    if (new Set(held).size < held.length)
      this.wrongs.push(`a node has two addresses: ${JSON.stringify(this.#holders)}`);
  }

  /** How often the watcher called a provider so. */
  count(operation: string): number {
    const { provider, dns } = this.#watcher;
    const calls = [provider, dns.digitalocean, dns.cloudflare].flatMap(({ recorded }) => recorded);
    return calls.filter((call) => call.operation === operation).length;
  }

  /** How many writes the watcher has made anywhere, the Lease aside. */
  writes(): number {
    const { cluster, provider, dns } = this.#watcher;
    const isWrite = ({ operation }: { readonly operation: string }): boolean => !READS.has(operation);
    const calls = [provider, dns.digitalocean, dns.cloudflare].flatMap(({ recorded }) => recorded);
    return (
      calls.filter(isWrite).length + cluster.writes.filter(({ operation }) => !operation.includes("leases")).length
    );
  }
}

const READS: ReadonlySet<string> = new Set(["list", "get", "machine", "limit", "action", "zone", "records", "texts"]);
