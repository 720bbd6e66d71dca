import { ROUTED_IP_STATUS } from "../../src/adapters/kube/status.ts";
import type { RoutedIPStatus } from "../../src/model/resource.ts";
import type { ObjectAccess } from "./object-access.ts";
import { type Spec, WorldObjects } from "./world-objects.ts";

/** RoutedIPs, with the issuers and Services they refer to. A spec has the issuer `cloud` and the Service `web` where it says nothing else. */
export class WorldRoutedIPs extends WorldObjects<RoutedIPStatus> {
  readonly #services = new Set<string>();
  readonly issuers: WorldObjects<unknown>;

  constructor(access: ObjectAccess) {
    super(access, {
      kind: "RoutedIP",
      plural: "routedips",
      defaults: { issuer: "cloud", serviceName: "web" },
      decodeStatus: ROUTED_IP_STATUS.read,
      isUnlimited: true,
    });
    this.issuers = new WorldObjects(access, {
      kind: "RoutedIPIssuer",
      plural: "routedipissuers",
      defaults: { provider: access.provider },
      decodeStatus: (status) => status,
      isUnlimited: true,
    });
  }

  /** The issuer `cloud`, whose firewall is `web` where the spec says nothing else. */
  async issuer(spec: Spec = {}, name = "cloud"): Promise<void> {
    await this.issuers.create(name, { routedIPFirewallName: "web", ...spec });
  }

  /** The Service `web` of the pods `app=web`, with a node port for each port given. */
  async service(
    ports: readonly number[] = [30080],
    name = "web",
    selector: Spec | null = { app: "web" },
  ): Promise<void> {
    const { rest, prefix } = this.access;
    const body = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { type: "NodePort", ...(selector === null ? {} : { selector }), ports: ports.map(portOf) },
    };
    await rest("POST", `/api/v1/namespaces/${prefix}shop/services`, body);
    this.#services.add(name);
  }

  /** Gives a Service other ports. */
  async setPorts(ports: readonly number[], name = "web"): Promise<void> {
    const { rest, prefix } = this.access;
    await rest("PATCH", `/api/v1/namespaces/${prefix}shop/services/${name}`, { spec: { ports: ports.map(portOf) } });
  }

  async removeService(name = "web"): Promise<void> {
    const { rest, prefix } = this.access;
    await rest("DELETE", `/api/v1/namespaces/${prefix}shop/services/${name}`);
    this.#services.delete(name);
  }

  /** The EndpointSlice of a Service without selector: one endpoint on each node, ready or not. */
  async endpoints(nodes: Readonly<Record<string, boolean>>, name = "web"): Promise<void> {
    const { rest, prefix } = this.access;
    const path = `/apis/discovery.k8s.io/v1/namespaces/${prefix}shop/endpointslices`;
    const list = (await rest("GET", path)) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    if (list.items.some(({ metadata }) => metadata.name === name)) await rest("DELETE", `${path}/${name}`);
    const endpoints = Object.entries(nodes).map(([node, ready], at) => ({
      addresses: [`10.0.0.${at + 1}`],
      conditions: { ready },
      nodeName: `${prefix}${node}`,
    }));
    await rest("POST", path, {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [],
      endpoints,
    });
  }

  override async removeAll(): Promise<void> {
    await super.removeAll();
    await this.issuers.removeAll();
    for (const name of this.#services) await this.removeService(name);
  }
}

function portOf(nodePort: number): Spec {
  return { name: `p${nodePort}`, protocol: "TCP", port: nodePort - 30_000, nodePort };
}
