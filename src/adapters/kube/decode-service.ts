import type { ServiceFacts, ServicePort } from "../../model/service.ts";
import { decodeMeta } from "./decode-meta.ts";
import {
  asList,
  asNumber,
  asRecord,
  asText,
  asTextMap,
  asWholeTextMap,
  isCutOff,
  isOdd,
  isPresent,
} from "./json-value.ts";

const MAX_PORT = 65_535;

/**
 * Returns what flipop needs of a `v1` Service, with the API's defaults. `unreadable` names the first part that cannot be read. Undefined for something without a name.
 * Never throws.
 */
export function decodeService(object: unknown): ServiceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const service = asRecord(object);
  const spec = asRecord(service?.["spec"]);
  const unreadable = isCutOff(service) || isOdd(service?.["spec"], asRecord) ? "spec" : oddSpec(spec);
  return {
    namespace: meta.namespace,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    type: asText(spec?.["type"]) ?? "ClusterIP",
    selector: asTextMap(spec?.["selector"]),
    ports: asList(spec?.["ports"]).flatMap((port) => decodePort(port) ?? []),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

function oddSpec(spec: Readonly<Record<string, unknown>> | undefined): ServiceFacts["unreadable"] {
  if (isOdd(spec?.["type"], asText)) return "spec.type";
  if (isOdd(spec?.["selector"], asWholeTextMap)) return "spec.selector";
  const ports = spec?.["ports"];
  const isReadable =
    !isPresent(ports) || (Array.isArray(ports) && ports.every((port) => decodePort(port) !== undefined));
  return isReadable ? undefined : "spec.ports";
}

/** Returns a port; undefined for anything that is no port. A firewall would take 0 for all ports. */
function decodePort(value: unknown): ServicePort | undefined {
  const entry = asRecord(value);
  const port = asNumber(entry?.["port"]);
  const nodePort = asNumber(entry?.["nodePort"]) ?? 0;
  const isWhole = !isCutOff(entry) && !isOdd(entry?.["nodePort"], asNumber) && !isOdd(entry?.["protocol"], asText);
  if (!isWhole || port === undefined || port === 0 || !isPort(port) || !isPort(nodePort)) return undefined;
  return { protocol: asText(entry?.["protocol"]) ?? "TCP", port, nodePort };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= MAX_PORT;
}
