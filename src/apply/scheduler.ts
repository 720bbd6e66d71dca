import {
  type Action,
  type ChangeMachines,
  type ChangePorts,
  isAssign,
  type ObjectRef,
  refKey,
  subjectOf,
  type WriteDNS,
} from "../model/action.ts";
import { ACTIONS, changesName } from "../model/action-kinds.ts";
import { shownAddresses } from "../model/annotated.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import { waitingFor } from "../model/progress.ts";
import { type ApplyContext, skipped } from "./context.ts";
import { type Preparation, preparations } from "./on-record.ts";
import { operate } from "./operations.ts";

/**
 * Carries out the actions of one plan after the other, each action as soon as those it requires or follows have ended; nothing else waits for anything. A failed action is
 * an outcome, and stops only what requires it.
 *
 * An object is planned on when its actions have ended: a newer plan has nothing to say of one that is at work. Exceptions:
 *
 *   an address of it is to go elsewhere     that never waits for anything but itself
 *   a busy provider refuses it for a while  what only leaves a name of the object does not wait for the end of that: nobody knows when it comes
 *
 * An annotation of a node holds up only what is about that node, or about an address that it shows.
 */
export class Scheduler {
  readonly #context: ApplyContext;
  readonly #running = new Map<string, Action>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #ends = new Map<string, Outcome>();
  /** Those of {@link #running} that a busy provider has refused for a while. */
  readonly #refused = new Set<Action>();
  #hasRefusal = false;
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

  /** The actions under way that the provider has refused for a while, since it is busy. They go on. */
  get refused(): readonly Action[] {
    return [...this.#refused];
  }

  /** True where the provider has refused an action for a while, and nobody has asked since. */
  takeRefusals(): boolean {
    const has = this.#hasRefusal;
    this.#hasRefusal = false;
    return has;
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
    const stuck = this.#stuck();
    const fresh = withoutConflicts(actions, { open: this.open, refused: this.refused, stuck });
    this.#makeRoom(fresh, stuck);
    const prepared = preparations(plan, fresh, this.#context);
    for (const action of fresh) this.#waiting.set(action.id, { action, prepared });
    this.#advance();
    return fresh;
  }

  /** Resolves when an action has ended since {@link take}, or the provider has refused one for a while. */
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

  #refuse(action: Action): void {
    if (this.#refused.has(action)) return;
    this.#refused.add(action);
    this.#hasRefusal = true;
    this.#bell.resolve();
  }

  /** Nobody knows when an action ends that is refused: what waits for it, and is in the way of something else, is planned anew. */
  #makeRoom(fresh: readonly Action[], stuck: readonly Action[]): void {
    const wanted = new Set(stuck.length === 0 ? [] : fresh.filter(onlyTakesOut).flatMap(touchedBy));
    if (!stuck.some((action) => touchedBy(action).some((thing) => wanted.has(thing)))) return;
    for (const { id } of stuck) this.#waiting.delete(id);
  }

  /** What waits for actions that are refused, whether directly or not. */
  #stuck(): readonly Action[] {
    const ahead = new Set(this.refused.map(({ id }) => id));
    const stuck = new Set<Action>();
    const isStuck = ({ requires, follows }: Action): boolean => [...requires, ...follows].some((id) => ahead.has(id));
    for (let before = -1; before < stuck.size; ) {
      before = stuck.size;
      for (const { action } of this.#waiting.values()) {
        if (!isStuck(action)) continue;
        stuck.add(action);
        ahead.add(action.id);
      }
    }
    return [...stuck];
  }

  async #run(action: Action, prepared: Waiting["prepared"], missing: Action | undefined): Promise<void> {
    const { clock, cluster } = this.#context;
    const startedAt = clock.monotonicMs();
    try {
      const { progress } = this.#context;
      const context = { ...this.#context, onBusy: () => this.#refuse(action) };
      const result =
        missing === undefined
          ? await waitingFor(progress, { kind: "action", action }, () => operate(action, prepared, context))
          : skipped("PrerequisiteFailed", unmet(missing));
      const ms = Math.round(clock.monotonicMs() - startedAt);
      const outcome: Outcome = { action, ms, endedAtMs: cluster.now(), ...result };
      this.#ends.set(action.id, outcome);
      this.#untold.push(outcome);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#running.delete(action.id);
    this.#refused.delete(action);
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

/** What the actions of a new plan may be in conflict with. */
interface Known {
  readonly open: readonly Action[];
  /** Those that a busy provider has refused for a while. */
  readonly refused: readonly Action[];
  /** Those that wait for these. */
  readonly stuck: readonly Action[];
}

/** The actions that may be added to those that are known. What only leaves its name waits for nothing that waits for a refused action. */
function withoutConflicts(actions: readonly Action[], { open, refused, stuck }: Known): readonly Action[] {
  if (open.length === 0) return actions;
  const touched = new Set(open.flatMap(touchedBy));
  const first = open.filter((action) => !stuck.includes(action));
  const touchedFirst = new Set(first.flatMap(touchedBy));
  const atWork = workedFor(open);
  const refusedFor = workedFor(refused);
  const mayJoin = (action: Action): boolean => {
    const key = refKey(action.object);
    const isLeaving = refused.length > 0 && onlyTakesOut(action);
    const isFree = !atWork.has(key) || isAssign(action) || (isLeaving && refusedFor.has(key));
    return isFree && !touchedBy(action).some((thing) => (isLeaving ? touchedFirst : touched).has(thing));
  };
  const left = new Set(actions.filter((action) => !mayJoin(action)).map(({ id }) => id));
  return withoutDependents(actions, left, new Set(first.map(({ id }) => id)));
}

/** True for a change of a name that adds nothing to it. */
function onlyTakesOut(action: Action): boolean {
  if (!changesName(action)) return false;
  const { before, after } = action;
  return (
    after.addresses.length < before.addresses.length && after.addresses.every((ip) => before.addresses.includes(ip))
  );
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
  const subject = action.kind === "acquire-ip" ? "a new address" : subjectOf(action);
  return `"${ACTIONS[action.kind].verb} ${subject}" has not succeeded`;
}
