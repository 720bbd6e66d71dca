import { expect, test } from "vitest";
import { ProviderError } from "../../src/model/errors.ts";
import { ip } from "../scenario/scenario-names.ts";
import { WatchWorld } from "./watch-world.ts";

const READS = ["zone", "records", "texts"];

test.for(["digitalocean", "cloudflare"] as const)(
  "while %s lets a token read and not write (401), nobody is accused of changing the name, and it is there a minute after it may",
  async (provider) => {
    const world = new WatchWorld();
    await world.setUp("n1");
    world.cloud.address(ip(1));
    world.dns.world.zone(provider);
    const watcher = world.watch();
    let refused = 0;
    watcher.dns[provider].beforeCall = (operation, subject) => {
      if (READS.includes(operation)) return undefined;
      refused += 1;
      const facts = { failure: "unauthorized", provider, operation, subject, status: 401 } as const;
      return { throw: new ProviderError({ ...facts, message: "The token was not accepted." }) };
    };
    const dnsRecordSet = { provider, zone: "example.com", recordName: "www", ttl: 60 };
    await world.pools.create("web", { ips: [ip(1)], dnsRecordSet });
    await world.clock.advance(50_000);
    const { conditions } = await world.pools.status("web");
    expect(JSON.stringify(conditions)).not.toContain("Contested");
    expect(refused).toBeLessThan(10);
    watcher.dns[provider].beforeCall = undefined;
    await world.clock.advance(60_000);
    expect(world.dns.world.set(provider, "www.example.com")).toEqual(["ip1"]);
  },
);
