import { type APICase, get, patch, post } from "./api-case.ts";

const ROUTED_IPS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/NS/routedips";
const SERVICES = "/api/v1/namespaces/NS/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices";

const apiVersion = "flipop.digitalocean.com/v1alpha1";
const aRoutedIP = (spec: object): unknown => ({
  apiVersion,
  kind: "RoutedIP",
  metadata: { name: "web" },
  spec: { issuer: "public", serviceName: "web", ...spec },
});
const aSlice = (name: string, service: string): unknown => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name, labels: { "kubernetes.io/service-name": service } },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"], nodeName: "n" }],
  ports: [],
});

/** What routed IPs, their issuers, Services and EndpointSlices do. */
export const ROUTED_IP_CASES: readonly APICase[] = [
  {
    title: "the status of a routed IP is written through its subresource, and raises no generation",
    steps: [
      post(ROUTED_IPS, aRoutedIP({})),
      patch(`${ROUTED_IPS}/web`, { status: { error: "ignored" } }),
      patch(`${ROUTED_IPS}/web/status`, {
        spec: { issuer: "ignored" },
        status: { firewalls: [{ id: "fw", planted: 1 }], issuer: { provider: "x" } },
      }),
    ],
    show: ["spec.issuer", "status", "metadata.generation"],
    expected:
      '200 spec.issuer="public" status={"firewalls":[{"id":"fw"}],"issuer":{"provider":"x"}} metadata.generation=1',
  },
  {
    title: "a port in a routed IP is a number or text, as written",
    steps: [
      post(
        ROUTED_IPS,
        aRoutedIP({
          ports: [{ protocol: "tcp", port: 80 }, { protocol: "UDP", port: "8000-9000" }, { protocol: "icmp" }],
        }),
      ),
    ],
    show: ["spec.ports"],
    expected: '201 spec.ports=[{"port":80,"protocol":"tcp"},{"port":"8000-9000","protocol":"UDP"},{"protocol":"icmp"}]',
  },
  ...(
    [
      [
        "a port of 0",
        { ports: [{ protocol: "tcp", port: 0 }] },
        "spec.ports[0].port: Invalid value: 0: spec.ports[0].port in body should be greater than or equal to 1",
      ],
      [
        "a text that is no port",
        { ports: [{ protocol: "tcp", port: "http" }] },
        `spec.ports[0].port: Invalid value: "http": spec.ports[0].port in body should match '^(all|[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?)$'`,
      ],
      [
        "no name of a Service",
        { serviceName: "" },
        'spec.serviceName: Invalid value: "": spec.serviceName in body should be at least 1 chars long',
      ],
    ] as const
  ).map(([what, spec, why]) => ({
    title: `a routed IP with ${what} is refused`,
    steps: [post(ROUTED_IPS, aRoutedIP(spec))],
    expected: `422 Invalid: RoutedIP.flipop.digitalocean.com "web" is invalid: ${why}`,
  })),
  {
    title: "a Service keeps its selector and its ports, without a generation",
    steps: [
      post(SERVICES, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web" },
        spec: { type: "ClusterIP", selector: { app: "web" }, ports: [{ protocol: "TCP", port: 80, targetPort: 80 }] },
      }),
    ],
    show: ["spec.selector", "spec.type", "spec.ports", "metadata.generation"],
    expected:
      '201 spec.selector={"app":"web"} spec.type="ClusterIP" spec.ports=[{"port":80,"protocol":"TCP","targetPort":80}] ' +
      "metadata.generation=undefined",
  },
  {
    title: "EndpointSlices are selected by the label of their Service",
    steps: [
      post(SLICES, aSlice("a", "web")),
      post(SLICES, aSlice("b", "other")),
      get(`${SLICES}?labelSelector=${encodeURIComponent("kubernetes.io/service-name=web")}`),
    ],
    show: ["kind", "items.length", "items.0.metadata.name", "items.0.endpoints.0.nodeName"],
    expected: '200 kind="EndpointSliceList" items.length=1 items.0.metadata.name="a" items.0.endpoints.0.nodeName="n"',
  },
  {
    title: "an EndpointSlice has a generation, which moves with its endpoints",
    steps: [
      post(SLICES, aSlice("a", "web")),
      patch(`${SLICES}/a`, { endpoints: [{ addresses: ["10.0.0.2"], nodeName: "m" }] }),
    ],
    show: ["metadata.generation", "endpoints.0.nodeName"],
    expected: '200 metadata.generation=2 endpoints.0.nodeName="m"',
  },
];
