import { describe, expect, test } from "vitest";
import { decodeRoutedIP, decodeRoutedIPIssuer } from "../../../src/adapters/kube/custom-resources.ts";
import { ROUTED_IP_STATUS } from "../../../src/adapters/kube/status.ts";
import { EMPTY_STATUS } from "../../contract/pool-status-samples.ts";
import { FULL_ROUTED_IP_STATUS } from "../../contract/routed-ip-status-samples.ts";

const metadata = { name: "web", namespace: "shop" };
const routedIPOf = (spec: unknown): ReturnType<typeof decodeRoutedIP> => decodeRoutedIP({ metadata, spec });
const issuerOf = (spec: unknown): ReturnType<typeof decodeRoutedIPIssuer> => decodeRoutedIPIssuer({ metadata, spec });

describe("decodeRoutedIP", () => {
  test("0, the empty text, null and absent are the same", () => {
    const zero = { issuer: "", address: null, serviceName: "", ports: null, gracePeriodSeconds: 0, foreignHolder: "" };
    const defaulted = {
      issuer: "",
      address: "",
      serviceName: "",
      ports: [],
      gracePeriodSeconds: 0,
      foreignHolder: "Hold",
      suspend: false,
    };
    for (const spec of [zero, {}, undefined, null, { dnsRecordSet: null, ports: [], suspend: false }]) {
      expect(routedIPOf(spec)?.spec).toEqual(defaulted);
      expect(routedIPOf(spec)).not.toHaveProperty("decodeError");
    }
  });

  test("every field is read, ports as written, and the DNS provider has a default", () => {
    const spec = {
      issuer: "public",
      address: "192.0.2.1",
      serviceName: "web",
      gracePeriodSeconds: 1.5,
      foreignHolder: "TakeOver",
      suspend: true,
    };
    const ports = [
      { protocol: "TCP", port: 80 },
      { protocol: "udp", port: "8000-9000" },
      { protocol: "icmp" },
      { protocol: "tcp", port: 0 },
    ];
    const dnsRecordSet = { zone: "example.com", recordName: "www" };
    expect(routedIPOf({ ...spec, ports, dnsRecordSet })?.spec).toEqual({
      ...spec,
      ports: [
        { protocol: "TCP", port: "80" },
        { protocol: "udp", port: "8000-9000" },
        { protocol: "icmp", port: "" },
        { protocol: "tcp", port: "0" },
      ],
      dnsRecordSet: { ...dnsRecordSet, provider: "digitalocean", ttlSeconds: 60 },
    });
  });

  test.for([
    [{ issuer: 1 }, "spec.issuer must be text, not 1"],
    [{ ports: {} }, "spec.ports must be a list, not {}"],
    [{ ports: [1] }, "spec.ports[0] must be an object, not 1"],
    [
      { ports: [{ protocol: "tcp", port: 1.5 }] },
      "spec.ports[0].port must be an integer of at least 0 or text, not 1.5",
    ],
    [
      {
        ports: [
          { protocol: "tcp", port: -1 },
          { protocol: 6, port: [] },
        ],
      },
      "spec.ports[0].port must be an integer of at least 0 or text, not -1; spec.ports[1].protocol must be text, not 6; " +
        "spec.ports[1].port must be an integer of at least 0 or text, not []",
    ],
    [{ ports: [{ protocol: "tcp" }] }, 'spec.ports[0].port must be an integer or a text that is not empty, not ""'],
    [
      { ports: [{ protocol: "UDP", port: "" }] },
      'spec.ports[0].port must be an integer or a text that is not empty, not ""',
    ],
    [{ foreignHolder: "Steal" }, 'spec.foreignHolder must be Hold or TakeOver, not "Steal"'],
  ] as const)("%j is a decode error with its path", ([spec, expected]) => {
    expect(routedIPOf(spec)?.decodeError).toBe(expected);
  });

  test("an object without a name is nothing", () => {
    for (const odd of [undefined, null, 1, "x", [], {}, { metadata: {} }]) expect(decodeRoutedIP(odd)).toBeUndefined();
  });
});

describe("decodeRoutedIPIssuer", () => {
  test("it has no status, and a wrong word is a decode error", () => {
    expect(decodeRoutedIPIssuer({ metadata, spec: {}, status: { planted: 1 } })).not.toHaveProperty("status");
    expect(issuerOf({ routedIPReclaimPolicy: "Remove", tolerations: [{ key: 1 }] })).toMatchObject({
      spec: { reclaimPolicy: "Retain", tolerations: [{}] },
      decodeError:
        'spec.routedIPReclaimPolicy must be Retain or Delete, not "Remove"; spec.tolerations[0].key must be text, not 1',
    });
  });

  test("an object without a name is nothing", () => {
    for (const odd of [undefined, null, 1, "x", [], {}, { metadata: {} }])
      expect(decodeRoutedIPIssuer(odd)).toBeUndefined();
  });
});

describe("status of RoutedIP", () => {
  test("a full status is read back as it was, and undoes into nothing", () => {
    expect(ROUTED_IP_STATUS.read(JSON.parse(JSON.stringify(FULL_ROUTED_IP_STATUS)))).toEqual(FULL_ROUTED_IP_STATUS);
    const patch = ROUTED_IP_STATUS.patch(EMPTY_STATUS, FULL_ROUTED_IP_STATUS);
    expect(new Set(Object.values(patch))).toEqual(new Set([null]));
    expect(Object.keys(patch).toSorted()).toEqual(Object.keys(FULL_ROUTED_IP_STATUS).toSorted());
  });

  test.for([
    undefined,
    null,
    "text",
    [],
    { firewalls: {}, issuer: [] },
    { firewalls: [null, 1, {}, { provider: "digitalocean" }, { id: "fw" }, { provider: "", id: "fw" }] },
    { issuer: { provider: "digitalocean" } },
    { issuer: { provider: "digitalocean", reclaimPolicy: "delete" } },
    { issuer: { reclaimPolicy: "Delete" } },
  ])("wrong shapes are dropped: %j is empty", (status) => {
    expect(ROUTED_IP_STATUS.read(status)).toEqual(EMPTY_STATUS);
    expect(Object.keys(ROUTED_IP_STATUS.read(status))).not.toContain("firewalls");
  });

  test("a firewall that can be found again is kept with what of it is right", () => {
    const odd = { provider: "digitalocean", id: "fw", name: 1, ports: ["tcp/80", 1], machineIDs: "1" };
    expect(ROUTED_IP_STATUS.read({ firewalls: [odd] }).firewalls).toEqual([
      { provider: "digitalocean", id: "fw", name: "", ports: ["tcp/80"], machineIDs: [] },
    ]);
  });
});
