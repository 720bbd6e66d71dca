import { describe, expect, test } from "vitest";
import { decodePool } from "../../../src/adapters/kube/custom-resources.ts";
import { decodeNode } from "../../../src/adapters/kube/node.ts";
import { decodePod } from "../../../src/adapters/kube/pod.ts";
import { POOL_STATUS } from "../../../src/adapters/kube/status.ts";
import { EMPTY_STATUS, FULL_STATUS } from "../../contract/pool-status-samples.ts";

const metadata = { name: "web", namespace: "ingress" };
type Odd = { readonly metadata?: object };
const poolOf = (spec: unknown): ReturnType<typeof decodePool> => decodePool({ metadata, spec });

describe("decodePool", () => {
  test("0, the empty text, null and absent are the same", () => {
    const zero = {
      provider: "digitalocean",
      region: "",
      ips: null,
      desiredIPs: 0,
      assignmentCoolOffSeconds: 0,
      gracePeriodSeconds: 0,
      match: { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: null },
      dnsRecordSet: null,
      reclaimPolicy: "",
      foreignHolder: "",
      suspend: false,
    };
    expect(poolOf(zero)).toEqual(poolOf({ provider: "digitalocean" }));
    expect(poolOf(zero)).not.toHaveProperty("decodeError");
  });

  test("every field is read, with units and names of the model", () => {
    const toleration = { key: "k", operator: "Equal", value: "v", effect: "NoExecute", tolerationSeconds: 0 };
    const spec = {
      provider: "p",
      region: "r",
      ips: ["192.0.2.1", 5, null],
      desiredIPs: 2,
      assignmentCoolOffSeconds: 1.5,
      gracePeriodSeconds: 30,
      match: { nodeLabel: "a=b", podNamespace: "n", podLabel: "c", tolerations: [toleration, {}] },
      dnsRecordSet: { zone: "example.com", recordName: "@" },
      reclaimPolicy: "Delete",
      foreignHolder: "TakeOver",
      suspend: true,
    };
    expect(poolOf(spec)).toMatchObject({
      spec: {
        ...spec,
        ips: ["192.0.2.1", "5", "null"],
        dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "@", ttlSeconds: 60 },
      },
    });
    expect(poolOf(spec)).not.toHaveProperty("decodeError");
    expect(poolOf({ dnsRecordSet: { provider: "cloudflare", ttl: 30 } })?.spec.dnsRecordSet).toEqual({
      provider: "cloudflare",
      zone: "",
      recordName: "",
      ttlSeconds: 30,
    });
  });

  test.for([
    [{ provider: 1 }, "spec.provider must be text, not 1"],
    [{ ips: "192.0.2.1" }, 'spec.ips must be a list, not "192.0.2.1"'],
    [{ desiredIPs: "2" }, 'spec.desiredIPs must be an integer of at least 0, not "2"'],
    [{ desiredIPs: 1.5 }, "spec.desiredIPs must be an integer of at least 0, not 1.5"],
    [{ desiredIPs: -1 }, "spec.desiredIPs must be a number of at least 0, not -1"],
    [{ assignmentCoolOffSeconds: "5" }, 'spec.assignmentCoolOffSeconds must be a number of at least 0, not "5"'],
    [{ gracePeriodSeconds: [] }, "spec.gracePeriodSeconds must be a number of at least 0, not []"],
    [{ match: [] }, "spec.match must be an object, not []"],
    [{ match: { podLabel: {} } }, "spec.match.podLabel must be text, not {}"],
    [{ match: { tolerations: [{}, 7] } }, "spec.match.tolerations[1] must be an object, not 7"],
    [
      { match: { tolerations: [{ tolerationSeconds: "1" }] } },
      'spec.match.tolerations[0].tolerationSeconds must be a number, not "1"',
    ],
    [{ dnsRecordSet: { ttl: "60" } }, 'spec.dnsRecordSet.ttl must be an integer of at least 0, not "60"'],
    [{ reclaimPolicy: "Keep" }, 'spec.reclaimPolicy must be Retain or Delete, not "Keep"'],
    [{ suspend: "yes" }, 'spec.suspend must be true or false, not "yes"'],
    [{ provider: [], region: 2 }, "spec.provider must be text, not []; spec.region must be text, not 2"],
    ["text", 'spec must be an object, not "text"'],
    [{ region: ["x".repeat(60)] }, "spec.region must be text, not a list"],
  ] as const)("%j is a decode error with its path", ([spec, expected]) => {
    expect(poolOf(spec)?.decodeError).toBe(expected);
  });

  test.for(["assignmentCoolOffSeconds", "gracePeriodSeconds"] as const)(
    "%s beyond a hundred years counts as that, so that its end can be written as a time",
    (field) => {
      const spec = poolOf({ [field]: Number.MAX_VALUE })?.spec;
      expect(new Date(Date.UTC(2026, 0) + (spec?.[field] ?? 0) * 1000).getUTCFullYear()).toBe(2125);
      expect(poolOf({ [field]: 86_400 })?.spec[field]).toBe(86_400);
    },
  );

  test("metadata is read, and an object without a name is nothing", () => {
    const full = {
      ...metadata,
      uid: "u",
      resourceVersion: "7",
      generation: 3,
      creationTimestamp: "2026-01-02T03:04:05Z",
      deletionTimestamp: "2026-01-02T03:04:06Z",
      finalizers: ["f"],
      labels: { a: "b", c: 1 },
    };
    expect(decodePool({ metadata: full })?.meta).toEqual({
      ...metadata,
      uid: "u",
      resourceVersion: "7",
      generation: 3,
      createdAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
      isDeleting: true,
      finalizers: ["f"],
      labels: { a: "b" },
    });
    for (const odd of [undefined, null, 1, "x", [], {}, { metadata: {} }]) expect(decodePool(odd)).toBeUndefined();
  });
});

describe("status of Pool", () => {
  test("a full status is read back as it was, and undoes into nothing", () => {
    expect(POOL_STATUS.read(JSON.parse(JSON.stringify(FULL_STATUS)))).toEqual(FULL_STATUS);
    const patch = POOL_STATUS.patch(EMPTY_STATUS, FULL_STATUS);
    expect(new Set(Object.values(patch))).toEqual(new Set([null]));
    expect(Object.keys(patch).toSorted()).toEqual(Object.keys(FULL_STATUS).toSorted());
  });

  test.for([
    undefined,
    null,
    "text",
    [],
    { conditions: {}, ips: [], assignableNodes: "a", acquired: 1, retries: null, error: 5, assignments: "3" },
    {
      conditions: [null, 1, {}, { type: "Ready", status: "Maybe" }],
      ips: { "192.0.2.1": "active", "192.0.2.2": { state: "?" } },
    },
    {
      acquired: [{}, null],
      released: [{ ip: "" }],
      retries: [{ attempts: 3 }],
      pendingAcquisitions: [7],
      nodeErrors: [1],
    },
  ])("wrong shapes are dropped: %j is empty", (status) => {
    expect(POOL_STATUS.read(status)).toEqual(EMPTY_STATUS);
  });

  test("what the Go operator left is read", () => {
    const ips = { "192.0.2.1": { state: "active", nodeName: "n", providerID: "digitalocean://1", error: "" } };
    expect(POOL_STATUS.read({ ips, assignableNodes: ["a"], nodeErrors: null }).ips["192.0.2.1"]).toEqual({
      state: "active",
      nodeName: "n",
      providerID: "digitalocean://1",
    });
  });

  test("an intent that lost its time is kept, for it may stand for an address that was bought", () => {
    expect(POOL_STATUS.read({ pendingAcquisitions: [{}] }).pendingAcquisitions).toEqual([
      { startedAt: "", knownIPs: [] },
    ]);
  });
});

describe("decodeNode", () => {
  test.for([
    ["True", true],
    ["true", false],
    ["False", false],
    ["Unknown", false],
    [true, false],
    [undefined, false],
  ] as const)("a Ready condition of %j is ready: %j", ([status, isReady]) => {
    const conditions = [
      { type: "DiskPressure", status: "True" },
      { type: "Ready", status },
    ];
    expect(decodeNode({ metadata: { name: "n" }, status: { conditions } })?.ready).toEqual({ isReady });
  });

  test("annotations, taints and addresses are read, and odd parts are dropped", () => {
    const annotations = {
      "flipop.digitalocean.com/ipv4-reserved-ip": "192.0.2.1",
      "flipop.digitalocean.com/pool": "",
    };
    const taints = [null, {}, { key: "k", effect: "NoSchedule", timeAdded: "soon" }];
    const addresses = [
      { type: "Hostname", address: "h" },
      { type: "ExternalIP" },
      { type: "ExternalIP", address: "fd00::1" },
    ];
    const object = {
      metadata: { name: "n", annotations, deletionTimestamp: "2026-01-02T03:04:05Z" },
      spec: { taints },
      status: { addresses },
    };
    expect(decodeNode(object)).toMatchObject({
      addressAnnotation: "192.0.2.1",
      poolAnnotation: "",
      taints: [{ key: "k", value: "", effect: "NoSchedule" }],
      addresses: [{ type: "ExternalIP", address: "fd00::1" }],
      isDeleting: true,
      providerID: "",
    });
    expect(decodeNode({ spec: {} })).toBeUndefined();
  });

  test.for<[string, object]>([
    ["metadata.labels", { metadata: { labels: [] } }],
    ["metadata.labels", { metadata: { labels: { role: 1 } } }],
    ["metadata.annotations", { metadata: { annotations: "none" } }],
    ["metadata.annotations", { metadata: { annotations: { "flipop.digitalocean.com/pool": 7 } } }],
    ["spec", { spec: "x" }],
    ["spec", { spec: [] }],
    ["spec.providerID", { spec: { providerID: 5 } }],
    ["spec.taints", { spec: { taints: {} } }],
    ["spec.taints", { spec: { taints: [null] } }],
    ["spec.taints", { spec: { taints: [{ effect: "NoSchedule" }] } }],
    ["spec.taints", { spec: { taints: [{ key: "k", effect: 5 }] } }],
    ["status", { status: 5 }],
    ["status.conditions", { status: { conditions: {} } }],
    ["status.conditions", { status: { conditions: [{ type: "Ready", status: true }] } }],
    ["status.conditions", { status: { conditions: [{ type: 5, status: "True" }] } }],
    ["status.conditions", { status: { conditions: [null] } }],
    ["status.addresses", { status: { addresses: {} } }],
    ["status.addresses", { status: { addresses: [{ type: "ExternalIP", address: 5 }] } }],
    ["status.addresses", { status: { addresses: [{ type: 5, address: "198.51.100.1" }] } }],
  ])("a node says when its %s cannot be read: %j", ([unreadable, { metadata: rest = {}, ...parts }]: [string, Odd]) => {
    expect(decodeNode({ metadata: { name: "n", ...rest }, ...parts })).toMatchObject({ name: "n", unreadable });
  });

  test.for<[string, object]>([
    ["another annotation", { metadata: { annotations: { other: 5 } } }],
    ["the time of a taint", { spec: { taints: [{ key: "k", effect: "NoSchedule", timeAdded: [] }] } }],
    ["another condition", { status: { conditions: [{ type: "DiskPressure", status: 5, lastTransitionTime: {} }] } }],
    [
      "a condition whose type is unknown beside the one that counts",
      { status: { conditions: [{ type: 5 }, { type: "Ready", status: "True" }] } },
    ],
    ["an address of another type", { status: { addresses: [{ type: "Hostname", address: 5 }] } }],
    ["what flipop does not look at", { spec: { podCIDR: 5, taints: null }, status: { images: 5, conditions: null } }],
  ])("a node is read whatever stands in %s", ([, { metadata: rest = {}, ...parts }]: [string, Odd]) => {
    const node = decodeNode({ metadata: { name: "n", resourceVersion: 5, generation: "x", ...rest }, ...parts });
    expect(node).toMatchObject({ name: "n" });
    expect(node).not.toHaveProperty("unreadable");
  });
});

describe("decodePod", () => {
  const pod = { metadata: { name: "p", namespace: "n" }, spec: { nodeName: "a" }, status: { phase: "Running" } };
  test("a deletion is when it was asked for: the timestamp less the grace period", () => {
    const deletion = { deletionTimestamp: "2026-01-02T03:04:35Z", deletionGracePeriodSeconds: 30 };
    const deleting = { ...pod, metadata: { ...pod.metadata, ...deletion } };
    expect(decodePod(deleting)?.deletedAtMs).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
    expect(decodePod(pod)).not.toHaveProperty("deletedAtMs");
  });

  test.for<[string, unknown]>([
    ["yesterday", "yesterday"],
    ["Go's zero", "0001-01-01T00:00:00Z"],
    ["a number", 1_785_585_600],
    ["nothing that is a time", {}],
  ])("a pod that is being deleted since %s is not ready, since an unknown time", ([, deletionTimestamp]) => {
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z" }];
    const status = { phase: "Running", conditions };
    const read = decodePod({ ...pod, metadata: { ...pod.metadata, deletionTimestamp }, status });
    expect(read?.ready).toEqual({ isReady: false });
    expect(read).not.toHaveProperty("deletedAtMs");
    expect(decodeNode({ metadata: { name: "n", deletionTimestamp } })?.isDeleting).toBe(true);
    expect(decodePool({ metadata: { ...metadata, deletionTimestamp } })?.meta.isDeleting).toBe(true);
  });

  test.for([-1, -(2 ** 63), 1e300, 2 ** 63, "30", null, {}])(
    "a time to end of %j counts as none, so that what is written of the deletion is a time",
    (deletionGracePeriodSeconds) => {
      const deletion = { deletionTimestamp: "2026-01-02T03:04:35Z", deletionGracePeriodSeconds };
      const deletedAtMs = decodePod({ ...pod, metadata: { ...pod.metadata, ...deletion } })?.deletedAtMs;
      expect(deletedAtMs).toBe(Date.UTC(2026, 0, 2, 3, 4, 35));
    },
  );

  test.for([
    ["0001-01-01T00:00:00Z", undefined],
    ["1970-01-01T00:00:00Z", undefined],
    ["yesterday", undefined],
    ["12", undefined],
    [1_785_585_600, undefined],
    ["1960-01-01T00:00:00Z", Date.UTC(1960, 0, 1)],
    ["9999-12-31T23:59:59Z", Date.UTC(9999, 11, 31, 23, 59, 59)],
    ["10000-01-01T00:00:00Z", undefined],
    ["275760-09-13T00:00:01Z", undefined],
  ] as const)("a condition since %j is since %j", ([lastTransitionTime, sinceMs]) => {
    const conditions = [{ type: "Ready", status: "False", lastTransitionTime }];
    const taints = [{ key: "k", effect: "NoExecute", timeAdded: lastTransitionTime }];
    const node = decodeNode({ metadata: { name: "n" }, spec: { taints }, status: { conditions } });
    expect(node?.ready.sinceMs).toBe(sinceMs);
    expect(node?.taints[0]?.timeAddedMs).toBe(sinceMs);
    expect(node).not.toHaveProperty("unreadable");
    expect(decodePod({ ...pod, status: { conditions } })?.ready.sinceMs).toBe(sinceMs);
  });

  test("a pod without a node is nothing", () => {
    expect(decodePod({ ...pod, spec: {} })).toBeUndefined();
    expect(decodePod({ ...pod, spec: { nodeName: "" } })).toBeUndefined();
  });
});
