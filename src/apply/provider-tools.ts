import type { ChangeMachines, ChangePorts } from "../model/action.ts";
import { InternalError } from "../model/errors.ts";
import type { FirewallProvider, IPProvider } from "../ports/providers.ts";
import type { Confirmer } from "./confirmer.ts";
import type { ApplyContext } from "./context.ts";
import { Turnstile } from "./turnstile.ts";

/** The provider of a firewall's action, and what lets changes of that firewall through one at a time. @throws InternalError when the plan names one that is not usable. */
export function firewallToolsOf(
  { provider: name, firewall }: ChangePorts | ChangeMachines,
  context: ApplyContext,
): { readonly provider: FirewallProvider; readonly turns: Turnstile } {
  const provider = context.firewallProviders.get(name);
  if (provider === undefined) throw new InternalError(`The plan uses firewalls of "${name}", which is not available.`);
  const turns = context.firewallTurns.get(firewall.id) ?? new Turnstile();
  context.firewallTurns.set(firewall.id, turns);
  return { provider, turns };
}

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
