import { entryProblem } from "../../model/address.ts";
import { sourceNamed } from "../../model/address-source.ts";
import { type FirewallWish, type PortRange, portRange, portText } from "../../model/firewall.ts";
import {
  compareText,
  type IssuerMemory,
  ipFamilyOf,
  type MatchSpec,
  objectKey,
  type Pool,
  type PoolSpec,
} from "../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../model/routed-ip.ts";
import type { ServiceFacts } from "../../model/service.ts";

/** What a RoutedIP refers to, by {@link objectKey}. */
interface References {
  readonly issuers: ReadonlyMap<string, RoutedIPIssuer>;
  readonly services: ReadonlyMap<string, ServiceFacts>;
}

/**
 * A RoutedIP as the pool of one address that it is: nodes that run the ready pods of its Service, as its issuer allows. What it refers to and cannot be used makes it
 * an invalid pool, with the text; for one that is being deleted, what its issuer last said is enough. Pure.
 */
export function routedPool(routedIP: RoutedIP, references: References): Pool {
  const { meta, spec, status } = routedIP;
  const issuer = references.issuers.get(objectKey({ namespace: meta.namespace, name: spec.issuer }));
  const service = references.services.get(objectKey({ namespace: meta.namespace, name: spec.serviceName }));
  const problem =
    routedIP.decodeError ??
    (meta.isDeleting ? deletionProblem(routedIP, issuer) : problemOf(routedIP, issuer, service));
  const said = issuerMemory(issuer);
  const firewall = firewallWish(routedIP, issuer, service);
  return {
    kind: "routedip",
    meta,
    spec: specOf(routedIP, said ?? status.issuer, issuer, service),
    status,
    ...(service !== undefined && isWithoutSelector(service)
      ? { endpoints: { namespace: service.namespace, name: service.name } }
      : {}),
    ...(firewall === undefined ? {} : { firewall }),
    ...(said === undefined ? {} : { issuer: said }),
    issuerName: spec.issuer,
    ...(problem === undefined ? {} : { decodeError: problem }),
  };
}

function specOf(
  { meta: { namespace }, spec }: RoutedIP,
  known: IssuerMemory | undefined,
  issuer: RoutedIPIssuer | undefined,
  service: ServiceFacts | undefined,
): PoolSpec {
  const { address, gracePeriodSeconds, dnsRecordSet, foreignHolder, suspend } = spec;
  const { maxUnavailable, drainSeconds, hostAddress } = issuer?.spec ?? {};
  return {
    provider: known?.provider ?? "",
    region: issuer?.spec.region ?? "",
    ips: address === "" ? [] : [address],
    desiredIPs: 1,
    assignmentCoolOffSeconds: 0,
    gracePeriodSeconds,
    ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
    ...(drainSeconds === undefined ? {} : { drainSeconds }),
    ...(hostAddress === undefined ? {} : { hostAddress }),
    match: matchOf(namespace, issuer, service),
    ...(dnsRecordSet === undefined ? {} : { dnsRecordSet }),
    reclaimPolicy: known?.reclaimPolicy ?? "Retain",
    foreignHolder,
    suspend,
    ...(issuer?.spec.approval === undefined ? {} : { approval: issuer.spec.approval }),
  };
}

/** True for a Service whose EndpointSlices say where it is served. */
function isWithoutSelector({ selector }: ServiceFacts): boolean {
  return Object.keys(selector).length === 0;
}

function issuerMemory(issuer: RoutedIPIssuer | undefined): IssuerMemory | undefined {
  if (issuer === undefined || issuer.decodeError !== undefined) return undefined;
  return { provider: issuer.spec.provider, reclaimPolicy: issuer.spec.reclaimPolicy };
}

/** Why nothing can be done for it; the first failure wins. */
function problemOf(
  { spec, meta: { namespace } }: RoutedIP,
  issuer: RoutedIPIssuer | undefined,
  service: ServiceFacts | undefined,
): string | undefined {
  if (spec.issuer === "") return "issuer must be provided";
  if (issuer === undefined)
    return `issuer "${spec.issuer}" not found: namespace ${namespace} has no such RoutedIPIssuer`;
  if (issuer.decodeError !== undefined) return `issuer "${spec.issuer}" is invalid: ${issuer.decodeError}`;
  const family = ipFamilyOf(issuer.spec);
  const wrong = spec.address === "" ? undefined : entryProblem(spec.address, family, "spec.ipFamily of the issuer");
  if (wrong !== undefined) return `address ${wrong}`;
  if (spec.serviceName === "") return "serviceName must be provided";
  if (service === undefined) return `Service "${spec.serviceName}" not found in namespace ${namespace}`;
  const unreadable = unreadablePart(service, spec, issuer);
  if (unreadable !== undefined) return `Service "${spec.serviceName}" cannot be used: its ${unreadable} cannot be read`;
  if (service.type === "ExternalName") return `Service "${spec.serviceName}" is an ExternalName: no node runs it`;
  const bad = spec.ports.find(
    ({ protocol, port }) => portRange(protocol, port) === undefined && !isUnsupported(protocol),
  );
  return bad === undefined ? undefined : `port "${bad.protocol}/${bad.port}" is not a port or a range of ports`;
}

/** The part of the Service that is needed and cannot be read. Its ports are needed only for a firewall, and only if the RoutedIP has none of its own. */
function unreadablePart(
  { unreadable }: ServiceFacts,
  { ports }: RoutedIP["spec"],
  issuer: RoutedIPIssuer,
): ServiceFacts["unreadable"] {
  const arePortsNeeded = ports.length === 0 && issuer.spec.firewallName !== "";
  return unreadable === "spec.ports" && !arePortsNeeded ? undefined : unreadable;
}

function deletionProblem({ spec, status }: RoutedIP, issuer: RoutedIPIssuer | undefined): string | undefined {
  if (issuer?.decodeError !== undefined) return `issuer "${spec.issuer}" is invalid: ${issuer.decodeError}`;
  return issuer === undefined && status.issuer === undefined ? `issuer "${spec.issuer}" not found` : undefined;
}

function matchOf(namespace: string, issuer: RoutedIPIssuer | undefined, service: ServiceFacts | undefined): MatchSpec {
  const labels = Object.entries(service?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return {
    nodeLabel: issuer?.spec.nodeLabel ?? "",
    tolerations: issuer?.spec.tolerations ?? [],
    podNamespace: labels.length === 0 ? "" : namespace,
    podLabel: labels.toSorted(compareText).join(","),
  };
}

function isUnsupported(protocol: string): boolean {
  return protocol.toUpperCase() === "SCTP";
}

/** The firewall of the issuer with the ports to open; undefined when it names none, or the ports are not known. */
function firewallWish(
  { spec }: RoutedIP,
  issuer: RoutedIPIssuer | undefined,
  service: ServiceFacts | undefined,
): FirewallWish | undefined {
  if (issuer === undefined || issuer.spec.firewallName === "" || service === undefined) return undefined;
  const written = spec.ports.length > 0 ? spec.ports : servicePorts(service);
  const ranges = written.flatMap(({ protocol, port }) => portRange(protocol, port) ?? []);
  const unusable = written.filter(({ protocol, port }) => portRange(protocol, port) === undefined);
  return {
    provider: sourceNamed(issuer.spec.provider).provider,
    firewall: issuer.spec.firewallName,
    ports: uniquePorts(ranges),
    unusable: [...new Set(unusable.map(({ protocol, port }) => `${protocol}/${port}`))].toSorted(compareText),
  };
}

/** The ports at which the nodes serve it: node ports where it has them. */
function servicePorts({ type, ports }: ServiceFacts): RoutedIP["spec"]["ports"] {
  const hasNodePorts = type === "NodePort" || type === "LoadBalancer";
  return ports.map(({ protocol, port, nodePort }) => ({
    protocol,
    port: String(hasNodePorts && nodePort !== 0 ? nodePort : port),
  }));
}

function uniquePorts(ranges: readonly PortRange[]): readonly PortRange[] {
  const byText = new Map(ranges.map((range) => [portText(range), range]));
  return [...byText].toSorted(([a], [b]) => compareText(a, b)).map(([, range]) => range);
}
