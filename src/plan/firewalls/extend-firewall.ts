import { actionID, type ChangeMachines, type ChangePorts } from "../../model/action.ts";
import { sourceNamed } from "../../model/address-source.ts";
import { portText } from "../../model/firewall.ts";
import type { Hold, Obstacle } from "../../model/plan.ts";
import { compareText } from "../../model/resource.ts";
import { firewallObstacles, type PoolView } from "../pool-view.ts";
import {
  type BlockedFirewall,
  type FirewallNeeds,
  isBehind,
  isUncovered,
  joiningObstacle,
  machinesFull,
  needsPorts,
  otherMachines,
  type ReadyTarget,
  rulesFull,
  unfinishedAt,
} from "./firewall-target.ts";
import type { Planned, PlannedAt } from "./plan-firewalls.ts";

/** What is added to a firewall for one object. */
export interface Extension {
  readonly actions: readonly (ChangePorts | ChangeMachines)[];
  readonly holds: readonly Hold[];
  /** Machine → what comes before an address goes there. */
  readonly before: ReadonlyMap<string, Before>;
  /** Machines that cannot be put behind the firewall, with the reason. */
  readonly refused: ReadonlyMap<string, BlockedFirewall>;
}

/** Ids of what something waits for: `requires` must have succeeded, `follows` ended. */
export interface Wait {
  readonly requires: readonly string[];
  readonly follows: readonly string[];
}

/** What comes before an address goes to a machine. It only follows ports that its object served without. */
export interface Before extends Wait {
  /** True where clients are let in by every port once all of that has succeeded. */
  readonly letsIn: boolean;
}

const NOTHING: Extension = { actions: [], holds: [], before: new Map(), refused: new Map() };

/** Plans the ports that are still closed, then the machines that are not behind the firewall yet. What an earlier object brings is waited for, not brought twice. Enters its own in `planned`. */
export function extendFirewall(view: PoolView, needs: FirewallNeeds, planned: Planned): Extension {
  const { firewall: target, pool } = view;
  if (target.kind === "none" || pool.meta.isDeleting || view.validation.kind === "blocked") return NOTHING;
  const unusable = (pool.firewall?.unusable ?? []).map((port) =>
    held(view, { reason: "UnusablePort", detail: port, needsPerson: true }),
  );
  if (target.kind === "blocked") return { ...NOTHING, holds: [held(view, target), ...unusable] };
  if (target.withheld !== undefined) unusable.push(held(view, target.withheld));
  const { uncovered = [], outside = [] } = Object.groupBy(
    [...needs.wanted].filter((machine) => !isBehind(target.fact, machine)).toSorted(compareText),
    (machine) => (isUncovered(target, machine) ? "uncovered" : "outside"),
  );
  const refusal = needs.wanted.size === 0 ? refusalOfAll(view) : undefined;
  if (refusal !== undefined) return { ...NOTHING, holds: [held(view, refusal), ...unusable] };
  const open = uncovered.map((machine) => held(view, withoutFirewall(view, machine)));
  const holds = [...unfinished(view, needs), ...open, ...unusable];
  const isInStep = needs.wanted.size === 0 || (target.missing.length === 0 && outside.length === 0);
  if (isInStep) return { ...NOTHING, holds };
  holds.unshift(...waiting(view, target, outside));
  return add(view, target, { outside, wanted: needs.wanted }, planned, holds);
}

/** What the ports that are closed and the machines that are outside wait for; told once where it is the same. */
function waiting(view: PoolView, target: ReadyTarget, outside: readonly string[]): readonly Hold[] {
  const { portsWait, machinesWait, missing } = target;
  const waits = new Set([...(missing.length > 0 ? [portsWait] : []), ...(outside.length > 0 ? [machinesWait] : [])]);
  return [...waits].flatMap((why) => (why === undefined ? [] : [held(view, why)]));
}

/** Why no match can take the address, where that is for the firewall's sake alone; undefined when one can, or there is none. What ends by itself comes before what needs a person. */
function refusalOfAll(view: PoolView): Obstacle | undefined {
  const refusals = firewallObstacles(view);
  if (refusals.includes(undefined)) return undefined;
  return refusals.find((refusal) => refusal?.needsPerson === false) ?? refusals[0];
}

/** What the provider has not carried out at the machines that have an address of the object, or get one. */
function unfinished(view: PoolView, { wanted }: FirewallNeeds): readonly Hold[] {
  const all = [...wanted]
    .toSorted(compareText)
    .flatMap((machine) => unfinishedAt(view.firewall, view.placeOf(machine)) ?? []);
  return [...new Map(all.map((why) => [why.detail, held(view, why)])).values()];
}

function add(
  view: PoolView,
  target: ReadyTarget,
  { outside, wanted }: { readonly outside: readonly string[]; readonly wanted: ReadonlySet<string> },
  planned: Planned,
  holds: readonly Hold[],
): Extension {
  if (target.portsWait !== undefined && needsPorts(target)) return { ...NOTHING, holds };
  const at = planned.at(target.fact.firewall.id);
  const full = target.portsWait === undefined ? rulesShort(target, at) : undefined;
  const told = [...(full === undefined ? [] : [held(view, full)]), ...holds];
  if (full !== undefined && needsPorts(target)) {
    const refused = new Map([...wanted].map((machine) => [machine, full] as const));
    return { ...NOTHING, holds: told, refused };
  }
  const opening = (target.portsWait ?? full) === undefined ? openPorts(view, target, at) : [];
  const opened = [...new Set(target.missing.flatMap((ports) => at.ports.get(portText(ports)) ?? []))];
  const afterPorts: Wait = needsPorts(target) ? { requires: opened, follows: [] } : { requires: [], follows: opened };
  const joining = target.machinesWait === undefined ? outside : [];
  const refused = new Map(
    joining.flatMap((machine) => {
      if (at.machines.has(machine)) return [];
      const why = isFullWith(target, at)
        ? machinesFull(target)
        : joiningObstacle(target.fact.firewall, target.limits, view.placeOf(machine));
      return why === undefined ? [] : [[machine, why] as const];
    }),
  );
  const adding = addMachines(
    view,
    target,
    joining.filter((machine) => !refused.has(machine)),
    afterPorts,
    at,
  );
  const areAllOpened = target.missing.every((ports) => at.ports.has(portText(ports)));
  const before = [...wanted].map((machine): [string, Before] => {
    const added = at.machines.get(machine);
    const requires = added === undefined ? afterPorts.requires : [...afterPorts.requires, added];
    const letsIn = areAllOpened && (added !== undefined || isBehind(target.fact, machine));
    return [machine, { ...afterPorts, requires, letsIn }];
  });
  const outsiders = [...refused.values()].map((why) => held(view, why));
  return { actions: [...opening, ...adding], holds: [...outsiders, ...told], before: new Map(before), refused };
}

/** Why the ports that are missing have no room beside those that are planned for others; undefined when they have. */
function rulesShort(
  { fact, missing, limits }: ReadyTarget,
  { ports: planned }: PlannedAt,
): BlockedFirewall | undefined {
  const own = missing.filter((ports) => !planned.has(portText(ports)));
  const sum = fact.firewall.ruleCount + planned.size;
  return own.length > 0 && sum + own.length > limits.rules ? rulesFull(sum, own.length, limits) : undefined;
}

function isFullWith({ fact, limits }: ReadyTarget, { machines }: PlannedAt): boolean {
  return fact.firewall.machineIDs.length + machines.size >= limits.machines;
}

function openPorts(
  view: PoolView,
  { fact, missing }: ReadyTarget,
  { ports: planned }: PlannedAt,
): readonly ChangePorts[] {
  const { id, name } = fact.firewall;
  const own = missing.filter((ports) => !planned.has(portText(ports)));
  if (own.length === 0) return [];
  const action: ChangePorts = {
    kind: "open-ports",
    id: actionID("open-ports", view.object, name),
    object: view.object,
    reason: "PortsClosed",
    requires: [],
    follows: [],
    provider: sourceNamed(view.pool.spec.provider).provider,
    firewall: { id, name },
    ports: own,
    before: [],
    after: own.map(portText),
    awaited: [],
    ...otherMachines(fact, view.placeOf),
  };
  for (const ports of own) planned.set(portText(ports), action.id);
  return [action];
}

function addMachines(
  view: PoolView,
  { fact }: ReadyTarget,
  outside: readonly string[],
  afterPorts: Wait,
  { machines: planned }: PlannedAt,
): readonly ChangeMachines[] {
  const { id, name } = fact.firewall;
  const own = outside.filter((machine) => !planned.has(machine));
  if (own.length === 0) return [];
  const action: ChangeMachines = {
    kind: "add-to-firewall",
    id: actionID("add-to-firewall", view.object, name),
    object: view.object,
    reason: "NodeOutsideFirewall",
    ...afterPorts,
    provider: sourceNamed(view.pool.spec.provider).provider,
    firewall: { id, name },
    machines: own.map((machine) => view.placeOf(machine)),
    before: [],
    after: own,
    awaited: [],
  };
  for (const machine of own) planned.set(machine, action.id);
  return [action];
}

/** Says that a machine is not put behind the firewall, as it is behind none. */
function withoutFirewall(view: PoolView, machine: string): Obstacle {
  const { nodeName } = view.placeOf(machine);
  return { reason: "NodeWithoutFirewall", detail: nodeName ?? `machine ${machine}`, needsPerson: true };
}

function held(view: PoolView, why: Obstacle): Hold {
  const { reason, detail, needsPerson, notBeforeMs, advice } = why;
  const { firewall: target, pool } = view;
  const name = target.kind === "ready" ? target.fact.firewall.name : (pool.firewall?.firewall ?? "");
  const subject = `firewall ${name}`;
  const hold: Hold = { kind: "open-ports", object: view.object, subject, reason, detail, needsPerson };
  return {
    ...hold,
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
    ...(advice === undefined ? {} : { advice }),
  };
}
