import type { Firewall } from "../../model/firewall.ts";
import { portText } from "../../model/port-range.ts";

/** The ports for which a firewall has the very rule that flipop makes, as `portText`. Pure. */
export function shownPorts({ rules }: Firewall): ReadonlySet<string> {
  return new Set(rules.flatMap(({ ports, isPlain }) => (isPlain ? [portText(ports)] : [])));
}
