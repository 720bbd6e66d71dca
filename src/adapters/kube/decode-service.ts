import type { ServiceFacts, ServicePort } from "../../model/service.ts";
import { decodeMeta } from "./decode-meta.ts";
import { asList, asNumber, asRecord, asText, asTextMap } from "./json-value.ts";

/** What flipop needs of a `v1` Service, with the API's defaults; undefined for something without a name. Never throws. */
export function decodeService(object: unknown): ServiceFacts | undefined {
  const meta = decodeMeta(object);
  if (meta === undefined) return undefined;
  const spec = asRecord(asRecord(object)?.["spec"]);
  return {
    namespace: meta.namespace,
    name: meta.name,
    resourceVersion: meta.resourceVersion,
    type: asText(spec?.["type"]) ?? "ClusterIP",
    selector: asTextMap(spec?.["selector"]),
    ports: asList(spec?.["ports"]).flatMap(decodePort),
  };
}

function decodePort(value: unknown): readonly ServicePort[] {
  const entry = asRecord(value);
  const port = asNumber(entry?.["port"]);
  if (entry === undefined || port === undefined) return [];
  return [{ protocol: asText(entry["protocol"]) ?? "TCP", port, nodePort: asNumber(entry["nodePort"]) ?? 0 }];
}
