import type { Firewall, FirewallFact } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { RoutedIP } from "../../src/model/routed-ip.ts";
import { anIssuer, aService, firewallFacts, withRoutedIPs } from "./routed-world.ts";
import { aNode, anObservation, planOf } from "./world.ts";

/** What surrounds the one routed IP. */
interface Around {
  /** As its issuer writes it; `edge` by default. */
  readonly name?: string;
  readonly firewall?: Firewall;
  /** What was read instead of a firewall. */
  readonly other?: Readonly<Record<string, FirewallFact>>;
  /** Nodes with ready pods of its Service; worker-1 by default. */
  readonly podsOn?: readonly string[];
}

/** A cluster of one node, one Service `web` at port 30080, and one routed IP; 203.0.113.1 is on the node if the status says so, else free. Without firewall the issuer names none. */
export function aRoutedWorld(routedIP: RoutedIP, around: Around = {}): Observation {
  const { name = "edge", firewall, other = {}, podsOn = ["worker-1"] } = around;
  const hasFirewall = firewall !== undefined || Object.keys(other).length > 0;
  const placed = routedIP.status.ips["203.0.113.1"]?.providerID?.replace("digitalocean://", "");
  const annotated =
    placed === undefined ? {} : { addressAnnotation: "203.0.113.1", poolAnnotation: "routedip/ingress/web" };
  return withRoutedIPs(anObservation([], [aNode(1, annotated)], { "203.0.113.1": placed }), {
    routedIPs: [routedIP],
    issuers: [
      anIssuer("public", hasFirewall ? { firewallName: name } : {}),
      anIssuer("ferengi", { provider: "Ferengi" }),
    ],
    services: [aService("web", [30080])],
    podsOn: { "ingress/web": podsOn },
    ...(hasFirewall ? { firewalls: firewallFacts(firewall === undefined ? [] : [firewall], other) } : {}),
  });
}

/** The plan of {@link aRoutedWorld}. */
export function aRoutedPlan(routedIP: RoutedIP, around: Around = {}): Plan {
  return planOf(aRoutedWorld(routedIP, around));
}
