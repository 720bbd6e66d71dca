import { expect, test } from "vitest";
import { type Action, refKey } from "../../src/model/action.ts";
import { includesPorts, parsePortText, portText } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { randomFirewallWorld } from "./random-firewall-world.ts";
import { random } from "./random-world.ts";

const SEEDS = Array.from({ length: 600 }, (_, index) => index + 1);

/** Firewalls, addresses and names while a plan is carried out. */
class Running {
  readonly #pools: readonly Pool[];
  readonly #ports = new Map<string, Set<string>>();
  readonly #machines = new Map<string, Set<string>>();
  readonly #tagged: ReadonlySet<string>;
  readonly #byName: ReadonlyMap<string, string>;
  /** Address → machine. */
  readonly #holders = new Map<string, string>();
  readonly #names = new Map<string, readonly string[]>();

  constructor({ pools, firewalls, providers, dns }: Observation) {
    this.#pools = pools;
    const known = [...(firewalls.get("digitalocean")?.firewalls ?? [])].flatMap(([name, fact]) =>
      fact.kind === "known" ? [{ name, fact }] : [],
    );
    this.#byName = new Map(known.map(({ name, fact }) => [name, fact.firewall.id]));
    this.#tagged = new Set(known.flatMap(({ fact }) => [...fact.taggedMachineIDs]));
    for (const { fact } of known) {
      this.#ports.set(fact.firewall.id, new Set(fact.firewall.rules.map(({ ports }) => portText(ports))));
      this.#machines.set(fact.firewall.id, new Set(fact.firewall.machineIDs));
    }
    for (const [ip, fact] of providers.get("digitalocean")?.addresses ?? [])
      if (fact.kind === "known" && fact.address.holderID !== undefined) this.#holders.set(ip, fact.address.holderID);
    for (const fact of dns.get("digitalocean")?.records.values() ?? [])
      if (fact.kind === "known") this.#names.set(fact.records.fqdn, fact.records.addresses);
  }

  /** True when the address of a live object is where its ports are let in; undefined when it is nowhere, or needs no firewall. */
  isOpen(pool: Pool): boolean | undefined {
    const machine = this.#holders.get(pool.status.acquired[0]?.ip ?? "");
    const id = this.#byName.get(pool.firewall?.firewall ?? "");
    if (machine === undefined || id === undefined || pool.meta.isDeleting) return undefined;
    const open = [...(this.#ports.get(id) ?? [])].flatMap((text) => parsePortText(text) ?? []);
    const isBehind = this.#machines.get(id)?.has(machine) === true || this.#tagged.has(machine);
    return isBehind && (pool.firewall?.ports ?? []).every((ports) => open.some((range) => includesPorts(range, ports)));
  }

  /** Carries out one action; returns what is wrong with it. */
  apply(action: Action): string | undefined {
    const before = this.#pools.map((pool) => this.isOpen(pool));
    this.#change(action);
    const wrong = this.#pools.find((pool, at) => before[at] === true && this.isOpen(pool) === false);
    if (wrong !== undefined) return `${action.id} closes what ${wrong.meta.name} serves`;
    const own = this.#pools.find((pool) => refKey({ kind: pool.kind, ...pool.meta }) === refKey(action.object));
    const isBringing = action.kind === "assign-ip" || action.kind === "move-ip";
    if (isBringing && own !== undefined && this.isOpen(own) === false) return `${action.id} goes where it is closed`;
    if (action.kind !== "update-dns" || own === undefined) return undefined;
    const added = action.after.addresses.filter((ip) => !action.before.addresses.includes(ip));
    return added.length > 0 && this.isOpen(own) === false ? `${action.id} is published while closed` : undefined;
  }

  #change(action: Action): void {
    const enter = (
      sets: Map<string, Set<string>>,
      id: string,
      { before, after }: { before: readonly string[]; after: readonly string[] },
    ): void => {
      const set = sets.get(id);
      for (const text of before) set?.delete(text);
      for (const text of after) set?.add(text);
    };
    switch (action.kind) {
      case "open-ports":
      case "close-ports":
        enter(this.#ports, action.firewall.id, action);
        return;
      case "add-to-firewall":
      case "remove-from-firewall":
        enter(this.#machines, action.firewall.id, action);
        return;
      case "assign-ip":
      case "move-ip":
        this.#holders.set(action.ip, action.after.machineID);
        return;
      case "unassign-ip":
        this.#holders.delete(action.ip);
        return;
      default:
        return;
    }
  }
}

/** Carries out a plan in a random order that its dependencies allow, some actions failing; returns the first thing that is wrong. */
function carryOut(observation: Observation, seed: number, failures: number): string | undefined {
  const { actions } = plan(observation, {});
  const next = random(seed);
  const ids = new Set(actions.map(({ id }) => id));
  const ended = new Map<string, boolean>();
  const running = new Running(observation);
  while (ended.size < actions.length) {
    const ready = actions.filter(
      ({ id, requires, follows }) =>
        !ended.has(id) && [...requires, ...follows].every((other) => ended.has(other) || !ids.has(other)),
    );
    const action = ready[Math.floor(next() * ready.length)];
    if (action === undefined) return "the plan waits for itself";
    const isApplied = action.requires.every((other) => ended.get(other) ?? true) && next() >= failures;
    ended.set(action.id, isApplied);
    const wrong = isApplied ? running.apply(action) : undefined;
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

test.for([0, 0.3])(
  "in any order that a plan allows, with failures of %d, no step closes what is served, or brings an address or its record to where it is closed",
  (failures) => {
    for (const seed of SEEDS)
      expect(carryOut(randomFirewallWorld(seed), seed, failures), `seed ${seed}`).toBeUndefined();
  },
);

test("only what is on record is taken away, and only what no live object needs", () => {
  let taken = 0;
  for (const seed of SEEDS) {
    const observation = randomFirewallWorld(seed);
    for (const action of plan(observation, {}).actions) {
      if (action.kind !== "close-ports" && action.kind !== "remove-from-firewall") continue;
      const own = observation.pools.find(({ meta }) => meta.name === action.object.name);
      const memory = own?.status.firewalls?.find(({ id }) => id === action.firewall.id);
      const recorded = [...(memory?.ports ?? []), ...(memory?.machineIDs ?? [])];
      expect(recorded, `seed ${seed}`).toEqual(expect.arrayContaining([...action.before]));
      taken += 1;
    }
  }
  expect(taken).toBeGreaterThan(100);
});

test("what is about to be added is on record for its object, and every kind of firewall action is planned somewhere", () => {
  const kinds = new Set<string>();
  for (const seed of SEEDS) {
    const { actions, pools } = plan(randomFirewallWorld(seed), {});
    for (const action of actions) {
      if (!("firewall" in action)) continue;
      kinds.add(action.kind);
      const status = pools.find(({ object }) => refKey(object) === refKey(action.object))?.status;
      const memory = status?.firewalls?.find(({ id }) => id === action.firewall.id);
      const recorded = [...(memory?.ports ?? []), ...(memory?.machineIDs ?? [])];
      expect(recorded, `seed ${seed}`).toEqual(expect.arrayContaining([...action.after]));
    }
  }
  expect([...kinds].toSorted()).toEqual(["add-to-firewall", "close-ports", "open-ports", "remove-from-firewall"]);
});

test("the order of the objects changes nothing", () => {
  for (const seed of SEEDS.slice(0, 200)) {
    const observation = randomFirewallWorld(seed);
    expect(plan({ ...observation, pools: observation.pools.toReversed() }, {}), `seed ${seed}`).toEqual(
      plan(observation, {}),
    );
  }
});
