import { describe, expect, test } from "vitest";
import { createCloudflare } from "../../../src/adapters/cloudflare/cloudflare.ts";
import type { DNSProvider } from "../../../src/ports/providers.ts";
import type { RecordState } from "../../../src/sandbox/cloudflare/account-state.ts";
import { type CloudflareSandbox, cloudflareSandbox } from "../../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { fqdn, zoneID } from "./api-objects.ts";
import { failureOf, token } from "./with-server.ts";

const [ip1, ip2, ip3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const zone = { id: zoneID, name: "example.com" };

interface Scene {
  readonly sandbox: CloudflareSandbox;
  readonly provider: DNSProvider;
  readonly clock: FakeClock;
  /** Method and status of each request, in order. */
  readonly calls: readonly string[];
  /** Lets somebody else do something between the first answer and the next request. */
  afterFirstRead(meddle: () => void): void;
  records(): readonly RecordState[];
}

/** Runs a test on an account with the zone and A records of `www`. */
async function onSandbox(
  records: readonly Partial<RecordState>[],
  body: (scene: Scene) => Promise<void>,
  more: object = {},
): Promise<void> {
  const clock = new FakeClock();
  const calls: string[] = [];
  let meddle: (() => void) | undefined;
  const zones = [{ id: zoneID, name: "example.com", dns_records: records.map((item) => ({ name: "www", ...item })) }];
  const sandbox = cloudflareSandbox({
    state: { zones, ...more },
    now: () => clock.wallMs(),
    onCall({ method, status }) {
      calls.push(`${method} ${status}`);
      meddle?.();
      meddle = undefined;
    },
  });
  const server = await sandbox.serve();
  const provider = createCloudflare({ token, baseURL: `${server.url}/client/v4`, userAgent: "flipop-test", clock });
  const held = (): readonly RecordState[] => sandbox.account().state.zones[0]?.dns_records ?? [];
  try {
    const afterFirstRead: Scene["afterFirstRead"] = (change) => {
      meddle = change;
    };
    await body({ sandbox, provider, clock, calls, records: held, afterFirstRead });
  } finally {
    await server.close();
  }
}

describe("a record set that people have taken care of", () => {
  test("keeps id, proxied, comment and tags of a record whose address changes", async () => {
    const kept = { proxied: true, comment: "ask Ada first", tags: ["team:web"] };
    const paid = { settings: { tags_per_record: 20 } };
    const records = [{ id: "a".repeat(32), content: ip1, ...kept }];
    await onSandbox(
      records,
      async ({ provider, records: held }) => {
        const change = { before: [ip1], after: { addresses: [ip2, ip3], ttlSeconds: 300 } };
        const { records: state } = await provider.writeRecords(zone, fqdn, change);
        expect(state).toEqual({ fqdn, addresses: [ip2, ip3], isTTLAutomatic: true, hasDuplicates: false });
        expect(held()).toMatchObject([
          { id: "a".repeat(32), content: ip2, ttl: 1, ...kept },
          { content: ip3, ttl: 1, proxied: true, comment: "" },
        ]);
      },
      paid,
    );
  });

  test("keeps an automatic TTL when that is desired", async () => {
    await onSandbox([{ content: ip1 }], async ({ provider, records }) => {
      const change = { before: [ip1], after: { addresses: [ip1, ip2], ttlSeconds: 1 } };
      expect((await provider.writeRecords(zone, fqdn, change)).records).toMatchObject({
        ttlSeconds: 1,
        isTTLAutomatic: false,
      });
      expect(records().map(({ ttl }) => ttl)).toEqual([1, 1]);
    });
  });
});

describe("somebody who changes the same records right after they were read", () => {
  test.for([
    ["is told when one of several records is there already", [ip1, ip2], "stale"],
    ["has done the work when the only missing record is there already", [ip1], "written"],
  ] as const)("%s", async ([, addresses, kind]) => {
    await onSandbox([], async (scene) => {
      scene.afterFirstRead(() => scene.sandbox.addRecord("example.com", { name: "www", content: ip1, ttl: 60 }));
      const change = { before: [], after: { addresses, ttlSeconds: 60 } };
      const result = await scene.provider.writeRecords(zone, fqdn, change);
      expect(result).toMatchObject({ kind, records: { addresses: [ip1] } });
      expect(scene.records()).toHaveLength(1);
      expect(scene.calls).toEqual(["GET 200", "POST 400", "GET 200"]);
    });
  });

  test("does not make a write fail whose records are gone already", async () => {
    await onSandbox([{ content: ip1 }, { content: ip2 }], async (scene) => {
      scene.afterFirstRead(() => scene.sandbox.removeRecords("example.com", "www"));
      const change = { before: [ip1, ip2], after: { addresses: [], ttlSeconds: 60 } };
      const result = await scene.provider.writeRecords(zone, fqdn, change);
      expect(result).toMatchObject({ kind: "written", records: { addresses: [] } });
      expect(scene.calls).toEqual(["GET 200", "POST 404", "GET 200"]);
    });
  });
});

describe("a token for the records of one zone", () => {
  const tokens = { tokens: { [token]: { [zoneID]: ["dns:edit"] } } };

  test("finds the zone by its id only, and writes its records", async () => {
    await onSandbox(
      [],
      async ({ provider }) => {
        expect(await provider.findZone("example.com")).toBeUndefined();
        const found = await provider.findZone(zoneID);
        expect(found).toEqual({ id: zoneID });
        const change = { before: [], after: { addresses: [ip1], ttlSeconds: 60 } };
        expect((await provider.writeRecords(found ?? zone, fqdn, change)).records.addresses).toEqual([ip1]);
      },
      tokens,
    );
  });

  test("leaves nothing behind under a name that is not in the zone", async () => {
    await onSandbox(
      [{ name: "www.example.org.example.com", content: ip3 }],
      async ({ provider, records }) => {
        const change = { before: [], after: { addresses: [ip1], ttlSeconds: 60 } };
        const call = provider.writeRecords({ id: zoneID }, "www.example.org", change);
        expect((await failureOf(call)).message).toContain("it is not in that zone");
        expect(records().map(({ content }) => content)).toEqual([ip3]);
      },
      tokens,
    );
  });

  test("that may only read is told what is missing", async () => {
    await onSandbox(
      [],
      async ({ provider }) => {
        expect((await provider.readRecords(zone, fqdn)).addresses).toEqual([]);
        const change = { before: [], after: { addresses: [ip1], ttlSeconds: 60 } };
        const error = await failureOf(provider.writeRecords(zone, fqdn, change));
        expect(error.failure).toBe("forbidden");
        expect(error.message).toContain("Give the token the permission Zone / DNS / Edit for that zone.");
      },
      { tokens: { [token]: { "*": ["dns:read"] } } },
    );
  });

  test("that is unknown is a token error", async () => {
    await onSandbox(
      [],
      async ({ provider }) => {
        for (const call of [
          () => provider.findZone("example.com"),
          () => provider.findZone(zoneID),
          () => provider.readRecords(zone, fqdn),
        ]) {
          expect((await failureOf(call())).failure).toBe("unauthorized");
        }
      },
      { tokens: { other: { "*": ["dns:edit"] } } },
    );
  });
});

test("no name is looked at once most of the rate limit is used up, until there is more", async () => {
  await onSandbox(
    [{ content: ip1 }],
    async ({ provider, clock }) => {
      for (let count = 0; count < 7; count += 1) await provider.readRecords(zone, fqdn);
      const error = await failureOf(provider.readRecords(zone, fqdn));
      expect(error).toMatchObject({ failure: "put-off", status: 0, notBeforeMs: clock.wallMs() + 60_000 });
      await clock.advance(300_000);
      expect((await provider.readRecords(zone, fqdn)).addresses).toEqual([ip1]);
    },
    { settings: { requests_per_5_minutes: 10 } },
  );
});

test("a zone that is full refuses with the API's words", async () => {
  await onSandbox(
    [{ content: ip1 }],
    async ({ provider, records }) => {
      const change = { before: [ip1], after: { addresses: [ip1, ip2], ttlSeconds: 60 } };
      const error = await failureOf(provider.writeRecords(zone, fqdn, change));
      expect(error).toMatchObject({ failure: "refused", isAmbiguous: false });
      expect(error.message).toMatch(/81045 Record quota exceeded\. \(400\)$/);
      expect(records()).toMatchObject([{ content: ip1, ttl: 1 }]);
    },
    { settings: { records_per_zone: 1 } },
  );
});
