import { describe, expect, test } from "vitest";
import { KubeError, ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { MemoryFault } from "../fake/memory-cloud-calls.ts";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

/** Four pod changes a second. */
const PERIOD_MS = 250;
const MINUTE_MS = 60_000;
/** After this an adapter has given up, milliseconds: every attempt of a call was cut off. */
const HANGS_MS = 25_000;
/** Calls a minute that one standing fault may add, looks at it and retries included. */
const MOST_MORE = 10;

/** One thing that is wrong and stays wrong, in a world where everything else is right. */
interface StandingFault {
  readonly title: string;
  readonly arrange: (world: WatchWorld) => Promise<void>;
  readonly spoil?: (watcher: Watcher, world: WatchWorld) => void;
}

const DNS = (provider: string, zone: string): object => ({ provider, zone, recordName: "www", ttl: 60 });
const ALL = { nodeLabel: "" };

const FAULTS: readonly StandingFault[] = [
  {
    title: "an address in ips that the account does not have",
    arrange: (world) => world.pools.create("typo", { ips: [ip(9)], match: ALL }),
  },
  {
    title: "an entry in ips that is no address",
    arrange: (world) => world.pools.create("typo", { ips: ["203.0.113"], match: ALL }),
  },
  {
    title: "the account's quota is full",
    arrange: async (world) => {
      world.cloud.state.account.reserved_ip_limit = world.cloud.state.reserved_ips.length;
      await world.pools.create("more", { desiredIPs: 2, match: ALL });
    },
  },
  {
    title: "an acquisition that is refused each time",
    arrange: (world) => world.pools.create("more", { desiredIPs: 2, match: ALL }),
    spoil: (watcher) => failAll(watcher, "cloud", ({ operation }) => operation === "create", "refused", 422),
  },
  {
    title: "an acquisition whose answer is lost each time",
    arrange: (world) => world.pools.create("more", { desiredIPs: 1, match: ALL }),
    spoil: (watcher) => failAll(watcher, "cloud", ({ operation }) => operation === "create", "timeout", 0),
  },
  ...(["digitalocean", "cloudflare"] as const).flatMap((provider): readonly StandingFault[] => [
    {
      title: `a zone that ${provider} does not have`,
      arrange: (world) => world.recordSets.create("www", { dnsRecordSet: DNS(provider, "exmaple.com"), match: ALL }),
    },
    {
      title: `a token that ${provider} refuses for DNS`,
      arrange: async (world) => {
        world.dns.world.zone(provider);
        await world.recordSets.create("www", { dnsRecordSet: DNS(provider, "example.com"), match: ALL });
      },
      spoil: (watcher) => failAll(watcher, provider, () => true, "unauthorized", 401),
    },
    {
      title: `a name that cannot be read at ${provider}`,
      arrange: async (world) => {
        world.dns.world.zone(provider);
        await world.recordSets.create("www", { dnsRecordSet: DNS(provider, "example.com"), match: ALL });
      },
      spoil: (watcher) => failAll(watcher, provider, ({ operation }) => operation === "records", "unavailable", 500),
    },
    {
      title: `a provider of names that never answers, ${provider}`,
      arrange: async (world) => {
        world.dns.world.zone(provider);
        await world.recordSets.create("www", { dnsRecordSet: DNS(provider, "example.com"), match: ALL });
        world.takesMs = ({ port }) => (port === provider ? HANGS_MS : undefined);
      },
      spoil: (watcher) => failAll(watcher, provider, () => true, "timeout", 0),
    },
    {
      title: `a name that cannot be written at ${provider}`,
      arrange: async (world) => {
        world.dns.world.zone(provider);
        await world.recordSets.create("www", { dnsRecordSet: DNS(provider, "example.com"), match: ALL });
      },
      spoil: (watcher) =>
        failAll(
          watcher,
          provider,
          ({ operation }) => operation !== "records" && operation !== "zone",
          "forbidden",
          403,
        ),
    },
  ]),
  {
    title: "a token that may not be used at all",
    arrange: async () => undefined,
    spoil: (watcher) => failAll(watcher, "cloud", () => true, "unauthorized", 401),
  },
  {
    title: "a provider that answers every call with 500",
    arrange: async () => undefined,
    spoil: (watcher) => failAll(watcher, "cloud", () => true, "unavailable", 500),
  },
  {
    title: "one address that cannot be read by itself, and a list that does not show it",
    arrange: (world) => world.pools.create("odd", { ips: [ip(9)], match: ALL }),
    spoil: (watcher) => failAll(watcher, "cloud", ({ subject }) => subject === ip(9), "unavailable", 500),
  },
  {
    title: "an address that is locked for ever",
    arrange: async (world) => {
      world.cloud.address(ip(9));
      world.cloud.lock(ip(9));
      await world.pools.create("stuck", { ips: [ip(9)], match: ALL });
    },
  },
  {
    title: "an address on a machine outside the cluster",
    arrange: async (world) => {
      world.cloud.droplet(9001);
      world.cloud.address(ip(9), { on: 9001 });
      await world.pools.create("foreign", { ips: [ip(9)], match: ALL });
    },
  },
  {
    title: "assignments that are refused each time",
    arrange: async (world) => {
      world.cloud.address(ip(9));
      await world.pools.create("refused", { ips: [ip(9)], match: ALL });
    },
    spoil: (watcher) => failAll(watcher, "cloud", ({ operation }) => operation === "assign", "refused", 422),
  },
  {
    title: "assignments that are answered with 500 each time",
    arrange: async (world) => {
      world.cloud.address(ip(9));
      await world.pools.create("refused", { ips: [ip(9)], match: ALL });
    },
    spoil: (watcher) => failAll(watcher, "cloud", ({ operation }) => operation === "assign", "unavailable", 500),
  },
  {
    title: "assignments whose droplet is busy for ever",
    arrange: async (world) => {
      world.cloud.address(ip(9));
      await world.pools.create("busy", { ips: [ip(9)], match: ALL });
    },
    spoil: (watcher) => failAll(watcher, "cloud", ({ operation }) => operation === "assign", "busy", 422),
  },
  ...(["forbidden", "invalid"] as const).flatMap((failure): readonly StandingFault[] => [
    {
      title: `statuses that may not be written (${failure}) while an address waits to be acquired`,
      arrange: (world) => world.pools.create("more", { desiredIPs: 1, match: ALL }),
      spoil: (watcher) => refuse(watcher, "floatingippools.flipop.digitalocean.com/status", "shop/more", failure),
    },
    {
      title: `statuses that may not be written (${failure}) while an assignment fails`,
      arrange: async (world) => {
        world.cloud.address(ip(9));
        await world.pools.create("odd", { ips: [ip(9)], match: ALL });
      },
      spoil: (watcher) => {
        refuse(watcher, "floatingippools.flipop.digitalocean.com/status", "shop/odd", failure);
        failAll(watcher, "cloud", ({ operation }) => operation === "assign", "refused", 422);
      },
    },
    {
      title: `statuses of a record set that may not be written (${failure}) while its name cannot be written`,
      arrange: async (world) => {
        world.dns.world.zone("cloudflare");
        await world.recordSets.create("www", { dnsRecordSet: DNS("cloudflare", "example.com"), match: ALL });
      },
      spoil: (watcher) => {
        refuse(watcher, "nodednsrecordsets.flipop.digitalocean.com/status", "shop/www", failure);
        failAll(watcher, "cloudflare", ({ operation }) => operation === "write", "refused", 400);
      },
    },
    {
      title: `finalizers that may not be written (${failure})`,
      arrange: (world) => world.pools.create("more", { desiredIPs: 1, reclaimPolicy: "Delete", match: ALL }),
      spoil: (watcher) => refuse(watcher, "floatingippools.flipop.digitalocean.com", "shop/more", failure),
    },
    {
      title: `finalizers of a record set that may not be written (${failure})`,
      arrange: async (world) => {
        world.dns.world.zone("cloudflare");
        const spec = { dnsRecordSet: DNS("cloudflare", "example.com"), reclaimPolicy: "Delete", match: ALL };
        await world.recordSets.create("www", spec);
      },
      spoil: (watcher) => refuse(watcher, "nodednsrecordsets.flipop.digitalocean.com", "shop/www", failure),
    },
    {
      title: `node annotations that may not be written (${failure})`,
      arrange: async (world) => {
        world.cloud.address(ip(9));
        await world.pools.create("odd", { ips: [ip(9)], match: ALL });
      },
      spoil: (watcher) => refuse(watcher, "nodes", "", failure),
    },
  ]),
  {
    title: "a definition that does not know what acquisitions need",
    arrange: async (world) => {
      await world.pools.forgetStatusField("pendingAcquisitions");
      await world.pools.create("more", { desiredIPs: 1, match: ALL });
    },
  },
  {
    title: "a definition that does not know what was acquired",
    arrange: async (world) => {
      await world.pools.forgetStatusField("acquired");
      await world.pools.create("more", { desiredIPs: 2, match: ALL });
    },
  },
  ...["publishedDNS", "formerDNS"].map(
    (field): StandingFault => ({
      title: `a definition that does not know ${field}, and a name that has changed`,
      arrange: async (world) => {
        world.dns.world.zone("cloudflare");
        const spec = { dnsRecordSet: DNS("cloudflare", "example.com"), reclaimPolicy: "Delete", match: ALL };
        await world.recordSets.create("www", spec);
      },
      spoil: (_, world) => {
        void world.clock.sleep(20_000).then(async () => {
          await world.recordSets.forgetStatusField(field);
          await world.recordSets.edit("www", { dnsRecordSet: { recordName: "more" } });
        });
      },
    }),
  ),
  {
    title: "a definition that does not know retries",
    arrange: async (world) => {
      await world.pools.forgetStatusField("retries");
      world.cloud.address(ip(9));
      await world.pools.create("odd", { ips: [ip(9)], match: ALL });
    },
    spoil: (watcher) => failAll(watcher, "cloud", ({ operation }) => operation === "assign", "refused", 422),
  },
];

/** Passes a minute that come of a wait that is over, not of a change. */
const MOST_UNASKED = 20;

/** A pool whose pods decide, on n1 and n2 of five nodes, with one standing fault; at rest, as far as that fault lets it. */
async function aWorldWith(fault: StandingFault | undefined): Promise<{ world: WatchWorld; watcher: Watcher }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2", "n3", "n4", "n5");
  for (const number of [1, 2]) world.cloud.address(ip(number), { on: `n${number}` });
  for (const number of [1, 2, 3]) await world.pods.create(`p${number}`, { node: `n${number}`, labels: { app: "web" } });
  // Beside a pod that stays ready: a plan sees the change, and nothing follows from it.
  await world.pods.create("flapper", { node: "n1", labels: { app: "web" } });
  await world.pools.create("web", { ips: [ip(1), ip(2)], match: { podNamespace: "shop", podLabel: "app=web" } });
  await fault?.arrange(world);
  const watcher = world.watch();
  fault?.spoil?.(watcher, world);
  await world.clock.advance(3 * MINUTE_MS);
  return { world, watcher };
}

/** What two minutes of four pod changes a second cause. */
interface Churned {
  /** To all providers, for each minute. */
  readonly calls: number;
  /** To the cluster, the Lease aside. */
  readonly writes: Watcher["cluster"]["writes"];
  readonly turns: Watcher["turns"];
}

async function underChurn({ world, watcher }: { world: WatchWorld; watcher: Watcher }): Promise<Churned> {
  const before = { calls: calls(watcher), writes: watcher.cluster.writes.length, turns: watcher.turns.length };
  for (let at = 0; at < (2 * MINUTE_MS) / PERIOD_MS; at += 1) {
    await world.pods.setReady("flapper", at % 2 === 0);
    await world.clock.advance(PERIOD_MS);
  }
  return {
    calls: (calls(watcher) - before.calls) / 2,
    writes: watcher.cluster.writes.slice(before.writes).filter(({ operation }) => !operation.includes("leases")),
    turns: watcher.turns.slice(before.turns),
  };
}

const played = new Map<StandingFault, Promise<Churned>>();

/** As {@link underChurn}, once for all tests of a fault. */
function underChurnWith(fault: StandingFault): Promise<Churned> {
  const churned = played.get(fault) ?? aWorldWith(fault).then(underChurn);
  played.set(fault, churned);
  return churned;
}

function calls({ provider, dns }: Watcher): number {
  return provider.recorded.length + dns.digitalocean.recorded.length + dns.cloudflare.recorded.length;
}

describe("four pod changes a second, beside one thing that stays wrong", async () => {
  const undisturbed = (await underChurn(await aWorldWith(undefined))).calls;

  test("nothing wrong: the providers are asked once an interval", () => {
    expect(undisturbed).toBeLessThanOrEqual(2);
  });

  test.for(FAULTS.map((fault) => [fault.title, fault] as const))("%s costs few calls", async ([, fault]) => {
    expect((await underChurnWith(fault)).calls).toBeLessThanOrEqual(undisturbed + MOST_MORE);
  });

  test.for(FAULTS.map((fault) => [fault.title, fault] as const))(
    "%s: few Events and few refused writes, and few passes that no change asks for",
    async ([, fault]) => {
      const { writes, turns } = await underChurnWith(fault);
      expect(writes.length / 2, JSON.stringify(writes.slice(0, 12))).toBeLessThanOrEqual(MOST_MORE);
      const unasked = turns.filter(({ cause }) => cause.kind !== "change");
      expect(unasked.length / 2).toBeLessThanOrEqual(MOST_UNASKED);
    },
  );
});

type Call = { readonly operation: string; readonly subject: string };

/** Lets calls of a provider fail, for ever, without an effect. */
function failAll(
  watcher: Watcher,
  where: "cloud" | "digitalocean" | "cloudflare",
  which: (call: Call) => boolean,
  failure: ProviderFailure,
  status: number,
): void {
  const provider = where === "cloud" ? watcher.provider : watcher.dns[where];
  provider.beforeCall = (operation: string, subject: string): MemoryFault | undefined => {
    if (!which({ operation, subject })) return undefined;
    const name = where === "cloud" ? "digitalocean" : where;
    const facts = { provider: name, failure, operation, subject, status, isAmbiguous: failure === "timeout" };
    return { throw: new ProviderError({ ...facts, message: `${name} ${operation} ${subject}: ${failure}` }) };
  };
}

/** Lets patches of a resource fail, for ever. */
function refuse(watcher: Watcher, resource: string, which: string, failure: "forbidden" | "invalid"): void {
  watcher.cluster.beforeCall = (operation, subject) => {
    if (operation !== `patch ${resource}` || !subject.endsWith(which)) return undefined;
    const status = failure === "forbidden" ? 403 : 422;
    return {
      throw: new KubeError({ failure, operation, subject, status, message: `${operation} ${subject}: ${failure}` }),
    };
  };
}
