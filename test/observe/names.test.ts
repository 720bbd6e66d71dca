import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { type DNSFacts, type RecordsFact, recordsKey } from "../../src/model/dns.ts";
import { ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { Condition, RecordSet } from "../../src/model/resource.ts";
import { readNames } from "../../src/observe/names.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import type { DNSProviderReader } from "../../src/ports/providers.ts";
import { type DNSName, memoryDNSAccount } from "../fake/dns-account.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { type MemoryDNSProvider, memoryDNSProvider } from "../fake/memory-dns-provider.ts";
import { anObservation, NOW } from "../plan/builders.ts";
import { aRecordSet } from "../plan/dns-builders.ts";

const ZONE = "example.com";
const READY: Condition = {
  type: "Ready",
  status: "True",
  observedGeneration: 1,
  lastTransitionTime: "2026-01-02T03:04:05Z",
  reason: "Ready",
  message: "",
};

/** Another provider in front of a real one: some methods of it are exchanged. */
function inFrontOf(provider: MemoryDNSProvider, other: Partial<DNSProviderReader>): DNSProviderReader {
  return { ...provider, ...other };
}

interface Scene {
  readonly provider: MemoryDNSProvider;
  readonly recordSets: readonly RecordSet[];
}

/** Names of three addresses each that are as status has them, in a zone with so many other A records. */
function scene(provider: DNSName, { names, others = 0 }: { names: number; others?: number }): Scene {
  const account = memoryDNSAccount(provider);
  account.addZone(ZONE);
  const add = (fqdn: string, content: string): void =>
    account.addRecord(ZONE, { fqdn, type: "A", content, ttlSeconds: 60 });
  for (let at = 0; at < others; at += 1) add(`other-${at}.${ZONE}`, "198.51.100.1");
  const recordSets = Array.from({ length: names }, (_, at) => {
    const recordName = `n${at}`;
    const addresses = [1, 2, 3].map((last) => `198.18.${at >> 6}.${((at & 63) << 2) + last}`);
    for (const ip of addresses) add(`${recordName}.${ZONE}`, ip);
    const published = { provider, zone: ZONE, name: `${recordName}.${ZONE}`, addresses };
    return aRecordSet({
      name: recordName,
      spec: { dnsRecordSet: { provider, zone: ZONE, recordName, ttlSeconds: 60 } },
      status: { publishedDNS: published, observedGeneration: 1, conditions: [READY] },
    });
  });
  return { provider: memoryDNSProvider({ account }), recordSets };
}

async function read(
  { provider, recordSets }: Scene,
  more: { reusable?: ReusableFacts; through?: DNSProviderReader; lookFrom?: string } = {},
): Promise<{ readonly facts: DNSFacts; readonly calls: readonly string[] }> {
  provider.recorded.length = 0;
  const facts = await readNames({
    name: provider.name,
    access: { kind: "usable", provider: more.through ?? provider },
    pools: [],
    recordSets,
    notBeforeMs: undefined,
    nowMs: NOW,
    registry: PROVIDERS,
    skewMs: () => 0,
    reusable: more.reusable,
    lookFrom: more.lookFrom,
  });
  if (facts === undefined) throw new Error("nothing is asked for");
  return { facts, calls: provider.recorded.map(({ detail }) => detail) };
}

function failure(kind: ProviderFailure, status: number): ProviderError {
  const facts = { provider: "digitalocean", operation: "records", subject: ZONE };
  const until = kind === "put-off" ? { notBeforeMs: NOW + 7000 } : {};
  return new ProviderError({ ...facts, failure: kind, status, message: `${kind}!`, ...until });
}

function addressesOf(facts: DNSFacts, label: string): readonly string[] | string | undefined {
  const fact = factOf(facts, label);
  return fact?.kind === "known" ? fact.records.addresses : fact?.kind;
}

function factOf(facts: DNSFacts, label: string): RecordsFact | undefined {
  const zone = facts.zones.get(ZONE);
  if (zone?.kind !== "known") throw new Error("the zone is not known");
  return facts.records.get(recordsKey(zone.zone, `${label}.${ZONE}`));
}

describe("calls that unchanged names take, their zone's included", () => {
  test.each<{ provider: DNSName; names: number; others: number; most: number }>([
    { provider: "digitalocean", names: 1, others: 0, most: 2 },
    { provider: "digitalocean", names: 100, others: 0, most: 3 },
    { provider: "digitalocean", names: 400, others: 0, most: 8 },
    { provider: "digitalocean", names: 2, others: 2000, most: 4 },
    { provider: "cloudflare", names: 1, others: 0, most: 2 },
    { provider: "cloudflare", names: 100, others: 0, most: 2 },
    { provider: "cloudflare", names: 400, others: 3000, most: 2 },
  ])("$provider: $names beside $others other records take at most $most", async ({ provider, most, ...size }) => {
    const { facts, calls } = await read(scene(provider, size));
    expect(calls.length).toBeLessThanOrEqual(most);
    expect(facts.records.size).toBe(size.names);
    expect(
      [...facts.records.values()].every((fact) => fact.kind === "known" && fact.records.addresses.length === 3),
    ).toBe(true);
  });
});

describe("a list of a zone", () => {
  test("is not asked for when what was read is still good", async () => {
    const reusable = new ReusableFacts(new FakeClock());
    const own = scene("digitalocean", { names: 10 });
    const { facts } = await read(own, { reusable });
    reusable.keep({ ...anObservation({ recordSets: own.recordSets }), dns: new Map([["digitalocean", facts]]) });
    const [, ...others] = own.recordSets;
    const added = aRecordSet({
      name: "added",
      spec: { dnsRecordSet: { ...aRecordSet().spec.dnsRecordSet, provider: "digitalocean", recordName: "added" } },
    });
    const again = await read({ ...own, recordSets: [...others, added] }, { reusable });
    expect(again.calls).toEqual([`read the A records of added.${ZONE} in the zone ${ZONE}`]);
    expect(addressesOf(again.facts, "added")).toEqual([]);
    expect(addressesOf(again.facts, "n3")).toHaveLength(3);
  });

  test("whose pages may have shifted is not believed about an address that it lacks: that name alone is read by itself", async () => {
    const own = scene("digitalocean", { names: 150 });
    const through = inFrontOf(own.provider, {
      listRecords: async (zone, mostCalls) => {
        const listing = await own.provider.listRecords(zone, mostCalls);
        if (listing === undefined) return undefined;
        return { ...listing, names: new Map([...listing.names].filter(([fqdn]) => fqdn !== `n7.${ZONE}`)) };
      },
    });
    const { facts, calls } = await read(own, { through });
    expect(calls.filter((call) => call.startsWith("read"))).toEqual([
      `read the A records of n7.${ZONE} in the zone ${ZONE}`,
    ]);
    expect(addressesOf(facts, "n7")).toHaveLength(3);
  });

  test("in one answer is the truth about names that it lacks", async () => {
    const own = scene("cloudflare", { names: 5 });
    own.provider.account.removeRecords(ZONE, ({ fqdn }) => fqdn === `n2.${ZONE}`);
    const { facts, calls } = await read(own);
    expect(calls).toHaveLength(2);
    expect(addressesOf(facts, "n2")).toEqual([]);
  });

  test("with a record that cannot be understood leaves that name alone to be read by itself", async () => {
    const own = scene("digitalocean", { names: 5 });
    const through = inFrontOf(own.provider, {
      listRecords: async (zone, mostCalls) => {
        const listing = await own.provider.listRecords(zone, mostCalls);
        return listing === undefined ? undefined : { ...listing, unclear: new Set([`n2.${ZONE}`]) };
      },
    });
    const { calls } = await read(own, { through });
    expect(calls.filter((call) => call.startsWith("read"))).toEqual([
      `read the A records of n2.${ZONE} in the zone ${ZONE}`,
    ]);
  });

  test("that is refused or makes no sense is given up for the names themselves", async () => {
    for (const error of [failure("refused", 400), failure("malformed", 200)]) {
      const own = scene("digitalocean", { names: 3 });
      const through = inFrontOf(own.provider, { listRecords: async () => Promise.reject(error) });
      const { facts, calls } = await read(own, { through });
      expect(calls).toHaveLength(4);
      expect(addressesOf(facts, "n2")).toHaveLength(3);
    }
  });

  test("that gets no answer is a gap of its zone's names, and none of them is asked for", async () => {
    const own = scene("digitalocean", { names: 300 });
    const through = inFrontOf(own.provider, { listRecords: async () => Promise.reject(failure("unavailable", 503)) });
    const { facts, calls } = await read(own, { through });
    expect(calls).toHaveLength(1);
    expect(factOf(facts, "n2")).toEqual({ kind: "gap", error: "unavailable!", isRefused: false });
    expect(facts.unusable).toBeUndefined();
  });

  test("that the token may not read is a refusal of its zone's names", async () => {
    const own = scene("digitalocean", { names: 3 });
    const through = inFrontOf(own.provider, { listRecords: async () => Promise.reject(failure("forbidden", 403)) });
    expect(factOf((await read(own, { through })).facts, "n0")).toMatchObject({ kind: "gap", isRefused: true });
  });

  test("that runs into the rate limit makes the provider unusable, and nothing more is asked", async () => {
    const own = scene("digitalocean", { names: 300 });
    const through = inFrontOf(own.provider, { listRecords: async () => Promise.reject(failure("rate-limited", 429)) });
    const { facts, calls } = await read(own, { through });
    expect(calls).toHaveLength(1);
    expect(facts.unusable).toMatchObject({ kind: "rate-limited" });
  });
});

describe("where calls are kept for what is more urgent", () => {
  /** Reads name by name, as far as `most` of them go; the last `strangers` names no status has. */
  async function readSome(
    names: number,
    most: number,
    { strangers = 0, lookFrom }: { readonly strangers?: number; readonly lookFrom?: string } = {},
  ): Promise<{ readonly facts: DNSFacts; readonly asked: readonly string[] }> {
    const own = scene("digitalocean", { names });
    const recordSets = own.recordSets.map((recordSet, at) => {
      const { publishedDNS: _, ...status } = recordSet.status;
      return at < names - strangers ? recordSet : { ...recordSet, status };
    });
    const asked: string[] = [];
    const through = inFrontOf(own.provider, {
      listRecords: async () => undefined,
      readRecords: async (zone, fqdn) => {
        if (asked.length === most) throw failure("put-off", 0);
        asked.push(fqdn.split(".")[0] ?? "");
        return own.provider.readRecords(zone, fqdn);
      },
    });
    const from = lookFrom === undefined ? {} : { lookFrom };
    return { facts: (await read({ ...own, recordSets }, { through, ...from })).facts, asked };
  }

  test("names are taken as status has them, and it is said until when", async () => {
    const { facts } = await readSome(5, 2);
    expect(factOf(facts, "n4")).toEqual({
      kind: "known",
      records: {
        fqdn: `n4.${ZONE}`,
        addresses: addressesOf((await readSome(5, 5)).facts, "n4"),
        isTTLAutomatic: true,
        hasDuplicates: false,
      },
      putOffUntilMs: NOW + 7000,
    });
    expect(factOf(facts, "n0")).not.toHaveProperty("putOffUntilMs");
    expect(facts.unusable).toBeUndefined();
  });

  test("names that no status has are read first, and are a gap where even they are put off", async () => {
    const { facts, asked } = await readSome(5, 1, { strangers: 2 });
    expect(asked).toEqual(["n3"]);
    expect(factOf(facts, "n4")).toEqual({
      kind: "gap",
      error: "put-off!",
      isRefused: false,
      putOffUntilMs: NOW + 7000,
    });
    expect(facts.lookFrom).toBe(`${ZONE} n4.${ZONE}`);
  });

  test.for<readonly [string, Partial<RecordSet["status"]>]>([
    ["is not ready", { conditions: [{ ...READY, status: "False" }] }],
    ["was changed since", { observedGeneration: 0 }],
    ["has no status", { conditions: [] }],
  ])(
    "what is on record of an object that %s may only be about to be written: it is read first, and never believed",
    async ([, status]) => {
      const own = scene("digitalocean", { names: 3 });
      const recordSets = own.recordSets.map((recordSet, at) =>
        at === 0 ? recordSet : { ...recordSet, status: { ...recordSet.status, ...status } },
      );
      const asked: string[] = [];
      const through = inFrontOf(own.provider, {
        listRecords: async () => undefined,
        readRecords: async (_zone, fqdn, isAwaited) => {
          asked.push(`${fqdn.split(".")[0]} ${isAwaited}`);
          throw failure("put-off", 0);
        },
      });
      const { facts } = await read({ ...own, recordSets }, { through });
      expect(asked).toEqual(["n1 true", "n2 true", "n0 false"]);
      expect(["n0", "n1", "n2"].map((name) => factOf(facts, name)?.kind)).toEqual(["known", "gap", "gap"]);
    },
  );

  test("each look begins where the last one ended, until every name had its turn", async () => {
    const turns: string[] = [];
    let lookFrom: string | undefined;
    for (let looks = 0; looks < 5; looks += 1) {
      const { facts, asked } = await readSome(5, 2, lookFrom === undefined ? {} : { lookFrom });
      turns.push(asked.join(" "));
      lookFrom = facts.lookFrom;
    }
    expect(turns).toEqual(["n0 n1", "n2 n3", "n4 n0", "n1 n2", "n3 n4"]);
  });

  test("a zone that is put off is a gap of its own, and the provider is no less usable", async () => {
    const own = scene("digitalocean", { names: 3 });
    const through = inFrontOf(own.provider, { findZone: async () => Promise.reject(failure("put-off", 0)) });
    const { facts } = await read(own, { through });
    expect(facts.zones.get(ZONE)).toMatchObject({ kind: "gap", putOffUntilMs: NOW + 7000 });
    expect(facts.unusable).toBeUndefined();
    expect(facts.lookFrom).toBe(`${ZONE} `);
  });

  test("a process that watches takes a name as it knew it before, whatever status has", async () => {
    const reusable = new ReusableFacts(new FakeClock());
    const own = scene("digitalocean", { names: 2 });
    own.provider.account.removeRecords(ZONE, ({ fqdn }) => fqdn === `n1.${ZONE}`);
    const { facts } = await read(own);
    reusable.keep({ ...anObservation({}), dns: new Map([["digitalocean", facts]]) });
    reusable.forget();
    const through = inFrontOf(own.provider, { listRecords: async () => Promise.reject(failure("put-off", 0)) });
    const again = await read(own, { reusable, through });
    expect(addressesOf(again.facts, "n1")).toEqual([]);
    expect(factOf(again.facts, "n1")).toHaveProperty("putOffUntilMs", NOW + 7000);
  });

  test("a process that watches looks again at what was put off, and at nothing else", async () => {
    const clock = new FakeClock();
    const reusable = new ReusableFacts(clock);
    const { facts } = await readSome(5, 3);
    reusable.keep({ ...anObservation({}), dns: new Map([["digitalocean", facts]]) });
    const own = scene("digitalocean", { names: 5 });
    expect((await read(own, { reusable })).calls).toEqual([]);
    await clock.advance(1000);
    const again = await read(own, { reusable });
    expect(again.calls).toEqual([expect.stringContaining("list the A records")]);
    expect(factOf(again.facts, "n4")).not.toHaveProperty("putOffUntilMs");
  });
});

describe("a zone that is not there", () => {
  const missing = async (zoneNames: DNSProviderReader["zoneNames"]) => {
    const own = scene("digitalocean", { names: 1 });
    const { zoneNames: _own, ...listless } = inFrontOf(own.provider, { findZone: async () => undefined });
    const through = zoneNames === undefined ? listless : { ...listless, zoneNames };
    const { facts } = await read(own, { through });
    expect(facts.unusable).toBeUndefined();
    return facts.zones.get(ZONE);
  };

  test("is told with the zone that is written nearly so", async () => {
    expect(await missing(async () => ["example.org", "exmaple.com", "other.com"])).toEqual({
      kind: "missing",
      near: "exmaple.com",
    });
  });

  test.for([
    ["the account has none that is written nearly so", async () => ["example.org", "com"]],
    ["the account has none", async () => []],
    ["zones may not be listed", async () => Promise.reject(failure("forbidden", 403))],
    ["the provider asks for no calls", async () => Promise.reject(failure("rate-limited", 429))],
    ["nobody can list zones", undefined],
  ] as const)("is told alone where %s", async ([, zoneNames]) => {
    expect(await missing(zoneNames)).toEqual({ kind: "missing" });
  });
});
