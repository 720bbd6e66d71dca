import { expect, test } from "vitest";
import type { Action, WriteDNS } from "../../src/model/action.ts";
import type { Observation } from "../../src/model/observation.ts";
import { plan } from "../../src/plan/plan.ts";
import { randomDNSWorld } from "./random-dns-world.ts";
import { random } from "./random-world.ts";

const SEEDS = Array.from({ length: 400 }, (_, index) => index + 1);

/** The world as far as publication goes, while a plan is carried out. */
class Running {
  /** Address → machine. */
  readonly holders: Map<string, string>;
  readonly names: Map<string, readonly string[]>;
  readonly #nodeAddresses: ReadonlySet<string>;
  readonly #machines: ReadonlySet<string>;

  /** Name → what the plan makes of it in the end. */
  readonly #final: ReadonlyMap<string, readonly string[]>;

  constructor({ providers, dns, nodes }: Observation, actions: readonly Action[]) {
    this.#final = new Map(
      actions.flatMap((action) => (action.kind === "update-dns" ? [[action.fqdn, action.after.addresses]] : [])),
    );
    const addresses = [...(providers.get("digitalocean")?.addresses ?? [])];
    this.holders = new Map(
      addresses.flatMap(([ip, fact]) =>
        fact.kind === "known" && fact.address.holderID !== undefined ? [[ip, fact.address.holderID]] : [],
      ),
    );
    this.names = new Map(
      [...(dns.get("digitalocean")?.records ?? [])].flatMap(([, fact]) =>
        fact.kind === "known" ? [[fact.records.fqdn, fact.records.addresses]] : [],
      ),
    );
    const ready = nodes.filter((node) => node.ready.isReady && !node.isDeleting);
    this.#nodeAddresses = new Set([
      ...ready.flatMap((node) => node.addresses.map(({ address }) => address)),
      // Values that no pool manages are taken as written.
      ...ready.flatMap((node) => node.addressAnnotation ?? []),
    ]);
    this.#machines = new Set(ready.map(({ providerID }) => providerID.replace("digitalocean://", "")));
  }

  serves(address: string): boolean {
    return this.#machines.has(this.holders.get(address) ?? "") || this.#nodeAddresses.has(address);
  }

  /** Carries out one action; returns what is wrong with it. */
  apply(action: Action): string | undefined {
    switch (action.kind) {
      case "assign-ip":
      case "move-ip":
        this.holders.set(action.ip, action.after.machineID);
        return undefined;
      case "unassign-ip":
      case "delete-ip":
        this.holders.delete(action.ip);
        return this.#stillNamed(action.ip);
      case "update-dns":
      case "withdraw-dns":
      case "delete-dns":
        return this.#write(action);
      default:
        return undefined;
    }
  }

  #write({ kind, fqdn, after }: WriteDNS): string | undefined {
    const before = this.names.get(fqdn) ?? [];
    this.names.set(fqdn, after.addresses);
    if (kind !== "delete-dns" && after.addresses.length === 0) return `${kind} empties ${fqdn}`;
    const idle = after.addresses.find((address) => !before.includes(address) && !this.serves(address));
    return idle === undefined ? undefined : `${kind} adds ${idle} to ${fqdn}, which does not serve`;
  }

  #stillNamed(ip: string): string | undefined {
    const found = [...this.names].find(([name, addresses]) => {
      const staying = this.#final.get(name) ?? [];
      return addresses.includes(ip) && addresses.some((one) => staying.includes(one) && this.serves(one));
    });
    return found === undefined ? undefined : `${ip} leaves its machine while ${found[0]} has it beside one that serves`;
  }
}

/** Carries out a plan in a random order that its dependencies allow, some actions failing; returns the first thing that is wrong. */
function carryOut(observation: Observation, seed: number, failures: number): string | undefined {
  const { actions } = plan(observation, {});
  const next = random(seed);
  const ids = new Set(actions.map(({ id }) => id));
  const ended = new Map<string, boolean>();
  const running = new Running(observation, actions);
  while (ended.size < actions.length) {
    const ready = actions.filter(
      ({ id, requires, follows }) =>
        !ended.has(id) && [...requires, ...follows].every((other) => ended.has(other) || !ids.has(other)),
    );
    const action = ready[Math.floor(next() * ready.length)];
    if (action === undefined) return "the plan waits for itself";
    const isPossible = action.requires.every((other) => ended.get(other) ?? true);
    const isApplied = isPossible && next() >= failures;
    ended.set(action.id, isApplied);
    const wrong = isApplied ? running.apply(action) : undefined;
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

test.for([0, 0.3])(
  "in any order that a plan allows, with failures of %d, no step empties a name, publishes what does not serve, or strands what is published",
  (failures) => {
    for (const seed of SEEDS) expect(carryOut(randomDNSWorld(seed), seed, failures), `seed ${seed}`).toBeUndefined();
  },
);

test("every kind of DNS write is planned somewhere, and each name is written for one object only", () => {
  const kinds = new Set<string>();
  for (const seed of SEEDS) {
    const writes = plan(randomDNSWorld(seed), {}).actions.filter((action) => "dnsProvider" in action);
    for (const { kind } of writes) kinds.add(kind);
    const owners = new Map<string, string>();
    for (const { fqdn, object } of writes) {
      const own = `${object.kind}/${object.name}`;
      expect(owners.get(fqdn) ?? own, `seed ${seed}: ${fqdn}`).toBe(own);
      owners.set(fqdn, own);
    }
  }
  expect([...kinds].sort()).toEqual(["delete-dns", "update-dns", "withdraw-dns"]);
});

test("the order in which lists arrive changes nothing", () => {
  for (const seed of SEEDS) {
    const observation = randomDNSWorld(seed);
    const shuffled: Observation = {
      ...observation,
      pools: observation.pools.toReversed(),
      recordSets: observation.recordSets.toReversed(),
      nodes: observation.nodes.toReversed(),
      dns: new Map(
        [...observation.dns].map(([name, facts]) => [
          name,
          { ...facts, records: new Map([...facts.records].toReversed()) },
        ]),
      ),
    };
    expect(plan(shuffled, {}), `seed ${seed}`).toEqual(plan(observation, {}));
  }
});
