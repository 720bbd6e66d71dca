import { describe, expect } from "vitest";
import type { DesiredRecordSet } from "../../src/model/dns.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { RecordSetResult } from "../../src/ports/providers.ts";
import { type DNSProviderWorld, type InDNSWorld, knownZone } from "./dns-provider-world.ts";
import { expectSafeViews } from "./expect-safe-views.ts";

const zoneName = "example.com";
const fqdn = "www.example.com";
const [ip1, ip2, ip3, ip4] = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"] as const;
const mostRequests = 8;

/** Declares the tests of writeRecords that breaks at any of its requests and is called again. */
export function faultContract(inWorld: InDNSWorld): void {
  describe("writeRecords when a request fails", () => {
    for (const hasEffect of [false, true]) {
      const how = hasEffect ? "took effect and its answer is lost" : "had no effect";
      inWorld(`leaves the rest to the next call, for every request that ${how}`, async (world) => {
        const failures = await failAtEachRequest(world, hasEffect);
        // Of a change that takes several requests or one, at least the first can fail.
        expect(failures).toBeGreaterThan(0);
      });
    }
  });
}

/** Breaks the same change at its first, second, … request; returns how many of the calls failed. */
async function failAtEachRequest(world: DNSProviderWorld, hasEffect: boolean): Promise<number> {
  const { provider } = world;
  await world.seed.zone(zoneName);
  const zone = await knownZone(provider);
  const before = { addresses: [ip1, ip2], ttlSeconds: 60 };
  const after = { addresses: [ip2, ip3, ip4], ttlSeconds: 300 };
  const toSet = async (wanted: DesiredRecordSet): Promise<RecordSetResult> =>
    provider.writeRecords(zone, fqdn, { before: (await provider.readRecords(zone, fqdn)).addresses, after: wanted });
  let failures = 0;
  for (let skip = 0; skip < mostRequests; skip += 1) {
    await toSet(before);
    const from = world.resolverViews(fqdn).length;
    world.failWrite({ skip, hasEffect });
    const error: unknown = await toSet(after).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) break;
    failures += 1;
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ provider: provider.name, failure: "unavailable", isAmbiguous: true, subject: fqdn });
    const state = (await toSet(after)).records;
    expect(state).toEqual({ fqdn, ...after, isTTLAutomatic: false, hasDuplicates: false });
    expect(await provider.readRecords(zone, fqdn)).toEqual(state);
    expect(await world.records(zoneName)).toHaveLength(after.addresses.length);
    expectSafeViews(world.resolverViews(fqdn).slice(from), before.addresses, after.addresses);
    const writes = world.writes();
    await toSet(after);
    expect(world.writes()).toBe(writes);
  }
  return failures;
}
