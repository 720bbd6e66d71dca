import { acquisitionNote } from "../model/acquisition-memory.ts";
import { type AcquireIP, type Action, type ChangePorts, refKey } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import type { Address } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { type RecordsFact, recordsKey } from "../model/dns.ts";
import { type Firewall, portText, shownPorts } from "../model/firewall.ts";
import { IP_FAMILIES } from "../model/node-annotations.ts";
import type { Observation } from "../model/observation.ts";
import type { Applied, Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import {
  compareText,
  FINALIZER,
  type ObjectMeta,
  type Pool,
  type RecordSet,
  type RoutedIPStatus,
} from "../model/resource.ts";
import { timestamp } from "../model/time.ts";
import { factByID } from "../plan/firewalls/firewall-memory.ts";
import { fold } from "../plan/fold.ts";
import { recordedNames, withNames } from "../plan/names/plan-dns.ts";

/**
 * The world as a plan's actions leave it when all of them succeed at this very moment: what the providers and the nodes show, and what is on record. The outcomes go
 * through the same fold as real ones. Pure.
 *
 * @param newAddresses - id of an acquisition → the address it is imagined to bring
 * @param refused - what was tried beside them, and refused
 */
export function imagine(
  observation: Observation,
  plan: Pick<Plan, "pools" | "recordSets">,
  actions: readonly Action[],
  newAddresses: ReadonlyMap<string, string>,
  refused: readonly { readonly action: Action; readonly error: Error }[] = [],
): Observation {
  const { observedAtMs: nowMs } = observation;
  const context: Imagining = { observation, newAddresses, firewalls: new Map() };
  const outcomes = inOrder(actions).map((action): Outcome => {
    const facts = effectOf(action, context);
    return { action, ms: 0, outcome: "applied", acceptedAtMs: nowMs, ...facts };
  });
  const failures = refused.map(({ action, error }): Outcome => ({ action, ms: 0, outcome: "failed", error }));
  return fold(onRecord(observation, plan, outcomes), [...outcomes, ...failures], { nowMs, wallMs: nowMs });
}

/** Returns each action behind those it requires or follows: what is seen last of a thing counts. Pure. */
export function inOrder(actions: readonly Action[]): readonly Action[] {
  const byID = new Map(actions.map((action) => [action.id, action]));
  const ordered = new Set<Action>();
  const begun = new Set<string>();
  const enter = (action: Action): void => {
    if (begun.has(action.id)) return;
    begun.add(action.id);
    for (const id of [...action.requires, ...action.follows]) {
      const first = byID.get(id);
      if (first !== undefined) enter(first);
    }
    ordered.add(action);
  };
  for (const action of actions) enter(action);
  return [...ordered];
}

/** What the effects of actions are told from. `firewalls` is filled as they change, by id: several actions may be about one. */
interface Imagining {
  readonly observation: Observation;
  readonly newAddresses: ReadonlyMap<string, string>;
  readonly firewalls: Map<string, Firewall>;
}

type Facts = Partial<Applied>;
/** What an action leaves to be seen. */
function effectOf(action: Action, context: Imagining): Facts {
  switch (action.kind) {
    case "acquire-ip":
      return acquired(action, context);
    case "assign-ip":
    case "move-ip":
      return { address: { ...seen(action.provider, action.ip, context), holderID: action.after.machineID } };
    case "unassign-ip":
      return { address: seen(action.provider, action.ip, context) };
    case "delete-ip":
      return { learned: [{ ip: action.ip, fact: { kind: "gone" } }] };
    case "annotate-node":
    case "clear-annotation":
    case "add-finalizer":
    case "remove-finalizer":
      return {};
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return written(action, context);
    case "open-ports":
      return changed(action, context, (firewall) => opened(firewall, action));
    case "close-ports":
      return changed(action, context, (firewall) => closed(firewall, action));
    case "add-to-firewall":
      return changed(action, context, ({ machineIDs }) => ({
        machineIDs: [...new Set([...machineIDs, ...action.after])],
      }));
    case "remove-from-firewall":
      return changed(action, context, ({ machineIDs }) => ({
        machineIDs: machineIDs.filter((id) => !action.before.includes(id)),
      }));
  }
}

/** Rules of others for the same ports stay as they are, beside flipop's own. */
function opened(firewall: Firewall, { ports }: ChangePorts): Partial<Firewall> {
  const shown = shownPorts(firewall);
  const added = ports.filter((range) => !shown.has(portText(range)));
  return {
    rules: [...firewall.rules, ...added.map((range) => ({ ports: range, openTo: IP_FAMILIES, isPlain: true }))],
    ruleCount: firewall.ruleCount + added.length,
  };
}

function closed({ rules, ruleCount }: Firewall, { before }: ChangePorts): Partial<Firewall> {
  const left = rules.filter(({ ports, isPlain }) => !isPlain || !before.includes(portText(ports)));
  return { rules: left, ruleCount: ruleCount - rules.length + left.length };
}

function acquired({ id, provider, after }: AcquireIP, { observation, newAddresses }: Imagining): Facts {
  const ip = newAddresses.get(id);
  if (ip === undefined) return {};
  if (!("node" in after)) return { address: { ip, region: after.region, isLocked: false } };
  const node = observation.nodes.find(({ name }) => name === after.node.nodeName);
  const region = node === undefined ? "" : observation.registry.regionOf(provider, node);
  return { address: { ip, region, holderID: after.node.machineID, isLocked: false } };
}

/** The address as it is known, with its network, on no machine. */
function seen(provider: string, ip: string, { observation }: Imagining): Address {
  const fact = observation.providers.get(provider)?.addresses.get(ip);
  if (fact?.kind !== "known") return { ip, region: "", isLocked: false };
  const { region, network } = fact.address;
  return { ip, region, isLocked: false, ...(network === undefined ? {} : { network }) };
}

function written(
  { dnsProvider, zone, fqdn, after }: Extract<Action, { readonly fqdn: string }>,
  { observation }: Imagining,
): Facts {
  const before = observation.dns.get(dnsProvider)?.records.get(recordsKey(zone, fqdn));
  const isAutomatic = before?.kind === "known" && before.records.isTTLAutomatic;
  const { addresses, ttlSeconds } = after;
  const hasTTL = addresses.length > 0 && !isAutomatic;
  const records: RecordsFact = {
    kind: "known",
    records: {
      fqdn,
      addresses,
      ...(hasTTL ? { ttlSeconds } : {}),
      isTTLAutomatic: isAutomatic && addresses.length > 0,
      hasDuplicates: false,
    },
  };
  return { records };
}

type ChangeOfFirewall = Extract<Action, { readonly firewall: unknown }>;

function changed(
  { provider, firewall: { id }, awaited }: ChangeOfFirewall,
  { observation, firewalls }: Imagining,
  change: (firewall: Firewall) => Partial<Firewall>,
): Facts {
  const fact = factByID(observation.firewalls.get(provider), id);
  const before = firewalls.get(id) ?? (fact?.kind === "known" ? fact.firewall : undefined);
  if (before === undefined) return {};
  const { rules, machineIDs, ...firewall } = { ...before, ...change(before) };
  const after: Firewall = {
    ...firewall,
    rules: rules.toSorted((a, b) => compareText(portText(a.ports), portText(b.ports))),
    machineIDs: machineIDs.toSorted(compareText),
    failedMachineIDs: before.failedMachineIDs.filter((machine) => !awaited.includes(machine)),
  };
  firewalls.set(id, after);
  return { firewall: { provider, id, fact: { kind: "known", firewall: after } } };
}

/**
 * The observation with what the run itself puts on record: before an action is carried out what would be lost with the run, and what it bought as soon as it is
 * bought. Of each object only what the next round is planned from.
 */
function onRecord(
  observation: Observation,
  plan: Pick<Plan, "pools" | "recordSets">,
  outcomes: readonly Outcome[],
): Observation {
  const byObject = Map.groupBy(outcomes, ({ action }) => refKey(action.object));
  const pools = new Map(plan.pools.map(({ object, status }) => [refKey(object), status]));
  const recordSets = new Map(plan.recordSets.map(({ object, status }) => [refKey(object), status]));
  const ofPool = (pool: Pool): Pool => {
    const key = refKey({ kind: pool.kind, ...pool.meta });
    const planned = pools.get(key);
    const own = byObject.get(key);
    if (planned === undefined) return pool;
    return own === undefined
      ? withFirewalls(pool, planned)
      : poolOnRecord(pool, planned, own, observation.observedAtMs);
  };
  const ofRecordSet = (recordSet: RecordSet): RecordSet => {
    const key = refKey({ kind: "dns", ...recordSet.meta });
    const planned = recordSets.get(key);
    const own = byObject.get(key);
    if (planned === undefined || own === undefined) return recordSet;
    const names = recordedNames(actionsOf(own), planned, recordSet, observation.observedAtMs);
    const status = withNames(recordSet.status, names);
    return { ...recordSet, meta: withFinalizer(recordSet.meta, own), status };
  };
  return {
    ...observation,
    pools: observation.pools.map(ofPool),
    recordSets: observation.recordSets.map(ofRecordSet),
  };
}

/** The status of an object at rest is written while others are at work: another one may wait for what it has on record. */
function withFirewalls(pool: Pool, { firewalls }: RoutedIPStatus): Pool {
  const { firewalls: _former, ...status } = pool.status;
  return { ...pool, status: firewalls === undefined ? status : { ...status, firewalls } };
}

function poolOnRecord(pool: Pool, planned: RoutedIPStatus, own: readonly Outcome[], nowMs: number): Pool {
  const meta = withFinalizer(pool.meta, own);
  if (!own.some(needsRecord)) return { ...pool, meta };
  const { firewalls: _former, ...kept } = pool.status;
  const bought = own.flatMap(({ action, address }) =>
    action.kind === "acquire-ip" && address !== undefined
      ? [{ ip: address.ip, acquiredAt: timestamp(nowMs), provider: sourceNamed(action.provider).provider }]
      : [],
  );
  const status: RoutedIPStatus = {
    ...withNames(kept, recordedNames(actionsOf(own), planned, pool, nowMs)),
    ...(planned.firewalls === undefined ? {} : { firewalls: planned.firewalls }),
    acquired: [...planned.acquired, ...bought],
    pendingAcquisitions: planned.pendingAcquisitions,
  };
  return { ...pool, meta: { ...meta, note: acquisitionNote(status) }, status };
}

/** What an annotation alone shows to be the object's goes on record before the annotation goes. */
function needsRecord({ action: { kind } }: Outcome): boolean {
  return ACTIONS[kind].target === "provider" || kind === "clear-annotation";
}

function actionsOf(outcomes: readonly Outcome[]): readonly Action[] {
  return outcomes.map(({ action }) => action);
}

function withFinalizer(meta: ObjectMeta, own: readonly Outcome[]): ObjectMeta {
  const others = meta.finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const last = own.findLast(({ action: { kind } }) => kind === "add-finalizer" || kind === "remove-finalizer");
  if (last === undefined) return meta;
  return { ...meta, finalizers: last.action.kind === "add-finalizer" ? [...others, FINALIZER] : others };
}
