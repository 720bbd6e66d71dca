import type { Mutation } from "./mutations.ts";

/** Bugs of the pace at which addresses leave nodes that still serve. */
export const PACE_BUGS: readonly Mutation[] = [
  {
    name: "All addresses of a pool leave nodes that still serve at once.",
    file: "src/plan/addresses/pace.ts",
    find: "    const drain = this.#drain(ip);\n    const hasLeft",
    replace: '    if (ip !== "") return { kind: "go" };\n    const drain = this.#drain(ip);\n    const hasLeft',
  },
  {
    name: "An address whose node is down waits like one that still serves.",
    file: "src/plan/addresses/position.ts",
    find: "if (context.stillServes(node) && isInService(",
    replace: "if (isInService(",
  },
];
