import { expect, test, vi } from "vitest";
import type { DNSAccount } from "../fake/dns-account.ts";
import { externalIP } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

const [IP1, IP2, IP3, IP4] = [1, 2, 3, 4].map(externalIP) as [string, string, string, string];

/** Lets the zones of an account take no more records. Returns the addresses of each attempt to add some, as they come. */
function fillZones(account: DNSAccount): string[] {
  const handle = account.handle.bind(account);
  const refused: string[] = [];
  vi.spyOn(account, "handle").mockImplementation((request) => {
    const { content, data, posts } = (request.body ?? {}) as Body;
    const added = posts?.map((post) => post.content) ?? [data ?? content ?? []].flat();
    if (request.method !== "POST" || added.length === 0) return handle(request);
    refused.push(added.join());
    const errors = [{ code: 81_045, message: "Record quota exceeded." }];
    return { status: 422, body: { success: false, errors, id: "unprocessable_entity", message: "No more records." } };
  });
  return refused;
}

/** What asks for records: one at DigitalOcean, a batch at Cloudflare. */
interface Body {
  readonly data?: string;
  readonly content?: string;
  readonly posts?: readonly { readonly content: string }[];
}

test.for(["digitalocean", "cloudflare"] as const)(
  "nodes that stop serving leave their name at %s while its zone takes no more records",
  async (provider) => {
    const world = new WatchWorld();
    await world.setUp("n1", "n2", "n3");
    world.dns.world.zone(provider);
    world.watch();
    const dnsRecordSet = { provider, zone: "example.com", recordName: "www", ttl: 60 };
    await world.recordSets.create("nodes", { dnsRecordSet, match: { nodeLabel: "" } });
    await world.clock.advance(5000);
    const shown = (): readonly string[] => world.dns.world.addresses(provider, "www.example.com");
    expect(shown()).toEqual([IP1, IP2, IP3]);

    const refused = fillZones(world.dns[provider]);
    await world.nodes.create("n4");
    await world.clock.advance(5000);
    expect(refused).toEqual([IP4]);
    await world.nodes.setReady("n1", false);
    await world.clock.advance(5000);
    expect(shown()).toEqual([IP2, IP3]);
    await world.nodes.setReady("n2", false);
    await world.clock.advance(5000);
    expect(shown()).toEqual([IP3]);
    expect((await world.recordSets.status("nodes")).retries).toMatchObject([
      { subject: `dns/${provider}/www.example.com`, attempts: 1 },
    ]);
    await world.nodes.setReady("n3", false);
    await world.clock.advance(5000);
    expect(shown()).toEqual([IP3]);
    expect(refused).toEqual([IP4]);

    await world.nodes.setReady("n2", true);
    vi.restoreAllMocks();
    await world.clock.advance(60_000);
    expect(shown()).toEqual([IP2, IP4]);
  },
);
