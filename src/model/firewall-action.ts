import type { ActionBase, Place } from "./action.ts";
import type { PortRange } from "./port-range.ts";

/** The firewall an action is about. */
interface AtFirewall extends ActionBase {
  readonly provider: string;
  readonly firewall: { readonly id: string; readonly name: string };
  /** What it takes away: `portText` of ports, or machine ids; sorted. */
  readonly before: readonly string[];
  /** What it brings; sorted. */
  readonly after: readonly string[];
}

/** Lets everybody in on ports of a cloud firewall, or no longer. */
export interface ChangePorts extends AtFirewall {
  readonly kind: "open-ports" | "close-ports";
  /** Sorted by `portText`. */
  readonly ports: readonly PortRange[];
}

/** Puts machines behind a cloud firewall, or takes them from it. */
export interface ChangeMachines extends AtFirewall {
  readonly kind: "add-to-firewall" | "remove-from-firewall";
  /** Sorted by machine id. */
  readonly machines: readonly Place[];
}
