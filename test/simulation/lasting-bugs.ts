import type { Mutation } from "./mutations.ts";

/** Bugs that show where something stays wrong for ever: the histories of `lasting-history.ts` find them. */
export const LASTING_BUGS: readonly Mutation[] = [
  {
    name: "A change of the cluster makes a pass ask the providers again.",
    file: "src/observe/reusable-facts.ts",
    find: "    const dueMs = this.#entries.get(key)?.dueMs ?? Number.NEGATIVE_INFINITY;",
    replace:
      '    const known = this.#entries.get(key);\n    const dueMs = known === undefined || known.state === "settled" ? Number.NEGATIVE_INFINITY : known.dueMs;',
  },
  {
    name: "What a provider refused is tried again whenever the cluster changes.",
    file: "src/plan/retries.ts",
    find: "  return Math.min(dueMs, nowMs + longestMs);",
    replace: "  return Math.min(dueMs, nowMs);",
  },
  {
    name: "A selector that the API server refuses stops the whole pass.",
    file: "src/observe/read-cluster.ts",
    find: "    if (!isRequestRefusal(error, isNamespaced)) throw error;",
    replace: '    if (!isRequestRefusal(error, isNamespaced) || what !== "") throw error;',
  },
  {
    name: "A pass begins when the last provider has answered.",
    file: "src/observe/looking.ts",
    find: "      if (isOver) return;",
    replace: "      if (isOver && left.length === 0) return;",
  },
  {
    name: "A status is written whenever it tells something else.",
    file: "src/apply/attempts.ts",
    find: "    if (hasTold && this.#isLasting) this.#tellings.wrote(key, nowMs);",
    replace: "    if (!hasTold && this.#isLasting) this.#tellings.wrote(key, nowMs);",
  },
  {
    name: "A label of a node that comes and goes counts each time at once.",
    file: "src/apply/restless.ts",
    find: "    const labels = names.filter((name) => before.labels[name] !== node.labels[name]);",
    replace: '    const labels = names.filter((name) => before.labels[name] !== node.labels[name] && name === "");',
  },
  {
    name: "A node that is made again and again counts each time at once.",
    file: "src/apply/restless.ts",
    find: '    if (node === undefined) return new Map([["gone", { kind: "gone" }]]);',
    replace: "    if (node === undefined) return new Map();",
  },
  {
    name: "An object whose spec is changed back and forth follows each time at once.",
    file: "src/apply/restless.ts",
    find: "    if (leftMs.size === 0) return { objects: listed };",
    replace: "    if (leftMs.size >= 0) return { objects: listed };",
  },
];
