import { afterEach, beforeEach, expect, test } from "vitest";
import { WorldDirectory } from "./world-directory.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/shop";
const ROUTED_IP = `${GROUP}/routedips/web`;
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";

let world: WorldDirectory;
beforeEach(() => {
  world = new WorldDirectory();
  world.write(
    "routed-ips.yaml",
    "# The routed IPs.\nmetadata: {name: web, namespace: shop}\nspec:\n  issuer: public\n  serviceName: web\n",
  );
  world.write("issuers.yaml", "metadata: {name: public, namespace: shop}\nspec: {provider: digitalocean}\n");
  world.write(
    "services.yaml",
    "metadata: {name: web, namespace: shop}\nspec:\n  selector: {app: web}\n  ports: [{port: 80}]\n",
  );
});
afterEach(() => world.remove());

test("routed IPs, issuers and Services of their files are served with kind and apiVersion filled in", () => {
  const client = world.open();
  const shown = [ROUTED_IP, `${GROUP}/routedipissuers/public`, "/api/v1/namespaces/shop/services/web"].map((path) => {
    const object: Readonly<Record<string, unknown>> = { ...client.call("GET", path) };
    return [object["apiVersion"], object["kind"], object["spec"]];
  });
  expect(shown).toEqual([
    ["flipop.digitalocean.com/v1alpha1", "RoutedIP", { issuer: "public", serviceName: "web" }],
    ["flipop.digitalocean.com/v1alpha1", "RoutedIPIssuer", { provider: "digitalocean" }],
    ["v1", "Service", { selector: { app: "web" }, ports: [{ port: 80 }] }],
  ]);
});

test("a routed IP's status loses what the CRD does not know, and stands in the file, under its head comment", () => {
  const client = world.open();
  const firewalls = [{ provider: "digitalocean", id: "fw", name: "edge", ports: ["tcp/80"], machineIDs: ["1"] }];
  client.call("PATCH", `${ROUTED_IP}/status`, { status: { firewalls, planted: 1 } });
  expect(client.call("GET", ROUTED_IP)["status"]).toEqual({ firewalls });
  expect(world.read("routed-ips.yaml")).toMatch(/^# The routed IPs\.\n/);
  expect(world.read("routed-ips.yaml")).toContain("tcp/80");
  expect(world.open().call("GET", ROUTED_IP)["status"]).toEqual({ firewalls });
});

test("EndpointSlices stand in the file of everything else, and are found by their Service", () => {
  const client = world.open();
  const metadata = { name: "web-1", labels: { "kubernetes.io/service-name": "web" } };
  client.call("POST", SLICES, { metadata, addressType: "IPv4", endpoints: [], ports: [] });
  expect(world.read("cluster.yaml")).toContain("kind: EndpointSlice");
  const list = (service: string): unknown =>
    client.call("GET", `${SLICES}?labelSelector=kubernetes.io%2Fservice-name%3D${service}`)["items"];
  expect(list("web")).toMatchObject([{ metadata }]);
  expect(list("other")).toEqual([]);
});

test("a misspelt field in the file is an error that names its place", () => {
  world.edit("routed-ips.yaml", "  issuer:", "  adress: 192.0.2.1\n  issuer:");
  expect(() => world.open()).toThrow(/routed-ips\.yaml:4:11: RoutedIP shop\/web: unknown field "spec\.adress"/);
});

test("a Service in the wrong file is an error that names the right one", () => {
  world.write("cluster.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n");
  expect(() => world.open()).toThrow("document 1 is a Service, which belongs into services.yaml; move it there");
});
