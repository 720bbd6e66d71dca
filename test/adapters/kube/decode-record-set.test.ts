import { describe, expect, test } from "vitest";
import { decodeRecordSet } from "../../../src/adapters/kube/custom-resources.ts";
import { POOL_STATUS, RECORD_SET_STATUS } from "../../../src/adapters/kube/status.ts";
import { EMPTY_RECORD_SET_STATUS, FULL_RECORD_SET_STATUS } from "../../contract/record-set-status-samples.ts";

const recordSetOf = (spec: unknown): ReturnType<typeof decodeRecordSet> =>
  decodeRecordSet({ metadata: { name: "nodes", namespace: "shop" }, spec });

describe("decodeRecordSet", () => {
  test("0, the empty text, null and absent are the same, and no provider is made up", () => {
    const zero = {
      provider: "",
      dnsRecordSet: { provider: "", zone: "", recordName: "", ttl: 0 },
      addressType: "",
      gracePeriodSeconds: 0,
      match: { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: null },
      whenEmpty: "",
      reclaimPolicy: "",
      suspend: false,
    };
    const defaulted = {
      provider: "",
      dnsRecordSet: { provider: "", zone: "", recordName: "", ttlSeconds: 60 },
      addressType: "ExternalIP",
      gracePeriodSeconds: 0,
      match: { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: [] },
      whenEmpty: "Keep",
      reclaimPolicy: "Retain",
      suspend: false,
    };
    for (const spec of [zero, {}, undefined, null, { dnsRecordSet: null, match: null }, { dnsRecordSet: {} }]) {
      expect(recordSetOf(spec)?.spec).toEqual(defaulted);
      expect(recordSetOf(spec)).not.toHaveProperty("decodeError");
    }
  });

  test("every field is read, with units and names of the model, and an address type as written", () => {
    const spec = {
      provider: "cloudflare",
      addressType: "Hostname",
      gracePeriodSeconds: 1.5,
      match: { nodeLabel: "a=b", podNamespace: "n", podLabel: "c", tolerations: [{ key: "k", operator: "Exists" }] },
      whenEmpty: "Delete",
      reclaimPolicy: "Delete",
      suspend: true,
    };
    const dnsRecordSet = { provider: "digitalocean", zone: "Example.com.", recordName: "@" };
    expect(recordSetOf({ ...spec, dnsRecordSet: { ...dnsRecordSet, ttl: 30 } })?.spec).toEqual({
      ...spec,
      dnsRecordSet: { ...dnsRecordSet, ttlSeconds: 30 },
    });
  });

  test.for([
    [{ dnsRecordSet: [] }, "spec.dnsRecordSet must be an object, not []"],
    [{ dnsRecordSet: { zone: 1 } }, "spec.dnsRecordSet.zone must be text, not 1"],
    [{ dnsRecordSet: { ttl: -1 } }, "spec.dnsRecordSet.ttl must be a number of at least 0, not -1"],
    [{ addressType: {} }, "spec.addressType must be text, not {}"],
    [{ whenEmpty: "Drop" }, 'spec.whenEmpty must be Keep or Delete, not "Drop"'],
    [
      { match: { podLabel: 1 }, suspend: 1 },
      "spec.match.podLabel must be text, not 1; spec.suspend must be true or false, not 1",
    ],
  ] as const)("%j is a decode error with its path", ([spec, expected]) => {
    expect(recordSetOf(spec)?.decodeError).toBe(expected);
  });

  test("an object without a name is nothing", () => {
    for (const odd of [undefined, null, 1, "x", [], {}, { metadata: {} }]) expect(decodeRecordSet(odd)).toBeUndefined();
  });
});

describe("status of RecordSet", () => {
  test("a full status is read back as it was, and undoes into nothing", () => {
    expect(RECORD_SET_STATUS.read(JSON.parse(JSON.stringify(FULL_RECORD_SET_STATUS)))).toEqual(FULL_RECORD_SET_STATUS);
    const patch = RECORD_SET_STATUS.patch(EMPTY_RECORD_SET_STATUS, FULL_RECORD_SET_STATUS);
    expect(new Set(Object.values(patch))).toEqual(new Set([null]));
    expect(Object.keys(patch).toSorted()).toEqual(Object.keys(FULL_RECORD_SET_STATUS).toSorted());
  });

  test.for([
    undefined,
    null,
    "text",
    [],
    { conditions: {}, error: 5, state: "?", publishedDNS: [], formerDNS: {}, unreadyNodes: 1, retries: null },
    { conditions: [null], state: 1, publishedDNS: "n", formerDNS: [null, 1, "n"], unreadyNodes: [{}], retries: [{}] },
    { unreadyNodes: [{ nodeName: "n" }, { since: "2026-01-02T03:04:05Z" }] },
  ])("wrong shapes are dropped: %j is empty", (status) => {
    expect(RECORD_SET_STATUS.read(status)).toEqual(EMPTY_RECORD_SET_STATUS);
  });

  test("what the Go operator left is read", () => {
    const left = { state: "in-progress", error: "failed to update DNS" };
    expect(RECORD_SET_STATUS.read(left)).toEqual({ ...EMPTY_RECORD_SET_STATUS, ...left });
    expect(RECORD_SET_STATUS.read({ state: "active", error: "" })).toEqual({
      ...EMPTY_RECORD_SET_STATUS,
      state: "active",
    });
  });
});

describe("DNS names in a status", () => {
  const name = { provider: "digitalocean", zone: "example.com", name: "www.example.com" };

  test.for([
    ["provider", { ...name, provider: "" }],
    ["zone", { ...name, zone: undefined }],
    ["name", { ...name, name: 1 }],
  ] as const)("one without its %s cannot be found again, and is dropped in both kinds", ([, odd]) => {
    for (const decode of [POOL_STATUS.read, RECORD_SET_STATUS.read]) {
      const status = decode({ publishedDNS: odd, formerDNS: [odd, { ...name, addresses: ["192.0.2.1"] }] });
      expect(status).not.toHaveProperty("publishedDNS");
      expect(status.formerDNS).toEqual([{ ...name, addresses: ["192.0.2.1"] }]);
    }
  });

  test.for([undefined, null, "192.0.2.1", [1, null]])("addresses of %j are none", (addresses) => {
    expect(RECORD_SET_STATUS.read({ publishedDNS: { ...name, addresses } }).publishedDNS).toEqual({
      ...name,
      addresses: [],
    });
  });

  test.for(["foreign", "unseen"] as const)(
    "what is odd in %s is dropped, and a time that is lost is empty",
    (field) => {
      const read = (value: unknown): unknown =>
        RECORD_SET_STATUS.read({ publishedDNS: { ...name, addresses: [], [field]: value } }).publishedDNS?.[field];
      const [address, since] = ["192.0.2.1", "2026-01-02T03:04:05Z"];
      expect(read([null, "x", { since }, { address: 1, since }, { address, since }, { address }])).toEqual([
        { address, since },
        { address, since: "" },
      ]);
      for (const odd of [undefined, null, "192.0.2.1", 5, {}]) expect(read(odd) ?? []).toEqual([]);
    },
  );
});
