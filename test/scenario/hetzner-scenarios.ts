import { hetznerFirewallScenarios } from "./hetzner-firewall-scenarios.ts";
import { hetznerIPv6Scenarios } from "./hetzner-ipv6-scenarios.ts";
import { hetznerOnlyScenarios } from "./hetzner-only-scenarios.ts";
import { hostAddressScenarios } from "./host-address-scenarios.ts";
import { severalOneShotScenarios } from "./one-shot-scenarios.ts";
import { providerChangeScenarios } from "./provider-change-scenarios.ts";
import { chosen, type Group, groupOf } from "./run-scenarios.ts";
import { severalPerNodeScenarios } from "./several-per-node-scenarios.ts";

/** Groups whose histories are about what Hetzner has not, such as changes of a firewall that it shows, and a limit that can be read. Names are played with the other worlds. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "pending firewalls",
  "named addresses",
  "fair purchases",
  "guardrails",
]);

/** How the titles of histories begin that say of another provider what is not so at Hetzner, and why. */
const NOT_SO: Readonly<Record<string, readonly string[]>> = {
  "they count calls where a page has 200 addresses, or an address is found by one call": [
    "250 addresses over two pages",
    "a list that changes while it is read before a purchase",
    "59 429 at the start",
  ],
  "an address is found by the list only": [
    "the list fails and single reads work",
    "an unreadable address whose holder was never known",
  ],
  "no lock is shown: the first request is refused, and then it is waited for": [
    "24 locked",
    "such an address waits although the provider is working on it for a while",
    "24b one locked address",
    "24d an address",
    "an address that is locked on a dead node",
  ],
  "an address can go to a location that no label tells of, and needs no anchor": [
    "region mismatch that no label shows",
    "a refusal that somebody must lift",
    "one bad node does not starve",
    "two bad nodes and one good",
  ],
  "there are no prefixes of one's own, and no scopes": [
    "21b",
    "a token without droplet:read",
    "a token that loses droplet:read",
    "a token that is refused (401)",
  ],
  "one list shows the addresses of both families": ["while the provider refuses to list IPv4 addresses"],
  "an IPv6 address is bought for a server": [
    "an IPv6 address is bought for a region, and assigned in the same run",
    "it is bought in the region of the node where the spec has none",
    "a RoutedIP whose issuer has ipFamily IPv6 gets its address",
  ],
  "its lists do not lag": ["32g", "32m", "32n"],
  "a purchase is asked about once more, right before it is sent": ["a signal while addresses are assigned"],
  "a limit shows only in the refusal": [
    "the account's limit is reached",
    "an address is deleted by hand and the account is at its limit",
  ],
  "whose a bought address is stands beside it: nothing has to be guessed": [
    "32b",
    "32c",
    "32d",
    "32e nothing was bought",
    "status lost with a creation in the region unanswered: one address that may be it",
    "status lost with a creation unanswered, and an address of somebody else",
    "a purchase whose answer, status and annotation are lost at once is told",
  ],
  "behind another firewall, a server that leaves the one with the ports is shut": [1, 2, 3, 4, 5, 6, 7, 8].map(
    (write) => `killed before write ${write} of the deletion of a RoutedIP`,
  ),
  "a server has room for several": ["a pool that asks for two a node"],
  "a server must have its address": ["where machines need no address"],
  "they name DigitalOcean": [
    "44 edited to an unknown provider",
    "65 no providerID yet",
    "desiredIPs is lowered: what serves and goes is a reduction",
    "a deleted pool's address stays for a pool whose provider",
    "a deleted pool's address is given back although a pool of another provider names it",
    "grants: an annotation of the object that claims a purchase for a machine",
  ],
  "a server that is not listed is not asked for, no names are reserved or there twice, and a firewall takes any number of servers":
    [
      "a node that the firewall refuses is passed over",
      "a firewall that is of DigitalOcean Kubernetes",
      "a firewall that is one of two with that name",
      "nothing is bought for a firewall that is of DigitalOcean Kubernetes",
      "nothing is bought for a firewall that is one of two with that name",
      "an address behind a firewall that is of DigitalOcean Kubernetes",
      "an address behind a firewall that is one of two with that name",
      "a firewall with ten droplets takes no more",
    ],
};

/** How the titles begin of histories that are not so at Hetzner. */
export const NOT_SO_TITLES: readonly string[] = Object.values(NOT_SO).flat();

const TWO_PER_MACHINE = { mostPerMachine: 2 };

/** The histories of every provider that are so at Hetzner, group by group. */
export function commonGroups(): readonly Group[] {
  return chosen("memory", (scenarios, group) => {
    const fitting = ELSEWHERE.has(group) || group.startsWith("DNS") ? [] : scenarios;
    return fitting.filter(({ title }) => !NOT_SO_TITLES.some((beginning) => title.startsWith(beginning)));
  });
}

/** The histories that are Hetzner's alone, group by group. */
export function ownGroups(): readonly Group[] {
  return [
    groupOf("only there", hetznerOnlyScenarios),
    groupOf("another provider", providerChangeScenarios),
    groupOf("firewalls", hetznerFirewallScenarios),
    groupOf("addresses of hosts", hostAddressScenarios, TWO_PER_MACHINE),
    groupOf("several on a node", severalPerNodeScenarios, TWO_PER_MACHINE),
    groupOf("runs every minute, several on a node", severalOneShotScenarios, TWO_PER_MACHINE),
    groupOf("IPv6", hetznerIPv6Scenarios, TWO_PER_MACHINE),
  ];
}
