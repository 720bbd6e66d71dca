import type { Action, ChangeMachines, ChangePorts } from "../../model/action.ts";
import { sourceNamed } from "../../model/address-source.ts";
import { type FirewallFact, type FirewallFacts, type FirewallMemory, shownPorts } from "../../model/firewall.ts";
import { compareText } from "../../model/resource.ts";
import type { PoolView } from "../pool-view.ts";
import type { Extension } from "./extend-firewall.ts";
import type { FirewallNeeds, Sending } from "./firewall-target.ts";

/** What the memory of an object depends on, beside the object. */
interface MemoryContext {
  readonly needs: FirewallNeeds;
  readonly extension: Extension;
  readonly facts: ReadonlyMap<string, FirewallFacts>;
  /** True for a port or a machine, as `entryKey`, that another object has on record. */
  readonly isShared: (entry: string) => boolean;
}

/**
 * What an object has on record at firewalls: what was added for it and is still there, what is just being added, and what it needs of what was added for
 * others, so that the last one that needs it takes it away. Sorted by provider and id; no empty entries. Pure.
 */
export function firewallMemory(view: PoolView, context: MemoryContext): readonly FirewallMemory[] {
  const present = presentMemory(view, context);
  const stored = storedMemory(view)
    .filter(({ id }) => id !== present?.id)
    .flatMap((memory) => stillThere(memory, context.facts.get(memory.provider)) ?? []);
  return [...stored, ...(present === undefined ? [] : [present])]
    .filter(({ ports, machineIDs }) => ports.length > 0 || machineIDs.length > 0)
    .toSorted((a, b) => compareText(a.provider, b.provider) || compareText(a.id, b.id));
}

function presentMemory(view: PoolView, context: MemoryContext): FirewallMemory | undefined {
  const { firewall: target, pool } = view;
  if (target.kind !== "ready") return undefined;
  const { id, name } = target.fact.firewall;
  const { provider } = sourceNamed(pool.spec.provider);
  const stored = storedMemory(view).find((memory) => memory.provider === provider && memory.id === id);
  const known = stillThere(stored ?? { provider, id, name, ports: [], machineIDs: [] }, context.facts.get(provider));
  const added = context.extension.actions;
  const opening = added.flatMap((action) => (action.kind === "open-ports" ? action.after : []));
  const adding = added.flatMap((action) => (action.kind === "add-to-firewall" ? action.after : []));
  const isShared = (what: string): boolean => context.isShared(entryKey(id, what));
  const { ports, machines, coming } = context.needs;
  return {
    provider,
    id,
    name,
    ports: sorted([...(known?.ports ?? []), ...opening, ...[...ports].filter(isShared)]),
    machineIDs: sorted([...(known?.machineIDs ?? []), ...adding, ...[...machines, ...coming].filter(isShared)]),
  };
}

/** The part of a memory that the firewall shows; all of it where the firewall could not be read; undefined when it is gone. Pure. */
export function stillThere(memory: FirewallMemory, facts: FirewallFacts | undefined): FirewallMemory | undefined {
  const known = factByID(facts, memory.id);
  if (known === undefined || known.kind === "gap") return memory;
  if (known.kind !== "known") return undefined;
  const { machineIDs } = known.firewall;
  const shown = shownPorts(known.firewall);
  return {
    ...memory,
    ports: memory.ports.filter((text) => shown.has(text)),
    machineIDs: memory.machineIDs.filter((id) => machineIDs.includes(id)),
  };
}

/**
 * Leaves out what is not added after all, since a guard took its addition from the plan. It is not there. If somebody else put it there later, it would count as flipop's.
 * Pure.
 * @param undone - ports and machines, as {@link entryKey}
 */
export function withoutUndone(
  memory: readonly FirewallMemory[],
  undone: ReadonlySet<string>,
): readonly FirewallMemory[] {
  if (undone.size === 0) return memory;
  return memory
    .map((one) => {
      const isDone = (what: string): boolean => !undone.has(entryKey(one.id, what));
      return { ...one, ports: one.ports.filter(isDone), machineIDs: one.machineIDs.filter(isDone) };
    })
    .filter(({ ports, machineIDs }) => ports.length > 0 || machineIDs.length > 0);
}

/** The ports and machines, as {@link entryKey}, that objects were to have added, and that no action of the plan brings any more. Pure. */
export function undoneAdditions(
  objects: readonly { readonly actions: readonly (ChangePorts | ChangeMachines)[] }[],
  plan: readonly Action[],
): ReadonlySet<string> {
  const planned = new Set(plan.map(({ id }) => id));
  const undone = objects.flatMap((one) => one.actions.filter((change) => !planned.has(change.id)));
  return new Set(undone.flatMap(({ firewall, after }) => after.map((what) => entryKey(firewall.id, what))));
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted(compareText);
}

/** One object while the firewalls of all are planned: what sends its addresses, what it needs, and what is added for it. */
export interface FirewallWork {
  readonly view: PoolView;
  readonly sending: readonly Sending[];
  readonly needs: FirewallNeeds;
  readonly extension: Extension;
}

/** A port or a machine of one firewall, as a key. */
export function entryKey(firewallID: string, what: string): string {
  return `${firewallID} ${what}`;
}

/** Each port and machine of a memory, as {@link entryKey}. Pure. */
export function entriesOf({ id, ports, machineIDs }: FirewallMemory): readonly string[] {
  return [...ports, ...machineIDs].map((what) => entryKey(id, what));
}

/** What an object has on record at firewalls. Pure. */
export function storedMemory({ pool }: PoolView): readonly FirewallMemory[] {
  return pool.status.firewalls ?? [];
}

/** What is known of the firewall with that id, under whatever name it was asked for; undefined when it was not read. Pure. */
export function factByID(facts: FirewallFacts | undefined, id: string): FirewallFact | undefined {
  if (facts === undefined || facts.unusable !== undefined) return undefined;
  const named = [...facts.firewalls.values()].find((fact) => fact.kind === "known" && fact.firewall.id === id);
  return named ?? facts.firewalls.get(id);
}
