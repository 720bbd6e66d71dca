import {
  type Action,
  type ChangeMachines,
  type ChangePorts,
  type ObjectRef,
  refKey,
  subjectOf,
  type WriteDNS,
} from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import { shownAddresses } from "../model/annotated.ts";
import type { Plan } from "../model/plan.ts";
import { waitingFor } from "../model/progress.ts";
import type { Outcome } from "../model/run.ts";
import { type ApplyContext, skipped } from "./context.ts";
import { type Preparation, preparations } from "./on-record.ts";
import { operate } from "./operations.ts";

/**
 * Carries out the actions of one plan after the other, each action as soon as those it requires or follows have ended; nothing else waits for anything. A failed action is
 * an outcome, and stops only what requires it.
 *
 * An object is planned on when its actions have ended: a newer plan has nothing to say of one that is at work, except that an address of it is to go elsewhere. That never waits for
 * anything but itself. An annotation of a node holds up only what is about that node, or about an address that it shows.
 */
export class Scheduler {
  readonly #context: ApplyContext;
  readonly #running = new Map<string, Action>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #ends = new Map<string, Outcome>();
  #untold: Outcome[] = [];
  #failure: { readonly error: unknown } | undefined;
  #bell = Promise.withResolvers<void>();

  constructor(context: ApplyContext) {
    this.#context = context;
  }

  /** The actions that have not ended as far as anybody knows: those that have begun, those that wait for one, and those of which nobody took what came of them. */
  get open(): readonly Action[] {
    return [...this.#running.values(), ...[...this.#waiting.values(), ...this.#untold].map(({ action }) => action)];
  }

  /** True while an action has not ended, waits for one, or has ended and nobody took what came of it. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#untold.length > 0 || this.#failure !== undefined;
  }

  /** The objects that {@link open} actions work for, by {@link refKey}; those that only annotate a node aside. */
  get atWork(): ReadonlySet<string> {
    return workedFor(this.open);
  }

  /** Begins what a new plan has for objects that are at rest, and address changes of the others where nothing under way touches the same. Returns what it takes on, in that order. */
  begin(plan: Plan, actions: readonly Action[]): readonly Action[] {
    const fresh = withoutConflicts(actions, this.open);
    const prepared = preparations(plan, fresh, this.#context);
    for (const action of fresh) this.#waiting.set(action.id, { action, prepared });
    this.#advance();
    return fresh;
  }

  /** Resolves when an action has ended since {@link take}. */
  get end(): Promise<void> {
    return this.#bell.promise;
  }

  /** Returns what has ended since it was last asked, in that order. @throws what an action was rejected with, which is a mistake in the program */
  take(): readonly Outcome[] {
    if (this.#failure !== undefined) throw this.#failure.error;
    const ended = this.#untold;
    this.#untold = [];
    this.#bell = Promise.withResolvers<void>();
    return ended;
  }

  /** Begins those of the actions whose turn has come. */
  #advance(): void {
    for (const { action, prepared } of [...this.#waiting.values()]) {
      const ahead = [...action.follows, ...action.requires];
      if (!this.#waiting.has(action.id) || ahead.some((id) => this.#waiting.has(id) || this.#running.has(id))) continue;
      const missing = action.requires
        .flatMap((id) => this.#ends.get(id) ?? [])
        .find(({ outcome }) => outcome !== "applied");
      this.#waiting.delete(action.id);
      this.#running.set(action.id, action);
      this.#ends.delete(action.id);
      void this.#run(action, prepared, missing?.action);
    }
  }

  async #run(action: Action, prepared: Waiting["prepared"], missing: Action | undefined): Promise<void> {
    const { clock, cluster } = this.#context;
    const startedAt = clock.monotonicMs();
    try {
      const { progress } = this.#context;
      const result =
        missing === undefined
          ? await waitingFor(progress, { kind: "action", action }, () => operate(action, prepared, this.#context))
          : skipped("PrerequisiteFailed", unmet(missing));
      const ms = Math.round(clock.monotonicMs() - startedAt);
      const outcome: Outcome = { action, ms, endedAtMs: cluster.now(), ...result };
      this.#ends.set(action.id, outcome);
      this.#untold.push(outcome);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#running.delete(action.id);
    this.#advance();
    this.#bell.resolve();
  }
}

/** An action whose turn has not come, with what its object must have on record. */
interface Waiting {
  readonly action: Action;
  readonly prepared: (object: ObjectRef) => Preparation;
}

function workedFor(actions: readonly Action[]): ReadonlySet<string> {
  const onlyAnnotates = ({ kind }: Action): boolean => kind === "annotate-node" || kind === "clear-annotation";
  return new Set(actions.filter((action) => !onlyAnnotates(action)).map(({ object }) => refKey(object)));
}

/** The actions that may be added to those that are known. */
function withoutConflicts(actions: readonly Action[], known: readonly Action[]): readonly Action[] {
  if (known.length === 0) return actions;
  const touched = new Set(known.flatMap(touchedBy));
  const atWork = workedFor(known);
  const mayJoin = (action: Action): boolean =>
    (!atWork.has(refKey(action.object)) || action.kind === "assign-ip" || action.kind === "move-ip") &&
    !touchedBy(action).some((thing) => touched.has(thing));
  const left = new Set(actions.filter((action) => !mayJoin(action)).map(({ id }) => id));
  return withoutDependents(actions, left, new Set(known.map(({ id }) => id)));
}

/** Leaves out, too, what waits for something that is left out; but not what waits for a known action. */
function withoutDependents(
  actions: readonly Action[],
  left: ReadonlySet<string>,
  known: ReadonlySet<string>,
): readonly Action[] {
  const waitsForLeft = ({ requires, follows }: Action): boolean =>
    [...requires, ...follows].some((id) => left.has(id) && !known.has(id));
  const all = new Set([...left, ...actions.filter(waitsForLeft).map(({ id }) => id)]);
  return all.size === left.size ? actions.filter(({ id }) => !left.has(id)) : withoutDependents(actions, all, known);
}

/** The things that only one action at a time may change. */
function touchedBy(action: Action): readonly string[] {
  switch (action.kind) {
    case "assign-ip":
    case "move-ip":
      return [`ip ${action.ip}`, `machine ${action.after.machineID}`];
    case "unassign-ip":
    case "delete-ip":
      return [`ip ${action.ip}`];
    case "acquire-ip":
      return "node" in action.after ? [`machine ${action.after.node.machineID}`] : [];
    case "annotate-node":
    case "clear-annotation": {
      const annotated = new Set([action.before, action.after].flatMap(shownAddresses));
      return [`node ${action.nodeName} ${action.ipFamily ?? "IPv4"}`, ...[...annotated].map(shown)];
    }
    case "add-finalizer":
    case "remove-finalizer":
      return [`finalizer of ${refKey(action.object)}`];
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return [`name ${action.dnsProvider} ${action.fqdn}`, ...changed(action).map(shown)];
    case "open-ports":
    case "close-ports":
    case "add-to-firewall":
      return [firewallOf(action)];
    case "remove-from-firewall":
      // Nothing is sent to a machine that is just leaving its firewall.
      return [firewallOf(action), ...action.machines.map(({ machineID }) => `machine ${machineID}`)];
  }
}

function firewallOf({ firewall, object }: ChangePorts | ChangeMachines): string {
  return `firewall ${firewall.id} of ${refKey(object)}`;
}

/** Where an address is shown: names follow annotations, and none follows half of a move. */
function shown(address: string): string {
  return `shown ${address}`;
}

/** The addresses that come to a name, or leave it. */
function changed({ before, after }: WriteDNS): readonly string[] {
  const kept = new Set(before.addresses.filter((address) => after.addresses.includes(address)));
  return [...before.addresses, ...after.addresses].filter((address) => !kept.has(address));
}

function unmet(action: Action): string {
  return `"${ACTIONS[action.kind].verb} ${subjectOf(action)}" has not succeeded`;
}
