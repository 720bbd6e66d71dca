import { describe, expect, test } from "vitest";
import { decodeEndpointSlice, decodeService } from "../../../src/adapters/kube/service.ts";

const metadata = { name: "web", namespace: "shop", resourceVersion: "7" };

describe("decodeService", () => {
  const NOTHING = { ...metadata, type: "ClusterIP", selector: {}, ports: [] };

  test.for([[undefined], [null], [{}], [{ type: "", selector: null, ports: null }], [{ selector: {}, ports: [] }]])(
    "one whose spec is %j has no selector and no ports, and the type that is the default",
    ([spec]) => {
      expect(decodeService({ metadata, spec })).toEqual(NOTHING);
    },
  );

  test.for<[string, unknown]>([
    ["spec", []],
    ["spec", 1],
    ["spec.type", { type: 5 }],
    ["spec.selector", { selector: [] }],
    ["spec.selector", { selector: { app: 1 } }],
    ["spec.ports", { ports: {} }],
    ["spec.ports", { ports: [null] }],
    ["spec.ports", { ports: [{}] }],
    ["spec.ports", { ports: [1] }],
    ["spec.ports", { ports: [{ port: 0 }] }],
    ["spec.ports", { ports: [{ port: 65_536 }] }],
    ["spec.ports", { ports: [{ port: -1 }] }],
    ["spec.ports", { ports: [{ port: "80" }] }],
    ["spec.ports", { ports: [{ port: 80.5 }] }],
    ["spec.ports", { ports: [{ port: 80, nodePort: 2 ** 40 }] }],
    ["spec.ports", { ports: [{ port: 80, nodePort: "x" }] }],
    ["spec.ports", { ports: [{ port: 80, protocol: 6 }] }],
  ])("one whose %s cannot be read says so: %j", ([unreadable, spec]) => {
    expect(decodeService({ metadata, spec })).toMatchObject({ ...metadata, unreadable });
  });

  test("every port that can be read is there, and none that cannot, for 0 would mean all of them to a firewall", () => {
    const ports = [{ port: 0 }, { port: 80, protocol: "TCP", nodePort: 30_080 }, { port: -1 }, { port: 53 }];
    expect(decodeService({ metadata, spec: { ports } })?.ports).toEqual([
      { port: 80, protocol: "TCP", nodePort: 30_080 },
      { port: 53, protocol: "TCP", nodePort: 0 },
    ]);
  });

  test("something without a name is nothing", () => {
    for (const odd of [undefined, null, 1, [], {}, { metadata: {} }]) expect(decodeService(odd)).toBeUndefined();
  });
});

describe("decodeEndpointSlice", () => {
  const UNREADABLE = { ready: 0, notReady: 0, unreadable: "EndpointSlice shop/web" };
  const byNode = (endpoints: unknown): unknown => decodeEndpointSlice({ metadata, endpoints })?.endpointsByNode;

  test.for([[undefined], [null], [[]], [[{}, { nodeName: "" }, { nodeName: null }]]])(
    "one whose endpoints are %j has none",
    ([endpoints]) => {
      expect(decodeEndpointSlice({ metadata, endpoints })).toEqual({
        ...metadata,
        serviceName: "",
        endpointsByNode: new Map(),
      });
    },
  );

  test.for([[{}], [1], [[null]], [[1]], [[{ nodeName: 5 }]], [[{ nodeName: [] }]]])(
    "one whose endpoints are %j has some of which nobody can tell where they are",
    ([endpoints]) => {
      expect(byNode(endpoints)).toEqual(new Map([["", UNREADABLE]]));
    },
  );

  test.for([
    [{ ready: "yes" }],
    [{ ready: 1 }],
    [{ ready: true, terminating: "no" }],
    [[]],
    ["ready"],
    [{ ready: {} }],
  ])("of an endpoint whose conditions are %j nobody can tell whether it serves", ([conditions]) => {
    expect(byNode([{ nodeName: "n", conditions }])).toEqual(new Map([["n", UNREADABLE]]));
    const others = [{ nodeName: "n" }, { nodeName: "m", conditions: { ready: false } }];
    expect(byNode([{ nodeName: "n", conditions }, ...others])).toEqual(
      new Map([
        ["n", { ...UNREADABLE, ready: 1 }],
        ["m", { ready: 0, notReady: 1 }],
      ]),
    );
  });

  test("an endpoint that is known not to serve does not, whatever else cannot be read of it", () => {
    const conditions = [
      { ready: false, terminating: "?" },
      { ready: "?", terminating: true },
    ];
    expect(byNode(conditions.map((one) => ({ nodeName: "n", conditions: one })))).toEqual(
      new Map([["n", { ready: 0, notReady: 2 }]]),
    );
  });

  test("an endpoint is ready unless it says that it is not, or that it is terminating", () => {
    const conditions = [undefined, null, {}, { ready: true }, { ready: null, terminating: false }];
    const others = [{ ready: false }, { ready: true, terminating: true }, { terminating: true }];
    const endpoints = [...conditions, ...others].map((one) => ({ nodeName: "n", conditions: one }));
    const slice = decodeEndpointSlice({ metadata, addressType: "IPv6", endpoints });
    expect(slice?.endpointsByNode).toEqual(new Map([["n", { ready: 5, notReady: 3 }]]));
  });

  test("something without a name is nothing", () => {
    for (const odd of [undefined, null, 1, [], {}, { metadata: {} }]) expect(decodeEndpointSlice(odd)).toBeUndefined();
  });
});
