import type { FirewallFacts, FirewallMemory } from "../../model/firewall.ts";
import { compareText } from "../../model/resource.ts";
import type { PoolView } from "../pool-view.ts";
import type { Extension } from "./extend-firewall.ts";
import { factByID } from "./fact-by-id.ts";
import type { FirewallNeeds } from "./firewall-needs.ts";
import { entryKey, storedMemory } from "./firewall-work.ts";
import { shownPorts } from "./shown-ports.ts";

/** What the memory of an object depends on, beside the object. */
export interface MemoryContext {
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
  const { provider } = pool.spec;
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

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted(compareText);
}
