import type { SharedNameBug } from "./shared-name-bugs.ts";

/** Bugs that histories of pools at Hetzner must find, each by itself. */
export const HETZNER_BUGS: readonly SharedNameBug[] = [
  {
    seed: 3,
    name: "A node gets one address more than its limit.",
    file: "src/plan/addresses/machine-ledger.ts",
    find: "ips.length + promised.length + beside >= Math.min(most,",
    replace: "ips.length + promised.length + beside - 1 >= Math.min(most,",
  },
  {
    seed: 6,
    name: "An address goes to another network zone.",
    file: "src/plan/addresses/assign.ts",
    find: "    isSamePlace(view.areaOf(region), { region: view.areaOf(candidate.region) });",
    replace: "    region !== candidate.node.name;",
  },
  {
    seed: 2,
    name: "Every host gets every address, whoever is to put it there.",
    file: "src/plan/addresses/annotations.ts",
    find: 'before.includes(ip) : view.hosts === "Managed";',
    replace: "before.includes(ip) : view.hosts !== undefined;",
  },
];
