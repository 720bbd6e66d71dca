import type { Mutation } from "./mutations.ts";

/** Bugs about what one run leaves for the next, and about clocks, that the simulator must find, each by itself. */
export const MEMORY_BUGS: readonly Mutation[] = [
  {
    name: "A provider's local time is taken for the server's when it asks for no calls.",
    file: "src/apply/context.ts",
    find: "const untilMs = cluster.now() + notBeforeMs - clock.wallMs();",
    replace: "const untilMs = notBeforeMs;",
  },
  {
    name: "A creation in the future counts for ever.",
    file: "src/model/lease-notes.ts",
    find: ".filter((ms) => Math.abs(ms - nowMs) < ACQUISITION_WINDOW_MS)",
    replace: ".filter((ms) => ms > nowMs - ACQUISITION_WINDOW_MS)",
  },
  {
    name: "With its status a pool loses what it acquired.",
    file: "src/model/acquisition-memory.ts",
    find: "...lost.map((ip) => ({ ip,",
    replace: "...lost.slice(lost.length).map((ip) => ({ ip,",
  },
  {
    name: "What was acquired is not noted beside the status.",
    file: "src/apply/resource-store.ts",
    find: 'const work = this.#writeNote(key, note, "same");',
    replace: 'const work = this.#writeNote(key, { ...note, ips: [] }, "same");',
  },
  {
    name: "With its status a pool loses a creation without an answer.",
    file: "src/model/acquisition-memory.ts",
    find: "pendingAcquisitions: [...kept, ...unanswered.map((place) => restoredAt(place, startedAt))],",
    replace: "pendingAcquisitions: kept,",
  },
  {
    name: "A creation is still noted when it has left the status.",
    file: "src/apply/resource-store.ts",
    find: "if (ended.length > 0 && !isOlder)",
    replace: "if (ended.length < 0 && !isOlder)",
  },
  {
    name: "The machine of an unanswered creation is promised to nobody.",
    file: "src/plan/addresses/machine-ledger.ts",
    find: "if (target !== undefined && isOpen) this",
    replace: 'if (target !== undefined && isOpen && view.key === "") this',
  },
  {
    name: "What another object left in a name is not on record for the one that takes it over.",
    file: "src/plan/names/plan-dns.ts",
    find: "recordAddresses([...write.before.addresses, ...write.after.addresses]);",
    replace: "write.after.addresses;",
  },
  {
    name: "Of one name at two providers only one is cleaned.",
    file: "src/plan/names/former-names.ts",
    find: "fqdn: former.name, provider: former.provider",
    replace: 'fqdn: former.name, provider: "one"',
  },
  {
    name: "A suspended pool promises nodes to itself.",
    file: "src/plan/addresses/decide-pools.ts",
    find: "const inTurn = [...views.filter(isWritable), ...views.filter((view) => !isWritable(view))];",
    replace:
      'const inTurn = views;\n  for (const view of views.filter(({ suspended }) => suspended !== undefined))\n    for (const { providerID } of view.matches)\n      ledgers.get(view.pool.spec.provider)?.promise(view.machineOf(providerID) ?? "", view.key);',
  },
  {
    name: "A reader writes.",
    file: "src/reconcile.ts",
    find: "  const observed = await withNearPods(deps, await withPods(deps, seen, options?.pods ?? []));\n",
    replace:
      "  const observed = await withNearPods(deps, await withPods(deps, seen, options?.pods ?? []));\n  const [node] = observed.nodes;\n  if (node !== undefined) await (deps.cluster as any).annotateNode(node.name, { address: null, pool: null });\n",
  },
  {
    name: "An address that an heir names is given back.",
    file: "src/plan/addresses/heirs.ts",
    find: "[provider, ANY_PROVIDER].some((one) => named.get(one)?.has(ip) === true);",
    replace: "[provider, ANY_PROVIDER].some((one) => named.get(one)?.has(provider) === true);",
  },
  {
    name: "An address is given back although an object of an unknown provider names it.",
    file: "src/plan/addresses/heirs.ts",
    find: "const provider = isUsable ? pool.spec.provider : ANY_PROVIDER;",
    replace: 'const provider = isUsable ? pool.spec.provider : "nobody";',
  },
];
