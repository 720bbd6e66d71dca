import { expect } from "vitest";
import type { DNSName } from "../fake/dns-account.ts";
import type { WorldKind } from "./backend.ts";
import { DNS_PROVIDERS, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { DNSOperation, FaultKind } from "./operation-fault.ts";
import { checkInvariants, type Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const API = "api.example.com";

interface History {
  readonly title: string;
  readonly before: (world: World, provider: DNSName) => Promise<void>;
  /** Most writes the run makes in memory, where every record counts; the process dies before each of them in turn. */
  readonly writes: number;
  readonly after: (world: World, provider: DNSName) => Promise<void>;
}

const HISTORIES: readonly History[] = [
  {
    title: "first fill with DNS",
    writes: 16,
    before: async (world, provider) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      world.dns.zone(provider);
      world.dns.add(provider, WWW, "192.0.2.99");
      await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider) });
    },
    after: async (world, provider) => expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]),
  },
  {
    title: "two nodes replaced by others",
    writes: 13,
    before: async (world, provider) => {
      await publishedNodes(world, provider, ["n1", "n2", "n3"], { reclaimPolicy: "Delete" });
      await world.nodes.delete("n1");
      await world.nodes.delete("n2");
      await world.machines("n4", "n5");
    },
    after: async (world, provider) => expect(world.dns.set(provider, WWW)).toEqual(["ext3", "ext4", "ext5"]),
  },
  {
    title: "swap on one droplet with DNS",
    writes: 16,
    before: async (world, provider) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      world.cloud.address(ip(3));
      await world.pools.edit("web", { ips: [ip(1), ip(3)] });
    },
    after: async (world, provider) => {
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip3"]);
      expect(world.cloud.addresses()).toEqual({ ip1: "n1", ip2: "-", ip3: "n2" });
    },
  },
  {
    title: "swap of the only address",
    writes: 13,
    before: async (world, provider) => {
      await publishedPool(world, provider);
      world.cloud.address(ip(2));
      await world.pools.edit("web", { ips: [ip(2)] });
    },
    after: async (world, provider) => expect(world.dns.set(provider, WWW)).toEqual(["ip2"]),
  },
  {
    title: "renamed with Delete",
    writes: 14,
    before: async (world, provider) => {
      world.dnsSafety.allowEnd(WWW);
      await publishedPool(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
      await world.pools.edit("web", { dnsRecordSet: { recordName: "api" } });
    },
    after: async (world, provider) => {
      expect(world.dns.set(provider, API)).toEqual(["ip1", "ip2"]);
      expect(world.dns.set(provider, WWW)).toEqual([]);
      expect((await world.pools.status("web")).formerDNS).toEqual([]);
    },
  },
  {
    title: "pool with DNS created and deleted with Delete",
    writes: 17,
    before: async (world, provider) => {
      world.dnsSafety.allowEnd(WWW);
      await world.machines("n1", "n2");
      world.dns.zone(provider);
      await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete", dnsRecordSet: www(provider) });
      await world.pass();
      await world.pools.delete("web");
    },
    after: async (world, provider) => {
      expect(world.dns.set(provider, WWW)).toEqual([]);
      expect(world.cloud.boughtNow()).toEqual([]);
      expect(await world.pools.existing()).toEqual([]);
    },
  },
  {
    title: "first publication with Delete, then deleted",
    writes: 9,
    before: async (world, provider) => {
      world.dnsSafety.allowEnd(WWW);
      await world.machines("n1", "n2");
      world.dns.zone(provider);
      await world.recordSets.create("nodes", { reclaimPolicy: "Delete", dnsRecordSet: www(provider) });
    },
    after: async (world, provider) => {
      await world.recordSets.delete("nodes");
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual([]);
      expect(await world.recordSets.existing()).toEqual([]);
    },
  },
];

/** In memory the process dies before every write, single records included; over HTTP before a few of them. */
const WORLDS: readonly (readonly WorldKind[])[] = [
  ["memory"],
  ["memory", "sandbox"],
  ["memory"],
  ["memory", "sandbox", "cluster"],
];

async function converge(world: World): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    world.advance(15_000);
    const { outcomes, remaining } = await world.pass({ settle: true });
    if (outcomes.length === 0 && remaining.holds.every(({ notBeforeMs }) => notBeforeMs === undefined)) return;
  }
}

/** The process dies before every one of its writes in turn, or a call ends badly; the next passes converge, and no resolver ever sees a wrong set. */
export function dnsCrashScenarios(scenario: Register): void {
  for (const history of HISTORIES) {
    for (const provider of DNS_PROVIDERS) {
      for (let write = 1; write <= history.writes + 1; write += 1) killedScenario(scenario, history, provider, write);
      for (const operation of WRITES[provider]) faultScenarios(scenario, history, provider, operation);
    }
  }
}

const WRITES: Readonly<Record<DNSName, readonly DNSOperation[]>> = {
  digitalocean: ["add-record", "remove-record"],
  cloudflare: ["write"],
  hetzner: ["write"],
  webhook: ["write"],
};

function killedScenario(scenario: Register, history: History, provider: DNSName, write: number): void {
  const { title, writes, before, after } = history;
  const isLast = write > writes;
  scenario(
    `${title} at ${provider}: the run ${isLast ? "ends before any later write" : `dies before write ${write}`}`,
    async (world) => {
      await before(world, provider);
      const hasDied = await world.crash(write);
      if (isLast) expect(hasDied).toBe(false);
      await world.pass();
      await checkInvariants(world);
      await converge(world);
      await after(world, provider);
    },
    isLast ? {} : { worlds: WORLDS[write % WORLDS.length] ?? [] },
  );
}

const KINDS: readonly FaultKind[] = ["500", "lost-answer", "html"];

function faultScenarios(scenario: Register, history: History, provider: DNSName, operation: DNSOperation): void {
  const { title, before, after } = history;
  for (const [index, kind] of KINDS.entries()) {
    scenario(
      `${title} at ${provider}: ${operation} ends with ${kind} again and again`,
      async (world) => {
        await before(world, provider);
        world.fail({ side: "dns", provider, operation, kind, times: 2, skip: index % 2 });
        for (let pass = 0; pass < 4; pass += 1) {
          await world.pass();
          world.advance(2000);
        }
        world.clearFaults();
        world.advance(600_000);
        await converge(world);
        await after(world, provider);
      },
      { worlds: index === 1 ? ["memory", "sandbox"] : ["memory"] },
    );
  }
}
