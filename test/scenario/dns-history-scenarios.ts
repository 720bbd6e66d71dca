import { expect } from "vitest";
import { Random } from "../simulation/random.ts";
import { DNS_PROVIDERS, www } from "./dns-scene.ts";
import type { DNSOperation, FaultKind } from "./operation-fault.ts";
import { PLAYS_ALL } from "./plays-all.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";
const NODES = [1, 2, 3, 4];
const HISTORIES = PLAYS_ALL ? 60 : 20;
const STEPS = 14;
const RUN = { lease: "wait", deadlineMs: 300 * SECOND } as const;

const NO_SET: ReturnType<World["dns"]["sets"]>[number] = { provider: "cloudflare", fqdn: "", addresses: [] };

/** One thing that happens between two runs. */
type Happening = (world: World, random: Random) => Promise<void>;

const HAPPENINGS: readonly Happening[] = [
  async (world, random) => world.nodes.setReady(`n${random.pick(NODES)}`, random.chance(0.6)),
  async (world, random) => {
    const ips = NODES.filter(() => random.chance(0.6)).map(ip);
    await world.pools.edit("web", { ips: ips.length < 2 ? [ip(1), ip(4)] : ips });
  },
  async (world, random) => world.pools.edit("web", { desiredIPs: random.between(0, 2) }),
  async (world, random) => world.pools.edit("web", { suspend: random.chance(0.3) }),
  async (world, random) => world.recordSets.edit("values", { suspend: random.chance(0.3) }),
  async (world, random) => world.pools.edit("web", { dnsRecordSet: { ttl: random.pick([30, 60, 300]) } }),
  async (world, random) => {
    const { provider, fqdn, addresses } = random.pick(world.dns.sets().length === 0 ? [NO_SET] : world.dns.sets());
    const [first] = addresses;
    if (first !== undefined && random.chance(0.5)) world.dns.remove(provider, { fqdn, content: first });
    else if (first !== undefined) world.dns.add(provider, fqdn, `192.0.2.${random.between(60, 250)}`);
  },
  async (world, random) => world.advance(random.pick([1, 5, 20, 60]) * SECOND),
  async (world, random) => plannedFault(world, random),
  async (world, random) => plannedFault(world, random),
];

const DNS_OPERATIONS: readonly DNSOperation[] = ["zone", "records", "add-record", "set-ttl", "remove-record", "write"];
const KINDS: readonly FaultKind[] = ["500", "lost-answer", "cut", "html", "422", "429"];

async function plannedFault(world: World, random: Random): Promise<void> {
  const common = { kind: random.pick(KINDS), times: random.between(1, 3), skip: random.between(0, 2), retryAfter: 20 };
  const operation = random.pick(DNS_OPERATIONS);
  if (random.chance(0.7)) world.fail({ ...common, side: "dns", provider: random.pick(DNS_PROVIDERS), operation });
  else world.fail({ ...common, side: "cloud", operation: random.pick(["list", "get", "assign", "unassign"]) });
}

/** A pool that publishes at one provider, and two record sets that publish nodes and annotations at the other. */
async function build(world: World, random: Random): Promise<void> {
  const [near = "digitalocean", far = "cloudflare"] = random.chance(0.5) ? DNS_PROVIDERS : DNS_PROVIDERS.toReversed();
  await world.machines(...NODES.map((number) => `n${number}`));
  for (const number of NODES) world.cloud.address(ip(number));
  for (const provider of DNS_PROVIDERS) world.dns.zone(provider);
  const gracePeriodSeconds = random.pick([0, 0, 15]);
  await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], gracePeriodSeconds, dnsRecordSet: www(near) });
  await world.recordSets.create("nodes", { gracePeriodSeconds, dnsRecordSet: www(far, { recordName: "nodes" }) });
  await world.recordSets.create("values", {
    addressType: ANNOTATION,
    dnsRecordSet: www(far, { recordName: "values" }),
  });
}

/** Random histories of nodes, specs, hand edits, faults and killed runs: no resolver ever sees an empty or wrong set, and all is right in the end. */
export function dnsHistoryScenarios(scenario: Register): void {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    scenario(
      `random history ${seed}: no resolver ever sees an empty or wrong set, and all is right in the end`,
      (world) => history(world, new Random(seed)),
      { worlds: seed % 10 === 0 ? ["memory", "sandbox"] : ["memory"] },
    );
  }
}

async function history(world: World, random: Random): Promise<void> {
  await build(world, random);
  for (let step = 0; step < STEPS; step += 1) {
    for (let count = random.between(1, 3); count > 0; count -= 1) await random.pick(HAPPENINGS)(world, random);
    if (random.chance(0.25)) await world.crash(random.between(1, 8), RUN);
    else await world.run(RUN);
  }
  await comeToRest(world);
  const { ips } = await world.pools.status("web");
  const active = Object.entries(ips).flatMap(([address, { state }]) => (state === "active" ? [address] : []));
  expect(active).not.toEqual([]);
  for (const name of ["www", "values"]) expect(shown(world, name)).toEqual(active.toSorted());
  expect(shown(world, "nodes")).toHaveLength(NODES.length);
}

async function comeToRest(world: World): Promise<void> {
  world.clearFaults();
  for (const number of NODES) await world.nodes.setReady(`n${number}`, true);
  await world.pools.edit("web", { suspend: false });
  await world.recordSets.edit("values", { suspend: false });
  for (let round = 0; round < 6; round += 1) {
    world.advance(700 * SECOND);
    await world.pass({ settle: true });
  }
}

/** What resolvers get for a name, at whichever provider it is. */
function shown(world: World, name: string): readonly string[] {
  return DNS_PROVIDERS.flatMap((provider) => world.dns.addresses(provider, `${name}.example.com`));
}
