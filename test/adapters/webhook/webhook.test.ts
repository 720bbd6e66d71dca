import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { createWebhook } from "../../../src/adapters/webhook/webhook.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { ProviderError } from "../../../src/model/errors.ts";
import type { RecordSetChange } from "../../../src/ports/providers.ts";
import { type WebhookWorld, withWebhook } from "./webhook-world.ts";

const WWW = "www.example.org";
const ZONE = { id: "example.org", name: "example.org" };
const [IP1, IP2, IP3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;

function www(targets: readonly string[], more: object = {}): object {
  return { dnsName: WWW, recordType: "A", targets, recordTTL: 60, ...more };
}

function change(before: readonly string[], addresses: readonly string[], ttlSeconds = 60): RecordSetChange {
  return { before, after: { addresses, ttlSeconds } };
}

async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

/** What the webhook holds of the name. */
function held({ sandbox }: WebhookWorld): readonly object[] {
  return sandbox.webhook().state.records.filter(({ dnsName }) => dnsName === WWW);
}

test.for<[domains: object, zone: string, isFound: boolean]>([
  [{ include: ["example.org"] }, "example.org", true],
  [{ filters: ["example.org"] }, "example.org", true],
  [{ include: ["example.org"] }, "sub.example.org", true],
  [{ include: ["example.org"] }, "example.net", false],
  [{ include: ["example.org"] }, "org", false],
  [{ include: [".example.org"] }, "example.org", true],
  [{ include: ["Example.ORG."] }, "example.org", true],
  [{ include: ["example.org"], exclude: ["sub.example.org"] }, "sub.example.org", false],
  [{ include: ["example.net"], regexInclude: "(?i)\\.example\\.org$" }, "example.org", true],
  [{}, "example.org", true],
  [{ include: null, exclude: null }, "example.org", true],
])("a webhook that says %j looks after the zone %s: %s", ([domains, zone, isFound]) =>
  withWebhook({}, async ({ provider, faults }) => {
    faults.add({ server: "webhook", path: "^/$", status: 200, body: domains, contentType: MEDIA_TYPE });
    expect(await provider.findZone(zone)).toEqual(isFound ? { id: zone, name: zone } : undefined);
  }),
);

const MEDIA_TYPE = "application/external.dns.webhook+json;version=1";

test.for([
  [{ exclude: ["www.example.org"] }],
  [{ include: [".sub.example.org"] }],
  [{ regexInclude: "^api\\." }],
  [{ regexExclude: "^www\\." }],
])("a name that a webhook with %j does not look after is refused, and nothing is sent", ([domains]) =>
  withWebhook({}, async ({ provider, faults, changes }) => {
    faults.add({ server: "webhook", path: "^/$", times: 0, status: 200, body: domains, contentType: MEDIA_TYPE });
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([], [IP1])));
    expect(["refused", "not-found"]).toContain(error.failure);
    expect(error.message).toMatch(/does not look after/);
    expect(changes).toEqual([]);
  }),
);

test("a change is refused where the webhook no longer looks after its name, although the name was read before", () =>
  withWebhook({ domains: ["example.org"] }, async ({ provider, sandbox, changes }) => {
    await provider.findZone("example.org");
    await provider.readRecords(ZONE, WWW);
    sandbox.webhook().state.domains = ["example.net"];
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([], [IP1])));
    expect(error).toMatchObject({ failure: "not-found", isAmbiguous: false });
    expect(changes).toEqual([]);
  }));

test.for<[string]>([["application/json"], ["application/external.dns.webhook+json;version=2"], ["text/html"]])(
  "who answers in %s speaks another protocol",
  ([contentType]) =>
    withWebhook({}, async ({ provider, faults }) => {
      faults.add({ server: "webhook", path: "^/$", status: 200, body: {}, contentType });
      const error = await failureOf(provider.findZone("example.org"));
      expect(error).toMatchObject({ failure: "malformed", operation: "zone" });
      expect(error.message).toContain(`it speaks ${contentType}, not ${MEDIA_TYPE}`);
    }),
);

test("what is no set of A records of one name is told, and keeps no other name from being served", () =>
  withWebhook(
    {
      domains: ["example.org"],
      records: [
        www([IP1], { setIdentifier: "blue", providerSpecific: [{ name: "aws/weight", value: "10" }] }),
        { dnsName: "alias.example.org", targets: ["lb.example.net"], recordTTL: 60 },
        { dnsName: "good.example.org", targets: [IP1], recordTTL: 60 },
        { dnsName: "*.example.org", targets: [IP2] },
      ],
    },
    async ({ provider, changes }) => {
      const listing = await provider.listRecords(ZONE, 1);
      expect([...(listing?.names.keys() ?? [])]).toEqual(["good.example.org", "*.example.org"]);
      expect(listing?.unclear).toEqual(new Set([WWW, "alias.example.org"]));
      expect(listing?.names.get("*.example.org")).toMatchObject({ isTTLAutomatic: true });
      const weighted = await failureOf(provider.readRecords(ZONE, WWW));
      expect(weighted.message).toContain("chooses among several sets of A records of the name (blue)");
      const alias = await failureOf(provider.writeRecords(ZONE, "alias.example.org", change([], [IP1])));
      expect(alias.message).toContain("leads to lb.example.net, which is no IPv4 address");
      expect(changes).toEqual([]);
    },
  ));

test.for<[string, object]>([
  ["a TTL that is a text", { targets: ["2001:db8::1"], recordTTL: "300" }],
  ["a target that is none", { targets: [null] }],
  ["no list of targets", { targets: "2001:db8::1" }],
])("AAAA records that cannot be understood, with %s, leave the A records of the name alone", ([, fields]) =>
  withWebhook({ domains: ["example.org"] }, async ({ provider, faults, changes }) => {
    await provider.findZone("example.org");
    const body = JSON.stringify([www([IP1]), { dnsName: WWW, recordType: "aaaa", ...fields }]);
    faults.add({
      server: "webhook",
      method: "GET",
      path: "^/records$",
      status: 200,
      body,
      contentType: MEDIA_TYPE,
      times: 0,
    });
    expect(await provider.readRecords(ZONE, WWW)).toMatchObject({ addresses: [IP1], ttlSeconds: 60 });
    const a = await provider.listRecords(ZONE, 1);
    expect([[...(a?.names.keys() ?? [])], a?.unclear]).toEqual([[WWW], new Set()]);
    const six = await provider.listRecords(ZONE, 1, false, "AAAA");
    expect([[...(six?.names.keys() ?? [])], six?.unclear]).toEqual([[], new Set([`${WWW} AAAA`])]);
    const held = await failureOf(provider.writeRecords(ZONE, `${WWW} AAAA`, change([], ["2001:db8::2"])));
    expect(held).toMatchObject({ failure: "malformed", isAmbiguous: false });
    expect(held.message).toContain("the AAAA records of the name cannot be understood");
    expect((await provider.writeRecords(ZONE, WWW, change([IP1], [IP1]))).kind).toBe("written");
    expect(changes).toEqual([]);
  }),
);

test.for([[{}], [{ recordType: null }], [{ recordType: 1 }], [{ recordType: "" }]])(
  "a set whose type cannot be understood, %j, holds every type of its name and no other name",
  ([fields]) =>
    withWebhook({ domains: ["example.org"] }, async ({ provider, faults }) => {
      await provider.findZone("example.org");
      const sets = [
        www([IP1]),
        { dnsName: WWW, targets: [null], ...fields },
        www([IP2], { dnsName: "api.example.org" }),
      ];
      const body = JSON.stringify(sets);
      faults.add({
        server: "webhook",
        method: "GET",
        path: "^/records$",
        status: 200,
        body,
        contentType: MEDIA_TYPE,
        times: 0,
      });
      for (const name of [WWW, `${WWW} AAAA`])
        expect((await failureOf(provider.readRecords(ZONE, name))).message).toContain(
          "a record of the name cannot be understood",
        );
      expect((await provider.readRecords(ZONE, "api.example.org")).addresses).toEqual([IP2]);
    }),
);

test.for([[null], [{}], ["www"], [{ dnsName: null, recordType: "A", targets: [IP1] }], [{ dnsName: 1 }]])(
  "a list with a set that has no name, %j, is no answer: nothing is taken for empty",
  ([item]) =>
    withWebhook({ domains: ["example.org"] }, async ({ provider, faults, changes }) => {
      await provider.findZone("example.org");
      const body = JSON.stringify([www([IP1], { dnsName: "api.example.org" }), item]);
      faults.add({
        server: "webhook",
        method: "GET",
        path: "^/records$",
        status: 200,
        body,
        contentType: MEDIA_TYPE,
        times: 0,
      });
      for (const call of [
        () => provider.readRecords(ZONE, WWW),
        () => provider.listRecords(ZONE, 1),
        () => provider.writeRecords(ZONE, WWW, change([], [IP1])),
      ])
        expect(await failureOf(call())).toMatchObject({ failure: "malformed" });
      expect(changes).toEqual([]);
    }),
);

test("null in the place of the whole list is an empty one", () =>
  withWebhook({ domains: ["example.org"] }, async ({ provider, faults }) => {
    await provider.findZone("example.org");
    faults.add({
      server: "webhook",
      method: "GET",
      path: "^/records$",
      status: 200,
      body: "null",
      contentType: MEDIA_TYPE,
    });
    expect((await provider.readRecords(ZONE, WWW)).addresses).toEqual([]);
  }));

test("a change sends the set as it was read and as it is wanted: labels and settings stay", () => {
  const kept = {
    labels: { owner: "somebody" },
    providerSpecific: [{ name: "cloudflare-proxied", value: "false" }],
  };
  return withWebhook(
    {
      domains: ["example.org"],
      records: [www([IP1, IP2], kept)],
      settings: { provider_specific: [{ name: "region", value: "eu" }] },
    },
    async (world) => {
      const { provider, changes } = world;
      const { kind } = await provider.writeRecords(ZONE, WWW, change([IP1, IP2], [IP1, IP3]));
      expect(kind).toBe("written");
      const providerSpecific = [...kept.providerSpecific, { name: "region", value: "eu" }];
      const updated = www([IP1, IP3], { ...kept, providerSpecific });
      expect(changes).toEqual([{ updateOld: [www([IP1, IP2], kept)], updateNew: [updated] }]);
      expect(held(world)).toEqual([updated]);
    },
  );
});

test("a name is made by create, emptied by delete, and a TTL that the webhook raises is no difference for ever", () =>
  withWebhook({ domains: ["example.org"], settings: { least_ttl: 300 } }, async (world) => {
    const { provider, changes } = world;
    await provider.findZone("example.org");
    expect(provider.ttlRules).toEqual({ minimumSeconds: 300, maximumSeconds: 2_147_483_647 });
    expect((await provider.writeRecords(ZONE, WWW, change([], [IP1], 60))).records.ttlSeconds).toBe(300);
    expect(changes).toEqual([{ create: [www([IP1], { recordTTL: 300 })] }]);
    expect((await provider.writeRecords(ZONE, WWW, change([IP1], [IP1], 60))).kind).toBe("written");
    expect(changes).toHaveLength(1);
    expect((await provider.writeRecords(ZONE, WWW, change([IP1], []))).records.addresses).toEqual([]);
    expect(changes.slice(1)).toEqual([{ delete: [www([IP1], { recordTTL: 300 })] }]);
  }));

test("records whose TTL the webhook does not tell are changed without one, and never for it", () =>
  withWebhook({ domains: ["example.org"], records: [{ dnsName: WWW, targets: [IP1] }] }, async (world) => {
    const { provider, changes } = world;
    expect((await provider.writeRecords(ZONE, WWW, change([IP1], [IP1], 120))).kind).toBe("written");
    expect(changes).toEqual([]);
    await provider.writeRecords(ZONE, WWW, change([IP1], [IP2], 120));
    expect(held(world)).toEqual([{ dnsName: WWW, recordType: "A", targets: [IP2] }]);
  }));

test("a 500 gives no reason, and leaves open whether the change was made", () =>
  withWebhook({ domains: ["example.org"], records: [www([IP1])] }, async (world) => {
    const { provider, faults } = world;
    faults.add({ server: "webhook", method: "POST", path: "^/records$", status: 500, effect: true });
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP2])));
    expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true, status: 500 });
    expect(error.message).toBe(
      "The DNS webhook webhook-test failed to write the A records of www.example.org: it gives no reason here, its log does (500); it may have taken effect all the same",
    );
    expect((await provider.readRecords(ZONE, WWW)).addresses).toEqual([IP2]);
    expect((await provider.writeRecords(ZONE, WWW, change([IP2], [IP2]))).kind).toBe("written");
    expect(world.changes).toHaveLength(1);
  }));

test.for([
  [400, "refused"],
  [413, "refused"],
  [415, "malformed"],
  [404, "malformed"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [429, "rate-limited"],
] as const)("a change that is answered with %i is %s, and was not made", ([status, failure]) =>
  withWebhook({ domains: ["example.org"] }, async (world) => {
    const body = "no such luck";
    world.faults.add({
      server: "webhook",
      method: "POST",
      path: "^/records$",
      status,
      body,
      contentType: "text/plain",
    });
    const error = await failureOf(world.provider.writeRecords(ZONE, WWW, change([], [IP1])));
    expect(error).toMatchObject({ failure, isAmbiguous: false });
    expect(error.message).toContain("no such luck");
    expect(held(world)).toEqual([]);
  }),
);

test("a success that is not 204 is no success that the protocol knows", () =>
  withWebhook({ domains: ["example.org"] }, async (world) => {
    world.faults.add({ server: "webhook", method: "POST", path: "^/records$", status: 200, effect: true });
    const error = await failureOf(world.provider.writeRecords(ZONE, WWW, change([], [IP1])));
    expect(error).toMatchObject({ failure: "malformed", isAmbiguous: true });
  }));

test("a change that a cache hides is looked for and not sent again, in later passes either", () =>
  withWebhook({ domains: ["example.org"], records: [www([IP1])], settings: { cache_seconds: 120 } }, async (world) => {
    const { provider, changes, calls, pass } = world;
    await provider.readRecords(ZONE, WWW);
    calls.length = 0;
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP2])));
    expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true });
    expect(error.message).toContain("it accepted the change and does not show it yet");
    expect(calls.filter((call) => call === "GET /records").length).toBeGreaterThan(3);
    pass(30_000);
    await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP2])));
    expect(changes).toHaveLength(1);
    pass(120_000);
    expect(await provider.writeRecords(ZONE, WWW, change([IP1], [IP2]))).toMatchObject({ kind: "written" });
    expect(changes).toHaveLength(1);
  }));

test("a TTL that is accepted and not kept is told, with the one to write", () =>
  withWebhook({ domains: ["example.org"], records: [www([IP1], { recordTTL: 600 })] }, async (world) => {
    const { provider, faults, changes } = world;
    faults.add({ server: "webhook", method: "POST", path: "^/records$", status: 204, times: 0 });
    const told =
      "it accepted a TTL of 60 s and shows 600 s; where that stays so its provider takes no other one: write ttl: 600";
    expect((await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP1], 60)))).message).toContain(told);
    expect((await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP1], 60)))).message).toContain(told);
    expect(changes).toHaveLength(1);
    expect((await provider.writeRecords(ZONE, WWW, change([IP1], [IP1], 600))).kind).toBe("written");
  }));

test("an accepted change that cannot be read again may have been made", () =>
  withWebhook({ domains: ["example.org"] }, async (world) => {
    const { provider, faults, calls } = world;
    await provider.findZone("example.org");
    faults.add({ server: "webhook", method: "GET", path: "^/records$", status: 503, skip: 1, times: 0 });
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([], [IP1])));
    expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true, operation: "write", subject: WWW });
    expect(error.message).toContain("it accepted the change, which could not be read again");
    expect(held(world)).toHaveLength(1);
    expect(calls.filter((call) => call === "POST /records")).toHaveLength(1);
  }));

test("where a change is not seen for ten minutes, it is sent again; another change is sent at once", () =>
  withWebhook(
    { domains: ["example.org"], records: [www([IP1])], settings: { cache_seconds: 100_000 } },
    async ({ provider, changes, pass }) => {
      await provider.readRecords(ZONE, WWW);
      await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP2])));
      await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP3])));
      expect(changes).toHaveLength(2);
      pass(601_000);
      await failureOf(provider.writeRecords(ZONE, WWW, change([IP1], [IP3])));
      expect(changes).toHaveLength(3);
    },
  ));

test("a webhook that stores only a part of a set is told of, and is no success", () =>
  withWebhook({ domains: ["example.org"], settings: { targets_per_set: 1 } }, async ({ provider }) => {
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([], [IP1, IP2])));
    expect(error.failure).toBe("malformed");
    expect(error.message).toContain(`it accepted ${IP1}, ${IP2} and shows ${IP1}`);
  }));

test("a webhook that makes a change bit by bit is waited for", () =>
  withWebhook({ domains: ["example.org"], settings: { targets_per_set: 1 } }, async (world) => {
    const { provider, sandbox } = world;
    let waits = 0;
    world.beforeWait = () => {
      waits += 1;
      const [set] = sandbox.webhook().state.records;
      if (waits === 2 && set !== undefined) set.targets.push(IP2);
    };
    const { kind, records } = await provider.writeRecords(ZONE, WWW, change([], [IP1, IP2]));
    expect([kind, records.addresses, waits]).toEqual(["written", [IP1, IP2], 2]);
    expect(world.changes).toHaveLength(1);
  }));

test("what somebody else has put under a name meanwhile makes a change stale", () =>
  withWebhook({ domains: ["example.org"], settings: { targets_per_set: 1 } }, async (world) => {
    world.beforeWait = () => {
      const [set] = world.sandbox.webhook().state.records;
      if (set !== undefined) set.targets = ["198.51.100.9"];
    };
    const { kind, records } = await world.provider.writeRecords(ZONE, WWW, change([], [IP1, IP2]));
    expect([kind, records.addresses]).toEqual(["stale", ["198.51.100.9"]]);
  }));

test.for([
  [null, "it would not store such a record"],
  [[], "it would not store such a record"],
  [[www([IP3])], `it would store A ${IP3}`],
  [[www(["lb.example.net"], { recordType: "CNAME" })], "it would store CNAME lb.example.net"],
])("a webhook that would store %j in the place of what is wanted is not asked to", ([answer, why]) =>
  withWebhook({ domains: ["example.org"] }, async ({ provider, faults, changes }) => {
    await provider.findZone("example.org");
    const body = JSON.stringify(answer);
    faults.add({ server: "webhook", path: "^/adjustendpoints$", status: 200, body, contentType: MEDIA_TYPE });
    const error = await failureOf(provider.writeRecords(ZONE, WWW, change([], [IP1])));
    expect(error).toMatchObject({ failure: "refused", isAmbiguous: false });
    expect(error.message).toContain(why);
    expect(changes).toEqual([]);
  }),
);

test("one reading serves all who look at the same time, and each change is read before and after", () =>
  withWebhook({ domains: ["example.org", "example.net"] }, async ({ provider, calls, changes }) => {
    const names = Array.from({ length: 20 }, (_, at) => `n${at}.example.org`);
    await provider.findZone("example.org");
    calls.length = 0;
    await Promise.all([
      ...names.map((name) => provider.readRecords(ZONE, name)),
      provider.listRecords({ id: "example.net", name: "example.net" }, 1),
      provider.listTexts(ZONE, 1),
    ]);
    expect(calls).toEqual(["GET /records"]);
    calls.length = 0;
    await Promise.all(names.map((name) => provider.writeRecords(ZONE, name, change([], [IP1]))));
    expect(changes).toHaveLength(20);
    const reads = calls.filter((call) => call === "GET /records");
    expect(reads.length).toBeGreaterThanOrEqual(2);
    expect(reads.length).toBeLessThanOrEqual(4);
    expect(calls.indexOf("GET /records")).toBeLessThan(calls.indexOf("POST /records"));
    expect(calls.at(-1)).toBe("GET /records");
  }));

test("a webhook of the same pod that does not listen yet is waited for, and only at the start", async () => {
  const waits: number[] = [];
  const clock = { ...SYSTEM_CLOCK, sleep: async (ms: number) => void waits.push(ms) };
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const baseURL = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await new Promise((resolve) => closed.close(resolve));
  const provider = createWebhook({ name: "webhook", token: undefined, userAgent: "flipop-test", clock, baseURL });
  expect((await failureOf(provider.findZone("example.org"))).failure).toBe("unavailable");
  // Beside them stand the repeats of each read.
  const started = waits.filter((ms) => ms >= 500);
  expect(started.reduce((sum, ms) => sum + ms, 0)).toBe(10_000);
});

test("a token is sent, and hidden in what the webhook says", () =>
  withWebhook(
    { domains: ["example.org"], settings: { token: "s3cret-token" } },
    async ({ provider, faults }) => {
      expect(await provider.findZone("example.org")).toEqual(ZONE);
      const body = "do not say s3cret-token";
      faults.add({ server: "webhook", path: "^/records$", status: 400, body, contentType: "text/plain" });
      const error = await failureOf(provider.readRecords(ZONE, WWW));
      expect(error.message).toContain("do not say [redacted]");
    },
    "s3cret-token",
  ));

test("without its token it is told that the token is wrong", () =>
  withWebhook({ domains: ["example.org"], settings: { token: "right" } }, async ({ provider }) => {
    expect(await failureOf(provider.findZone("example.org"))).toMatchObject({ failure: "unauthorized", status: 401 });
  }));
