import { expect } from "vitest";
import type { IPFamily } from "../../src/model/address-source.ts";
import { familyOf } from "../../src/model/host-address.ts";
import type { PoolStatus } from "../../src/model/resource.ts";
import type { DNSName } from "../fake/dns-account.ts";
import type { WorldKind } from "./backend.ts";
import { short } from "./scenario-names.ts";
import type { World } from "./world.ts";

/** What holds for one scenario, beyond its body. */
export interface ScenarioOptions {
  /** Default: every world. */
  readonly worlds?: readonly WorldKind[];
  /** False where a fault keeps annotations from being right in the end. */
  readonly checksAnnotations?: boolean;
  /** How many addresses a machine may have at any time; absent = 1. */
  readonly mostPerMachine?: number;
  /** What it says of a single run, and why that is not so of a process that watches; absent = it holds there, too. */
  readonly onlySingleRuns?: string;
}

/** One history of a world, and what is to be seen in it. */
export interface Scenario {
  readonly title: string;
  readonly body: (world: World) => Promise<void>;
  readonly options: ScenarioOptions;
}

/** Enters a scenario into its group. */
export type Register = (title: string, body: (world: World) => Promise<void>, options?: ScenarioOptions) => void;

/** Plays a scenario to its end, then one more pass, which must write nothing; then what holds in every world is checked. */
export async function play({ body, options }: Scenario, world: World): Promise<void> {
  await world.namespace();
  world.afterRun = () => checkSafety(world, options);
  await body(world);
  const before = await world.show().catch(() => []);
  await world.pass();
  expect(
    { cloud: world.cloudWrites(), dns: world.dnsWrites(), kube: world.kubeWrites() },
    `the pass after the end writes nothing; ${before}`,
  ).toEqual({
    cloud: [],
    dns: [],
    kube: [],
  });
  await checkInvariants(world, options);
}

/** What holds when a world has come to rest. */
export async function checkInvariants(world: World, options: ScenarioOptions = {}): Promise<void> {
  await checkSafety(world, options);
  for (const pool of await world.pools.existing()) await checkAcquired(world, pool);
  if (options.checksAnnotations !== false) await checkAnnotations(world, options);
  await checkPublished(world);
  for (const name of await world.routedIPs.existing()) await checkFirewall(world, name);
}

/** What status has on record at firewalls is really there; where all is well, the node of the address is let in on some port. */
async function checkFirewall(world: World, name: string): Promise<void> {
  const { firewalls = [], ips, conditions } = await world.routedIPs.status(name);
  const { firewalls: all } = world.cloud.state;
  for (const memory of firewalls) {
    const firewall = all.find(({ id }) => id === memory.id);
    const shown = (firewall?.inbound_rules ?? []).map(({ protocol, ports }) => `${protocol}/${ports}`);
    expect(shown, `${name} has on record what is open`).toEqual(expect.arrayContaining([...memory.ports]));
    const droplets = (firewall?.droplet_ids ?? []).map(String);
    expect(droplets, `${name} has on record what is attached`).toEqual(expect.arrayContaining([...memory.machineIDs]));
  }
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const places = Object.values(ips)
    .filter(({ state }) => state === "active")
    .map(({ providerID = "" }) => Number(providerID.split("/").at(-1)))
    .filter((machine) => !world.cloud.isOpen(machine));
  const [firewall] = all.filter(({ id }) => firewalls.some((memory) => memory.id === id));
  if (!isReady || firewall === undefined || firewall.tags.length > 0) return;
  expect(firewall.droplet_ids, `${name} is served behind its firewall`).toEqual(expect.arrayContaining(places));
}

/** What holds after every pass of every history, whatever went wrong in it. */
async function checkSafety(world: World, { mostPerMachine = 1 }: ScenarioOptions): Promise<void> {
  world.cloud.settle();
  const holders = world.cloud
    .allAddresses()
    .flatMap(({ ip, droplet_id }) => (droplet_id === null ? [] : [`${droplet_id} ${familyOf(ip)}`]));
  const loads = [...Map.groupBy(holders, (id) => id).values()].map(({ length }) => length);
  expect(Math.max(0, ...loads), "what a droplet has of a family at most").toBeLessThanOrEqual(mostPerMachine);
  expect(world.cloud.missing().map(short), "nothing is deleted that flipop did not acquire").toEqual([]);
  const values = (await Promise.all(FAMILIES.map((family) => world.nodes.annotations(family)))).flatMap(Object.values);
  expect(values, "an address is annotated on one node").toEqual([...new Set(values)]);
  expect(world.dnsSafety.violations, "a resolver never sees an empty or wrong set").toEqual([]);
  expect(world.dns.meddled, "records of other types are not touched").toEqual([]);
}

async function checkAcquired(world: World, pool: string): Promise<void> {
  const { desiredIPs = 0 } = ((await world.pools.read(pool))?.spec ?? {}) as { readonly desiredIPs?: number };
  const { acquired, ips } = await world.pools.status(pool);
  const inUse = acquired.filter(({ ip }) => ips[ip]?.state === "active");
  expect(inUse.length, `${pool} uses no more than desiredIPs acquired addresses`).toBeLessThanOrEqual(desiredIPs);
}

/** Annotated is exactly what some status calls active, and there the address really is. */
async function checkAnnotations(world: World, options: ScenarioOptions): Promise<void> {
  for (const family of FAMILIES) await checkAnnotationsOf(world, family, options);
}

const FAMILIES = ["IPv4", "IPv6"] as const;

async function checkAnnotationsOf(world: World, family: IPFamily, options: ScenarioOptions): Promise<void> {
  const annotations = await world.nodes.annotations(family);
  expect(annotations, `annotated are exactly the active ${family} addresses`).toEqual(
    await activeByNode(world, family, options),
  );
  const cloud = world.cloud.addresses();
  const places = Object.entries(annotations).flatMap(([node, value]) =>
    (value.split(" ")[0] ?? "").split(",").map((address) => [address, node]),
  );
  expect(Object.fromEntries(places), "an active address is on its node's droplet").toEqual(
    Object.fromEntries(places.map(([address = ""]) => [address, cloud[address]])),
  );
}

/** What statuses call active, as annotations show it. Where more is called so than a machine may have, the last ones count: an invalid object may say anything. */
async function activeByNode(
  world: World,
  family: IPFamily,
  { mostPerMachine = 1 }: ScenarioOptions,
): Promise<Readonly<Record<string, string>>> {
  const entries: { readonly node: string; readonly address: string; readonly owner: string }[] = [];
  const enter = (ips: PoolStatus["ips"], owner: string): void => {
    for (const [address, { state, nodeName = "" }] of Object.entries(ips))
      if (state === "active" && address.includes(":") === (family === "IPv6"))
        entries.push({ node: nodeName, address, owner });
  };
  for (const pool of await world.pools.existing()) {
    const key = pool.includes("/") ? pool : `shop/${pool}`;
    enter((await world.pools.status(pool)).ips, key);
  }
  for (const name of await world.routedIPs.existing())
    enter((await world.routedIPs.status(name)).ips, `routedip/shop/${name}`);
  const byNode = Map.groupBy(entries, ({ node }) => node);
  return Object.fromEntries([...byNode].map(([node, own]) => [node, shownText(own.slice(-mostPerMachine))]));
}

function shownText(own: readonly { readonly address: string; readonly owner: string }[]): string {
  const sorted = own.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const owners = [...new Set(sorted.map(({ owner }) => owner))];
  const all = owners.length === 1 ? owners : sorted.map(({ owner }) => owner);
  const text = sorted.map(({ address }) => short(address)).join(",");
  return all.join() === "shop/web" ? text : `${text} of ${all.join(",")}`;
}

/** Whoever is ready shows exactly what serves, and status says so; nobody shows what does not serve beside what does. */
async function checkPublished(world: World): Promise<void> {
  for (const name of await world.pools.existing()) {
    const status = await world.pools.status(name);
    const active = Object.entries(status.ips).filter(([, { state }]) => state === "active");
    const published = checkName(world, `pool ${name}`, status);
    if (published === undefined) continue;
    expect(published, `pool ${name} publishes what is active`).toEqual(active.map(([address]) => address).toSorted());
  }
  for (const [name, status] of await world.recordSets.statuses()) checkName(world, `record set ${name}`, status);
}

/** The addresses that an object itself publishes; undefined when it is not ready. */
function checkName(
  world: World,
  whose: string,
  { conditions, publishedDNS }: Pick<PoolStatus, "conditions" | "publishedDNS">,
): readonly string[] | undefined {
  if (publishedDNS === undefined) return undefined;
  const published = world.dns.addresses(publishedDNS.provider as DNSName, publishedDNS.name);
  expect(world.dnsSafety.wrong(published), `${whose} publishes nothing that does not serve`).toEqual([]);
  if (!conditions.some(({ type, status }) => type === "Ready" && status === "True")) return undefined;
  expect(publishedDNS.addresses, `${whose} remembers what it publishes`).toEqual(published);
  const foreign = new Set(publishedDNS.foreign?.map(({ address }) => address));
  return published.filter((address) => !foreign.has(address));
}
