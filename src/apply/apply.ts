import { type Action, type AssignIP, subjectOf } from "../model/action.ts";
import { ACTIONS } from "../model/action-facts.ts";
import { ConfigError, KubeError, ProviderError } from "../model/errors.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import { acquireIP } from "./acquire-ip.ts";
import { annotateNode } from "./annotate-node.ts";
import { assignIP } from "./assign-ip.ts";
import { changeMachines, changePorts } from "./change-firewall.ts";
import type { ApplyContext } from "./context.ts";
import { deleteIP } from "./delete-ip.ts";
import { type Preparation, preparations, UNPREPARED } from "./preparations.ts";
import { failed, type Result, skipped } from "./result.ts";
import { setFinalizer } from "./set-finalizer.ts";
import { unassignIP } from "./unassign-ip.ts";
import { writeDNS } from "./write-dns.ts";

/**
 * Carries out the actions of a plan, each as soon as those it requires or follows have ended; nothing else waits for anything. A failed action is an outcome,
 * and stops only what requires it.
 *
 * @returns one outcome per action, in the order they ended.
 */
export async function apply(
  plan: Plan,
  actions: readonly Action[],
  context: ApplyContext,
): Promise<readonly Outcome[]> {
  const ended: Outcome[] = [];
  const running = new Map<string, Promise<Outcome>>();
  const byID = new Map(actions.map((action) => [action.id, action]));
  const prepared = preparations(plan, actions, context);
  const start = (action: Action): Promise<Outcome> => {
    const known = running.get(action.id);
    if (known !== undefined) return known;
    const outcome = run(action).then((result) => {
      ended.push(result);
      return result;
    });
    running.set(action.id, outcome);
    return outcome;
  };
  const run = async (action: Action): Promise<Outcome> => {
    const ahead = (ids: readonly string[]): readonly Action[] => ids.flatMap((id) => byID.get(id) ?? []);
    await Promise.all(ahead(action.follows).map(start));
    const required = await Promise.all(ahead(action.requires).map(start));
    const startedAt = context.clock.monotonicMs();
    const missing = required.find(({ outcome }) => outcome !== "applied");
    const result =
      missing === undefined
        ? await operate(action, prepared, context)
        : skipped("PrerequisiteFailed", unmet(missing.action));
    const ms = Math.round(context.clock.monotonicMs() - startedAt);
    return { action, ms, endedAtMs: context.cluster.now(), ...result };
  };
  await Promise.all(actions.map(start));
  return ended;
}

function unmet(action: Action): string {
  return `"${ACTIONS[action.kind].verb} ${subjectOf(action)}" has not succeeded`;
}

async function operate(
  action: Action,
  prepared: (object: Action["object"]) => Preparation,
  context: ApplyContext,
): Promise<Result> {
  try {
    // What an annotation alone shows to be the pool's must be on record before the annotation goes.
    const isPrepared = ACTIONS[action.kind].target === "provider" || action.kind === "clear-annotation";
    const ready = isPrepared ? prepared(action.object) : UNPREPARED;
    if (action.kind === "assign-ip" || action.kind === "move-ip") return await assignIP(action, context, ready);
    await ready.whole;
    return await OPERATIONS[action.kind](action as never, context);
  } catch (error) {
    if (error instanceof ProviderError || error instanceof KubeError || error instanceof ConfigError)
      return failed(error);
    throw error;
  }
}

type Operations = {
  readonly [K in Exclude<Action["kind"], AssignIP["kind"]>]: (
    action: Extract<Action, { kind: K }>,
    context: ApplyContext,
  ) => Promise<Result>;
};

const OPERATIONS: Operations = {
  "acquire-ip": acquireIP,
  "unassign-ip": unassignIP,
  "delete-ip": deleteIP,
  "open-ports": changePorts,
  "close-ports": changePorts,
  "add-to-firewall": changeMachines,
  "remove-from-firewall": changeMachines,
  "withdraw-dns": writeDNS,
  "update-dns": writeDNS,
  "delete-dns": writeDNS,
  "annotate-node": annotateNode,
  "clear-annotation": annotateNode,
  "add-finalizer": setFinalizer,
  "remove-finalizer": setFinalizer,
};
