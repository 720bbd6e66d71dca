import type { Mutation } from "./mutations.ts";

/** Bugs about RoutedIPs and their firewalls that the simulator must find, each by itself. */
export const FIREWALL_BUGS: readonly Mutation[] = [
  {
    name: "An address goes to a node before its ports are open.",
    file: "src/plan/guards.ts",
    find: 'condition.kind === "after" ? [{ id, requires: condition.requires, follows: condition.follows }] : [],',
    replace: 'condition.kind === "after" ? [] : [],',
  },
  {
    name: "A node goes behind a firewall before its ports are open there.",
    file: "src/plan/firewalls/extend-firewall.ts",
    find: "...afterPorts,\n    provider:",
    replace: "requires: [],\n    follows: [],\n    provider:",
  },
  {
    name: "A port is closed although a RoutedIP needs it.",
    file: "src/plan/firewalls/plan-firewalls.ts",
    find: "keep(view.firewall.fact.firewall.id, needs.ports, [",
    replace: "keep(view.firewall.fact.firewall.id, [], [",
  },
  {
    name: "A rule that a person made counts as made by the program.",
    file: "src/plan/firewalls/firewall-memory.ts",
    find: "...[...ports].filter(isShared)",
    replace: "...ports",
  },
  {
    name: "What is added to a firewall is not put on record before.",
    file: "src/apply/on-record.ts",
    find: "...(firewalls === undefined ? {} : { firewalls }),",
    replace: "",
  },
  {
    name: "A node leaves the firewall before its address has left it.",
    file: "src/plan/firewalls/shrink-firewall.ts",
    find: "requires: [...wait.requires, ...moves.map(({ id }) => id)],",
    replace: "requires: wait.requires,",
  },
  {
    name: "A firewall that cannot be read counts as gone.",
    file: "src/observe/firewalls.ts",
    find: '[one, { kind: "gap", error: error.message }]',
    replace: '[one, { kind: "gone" }]',
  },
  {
    name: "A list of firewalls that lags behind is believed.",
    file: "src/observe/firewalls.ts",
    find: "!showsAll(shownIn.get(id), memories)",
    replace: "!showsAll(shownIn.get(id), memories.slice(0, 0)) && !shownIn.size",
  },
  {
    name: "Changes of a firewall that are still carried out are not waited for.",
    file: "src/apply/change-firewall.ts",
    find: 'awaited.every((machine) => progressAt(firewall, machine) === "in-force") && left(firewall)',
    replace: "left(firewall)",
  },
  {
    name: "A change that is pending for one machine holds up every other one.",
    file: "src/adapters/digitalocean/firewalls.ts",
    find: "isWaiting: pending.some(({ ids }) => ids.length === 0) ||",
    replace: "isWaiting: pending.length > 0 ||",
  },
  {
    name: "A change of a firewall whose answer was lost counts as soon as it shows.",
    file: "src/apply/change-firewall.ts",
    find: 'if (isDone(reading, change)) return { outcome: "applied", ...learned(reading) };',
    replace: 'if (isTrue) return { outcome: "applied", ...learned(reading) };',
  },
  {
    name: "A wide rule that the program made for one RoutedIP is enough for another.",
    file: "src/plan/firewalls/firewall-target.ts",
    find: "|| made?.has(portText(rule.ports)) !== true),",
    replace: "|| made?.has(portText(rule.ports)) !== null),",
  },
  {
    name: "A firewall of Kubernetes is changed.",
    file: "src/plan/firewalls/firewall-target.ts",
    find: "reserved !== undefined && firewall.name.startsWith(reserved))",
    replace: "reserved !== undefined && firewall.name === reserved)",
  },
  {
    name: "What is taken from a firewall is not looked at again before.",
    file: "src/apply/change-firewall.ts",
    find: "if (!change.isDestructive) return {};",
    replace: 'if (!change.isDestructive || change.id !== "") return {};',
  },
  {
    name: "A RoutedIP is let go before its firewall is cleaned.",
    file: "src/plan/firewalls/shrink-firewall.ts",
    find: "isNeeded: memory.length > 0,",
    replace: "isNeeded: false,",
  },
  {
    name: "A port is closed after the Lease was lost.",
    file: "src/apply/change-firewall.ts",
    find: "  const late = obstacle(context);\n  if (late !== undefined) return skipped(late);\n",
    replace: "",
  },
  {
    name: "An address is published while its firewall keeps it out.",
    file: "src/plan/serving.ts",
    find: "const after = lettingIn(view, standing.on.machineID);",
    replace: "const after = lettingIn(view, standing.on.machineID) ?? [];",
  },
  {
    name: "A former firewall is left before the new one is in step.",
    file: "src/plan/firewalls/shrink-firewall.ts",
    find: ": { requires: context.adding, follows: [] };",
    replace: ": { requires: [], follows: [] };",
  },
  {
    name: "A rate limit that only firewalls have met is not left for later runs.",
    file: "src/apply/context.ts",
    find: "firewallProviders: noting(firewallProviders),",
    replace: "firewallProviders,",
  },
  {
    name: "What its issuer said of cleaning up is on record only at the end of a run.",
    file: "src/apply/on-record.ts",
    find: "    ...(status.issuer === undefined ? {} : { issuer: status.issuer }),\n",
    replace: "",
  },
  {
    name: "Two RoutedIPs take a rule that is gone over from one another.",
    file: "src/plan/firewalls/plan-firewalls.ts",
    find: "=> stillThere(memory, facts.get(memory.provider)) ?? []);",
    replace: "=> memory);",
  },
];
