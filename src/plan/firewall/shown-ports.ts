import { type Firewall, portText } from "../../model/firewall.ts";

/** The ports for which a firewall has the very rule that flipop makes, as `portText`. Pure. */
export function shownPorts({ rules }: Firewall): ReadonlySet<string> {
  return new Set(rules.flatMap(({ ports, isPlain }) => (isPlain ? [portText(ports)] : [])));
}
