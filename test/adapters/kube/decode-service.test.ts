import { describe, expect, test } from "vitest";
import { decodeEndpointSlice } from "../../../src/adapters/kube/decode-endpoint-slice.ts";
import { decodeService } from "../../../src/adapters/kube/decode-service.ts";

const metadata = { name: "web", namespace: "shop", resourceVersion: "7" };

describe("decodeService", () => {
  test.for([
    undefined,
    null,
    [],
    1,
    {},
    { type: "", selector: null, ports: null },
    { selector: [], ports: [null, {}, 1] },
  ])("one whose spec is %j has no selector and no ports, and the type that is the default", (spec) => {
    expect(decodeService({ metadata, spec })).toEqual({ ...metadata, type: "ClusterIP", selector: {}, ports: [] });
  });

  test("something without a name is nothing", () => {
    for (const odd of [undefined, null, 1, [], {}, { metadata: {} }]) expect(decodeService(odd)).toBeUndefined();
  });
});

describe("decodeEndpointSlice", () => {
  test.for([undefined, null, {}, 1, [], [null, 1, {}, { nodeName: "" }, { nodeName: 5 }]])(
    "one whose endpoints are %j has none",
    (endpoints) => {
      expect(decodeEndpointSlice({ metadata, endpoints })).toEqual({
        ...metadata,
        serviceName: "",
        endpointsByNode: new Map(),
      });
    },
  );

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
