import type { RoutedIPIssuer, RoutedIPIssuerSpec } from "../../model/routed-ip.ts";
import { decodeObject } from "./decode-object.ts";
import { decodeToleration } from "./decode-toleration.ts";
import type { SpecReader } from "./spec-reader.ts";

/** A RoutedIPIssuer, see {@link decodeObject}; it has no status. Never throws. */
export function decodeRoutedIPIssuer(object: unknown): RoutedIPIssuer | undefined {
  const decoded = decodeObject(object, { spec: decodeSpec, status: () => undefined });
  if (decoded === undefined) return undefined;
  const { status: _status, ...issuer } = decoded;
  return issuer;
}

function decodeSpec(spec: SpecReader): RoutedIPIssuerSpec {
  return {
    provider: spec.text("provider"),
    region: spec.text("region"),
    reclaimPolicy: spec.word("routedIPReclaimPolicy", ["Retain", "Delete"], "Retain"),
    firewallName: spec.text("routedIPFirewallName"),
    nodeLabel: spec.text("nodeLabel"),
    tolerations: spec.objects("tolerations").map(decodeToleration),
  };
}
