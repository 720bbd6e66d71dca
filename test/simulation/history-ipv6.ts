import { setText } from "../../src/model/record-types.ts";
import { generate } from "./generate.ts";
import type { History, WorldEvent } from "./history.ts";
import type { RecordSetSpecText } from "./pool-spec-text.ts";

const ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";

/**
 * Returns the history of {@link generate} in which about half of the record sets ask for IPv6 alone, some change from one family to the other, nodes come and go with their
 * IPv6 addresses, and people lay hands on AAAA records, too.
 */
export function historyIPv6(seed: number): History {
  const history = generate(seed);
  const isOdd = (index: number): boolean => ((seed * 31 + index * 17) >> 2) % 2 === 1;
  return { ...history, events: history.events.map((event, index) => (isOdd(index) ? withIPv6(event) : event)) };
}

function withIPv6(event: WorldEvent): WorldEvent {
  switch (event.kind) {
    case "record-set":
      return { ...event, spec: { ...event.spec, ...familyOf(event.spec) } };
    case "edit-record-set":
      return "addressType" in event.spec || "reclaimPolicy" in event.spec || "whenEmpty" in event.spec
        ? { ...event, spec: { ...event.spec, ipFamilies: event.atMs % 2 === 0 ? ["IPv6"] : ["IPv4"] } }
        : event;
    case "node-addresses":
      return { ...event, external: [...event.external, ...event.external.map((_, at) => `2001:db8::${101 + at}`)] };
    case "hand-record":
      return { ...event, fqdn: setText({ fqdn: event.fqdn, type: "AAAA" }) };
    default:
      return event;
  }
}

/** An annotation shows no IPv6 address. */
function familyOf({ addressType }: RecordSetSpecText): Partial<RecordSetSpecText> {
  return { ipFamilies: ["IPv6"], ...(addressType === ANNOTATION ? { addressType: "ExternalIP" } : {}) };
}
