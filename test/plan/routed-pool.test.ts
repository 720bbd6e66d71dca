import { describe, expect, test } from "vitest";
import { portText } from "../../src/model/firewall.ts";
import type { Pool, RoutedIPStatus } from "../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer, RoutedIPIssuerSpec, RoutedIPSpec } from "../../src/model/routed-ip.ts";
import type { ServiceFacts } from "../../src/model/service.ts";
import { routedPool } from "../../src/plan/addresses/routed-pool.ts";
import { aPool } from "./builders.ts";

const { meta, status: EMPTY } = aPool({ name: "vip" });

function routedIP(spec: Partial<RoutedIPSpec> = {}, rest: Partial<RoutedIP> = {}): RoutedIP {
  const defaults: RoutedIPSpec = {
    issuer: "cloud",
    address: "",
    serviceName: "web",
    ports: [],
    gracePeriodSeconds: 0,
    foreignHolder: "Hold",
    suspend: false,
  };
  return { meta, spec: { ...defaults, ...spec }, status: EMPTY, ...rest };
}

function issuer(spec: Partial<RoutedIPIssuerSpec> = {}): RoutedIPIssuer {
  const defaults: RoutedIPIssuerSpec = {
    provider: "digitalocean",
    region: "nyc3",
    reclaimPolicy: "Retain",
    firewallName: "",
    nodeLabel: "",
    tolerations: [],
  };
  return { meta: { ...meta, name: "cloud" }, spec: { ...defaults, ...spec } };
}

function service(override: Partial<ServiceFacts> = {}): ServiceFacts {
  return {
    namespace: "ingress",
    name: "web",
    resourceVersion: "1",
    type: "ClusterIP",
    selector: { app: "web", tier: "edge" },
    ports: [{ protocol: "TCP", port: 80, nodePort: 0 }],
    ...override,
  };
}

function convert(
  from: RoutedIP,
  {
    issuers = [issuer()],
    services = [service()],
  }: { readonly issuers?: RoutedIPIssuer[]; readonly services?: ServiceFacts[] } = {},
): Pool {
  return routedPool(from, {
    issuers: new Map(issuers.map((one) => [`${one.meta.namespace}/${one.meta.name}`, one])),
    services: new Map(services.map((one) => [`${one.namespace}/${one.name}`, one])),
  });
}

const openPorts = ({ firewall }: Pool): readonly string[] | undefined => firewall?.ports.map(portText);

describe("a RoutedIP as a pool", () => {
  test("has one address, on nodes that run the Service's pods and that the issuer allows", () => {
    const tolerations = [{ key: "edge", operator: "Exists" }];
    const pool = convert(routedIP(), { issuers: [issuer({ nodeLabel: "role=edge", tolerations })] });
    expect(pool).toMatchObject({
      kind: "routedip",
      spec: {
        provider: "digitalocean",
        region: "nyc3",
        ips: [],
        desiredIPs: 1,
        reclaimPolicy: "Retain",
        match: { nodeLabel: "role=edge", podNamespace: "ingress", podLabel: "app=web,tier=edge", tolerations },
      },
    });
    expect(pool.decodeError).toBeUndefined();
    expect(pool.firewall).toBeUndefined();
  });

  test("uses the address that is given, and none else", () => {
    expect(convert(routedIP({ address: "203.0.113.7" })).spec).toMatchObject({ ips: ["203.0.113.7"], desiredIPs: 1 });
  });

  test("asks the EndpointSlices of a Service without selector, and no pods", () => {
    const pool = convert(routedIP(), { services: [service({ selector: {} })] });
    expect(pool.endpoints).toEqual({ namespace: "ingress", name: "web" });
    expect(pool.spec.match).toMatchObject({ podNamespace: "", podLabel: "" });
  });
});

describe("the ports to open", () => {
  const web = issuer({ firewallName: "web" });
  const ports = (services: ServiceFacts, spec: Partial<RoutedIPSpec> = {}): readonly string[] | undefined =>
    openPorts(convert(routedIP(spec), { issuers: [web], services: [services] }));

  test.each(["NodePort", "LoadBalancer"])("are the node ports of a %s Service", (type) => {
    expect(ports(service({ type, ports: [{ protocol: "TCP", port: 80, nodePort: 30080 }] }))).toEqual(["tcp/30080"]);
  });

  test("are the ports of a ClusterIP Service, sorted and once each", () => {
    const listed = [443, 80, 443].map((port) => ({ protocol: "TCP", port, nodePort: 0 }));
    expect(ports(service({ ports: listed }))).toEqual(["tcp/443", "tcp/80"]);
  });

  test("are those of the spec where it has some: ranges, all, icmp", () => {
    const own = [
      { protocol: "UDP", port: "8000-9000" },
      { protocol: "icmp", port: "" },
      { protocol: "tcp", port: "all" },
    ];
    expect(ports(service(), { ports: own })).toEqual(["icmp", "tcp/1-65535", "udp/8000-9000"]);
  });

  test("are without SCTP, which is told", () => {
    const pool = convert(routedIP(), {
      issuers: [web],
      services: [service({ ports: [{ protocol: "SCTP", port: 5000, nodePort: 0 }] })],
    });
    expect(pool.firewall).toMatchObject({ ports: [], unusable: ["SCTP/5000"] });
    expect(pool.decodeError).toBeUndefined();
  });
});

describe("what it refers to and cannot be used", () => {
  test.each([
    ["no issuer", routedIP({ issuer: "" }), {}, "issuer must be provided"],
    [
      "an issuer that is not there",
      routedIP(),
      { issuers: [] },
      'issuer "cloud" not found: namespace ingress has no such RoutedIPIssuer',
    ],
    ["an address that is none", routedIP({ address: "1.2.3" }), {}, 'address "1.2.3" is not a canonical IPv4 address'],
    ["no Service", routedIP({ serviceName: "" }), {}, "serviceName must be provided"],
    ["a Service that is not there", routedIP(), { services: [] }, 'Service "web" not found in namespace ingress'],
    [
      "a Service that cannot be read",
      routedIP(),
      { services: [service({ unreadable: "spec.selector" })] },
      'Service "web" cannot be used: its spec.selector cannot be read',
    ],
    [
      "a Service whose ports cannot be read and are to be opened",
      routedIP(),
      { issuers: [issuer({ firewallName: "web" })], services: [service({ unreadable: "spec.ports" })] },
      'Service "web" cannot be used: its spec.ports cannot be read',
    ],
    [
      "an ExternalName Service",
      routedIP(),
      { services: [service({ type: "ExternalName" })] },
      'Service "web" is an ExternalName: no node runs it',
    ],
    [
      "a port that is none",
      routedIP({ ports: [{ protocol: "tcp", port: "70000" }] }),
      {},
      'port "tcp/70000" is not a port or a range of ports',
    ],
  ])("is told: %s", (_, from, references, text) => {
    expect(convert(from, references).decodeError).toBe(text);
  });

  test("unreadable ports of its Service cost a RoutedIP nothing where none of them is to be opened", () => {
    const services = [service({ unreadable: "spec.ports", ports: [] })];
    const own = routedIP({ ports: [{ protocol: "tcp", port: "80" }] });
    expect(convert(own, { issuers: [issuer({ firewallName: "web" })], services }).decodeError).toBeUndefined();
    expect(convert(routedIP(), { services }).decodeError).toBeUndefined();
  });

  test("in another namespace is not found", () => {
    const elsewhere = { ...issuer(), meta: { ...issuer().meta, namespace: "other" } };
    expect(convert(routedIP(), { issuers: [elsewhere] }).decodeError).toContain("not found");
  });

  test("leaves an unknown provider to the planner's own text", () => {
    const pool = convert(routedIP(), { issuers: [issuer({ provider: "aws" })] });
    expect({ error: pool.decodeError, provider: pool.spec.provider }).toEqual({ error: undefined, provider: "aws" });
  });
});

describe("one that is being deleted", () => {
  const deleted = (status: Partial<RoutedIPStatus> = {}): RoutedIP =>
    routedIP({}, { meta: { ...meta, isDeleting: true }, status: { ...EMPTY, ...status } });

  test("needs no Service", () => {
    expect(convert(deleted(), { services: [] }).decodeError).toBeUndefined();
  });

  test("is cleaned as its issuer last said, when that is gone", () => {
    const memory = { provider: "digitalocean", reclaimPolicy: "Delete" } as const;
    const pool = convert(deleted({ issuer: memory }), { issuers: [], services: [] });
    expect(pool.decodeError).toBeUndefined();
    expect(pool.spec).toMatchObject(memory);
  });

  test("says what is missing when nobody ever said anything", () => {
    expect(convert(deleted(), { issuers: [] }).decodeError).toBe('issuer "cloud" not found');
  });
});
