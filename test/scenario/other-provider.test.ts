import { expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { acquisitionAdded } from "../../src/model/lease-notes.ts";
import { ProviderRegistry } from "../../src/model/provider.ts";
import type { AcceptedAction, IPProvider } from "../../src/ports/providers.ts";
import type { LockState } from "../../src/ports/system.ts";
import { reconcilePass } from "../../src/reconcile.ts";
import { NO_LOCK } from "../../src/watch/lease.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryCluster } from "../fake/memory-cluster.ts";

/*
 * A provider that nobody has ever met, to show that flipop knows none: two addresses per machine, zones instead of regions, machine ids of another form, two
 * acquisitions a minute, and an address that has to be unassigned before another machine can take it.
 */
const ORBIT = "orbit";
const registry: ProviderRegistry = new ProviderRegistry([
  {
    name: ORBIT,
    addresses: {
      providerIDPrefix: "orbit:///",
      machineIDPattern: /^zone-[a-z]\/vm-[0-9a-f]+$/,
      addressesPerMachine: 2,
      regionLabel: "topology.kubernetes.io/zone",
      acquisitionsPerMinute: 2,
      isMoveOneCall: false,
    },
  },
]);

const [A, B, C] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;

/** The account at Orbit. It refuses what such a provider refuses. */
class Orbit implements IPProvider {
  readonly name: string = ORBIT;
  readonly pageSize: number = 200;
  /** Changes in the order in which they came. */
  readonly changes: string[] = [];
  readonly #addresses: Map<string, Address>;

  constructor(addresses: readonly Omit<Address, "isLocked">[]) {
    this.#addresses = new Map(addresses.map((address) => [address.ip, { ...address, isLocked: false }]));
  }

  /** `IP machine` of every address, sorted. */
  holders(): readonly string[] {
    return [...this.#addresses.values()].map(({ ip, holderID }) => `${ip} ${holderID ?? "-"}`).toSorted();
  }

  async listPage(): ReturnType<IPProvider["listPage"]> {
    return { addresses: [...this.#addresses.values()], hasMore: false, total: this.#addresses.size };
  }

  async getAddress(ip: string): Promise<Address | undefined> {
    return this.#addresses.get(ip);
  }

  async machineAddresses(machineID: string): Promise<readonly string[]> {
    return [...this.#addresses.values()].flatMap(({ ip, holderID }) => (holderID === machineID ? [ip] : []));
  }

  async addressLimit(): Promise<undefined> {
    return undefined;
  }

  async assign(ip: string, machineID: string): Promise<AcceptedAction> {
    const address = this.#addresses.get(ip);
    if (address === undefined || address.holderID !== undefined) throw refused(`${ip} is attached`);
    if (!machineID.startsWith(`${address.region}/`)) throw refused(`${machineID} is in another zone`);
    if ((await this.machineAddresses(machineID)).length >= 2) throw refused(`${machineID} has two addresses`);
    this.#addresses.set(ip, { ...address, holderID: machineID });
    return this.#done(`assign ${ip} ${machineID}`, ip);
  }

  async unassign(ip: string): Promise<AcceptedAction> {
    const { holderID: _former, ...address } = this.#addresses.get(ip) ?? { ip, region: "", isLocked: false };
    this.#addresses.set(ip, address);
    return this.#done(`unassign ${ip}`, ip);
  }

  async actionState(): Promise<"done"> {
    return "done";
  }

  async create(place: Parameters<IPProvider["create"]>[0]): Promise<Address> {
    const ip = `203.0.113.${100 + this.#addresses.size}`;
    const at = "region" in place ? { region: place.region } : { holderID: place.machineID };
    const address = { ip, region: at.holderID?.split("/")[0] ?? "", isLocked: false, ...at };
    this.#addresses.set(ip, address);
    this.#done(`create ${Object.values(place).join("")}`, ip);
    return address;
  }

  async delete(ip: string): Promise<void> {
    this.#addresses.delete(ip);
    this.#done(`delete ${ip}`, ip);
  }

  #done(change: string, ip: string): AcceptedAction {
    this.changes.push(change);
    return { ip, actionID: String(this.changes.length) };
  }
}

function refused(message: string): ProviderError {
  return new ProviderError({
    failure: "refused",
    provider: ORBIT,
    operation: "assign",
    subject: "",
    status: 422,
    message,
  });
}

interface World {
  readonly cluster: MemoryCluster;
  readonly orbit: Orbit;
  pass(): Promise<readonly string[]>;
}

/** Nodes `NAME: MACHINE`; an address of the account may be at a machine. */
function world(nodes: Readonly<Record<string, string>>, addresses: readonly Omit<Address, "isLocked">[]): World {
  const clock = new FakeClock();
  const cluster = new MemoryCluster({ now: () => clock.wallMs() });
  for (const [name, machine] of Object.entries(nodes)) cluster.sandbox.write(node(name, machine, true));
  const orbit = new Orbit(addresses);
  const notes: Record<string, string> = {};
  const lock: LockState = {
    ...NO_LOCK,
    annotations: () => notes,
    annotate: async (text) => void Object.assign(notes, text),
    noteAcquisition: async (acquisition) => {
      const change = acquisitionAdded(notes, acquisition);
      Object.assign(notes, change);
      return change !== undefined;
    },
  };
  const deps = {
    cluster,
    registry,
    notes,
    providers: new Map([[ORBIT, { kind: "usable", provider: orbit } as const]]),
    dnsProviders: new Map(),
    firewallProviders: new Map(),
    clock,
    lock,
    leaseName: { namespace: "flipop", name: "flipop" },
  };
  return {
    cluster,
    orbit,
    async pass() {
      const { length } = orbit.changes;
      const options = { selection: {}, deadlineMs: clock.monotonicMs() + 60_000, signal: new AbortController().signal };
      const result = await reconcilePass(deps, options);
      expect(result.outcomes.filter(({ outcome }) => outcome === "failed")).toEqual([]);
      return orbit.changes.slice(length);
    },
  };
}

function node(name: string, machine: string, isReady: boolean): Parameters<MemoryCluster["sandbox"]["write"]>[0] {
  const zone = machine.split("/")[0] ?? "";
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "moon" } },
    spec: { providerID: `orbit:///${machine}` },
    status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  };
}

function pool(name: string, spec: Readonly<Record<string, unknown>>): Parameters<MemoryCluster["sandbox"]["write"]>[0] {
  return {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "FloatingIPPool",
    metadata: { namespace: "ingress", name },
    spec: { provider: ORBIT, region: "zone-a", match: {}, ...spec },
  };
}

test("an address goes to a node of its zone", async () => {
  const { cluster, orbit, pass } = world({ "worker-1": "zone-a/vm-1", "worker-2": "zone-b/vm-2" }, [
    { ip: A, region: "zone-b" },
  ]);
  cluster.sandbox.write(pool("web", { ips: [A] }));
  expect(await pass()).toEqual([`assign ${A} zone-b/vm-2`]);
  expect(orbit.holders()).toEqual([`${A} zone-b/vm-2`]);
  expect((await cluster.listPools())[0]?.status.ips[A]).toMatchObject({
    state: "active",
    nodeName: "worker-2",
    providerID: "orbit:///zone-b/vm-2",
  });
  expect(await pass()).toEqual([]);
});

test("two pools share a machine, and a third one finds it full", async () => {
  const { cluster, orbit, pass } = world({ "worker-1": "zone-a/vm-1" }, [
    { ip: A, region: "zone-a" },
    { ip: B, region: "zone-a" },
    { ip: C, region: "zone-a" },
  ]);
  for (const [name, ip] of Object.entries({ "1": A, "2": B, "3": C }))
    cluster.sandbox.write(pool(name, { ips: [ip], maxPerNode: 2 }));
  await pass();
  expect(orbit.holders()).toEqual([`${A} zone-a/vm-1`, `${B} zone-a/vm-1`, `${C} -`]);
  expect(await pass()).toEqual([]);
});

test("an address leaves its machine before another one takes it, in one pass", async () => {
  const { cluster, orbit, pass } = world({ "worker-1": "zone-a/vm-1", "worker-2": "zone-a/vm-2" }, [
    { ip: A, region: "zone-a" },
  ]);
  cluster.sandbox.write(pool("web", { ips: [A] }));
  expect(await pass()).toEqual([`assign ${A} zone-a/vm-1`]);
  cluster.sandbox.write(node("worker-1", "zone-a/vm-1", false));
  expect(await pass()).toEqual([`unassign ${A}`, `assign ${A} zone-a/vm-2`]);
  expect(orbit.holders()).toEqual([`${A} zone-a/vm-2`]);
  expect(await pass()).toEqual([]);
});

test("addresses are acquired for nodes of the zone, two a minute", async () => {
  const nodes = { "worker-1": "zone-a/vm-1", "worker-2": "zone-a/vm-2", "worker-3": "zone-a/vm-3", far: "zone-b/vm-4" };
  const { cluster, pass } = world(nodes, []);
  cluster.sandbox.write(pool("web", { desiredIPs: 3 }));
  expect(await pass()).toEqual(["create zone-a/vm-1", "create zone-a/vm-2"]);
  expect(await pass()).toEqual([]);
  const [web] = await cluster.listPools();
  expect(web?.status.acquired).toHaveLength(2);
  expect(web?.status.pendingAcquisitions).toEqual([]);
});

test("of two pools that name an address the senior one has it", async () => {
  const { cluster, orbit, pass } = world({ "worker-1": "zone-a/vm-1" }, [{ ip: A, region: "zone-a" }]);
  cluster.sandbox.write(pool("a", { ips: [A] }));
  cluster.sandbox.write(pool("b", { ips: [A] }));
  await pass();
  expect(orbit.holders()).toEqual([`${A} zone-a/vm-1`]);
  const [first, second] = await cluster.listPools();
  expect(first?.status.ips[A]?.state).toBe("active");
  expect(second?.status.ips[A]).toMatchObject({ state: "error", reason: "Conflict" });
});

test("a machine id of another form is no machine, and no name of a provider stands in for another", async () => {
  const { cluster, pass } = world({ "worker-1": "vm-1" }, [{ ip: A, region: "" }]);
  cluster.sandbox.write(pool("web", { ips: [A] }));
  cluster.sandbox.write(pool("other", { ips: [B], provider: "digitalocean" }));
  expect(await pass()).toEqual([]);
  const pools = await cluster.listPools();
  expect(pools.find(({ meta }) => meta.name === "other")?.status.error).toBe('unknown provider "digitalocean"');
});
