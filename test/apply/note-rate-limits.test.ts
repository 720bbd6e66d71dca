import { expect, test } from "vitest";
import { type Limits, notingLimits } from "../../src/apply/context.ts";
import { noteRateLimits } from "../../src/apply/write-back.ts";
import type { DNSFacts } from "../../src/model/dns.ts";
import { KubeError, ProviderError } from "../../src/model/errors.ts";
import { NOT_BEFORE_PREFIX, PUT_OFF_PREFIX } from "../../src/model/lease-annotations.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { anObservation } from "../plan/builders.ts";
import { dnsFacts } from "../plan/dns-builders.ts";

const NOT_BEFORE = `${NOT_BEFORE_PREFIX}digitalocean`;
const fiveSeconds = (): Limits => new Map([["digitalocean", 5000]]);
const PUT_OFF = `${PUT_OFF_PREFIX}digitalocean`;

/** Notes a rate limit on a Lease that answers nothing more; `isHeld` = what the lock says once that has failed. */
function noteWith(isHeld: boolean): Promise<void> {
  let hasFailed = false;
  const lock = {
    isHeld: () => !hasFailed || isHeld,
    lost: new AbortController().signal,
    annotations: () => ({}),
    noteAcquisition: async () => true,
    annotate: () => {
      hasFailed = true;
      const facts = { failure: "timeout", operation: "update", subject: "flipop/flipop", status: 0 } as const;
      return Promise.reject(new KubeError({ ...facts, message: "Lost Lease flipop/flipop." }));
    },
  };
  const cluster = { now: () => 0 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  return noteRateLimits(() => anObservation({}), { lock, limits: new Map([["digitalocean", 5000]]), cluster }, 0);
}

test("a Lease that is lost while a rate limit is noted takes nothing away from what the pass did", async () => {
  await expect(noteWith(false)).resolves.toBeUndefined();
});

test("a rate limit that may not be noted on a Lease that is held is an error", async () => {
  await expect(noteWith(true)).rejects.toThrow("Lost Lease");
});

/** A Lease that is held and takes every note; `noted` are the changes in order. */
function takingLease(): {
  readonly lock: Parameters<typeof noteRateLimits>[1]["lock"];
  readonly noted: Readonly<Record<string, string | null>>[];
} {
  const noted: Readonly<Record<string, string | null>>[] = [];
  const annotate = async (changes: Readonly<Record<string, string | null>>): Promise<void> => {
    noted.push(changes);
  };
  const noteAcquisition = async (): Promise<boolean> => true;
  const lost = new AbortController().signal;
  const lock = { isHeld: () => true, lost, annotations: () => ({}), annotate, noteAcquisition };
  return { lock, noted };
}

test.for([
  ["nothing", undefined, [{ [NOT_BEFORE]: "1970-01-01T00:00:05Z" }]],
  ["an earlier time", "1970-01-01T00:00:03Z", [{ [NOT_BEFORE]: "1970-01-01T00:00:05Z" }]],
  ["a later time, which another process was told", "1970-01-01T00:00:09Z", []],
  ["no possible time", "2199-01-01T00:00:00Z", [{ [NOT_BEFORE]: "1970-01-01T00:00:05Z" }]],
] as const)("of two rate limits the later one is noted: the Lease has %s", async ([, stored, expected]) => {
  const { lock, noted } = takingLease();
  const annotations = (): Readonly<Record<string, string>> => (stored === undefined ? {} : { [NOT_BEFORE]: stored });
  const cluster = { now: () => 0 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  await noteRateLimits(() => anObservation({}), { lock: { ...lock, annotations }, limits: fiveSeconds(), cluster }, 0);
  expect(noted.slice(0, 1)).toEqual(expected);
});

test.for([
  [
    "has lost is noted again, although the lock of a shard still shows it",
    [],
    [{ [NOT_BEFORE]: "1970-01-01T00:00:05Z" }],
  ],
  ["has is not noted twice", [["digitalocean", 5000]], []],
] as const)("a rate limit that the Lease %s", async ([, onLease, expected]) => {
  const { lock, noted } = takingLease();
  const annotations = (): Readonly<Record<string, string>> => ({ [NOT_BEFORE]: "1970-01-01T00:00:05Z" });
  const cluster = { now: () => 0 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  const lease = { acquisitionTimesMs: [], providerNotBeforeMs: new Map(onLease), lookFrom: new Map() };
  const observation = anObservation({ lease });
  await noteRateLimits(() => observation, { lock: { ...lock, annotations }, limits: fiveSeconds(), cluster }, 0);
  expect(noted).toEqual(expected);
});

test.for([
  [
    "began before it was over is noted, although it ends after it",
    4999,
    {},
    [{ [NOT_BEFORE]: "1970-01-01T00:00:05Z" }],
  ],
  ["began before it was over stays noted", 4999, { [NOT_BEFORE]: "1970-01-01T00:00:05Z" }, []],
  ["began after it is taken away", 5000, { [NOT_BEFORE]: "1970-01-01T00:00:05Z" }, [{ [NOT_BEFORE]: null }]],
] as const)("a rate limit of which a pass knows that %s", async ([, sinceMs, stored, expected]) => {
  const { lock, noted } = takingLease();
  const cluster = { now: () => 9000 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  const holding = { ...lock, annotations: () => stored };
  const lease = { acquisitionTimesMs: [], providerNotBeforeMs: fiveSeconds(), lookFrom: new Map() };
  await noteRateLimits(() => anObservation({ lease }), { lock: holding, limits: fiveSeconds(), cluster }, sinceMs);
  expect(noted.slice(0, 1)).toEqual(expected);
});

const zones: DNSFacts["zones"] = new Map([
  ["example.com", { kind: "gap", error: "later", isRefused: false, putOffUntilMs: 7000 }],
]);
const NOTE = "1 until 1970-01-01T00:00:07.000Z from example.com ";

test.for<readonly [string, Partial<DNSFacts>, Readonly<Record<string, string>>, readonly unknown[]]>([
  ["is noted, with where the next look begins", { zones, lookFrom: "example.com " }, {}, [{ [PUT_OFF]: NOTE }]],
  ["is not noted twice", { zones, lookFrom: "example.com " }, { [PUT_OFF]: NOTE }, []],
  ["is forgotten once every name was looked at", {}, { [PUT_OFF]: NOTE }, [{ [PUT_OFF]: null }]],
  [
    "stays noted while the provider cannot be asked",
    { unusable: { kind: "unanswered", message: "away" } },
    { [PUT_OFF]: NOTE },
    [],
  ],
])("what was put off %s", async ([, facts, stored, changes]) => {
  const { lock, noted } = takingLease();
  const cluster = { now: () => 0 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  const observation = anObservation({ dns: [{ ...dnsFacts({}), ...facts }] });
  const holding = { ...lock, annotations: () => stored };
  await noteRateLimits(() => observation, { lock: holding, limits: new Map(), cluster }, 0);
  expect(noted).toEqual(changes);
});

/** Providers of all kinds at one cloud, each of whose calls is told to wait a minute; `ask` makes one. */
function limited(clock: FakeClock): { readonly limits: Limits; readonly ask: (kind: Kind) => Promise<unknown> } {
  const limits: Limits = new Map();
  const facts = {
    failure: "rate-limited",
    provider: "digitalocean",
    operation: "get",
    subject: "",
    status: 429,
  } as const;
  const read = (): Promise<never> =>
    Promise.reject(new ProviderError({ ...facts, message: "wait", notBeforeMs: clock.wallMs() + 60_000 }));
  const all = new Map([
    ["digitalocean", { kind: "usable", provider: { name: "digitalocean", read } as never }],
  ] as const);
  const cluster = { now: () => clock.monotonicMs() };
  const access = notingLimits({ providers: all, dnsProviders: all, firewallProviders: all, cluster, clock }, limits);
  return {
    limits,
    ask: (kind) => {
      const one = access[kind].get("digitalocean") as unknown as { readonly provider: { readonly read: typeof read } };
      return one.provider.read().catch(({ message }: Error) => message);
    },
  };
}

type Kind = "providers" | "dnsProviders" | "firewallProviders";

test.for(["providers", "dnsProviders", "firewallProviders"] as const)(
  "a rate limit that any call of the %s has met is noted, and a clock that leaps later changes nothing of when it ends",
  async (kind) => {
    const clock = new FakeClock();
    const { limits, ask } = limited(clock);
    expect(await ask(kind)).toBe("wait");
    clock.shiftWall(3_600_000);
    await clock.advance(10_000);
    const { lock, noted } = takingLease();
    const cluster = { now: () => 10_000 } as Parameters<typeof noteRateLimits>[1]["cluster"];
    await noteRateLimits(() => anObservation({}), { lock, limits, cluster }, 0);
    expect(noted).toEqual([{ [NOT_BEFORE]: "1970-01-01T00:01:00Z" }]);
  },
);

test("a rate limit that is told again stays as it was noted, and a later one takes its place", async () => {
  const clock = new FakeClock();
  const { limits, ask } = limited(clock);
  await ask("providers");
  await clock.advance(900);
  await ask("dnsProviders");
  expect([...limits.values()]).toEqual([60_000]);
  await clock.advance(900);
  await ask("firewallProviders");
  expect([...limits.values()]).toEqual([61_800]);
});

test("a rate limit that is met while the notes are written is noted, too, and nothing is written after that", async () => {
  const stored: Record<string, string | null> = {};
  const { lock, noted } = takingLease();
  const limits: Limits = new Map([["digitalocean", 5000]]);
  const writing = {
    ...lock,
    annotations: () => ({ ...(stored as Record<string, string>) }),
    annotate: async (changes: Readonly<Record<string, string | null>>): Promise<void> => {
      Object.assign(stored, changes);
      limits.set("cloudflare", 7000);
      await lock.annotate(changes);
    },
  };
  const cluster = { now: () => 0 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  await noteRateLimits(() => anObservation({}), { lock: writing, limits, cluster }, 0);
  expect(noted).toEqual([
    { [NOT_BEFORE]: "1970-01-01T00:00:05Z" },
    { [`${NOT_BEFORE_PREFIX}cloudflare`]: "1970-01-01T00:00:07Z" },
  ]);
});
