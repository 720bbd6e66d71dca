import type { AssignIP } from "../model/action.ts";
import { providerIDOf } from "../model/node.ts";
import type { IPStatus } from "../model/resource.ts";

/**
 * The status of an address that is being sent to a node's machine. It remembers both ends, so that wherever the address is found later, on whichever node has
 * gone meanwhile, it is known as the pool's own; a foreign holder it is taken from is not remembered. Pure.
 */
export function onItsWay({ provider, before, after, reason }: AssignIP): IPStatus {
  const isOurs = before !== undefined && reason !== "TakeOver";
  return {
    state: "in-progress",
    nodeName: after.nodeName,
    providerID: providerIDOf(provider, after.machineID),
    ...(isOurs ? { previousProviderID: providerIDOf(provider, before.machineID) } : {}),
  };
}
