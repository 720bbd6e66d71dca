import { type LabelSelector, parseLabelSelector } from "../model/label-selector.ts";
import type { Pool } from "../model/resource.ts";

/** What a provider name can be used for. */
export interface ProviderCapabilities {
  readonly providesIPs: boolean;
  readonly providesDNS: boolean;
}

/** Every provider name that flipop knows. */
const PROVIDERS: Readonly<Record<string, ProviderCapabilities>> = {
  digitalocean: { providesIPs: true, providesDNS: true },
  cloudflare: { providesIPs: false, providesDNS: true },
};

/** A valid spec with its selectors parsed, or the one text that says what is wrong. */
export type Validation =
  | { readonly kind: "valid"; readonly nodeSelector: LabelSelector; readonly podSelector: LabelSelector }
  | { readonly kind: "invalid"; readonly error: string };

/** Checks a pool's spec; the first failure wins. The texts are the Go operator's, so that alerts on them keep working. */
export function validatePool(pool: Pool): Validation {
  const { spec } = pool;
  const capabilities = Object.hasOwn(PROVIDERS, spec.provider) ? PROVIDERS[spec.provider] : undefined;
  if (pool.decodeError !== undefined) return { kind: "invalid", error: pool.decodeError };
  if (capabilities === undefined) return { kind: "invalid", error: `unknown provider "${spec.provider}"` };
  if (!capabilities.providesIPs) {
    return { kind: "invalid", error: `provider "${spec.provider}" does not provide floating IPs` };
  }
  if (spec.ips.length === 0 && spec.desiredIPs <= 0) {
    return { kind: "invalid", error: "ips or desiredIPs must be provided" };
  }
  const node = parseLabelSelector(spec.match.nodeLabel);
  if ("error" in node) return { kind: "invalid", error: `Error parsing node selector: ${node.error}` };
  const pod = parseLabelSelector(spec.match.podLabel);
  if ("error" in pod) return { kind: "invalid", error: `Error parsing pod selector: ${pod.error}` };
  return { kind: "valid", nodeSelector: node.selector, podSelector: pod.selector };
}
