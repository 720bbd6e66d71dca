import type { Action, ObjectRef, Place, WriteDNS } from "../model/action.ts";
import { changesFirewall } from "../model/action-kinds.ts";
import type { AddressFact } from "../model/address.ts";
import type { IPFamily } from "../model/address-source.ts";
import { annotatedOn, marksOf } from "../model/annotated.ts";
import { canonicalZone, type RecordsFact, recordsKey } from "../model/dns.ts";
import { type Firewall, portText, shownPorts } from "../model/firewall.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { FactValue } from "../model/outcome.ts";
import { compareText, FINALIZER, managedIPs, type ObjectMeta, type Pool } from "../model/resource.ts";
import { factByID } from "../plan/firewalls/firewall-memory.ts";

// What a world shows of the things that actions are about, as texts that can be compared and written to a file.

/** Yes. */
export const YES = "yes";
/** Stands for what is not there. */
export const NONE = "none";
/** Stands for what cannot be read. */
export const UNREADABLE = "unreadable";

/** Stands for what nobody knows, and so for no fact. */
export const UNKNOWN = "unknown";

/** Returns yes or no. */
export function yesNo(isTrue: boolean): string {
  return isTrue ? YES : "no";
}

/** The metadata of an object; undefined where it is gone. */
export function metaOf(
  { pools, recordSets }: Observation,
  { kind, namespace, name }: ObjectRef,
): ObjectMeta | undefined {
  const all = kind === "dns" ? recordSets : pools.filter((pool) => pool.kind === kind);
  return all.find(({ meta }) => meta.namespace === namespace && meta.name === name)?.meta;
}

function poolOf({ pools }: Observation, { kind, namespace, name }: ObjectRef): Pool | undefined {
  return pools.find((pool) => pool.kind === kind && pool.meta.namespace === namespace && pool.meta.name === name);
}

/** The addresses that an object uses by its spec, or has acquired, sorted; without those that are left out. */
export function managedBy(world: Observation, object: ObjectRef, without?: ReadonlySet<string>): readonly string[] {
  const pool = poolOf(world, object);
  const all = pool === undefined ? [] : [...new Set(managedIPs(pool))];
  return all.filter((ip) => without?.has(ip) !== true).toSorted(compareText);
}

/** The addresses that were acquired for an object, in the order of its status. */
export function acquiredBy(world: Observation, object: ObjectRef): readonly string[] {
  return (poolOf(world, object)?.status.acquired ?? []).map(({ ip }) => ip);
}

/** Where an address is: `machine 1001`, `none` for no machine, `gone` where the account lacks it, `unreadable`; of one that no provider shows `unknown`. */
export function holderOf(world: Observation, ip: string, provider?: string): string {
  const names = provider === undefined ? [...world.providers.keys()] : [provider];
  const facts = names.flatMap((name) => addressFact(world, name, ip) ?? []);
  const fact = facts.find(({ kind }) => kind === "known") ?? facts[0];
  if (fact === undefined) return provider === undefined ? UNKNOWN : UNREADABLE;
  if (fact.kind === "gone") return provider === undefined ? UNKNOWN : "gone";
  if (fact.kind === "gap") return UNREADABLE;
  return fact.address.holderID === undefined ? NONE : machineText(fact.address.holderID);
}

/** Returns what a provider shows of an address; `gone` also where the whole list of the account lacks it. */
export function addressFact({ providers }: Observation, provider: string, ip: string): AddressFact | undefined {
  const facts = providers.get(provider);
  if (facts === undefined || facts.unusable !== undefined) return undefined;
  return facts.addresses.get(ip) ?? (facts.isComplete ? { kind: "gone" } : undefined);
}

/** Returns how a machine stands in facts. */
export function machineText(machineID: string): string {
  return `machine ${machineID}`;
}

/** The node of a machine as {@link machineText} writes it, else that text. */
export function machineName({ nodes, registry, providers }: Observation, machine: string): string {
  const isIt = ({ providerID }: NodeFacts): boolean =>
    [...providers.keys()].some((name) => machineText(registry.machineID(name, providerID) ?? "") === machine);
  return nodes.find(isIt)?.name ?? machine;
}

/** The addresses that a machine carries at a provider, sorted. */
export function carriedBy({ providers }: Observation, provider: string, { machineID }: Place): readonly string[] {
  const facts = [...(providers.get(provider)?.addresses.values() ?? [])];
  return facts
    .flatMap((fact) => (fact.kind === "known" && fact.address.holderID === machineID ? [fact.address.ip] : []))
    .toSorted(compareText);
}

/** The node of that name; undefined where it is gone. */
export function nodeOf({ nodes }: Observation, name: string): NodeFacts | undefined {
  return nodes.find((node) => node.name === name);
}

/** Names of the nodes that have an address, by their own addresses or by their annotation; sorted. */
export function nodesWith({ nodes }: Observation, ip: string): readonly string[] {
  const having = nodes.filter(
    (node) =>
      annotatedOn(node).some((shown) => shown.ip === ip) || node.addresses.some(({ address }) => address === ip),
  );
  return having.map(({ name }) => name).toSorted(compareText);
}

/** What the annotations of a node say of a family: the address, the object, and what is for its host; `none` where the node is gone. */
export function annotationOf(node: NodeFacts | undefined, family: IPFamily): FactValue {
  if (node === undefined) return NONE;
  const { addressAnnotation, poolAnnotation, hostAnnotation } = marksOf(node, family);
  return [addressAnnotation, poolAnnotation, hostAnnotation].flatMap((text) => text ?? []);
}

/** What is known of the records that an action changes. */
function recordsFact({ dns }: Observation, { dnsProvider, zone, fqdn }: WriteDNS): RecordsFact | undefined {
  return dns.get(dnsProvider)?.records.get(recordsKey(zone, fqdn));
}

/** The addresses of the records that an action changes, then their TTL. */
export function recordsOf(world: Observation, action: WriteDNS): FactValue {
  const fact = recordsFact(world, action);
  if (fact?.kind !== "known") return UNREADABLE;
  const { addresses, ttlSeconds } = fact.records;
  return ttlSeconds === undefined ? addresses : [...addresses, `TTL ${ttlSeconds} s`];
}

/** The zone of the name that an action changes, by the provider's id. */
export function zoneOf({ dns }: Observation, { dnsProvider, zoneText }: WriteDNS): string {
  const fact = dns.get(dnsProvider)?.zones.get(canonicalZone(zoneText));
  return fact?.kind === "known" ? fact.zone.id : NONE;
}

/** An action at a firewall. */
export type AtFirewall = Extract<Action, { readonly firewall: unknown }>;

/** The firewall that an action changes; undefined where it is gone, or cannot be read. */
export function firewallOf({ firewalls }: Observation, action: AtFirewall): Firewall | undefined {
  const fact = factByID(firewalls.get(action.provider), action.firewall.id);
  return fact?.kind === "known" ? fact.firewall : undefined;
}

/** True when the world shows what an action was to bring. Of an acquisition nobody can tell by this alone. Pure. */
export function isDone(action: Action, world: Observation): boolean {
  switch (action.kind) {
    case "acquire-ip":
      return false;
    case "assign-ip":
    case "move-ip":
      return holderOf(world, action.ip, action.provider) === machineText(action.after.machineID);
    case "unassign-ip":
      return [NONE, "gone"].includes(holderOf(world, action.ip, action.provider));
    case "delete-ip":
      return holderOf(world, action.ip, action.provider) === "gone";
    case "annotate-node":
    case "clear-annotation": {
      const { address = "", pool = "", host } = action.after;
      const node = nodeOf(world, action.nodeName);
      const {
        addressAnnotation = "",
        poolAnnotation = "",
        hostAnnotation = "",
      } = node === undefined ? {} : marksOf(node, action.ipFamily ?? "IPv4");
      const isSaid = addressAnnotation === address && poolAnnotation === pool;
      const isHostSaid = host === undefined || hostAnnotation === host;
      return isSaid && isHostSaid && (node !== undefined || action.kind === "clear-annotation");
    }
    case "update-dns":
    case "withdraw-dns":
    case "delete-dns":
      return hasRecords(action, recordsFact(world, action));
    case "open-ports":
    case "close-ports":
    case "add-to-firewall":
    case "remove-from-firewall":
      return isChanged(action, firewallOf(world, action));
    case "add-finalizer":
      return metaOf(world, action.object)?.finalizers.includes(FINALIZER) === true;
    case "remove-finalizer":
      return metaOf(world, action.object)?.finalizers.includes(FINALIZER) !== true;
  }
}

function hasRecords({ after }: WriteDNS, fact: RecordsFact | undefined): boolean {
  if (fact?.kind !== "known") return false;
  const { addresses, ttlSeconds, isTTLAutomatic, hasDuplicates } = fact.records;
  if (hasDuplicates || addresses.join() !== after.addresses.toSorted(compareText).join()) return false;
  return addresses.length === 0 || isTTLAutomatic || ttlSeconds === after.ttlSeconds;
}

function isChanged(action: AtFirewall, firewall: Firewall | undefined): boolean {
  if (firewall === undefined || !changesFirewall(action)) return false;
  const open = shownPorts(firewall);
  switch (action.kind) {
    case "open-ports":
      return action.ports.every((ports) => open.has(portText(ports)));
    case "close-ports":
      return action.ports.every((ports) => !open.has(portText(ports)));
    case "add-to-firewall":
      return action.machines.every(({ machineID }) => firewall.machineIDs.includes(machineID));
    case "remove-from-firewall":
      return action.machines.every(({ machineID }) => !firewall.machineIDs.includes(machineID));
  }
}
