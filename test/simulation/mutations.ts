import { DNS_BUGS } from "./dns-bugs.ts";
import { FIREWALL_BUGS } from "./firewall-bugs.ts";
import { GO_OPERATOR_BUGS } from "./go-operator-bugs.ts";
import { LASTING_BUGS } from "./lasting-bugs.ts";
import { MEMORY_BUGS } from "./memory-bugs.ts";
import { PACE_BUGS } from "./pace-bugs.ts";
import { SHARD_BUGS } from "./shard-bugs.ts";

/** A planted bug: one piece of the sources replaced by another. */
export interface Mutation {
  /** What goes wrong, in one sentence. */
  readonly name: string;
  /** From the root of the project. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** Bugs that the simulator must find, each by itself. */
export const MUTATIONS: readonly Mutation[] = [
  ...GO_OPERATOR_BUGS,
  ...DNS_BUGS,
  ...MEMORY_BUGS,
  ...FIREWALL_BUGS,
  ...LASTING_BUGS,
  ...PACE_BUGS,
  ...SHARD_BUGS,
  {
    name: "The intent of an earlier run is ignored.",
    file: "src/plan/addresses/view-pool.ts",
    find: "const resolution = resolvePending(intent, {",
    replace:
      'const resolution: PendingResolution = provider.isComplete ? { kind: "never-made" } : resolvePending(intent, {',
  },
  {
    name: "After a lost answer another one is bought.",
    file: "src/apply/acquire-ip.ts",
    find: "if (!error.isAmbiguous) await",
    replace: "await",
  },
  {
    name: "Of several addresses that a lost answer may be about one is adopted.",
    file: "src/plan/addresses/acquire.ts",
    find: "const isGuess = others.length > 0 ||",
    replace: "const isGuess = others.length > 1e9 ||",
  },
  {
    name: "Two pools find the same address again.",
    file: "src/plan/addresses/view-pool.ts",
    find: '    if (resolution.kind === "found") taken.add(resolution.acquired.ip);\n',
    replace: "",
  },
  {
    name: "A move does not look again where the address is.",
    file: "src/apply/assign-ip.ts",
    find: "if (action.before === undefined && ageMs <= FRESH_ADDRESS_MS) return undefined;",
    replace: "if (action.before !== undefined || ageMs <= FRESH_ADDRESS_MS) return undefined;",
  },
  {
    name: "An address seen free long ago is taken without another look.",
    file: "src/apply/assign-ip.ts",
    find: "action.before === undefined && ageMs <= FRESH_ADDRESS_MS",
    replace: "action.before === undefined",
  },
  {
    name: "A move does not look again at the node that loses the address.",
    file: "src/apply/assign-ip.ts",
    find: "if (!action.isHolderJudged || before === undefined",
    replace: 'if (ip !== "" || before === undefined',
  },
  {
    name: "A run goes on after it lost the Lease.",
    file: "src/apply/context.ts",
    find: '  if (!context.lock.isHeld()) return "LockLost";\n  if (context.signal.aborted || context',
    replace: "  if (context",
  },
  {
    name: "Statuses are written after the Lease was lost.",
    file: "src/apply/resource-store.ts",
    find: "    if (this.#mayWrite()) return;\n",
    replace: '    if (this.#mayWrite() || key !== "") return;\n',
  },
  {
    name: "A Lease that is still renewed is taken over.",
    file: "src/watch/lease-acquire.ts",
    find: "const leftMs = this.leftMs(record, nowMs);",
    replace: "const leftMs = Math.min(0, this.leftMs(record, nowMs));",
  },
  {
    name: "One address more is bought than is asked for.",
    file: "src/plan/addresses/acquire.ts",
    find: "const missing = view.desired - countedIPs(view);",
    replace: "const missing = view.desired - countedIPs(view) + (countedIPs(view) > 0 ? 1 : 0);",
  },
  {
    name: "The provider's limit of creations in a minute is not kept.",
    // The planner and the Lease count by it: each alone would still keep the limit.
    file: "src/model/lease-notes.ts",
    find: "export const ACQUISITION_WINDOW_MS = 65_000;",
    replace: "export const ACQUISITION_WINDOW_MS = 650;",
  },
  {
    name: "There is no grace.",
    file: "src/plan/addresses/position.ts",
    find: 'if (verdict.kind === "unready" && wasActive && graceUntilMs > context.nowMs) {',
    replace: 'if (verdict.kind === "unready" && wasActive && graceUntilMs > context.nowMs + 9e9) {',
  },
  {
    name: "Grace begins anew at every pass where only status knows when it began.",
    file: "src/plan/addresses/position.ts",
    find: "const storedMs = isKnownHere ?",
    replace: "const storedMs = isKnownHere && context.nowMs < 0 ?",
  },
  {
    name: "An address is taken from a stranger's machine.",
    file: "src/plan/addresses/position.ts",
    find: 'return context.pool.spec.foreignHolder === "TakeOver"',
    replace: 'return context.pool.spec.foreignHolder !== ("" as string)',
  },
  {
    name: "An address on the machine of a node that went is left there as a stranger's.",
    file: "src/plan/addresses/position.ts",
    find: "storedMachines(pool, ip, machineOf).includes(machine)",
    replace: "storedMachines(pool, ip, machineOf).slice(1).includes(machine)",
  },
  {
    name: "A suspended pool is changed.",
    file: "src/plan/pool-view.ts",
    find: " && view.suspended === undefined",
    replace: "",
  },
  {
    name: "A lower number of addresses takes healthy ones away and keeps idle ones.",
    file: "src/plan/addresses/claims.ts",
    find: "a.rank - b.rank || a.order",
    replace: "a.order",
  },
  {
    name: "A pool that is not selected is written for.",
    file: "src/plan/selection.ts",
    find: "if (selection.objects !== undefined && !selection.objects.includes(refKey({ kind, ...meta }))) return false;",
    replace: "",
  },
  {
    name: "Addresses are given back at the deletion of a pool although it is to retain them.",
    file: "src/plan/addresses/reclaim.ts",
    find: 'spec.reclaimPolicy === "Delete" ? view.managed.filter',
    replace: 'spec.reclaimPolicy !== ("" as string) ? view.managed.filter',
  },
  {
    name: "Adopted addresses are deleted.",
    file: "src/plan/addresses/reclaim.ts",
    find: "acquired?.isAdopted === false) : [];",
    replace: "acquired !== undefined) : [];",
  },
  {
    name: "A pool is let go before its addresses are given back.",
    file: "src/plan/finalizer.ts",
    find: "const requires = cleanings.flatMap(({ after }) => after);",
    replace: "const requires: readonly string[] = [];",
  },
  {
    name: "A pool is let go while the answer of a creation is open.",
    file: "src/plan/addresses/reclaim.ts",
    find: "|| !hasAllAnswers(view),",
    replace: ",",
  },
  {
    name: "Addresses are bought before the finalizer is set.",
    file: "src/plan/addresses/reclaim.ts",
    find: '(willAcquire && spec.reclaimPolicy === "Delete")',
    replace: "(willAcquire && nowMs < 0)",
  },
  {
    name: "A node that failed once is asked first for ever.",
    file: "src/plan/addresses/candidates.ts",
    find: "turn(a) - turn(b) ||\n      a",
    replace: "a",
  },
];
