import { canonicalIPv4 } from "../../src/model/address.ts";
import { type PortRange, portRange } from "../../src/model/firewall.ts";
import { type IssuerMemory, objectKey, type Pool, type PoolSpec } from "../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../src/model/routed-ip.ts";
import type { ServiceFacts } from "../../src/model/service.ts";

interface Composed {
  readonly issuer: RoutedIPIssuer | undefined;
  readonly service: ServiceFacts | undefined;
  readonly pool: Pool;
}

/** RoutedIPs as the pools of one address that they are, by the manual's words and not by the program's code; the same object as long as nothing about it changes. */
export class RoutedPools {
  readonly #composed = new WeakMap<RoutedIP, Composed>();

  of(routedIP: RoutedIP, issuers: readonly RoutedIPIssuer[], services: readonly ServiceFacts[]): Pool {
    const { meta, spec } = routedIP;
    const issuer = issuers.find((one) => objectKey(one.meta) === `${meta.namespace}/${spec.issuer}`);
    const service = services.find((one) => objectKey(one) === `${meta.namespace}/${spec.serviceName}`);
    const known = this.#composed.get(routedIP);
    if (known !== undefined && known.issuer === issuer && known.service === service) return known.pool;
    const pool = compose(routedIP, issuer, service);
    this.#composed.set(routedIP, { issuer, service, pool });
    return pool;
  }
}

function compose(routedIP: RoutedIP, issuer: RoutedIPIssuer | undefined, service: ServiceFacts | undefined): Pool {
  const { meta, status } = routedIP;
  const said = issuer?.spec ?? status.issuer;
  const isUsable = meta.isDeleting
    ? said !== undefined
    : issuer !== undefined && service !== undefined && isWritten(routedIP);
  return {
    kind: "routedip",
    meta,
    status,
    spec: specOf(routedIP, said, issuer, service),
    ...placesOf(routedIP, issuer, service),
    ...(isUsable ? {} : { decodeError: "it refers to something that is not there" }),
  };
}

function specOf(
  { meta, spec }: RoutedIP,
  said: IssuerMemory | undefined,
  issuer: RoutedIPIssuer | undefined,
  service: ServiceFacts | undefined,
): PoolSpec {
  const labels = Object.entries(service?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const { address, gracePeriodSeconds, foreignHolder, suspend, dnsRecordSet } = spec;
  return {
    provider: said?.provider ?? "",
    region: issuer?.spec.region ?? "",
    ips: address === "" ? [] : [address],
    desiredIPs: 1,
    assignmentCoolOffSeconds: 0,
    gracePeriodSeconds,
    match: {
      nodeLabel: issuer?.spec.nodeLabel ?? "",
      tolerations: [],
      podNamespace: labels.length === 0 ? "" : meta.namespace,
      podLabel: labels.join(","),
    },
    reclaimPolicy: said?.reclaimPolicy ?? "Retain",
    foreignHolder,
    suspend,
    ...(dnsRecordSet === undefined ? {} : { dnsRecordSet }),
  };
}

/** The Service whose endpoints count, and the firewall to keep in step. */
function placesOf(
  routedIP: RoutedIP,
  issuer: RoutedIPIssuer | undefined,
  service: ServiceFacts | undefined,
): Pick<Pool, "endpoints" | "firewall"> {
  if (service === undefined) return {};
  const { namespace, name, selector } = service;
  const ports = [...new Map(portsOf(routedIP, service).map((port) => [JSON.stringify(port), port])).values()];
  const isBare = Object.keys(selector).length === 0;
  const firewall = issuer?.spec.firewallName ?? "";
  return {
    ...(isBare ? { endpoints: { namespace, name } } : {}),
    ...(issuer === undefined || firewall === ""
      ? {}
      : { firewall: { provider: issuer.spec.provider, firewall, ports, unusable: [] } }),
  };
}

function isWritten({ spec }: RoutedIP): boolean {
  return spec.address === "" || canonicalIPv4(spec.address) !== undefined;
}

function portsOf({ spec }: RoutedIP, service: ServiceFacts): readonly PortRange[] {
  if (spec.ports.length > 0) return spec.ports.flatMap(({ protocol, port }) => portRange(protocol, port) ?? []);
  return service.ports.flatMap(({ protocol, nodePort }) => portRange(protocol, `${nodePort}`) ?? []);
}
