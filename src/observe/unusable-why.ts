import type { ProviderFacts } from "../model/observation.ts";
import type { ProviderAccess } from "../ports/provider-access.ts";

/** Why a provider may not be asked at all in this pass: no token, or it asked for no calls until later; undefined when it may. Pure. */
export function unusableWhy({
  name,
  access,
  notBeforeMs,
  nowMs,
}: {
  readonly name: string;
  readonly access: ProviderAccess<unknown>;
  readonly notBeforeMs: number | undefined;
  readonly nowMs: number;
}): ProviderFacts["unusable"] {
  if (access.kind === "no-token")
    return {
      reason: "ProviderUnavailable",
      message: `provider "${name}" cannot be used: set ${access.variables.join(" or ")}`,
    };
  if (notBeforeMs === undefined || notBeforeMs <= nowMs) return undefined;
  const message = `${name} asked for no calls until ${new Date(notBeforeMs).toISOString()}`;
  return { reason: "RateLimited", message, notBeforeMs };
}
