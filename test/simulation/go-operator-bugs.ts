import type { Mutation } from "./mutations.ts";

/** The known failures of the Go operator, as far as they are about addresses, planted in flipop. */
export const GO_OPERATOR_BUGS: readonly Mutation[] = [
  {
    name: "A pair whose time to be tried again has come is never tried again, as the Go operator reads an elapsed backoff.",
    file: "src/plan/retries.ts",
    find: "  return Math.min(dueMs, nowMs + longestMs);",
    replace: "  return dueMs <= nowMs ? Number.POSITIVE_INFINITY : Math.min(dueMs, nowMs + longestMs);",
  },
  {
    name: "What failed is tried again at once: a hot loop.",
    file: "src/plan/retries.ts",
    find: "return Math.max(...[...subjects, nodeSubject(place)].map((subject) => this.dueMs(subject)));",
    replace: "return this.#nowMs;",
  },
  {
    name: "The count of failures is reset by the failure it counts.",
    file: "src/plan/retries.ts",
    find: "const attempts = (retries.find((entry) => entry.subject === subject)?.attempts ?? 0) + 1;",
    replace: "const attempts = 1;",
  },
  {
    name: "One failed move ends the failover: the address is not tried again.",
    file: "src/plan/addresses/assign.ts",
    find: 'standing.kind === "free" && view.inUse.has(ip) ? [',
    replace: 'standing.kind === "free" && view.inUse.has(ip) && turn(ip) === 0 ? [',
  },
  {
    name: "A first reading that fails makes an address unusable for good.",
    file: "src/plan/addresses/position.ts",
    find: "  const owner = claims.ownerOf(ip) ?? key;\n",
    replace:
      '  if (statusOf(context.pool, ip)?.reason === "Unreadable") return { kind: "gap", error: "unreadable before" };\n  const owner = claims.ownerOf(ip) ?? key;\n',
  },
  {
    name: "Status is believed instead of the address: one detached or taken by hand is never put right.",
    file: "src/plan/addresses/position.ts",
    find: "  const holder = holderOf(address, context);\n",
    replace:
      '  const known = statusOf(context.pool, address.ip);\n  const knownID = known?.state === "active" ? context.machineOf(known.providerID ?? "") : undefined;\n  const holder = holderOf(knownID === undefined ? address : { ...address, holderID: knownID }, context);\n',
  },
  {
    name: "A node whose provider id is none of the provider's waits for an address like any other.",
    file: "src/plan/addresses/candidates.ts",
    find: "    const machine = view.machineOf(node.providerID);\n",
    replace: '    const machine = view.machineOf(node.providerID) ?? "7";\n',
  },
  {
    name: "An accepted action counts as done.",
    file: "src/apply/confirmer.ts",
    find: "if (entry.isTrue(address)) this",
    replace: "if (address.ip !== entry.accepted.actionID) this",
  },
  {
    name: "An action that ended in error counts as done.",
    file: "src/apply/confirmer.ts",
    find: 'this.#end(entry, { kind: "errored", address });',
    replace: 'this.#end(entry, { kind: "confirmed", address });',
  },
  {
    name: "An action the provider does not know, as with every BYOIP address, counts as failed.",
    file: "src/apply/confirmer.ts",
    find: "    if (address.isLocked) return;\n",
    replace:
      '    if ((await this.#provider.actionState(entry.accepted).catch(() => "pending")) === "unknown") return this.#end(entry, { kind: "errored", address });\n    if (address.isLocked) return;\n',
  },
  {
    name: "A node is annotated before its address is seen there.",
    file: "src/plan/addresses/annotations.ts",
    find: "const requires = added.flatMap(",
    replace: "const requires = added.slice(added.length).flatMap(",
  },
  {
    name: "After a refusal the old holder is looked at instead of the target.",
    file: "src/apply/assign-ip.ts",
    find: "{ object: action.object, place: action.after },",
    replace:
      "{ object: action.object, place: { ...action.after, machineID: action.before?.machineID ?? action.after.machineID } },",
  },
  {
    name: "Any refusal is put down to an address on the target: its first public one is taken for it.",
    file: "src/apply/assign-ip.ts",
    find: "if (isPublic.length > most) {",
    replace: "if (isPublic.length > 0) {",
  },
  {
    name: "What was bought is remembered in memory only.",
    file: "src/apply/on-record.ts",
    find: "const answered = { ...this.#withoutPending(status), acquired };",
    replace: 'const answered = this.#withoutPending(status);\n      if (ip !== "") return answered;',
  },
  {
    name: "An address is bought although its intent could not be written.",
    file: "src/apply/acquire-ip.ts",
    find: "  await record.begin();",
    replace: "  await record.begin().catch(() => undefined);",
  },
  {
    name: "An address is bought with no intent on record.",
    file: "src/apply/on-record.ts",
    find: "pendingAcquisitions: [...status.pendingAcquisitions, this.#pending] };",
    replace: "pendingAcquisitions: status.pendingAcquisitions };",
  },
  {
    name: "An edit of the spec makes the pool forget what was bought.",
    file: "src/plan/addresses/view-pool.ts",
    find: "acquired: [...pool.status.acquired, ...more,",
    replace:
      "acquired: [...(pool.status.observedGeneration === pool.meta.generation ? pool.status.acquired : []), ...more,",
  },
  {
    name: "An address that cannot be read counts as gone.",
    file: "src/observe/addresses.ts",
    find: 'const gap: Reading = { kind: "gap", error: error.message };',
    replace: 'const gap: Reading = { kind: "gone" };',
  },
  {
    name: "An address that cannot be read counts as unattached.",
    file: "src/plan/addresses/position.ts",
    find: 'return { kind: "gap", error: fact.error };',
    replace: 'return { kind: "free", from: undefined, rank: "unassigned" };',
  },
  {
    name: "The cool-off is forgotten.",
    file: "src/plan/addresses/assign.ts",
    find: "return endMs > nowMs ? endMs : undefined;",
    replace: "return endMs > nowMs + 9e9 ? endMs : undefined;",
  },
  {
    name: "The cool-off is written down only after the assignment, and lost with the process.",
    file: "src/apply/on-record.ts",
    find: "if (before === undefined || before.spec.assignmentCoolOffSeconds <= 0) return",
    replace: "if (before === undefined || before.spec.assignmentCoolOffSeconds <= 9e9) return",
  },
  {
    name: "An action that is still under way is fought.",
    file: "src/plan/addresses/position.ts",
    find: "  if (address.isLocked) return",
    replace: "  if (address.isLocked && address.ip === context.key) return",
  },
  {
    name: "One refused call ends the pass.",
    file: "src/apply/operations.ts",
    find: "if (error instanceof ProviderError || error instanceof KubeError || error instanceof ConfigError)",
    replace: "if (error instanceof KubeError || error instanceof ConfigError)",
  },
  {
    name: "An unknown provider in a spec ends the pass.",
    file: "src/plan/validate.ts",
    find: "  if (traits === undefined) return",
    replace:
      '  if (traits === undefined) throw new Error("unknown provider");\n  if (spec.provider === undefined) return',
  },
  {
    name: "A label that goes leaves the annotation behind.",
    file: "src/plan/addresses/annotations.ts",
    find: "clearing(node, wishes.get(node.name) ?? [], byKey, { ...context, written }) ??",
    replace: "",
  },
  {
    name: "What a provider's rate limit said is not left for later runs.",
    file: "src/reconcile.ts",
    find: "  await noteRateLimits(() => rounds.latest, deps, sinceMs);\n",
    replace: "  if (outcomes.length > 1e9) await noteRateLimits(() => rounds.latest, deps, sinceMs);\n",
  },
  {
    name: "What a provider's rate limit said is not read.",
    file: "src/observe/asking.ts",
    find: "if (notBeforeMs === undefined || notBeforeMs <= nowMs) return undefined;",
    replace: "if (notBeforeMs === undefined || notBeforeMs <= nowMs + 9e9) return undefined;",
  },
  {
    name: "An error stays in the status after what caused it.",
    file: "src/plan/status/pool-status.ts",
    find: "  const error = poolError(view, own);\n",
    replace: "  const error = poolError(view, own) ?? pool.status.error;\n",
  },
  {
    name: "Two pools both work on an address they name.",
    file: "src/plan/addresses/claims.ts",
    find: "ownerOf: (ip) => owners.get(ip)?.key,",
    replace: "ownerOf: (ip) => (owners.size > 1e9 ? owners.get(ip)?.key : undefined),",
  },
  {
    name: "Two pools may both be promised one node.",
    file: "src/plan/addresses/machine-ledger.ts",
    find: "this.#promised.set(machine, [...(this.#promised.get(machine) ?? []), key]);",
    replace: 'if (key === "") this.#promised.set(machine, [key]);',
  },
  {
    name: "A failed list of nodes counts as no nodes.",
    file: "src/observe/read-cluster.ts",
    find: "cluster.listNodes()",
    replace: "cluster.listNodes().catch(() => [])",
  },
];
