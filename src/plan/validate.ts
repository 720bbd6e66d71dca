import { type LabelSelector, parseLabelSelector } from "../model/label-selector.ts";
import { ADDRESS_ANNOTATION, type MatchSpec, type Pool, type RecordSet } from "../model/resource.ts";
import { recordSetWish } from "./dns/dns-wish.ts";
import { capabilitiesOf } from "./provider-capabilities.ts";

/** A valid spec with its selectors parsed, or the one text that says what is wrong. */
export type Validation =
  | { readonly kind: "valid"; readonly nodeSelector: LabelSelector; readonly podSelector: LabelSelector }
  | { readonly kind: "invalid"; readonly error: string };

/** Checks a pool's spec; the first failure wins. The texts are the Go operator's, so that alerts on them keep working. */
export function validatePool(pool: Pool): Validation {
  const { spec } = pool;
  const capabilities = capabilitiesOf(spec.provider);
  if (pool.decodeError !== undefined) return { kind: "invalid", error: pool.decodeError };
  if (capabilities === undefined) return { kind: "invalid", error: `unknown provider "${spec.provider}"` };
  if (!capabilities.providesIPs) {
    return { kind: "invalid", error: `provider "${spec.provider}" does not provide floating IPs` };
  }
  if (spec.ips.length === 0 && spec.desiredIPs <= 0) {
    return { kind: "invalid", error: "ips or desiredIPs must be provided" };
  }
  return parsedSelectors(spec.match);
}

const ADDRESS_TYPES: readonly string[] = ["ExternalIP", "InternalIP", ADDRESS_ANNOTATION];

/** Checks a record set's spec; the first failure wins. The texts are the Go operator's. */
export function validateRecordSet(recordSet: RecordSet): Validation {
  const { spec, decodeError } = recordSet;
  if (decodeError !== undefined) return { kind: "invalid", error: decodeError };
  const wish = recordSetWish(recordSet);
  if (wish.kind === "invalid") return wish;
  if (!ADDRESS_TYPES.includes(spec.addressType))
    return {
      kind: "invalid",
      error: `invalid addressType "${spec.addressType}": it must be ${ADDRESS_TYPES.join(", ")}`,
    };
  return parsedSelectors(spec.match);
}

function parsedSelectors({ nodeLabel, podLabel }: MatchSpec): Validation {
  const node = parseLabelSelector(nodeLabel);
  if ("error" in node) return { kind: "invalid", error: `Error parsing node selector: ${node.error}` };
  const pod = parseLabelSelector(podLabel);
  if ("error" in pod) return { kind: "invalid", error: `Error parsing pod selector: ${pod.error}` };
  return { kind: "valid", nodeSelector: node.selector, podSelector: pod.selector };
}
