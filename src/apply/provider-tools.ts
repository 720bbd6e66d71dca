import { InternalError } from "../model/errors.ts";
import type { IPProvider } from "../ports/ip-provider.ts";
import type { Confirmer } from "./confirmer.ts";
import type { ApplyContext } from "./context.ts";

/** The provider of an action and what confirms its changes. @throws InternalError when the plan names one that is not usable. */
export function toolsOf(
  name: string,
  context: ApplyContext,
): { readonly provider: IPProvider; readonly confirmer: Confirmer } {
  const provider = context.providers.get(name);
  const confirmer = context.confirmers.get(name);
  if (provider === undefined || confirmer === undefined)
    throw new InternalError(`The plan uses provider "${name}", which is not available.`);
  return { provider, confirmer };
}
