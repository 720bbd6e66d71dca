import { type Action, type ChangeMachines, type ChangePorts, refKey } from "../../model/action.ts";
import type { FirewallMemory } from "../../model/firewall.ts";
import type { Observation } from "../../model/observation.ts";
import type { Hold } from "../../model/plan.ts";
import type { Decision } from "../decide-pools.ts";
import { type Cleaning, NOTHING_TO_CLEAN } from "../finalizer-step.ts";
import { isWritable } from "../machine-ledger.ts";
import type { PoolView } from "../pool-view.ts";
import { type Extension, extendFirewall, type Planned } from "./extend-firewall.ts";
import { firewallCleaning, waitingForHeirs } from "./firewall-cleaning.ts";
import { firewallMemory, stillThere } from "./firewall-memory.ts";
import { type FirewallNeeds, mayLetGo, presentNeeds, type Sending } from "./firewall-needs.ts";
import { isLetIn } from "./firewall-target.ts";
import { entriesOf, type FirewallWork } from "./firewall-work.ts";
import { linkSending } from "./link-sending.ts";
import { type Reduction, shrinkFirewall } from "./shrink-firewall.ts";

/** What is done about the firewalls of one object. */
export interface ObjectFirewalls {
  readonly actions: readonly (ChangePorts | ChangeMachines)[];
  readonly holds: readonly Hold[];
  /** What its status should remember. */
  readonly memory: readonly FirewallMemory[];
  readonly cleaning: Cleaning;
}

/** The decisions, with assignments that wait for their firewall, and what is done at firewalls, by {@link refKey}. */
export interface FirewallPlan {
  readonly decisions: readonly Decision[];
  readonly byObject: ReadonlyMap<string, ObjectFirewalls>;
}

/**
 * Plans the firewalls of all objects: first what is added, object after object, so that what several need is brought once; then what nobody needs any more. An
 * address goes to a machine only after the machine is behind its firewall with all ports open, and is not sent where that cannot be.
 *
 * @param stillPublished - addresses that cannot be taken out of DNS in this pass, with the name
 */
export function planFirewalls(
  decisions: readonly Decision[],
  { firewalls, observedAtMs: nowMs }: Observation,
  stillPublished: ReadonlyMap<string, string>,
): FirewallPlan {
  const isUsed = decisions.some(
    ({ view }) => view.firewall.kind !== "none" || view.pool.status.firewalls !== undefined,
  );
  if (!isUsed) return { decisions, byObject: new Map() };
  const planned: Planned = new Map();
  const works = decisions.map(({ view, actions }): FirewallWork => {
    const sending = actions.filter(isSending);
    const needs = presentNeeds(view, sending);
    const extension = isWritable(view) ? extendFirewall(view, needs, planned) : heldOnly(view, needs);
    return { view, sending, needs, extension };
  });
  const kept = keptBy(works);
  const allSending = works.flatMap(({ sending }) => sending);
  const taken = new Set<string>();
  const byObject = works.map((work) => {
    const { view, extension } = work;
    const adding = extension.actions.map(({ id }) => id);
    const reductions = mayLetGo(view)
      ? (view.pool.status.firewalls ?? []).map((memory) => {
          const facts = firewalls.get(memory.provider);
          return shrinkFirewall(view, memory, {
            facts,
            kept,
            isCarriedOver: areLetIn(work, (machine) => extension.before.has(machine)),
            awaited: awaitedBy(works.filter((other) => other !== work)),
            sending: allSending,
            adding,
            stillPublished,
            taken,
            nowMs,
          });
        })
      : [];
    return [refKey(view.object), result(work, reductions, works, firewalls)] as const;
  });
  return { decisions: linkSending(decisions, works), byObject: new Map(byObject) };
}

/** An object that is not written shows what its firewall waits for, and plans nothing. */
function heldOnly(view: PoolView, needs: FirewallNeeds): Extension {
  const { holds } = extendFirewall(view, needs, new Map());
  return { actions: [], holds: view.pool.spec.suspend ? [] : holds, before: new Map(), refused: new Map() };
}

function isSending(action: Action): action is Sending {
  return action.kind === "assign-ip" || action.kind === "move-ip" || action.kind === "acquire-ip";
}

/** True when wherever an address of the object may be its present firewall lets everything in, or `isBrought` says so. */
function areLetIn({ view, needs }: FirewallWork, isBrought: (machine: string) => boolean): boolean {
  return [...needs.machines].every((machine) => isBrought(machine) || isLetIn(view.firewall, machine));
}

/** What is on record for objects that are not behind their present firewall yet, and what they want there: a former one may serve them. */
function awaitedBy(works: readonly FirewallWork[]): ReadonlySet<string> {
  const waiting = works.filter((work) => !areLetIn(work, () => false));
  return new Set(
    waiting.flatMap(({ view, needs }) =>
      (view.pool.status.firewalls ?? []).flatMap((memory) => [
        ...entriesOf(memory),
        ...entriesOf({ ...memory, ports: [...needs.ports], machineIDs: [...needs.machines] }),
      ]),
    ),
  );
}

/** What must stay at each firewall: what objects need, and everything on record for those that can let nothing go. */
function keptBy(
  works: readonly FirewallWork[],
): ReadonlyMap<string, { readonly ports: Set<string>; readonly machines: Set<string> }> {
  const kept = new Map<string, { readonly ports: Set<string>; readonly machines: Set<string> }>();
  const keep = (id: string, ports: Iterable<string>, machines: Iterable<string>): void => {
    const known = kept.get(id) ?? { ports: new Set(), machines: new Set() };
    for (const text of ports) known.ports.add(text);
    for (const machine of machines) known.machines.add(machine);
    kept.set(id, known);
  };
  for (const { view, needs } of works) {
    if (view.firewall.kind === "ready") keep(view.firewall.fact.firewall.id, needs.ports, needs.machines);
    if (!mayLetGo(view))
      for (const { id, ports, machineIDs } of view.pool.status.firewalls ?? []) keep(id, ports, machineIDs);
  }
  return kept;
}

function result(
  work: FirewallWork,
  reductions: readonly Reduction[],
  works: readonly FirewallWork[],
  facts: Observation["firewalls"],
): ObjectFirewalls {
  const { view, extension, needs } = work;
  const actions = [...extension.actions, ...reductions.flatMap((reduction) => reduction.actions)];
  const holds = [...extension.holds, ...reductions.flatMap((reduction) => reduction.holds)];
  const others = recordedBy(
    works.filter((other) => other !== work),
    facts,
  );
  // Also a suspended object takes over what it needs: the one that added it may go.
  const isKnown = view.validation.kind === "valid" && view.provider !== undefined;
  const memory = isKnown
    ? firewallMemory(view, { needs, extension, facts, others })
    : (view.pool.status.firewalls ?? []);
  const cleaning = isWritable(view) ? firewallCleaning(view, memory, reductions, works) : NOTHING_TO_CLEAN;
  return { actions, holds: [...holds, ...waitingForHeirs(view, cleaning, reductions)], memory, cleaning };
}

/** Ports and machines on record that are still there, or are just being added, by firewall id. */
function recordedBy(
  works: readonly FirewallWork[],
  facts: Observation["firewalls"],
): ReadonlyMap<string, ReadonlySet<string>> {
  const recorded = new Map<string, Set<string>>();
  const enter = (id: string, whats: readonly string[]): void => {
    const known = recorded.get(id) ?? new Set();
    for (const what of whats) known.add(what);
    recorded.set(id, known);
  };
  for (const { view, extension } of works) {
    for (const memory of view.pool.status.firewalls ?? []) {
      const { ports = [], machineIDs = [] } = stillThere(memory, facts.get(memory.provider)) ?? {};
      enter(memory.id, [...ports, ...machineIDs]);
    }
    for (const { firewall, after } of extension.actions) enter(firewall.id, after);
  }
  return recorded;
}
