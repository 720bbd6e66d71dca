import type { Address } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { ConfigError } from "../model/errors.ts";
import type { FirewallFact } from "../model/firewall.ts";
import { nearest } from "../model/nearest.ts";
import { CORDON_KEY, type NodeFacts } from "../model/node.ts";
import type { KnownFacts, Observation, PodReading, PodSummary, ProviderFacts } from "../model/observation.ts";
import { compareText } from "../model/resource.ts";
import { CONDITION_TAINTS } from "../plan/nodes/match.ts";
import type { AddressPlace, FactEdit } from "./edit.ts";

/** What a node has while it is cordoned. */
const CORDON = { key: CORDON_KEY, value: "", effect: "NoSchedule" } as const;

/**
 * Returns the world as it would be with every edit made, one after the other. A node that is gone leaves its machine destroyed: addresses are attached to nothing then,
 * and firewalls have it no longer. Pure.
 *
 * @throws ConfigError `invalid` for a node, address or provider that nothing is known of, with the nearest one
 */
export function editWorld(observation: Observation, edits: readonly FactEdit[]): Observation {
  return edits.reduce((world, edit) => {
    try {
      return editOnce(world, edit);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(error.kind, `${error.message} ('${edit.text}')`, { cause: error });
    }
  }, observation);
}

function editOnce(world: Observation, edit: FactEdit): Observation {
  switch (edit.kind) {
    case "node-state":
      return withNodeState(world, edit);
    case "add-taint":
      return withNode(world, edit.node, (node) => {
        const { key, effect } = edit.taint;
        return {
          ...untainted(node, key, effect),
          taints: [...untainted(node, key, effect).taints, taintNow(edit, world)],
        };
      });
    case "remove-taint":
      return withNode(world, edit.node, (node) => untainted(node, edit.key, edit.effect));
    case "label":
      return withNode(world, edit.node, (node) => {
        const { [edit.key]: _former, ...labels } = node.labels;
        return { ...node, labels: edit.value === undefined ? labels : { ...labels, [edit.key]: edit.value } };
      });
    case "pods":
      return withPods(world, nodeNamed(world, edit.node).name, (pods) => podsAs(edit.state, pods, world.observedAtMs));
    case "new-node":
      return withNewNode(world, edit);
    case "address":
      return withAddress(world, edit.ip, edit.place);
    case "provider-down":
      return withProviderDown(world, edit.provider);
    case "quota":
      return withProvider(world, edit.provider, (facts) => ({ ...facts, addressLimit: edit.limit }));
    case "time":
      return later(world, edit.ms);
  }
}

function taintNow(
  { taint }: Extract<FactEdit, { kind: "add-taint" }>,
  { observedAtMs }: Observation,
): NodeFacts["taints"][number] {
  return taint.effect === "NoExecute" ? { ...taint, timeAddedMs: observedAtMs } : taint;
}

function withNodeState(
  world: Observation,
  { node: name, state }: Extract<FactEdit, { kind: "node-state" }>,
): Observation {
  switch (state) {
    case "Gone":
      return withoutNode(world, nodeNamed(world, name));
    case "NotReady":
      return withNode(world, name, (node) =>
        node.ready.isReady ? { ...node, ready: { isReady: false, sinceMs: world.observedAtMs } } : node,
      );
    case "Ready":
      return withNode(world, name, (node) => ({
        ...node,
        ready: node.ready.isReady ? node.ready : { isReady: true, sinceMs: world.observedAtMs },
        taints: node.taints.filter(({ key }) => !CONDITION_TAINTS.has(key)),
      }));
    case "Cordoned":
      return withNode(world, name, (node) => ({
        ...node,
        taints: [...untainted(node, CORDON.key, CORDON.effect).taints, CORDON],
      }));
    case "Uncordoned":
      return withNode(world, name, (node) => untainted(node, CORDON.key, CORDON.effect));
  }
}

function untainted(node: NodeFacts, key: string, effect?: string): NodeFacts {
  const isMeant = (taint: NodeFacts["taints"][number]): boolean =>
    taint.key === key && (effect === undefined || taint.effect === effect);
  return { ...node, taints: node.taints.filter((taint) => !isMeant(taint)) };
}

function withNode(world: Observation, name: string, change: (node: NodeFacts) => NodeFacts): Observation {
  const found = nodeNamed(world, name);
  return { ...world, nodes: world.nodes.map((node) => (node === found ? change(node) : node)) };
}

function nodeNamed({ nodes }: Observation, name: string): NodeFacts {
  const found = nodes.find((node) => node.name === name);
  if (found !== undefined) return found;
  throw missing(
    `There is no node named ${name}.`,
    name,
    nodes.map((node) => node.name),
  );
}

function missing(what: string, name: string, names: readonly string[]): ConfigError {
  const near = nearest(name, names);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  return new ConfigError("invalid", `${what}${hint}`);
}

function withoutNode(world: Observation, gone: NodeFacts): Observation {
  const isMachine = (provider: string, id: string): boolean =>
    world.registry.machineID(provider, gone.providerID) === id;
  const providers = mapped(world.providers, (facts) => ({
    ...facts,
    addresses: mapped(facts.addresses, (fact) => {
      if (fact.kind !== "known" || !isMachine(facts.name, fact.address.holderID ?? "")) return fact;
      return { ...fact, address: unattached(fact.address) };
    }),
  }));
  const firewalls = mapped(world.firewalls, (facts) => ({
    ...facts,
    firewalls: mapped(facts.firewalls, (fact) => withoutMachine(fact, (id) => isMachine(facts.name, id))),
  }));
  const nodes = world.nodes.filter((node) => node !== gone);
  return { ...withPods(world, gone.name, () => undefined), nodes, providers, firewalls };
}

function withoutMachine(fact: FirewallFact, isMachine: (id: string) => boolean): FirewallFact {
  if (fact.kind !== "known") return fact;
  const left = (ids: readonly string[]): readonly string[] => ids.filter((id) => !isMachine(id));
  const { machineIDs, pendingMachineIDs, failedMachineIDs } = fact.firewall;
  return {
    ...fact,
    taggedMachineIDs: new Set(left([...fact.taggedMachineIDs])),
    firewall: {
      ...fact.firewall,
      machineIDs: left(machineIDs),
      pendingMachineIDs: left(pendingMachineIDs),
      failedMachineIDs: left(failedMachineIDs),
    },
  };
}

function unattached({ holderID: _former, ...address }: Address): Address {
  return address;
}

/** Changes what every selector finds on a node; undefined = no pod. */
function withPods(
  world: Observation,
  nodeName: string,
  change: (pods: PodSummary | undefined) => PodSummary | undefined,
): Observation {
  const pods = mapped(world.pods, (reading): PodReading => {
    if (reading.kind !== "read") return reading;
    const byNode = new Map(reading.byNode);
    const changed = change(byNode.get(nodeName));
    if (changed === undefined) byNode.delete(nodeName);
    else byNode.set(nodeName, changed);
    return { ...reading, byNode };
  });
  return { ...world, pods };
}

function podsAs(
  state: Extract<FactEdit, { kind: "pods" }>["state"],
  pods: PodSummary | undefined,
  nowMs: number,
): PodSummary | undefined {
  const count = Math.max(1, (pods?.ready ?? 0) + (pods?.notReady ?? 0));
  switch (state) {
    case "Ready":
      return { ready: count, notReady: 0 };
    case "NotReady":
      return { ready: 0, notReady: count, unreadySinceMs: pods?.ready === 0 ? (pods.unreadySinceMs ?? nowMs) : nowMs };
    case "None":
      return undefined;
  }
}

/** The addresses of nodes that are not there yet: nobody can have one of them, RFC 1112 section 4. */
const NEW_NODE_RANGE = /^240\.2[45]\d\./;

/** Returns what stands in texts for the addresses of nodes that are not there yet: `(of worker-9)`. Pure. */
export function standInsOf({ nodes }: Pick<Observation, "nodes">): ReadonlyMap<string, string> {
  return new Map(
    nodes.flatMap(({ name, addresses }) =>
      addresses.flatMap(({ address }) => (NEW_NODE_RANGE.test(address) ? [[address, `(of ${name})`] as const] : [])),
    ),
  );
}

/**
 * Returns the world with one more node, like another one: fresh, ready and with a ready pod where that has one. Its machine and its addresses are nobody's. Pure.
 *
 * @param from - the world in which the other node is looked for
 * @throws ConfigError `invalid` where there is none, and for a name that is taken
 */
export function withNewNode(
  world: Observation,
  { node: name, like }: Pick<Extract<FactEdit, { kind: "new-node" }>, "node" | "like">,
  from: Observation = world,
): Observation {
  const model = nodeNamed(from, like);
  if (world.nodes.some((node) => node.name === name))
    throw new ConfigError("invalid", `There is a node named ${name} already.`);
  const number = unusedNumber(world);
  const { addressAnnotation: _address, poolAnnotation: _pool, hostAnnotation: _host, ipv6: _ipv6, ...copy } = model;
  const fresh: NodeFacts = {
    ...copy,
    name,
    resourceVersion: "",
    providerID: freshProviderID(world, model),
    labels:
      "kubernetes.io/hostname" in model.labels ? { ...model.labels, "kubernetes.io/hostname": name } : model.labels,
    taints: model.taints.filter(({ key }) => key !== CORDON.key && !CONDITION_TAINTS.has(key)),
    ready: { isReady: true, sinceMs: world.observedAtMs },
    isDeleting: false,
    addresses: model.addresses.map(({ type }, index) => ({ type, address: newNodeAddress(number, index) })),
  };
  const ready = (pods: PodSummary | undefined): PodSummary =>
    podsAs("Ready", pods, world.observedAtMs) ?? { ready: 1, notReady: 0 };
  const pods = new Map(
    [...world.pods].map(([key, reading]): [string, PodReading] => {
      const known = from.pods.get(key);
      const own = known?.kind === "read" ? known.byNode.get(like) : undefined;
      if (reading.kind !== "read" || own === undefined) return [key, reading];
      return [key, { ...reading, byNode: new Map([...reading.byNode, [name, ready(own)]]) }];
    }),
  );
  const nodes = [...world.nodes, fresh].toSorted((a, b) => compareText(a.name, b.name));
  return { ...world, nodes, pods };
}

function newNodeAddress(number: number, index: number): string {
  return `240.${240 + index}.${(number >>> 8) & 255}.${number & 255}`;
}

/** The number of a new node: that of no node there is, and of no node that a name still shows. */
function unusedNumber({ nodes, dns }: Observation): number {
  const shown = [...dns.values()].flatMap(({ records }) =>
    [...records.values()].flatMap((fact) =>
      fact.kind === "known" ? [...fact.records.addresses, ...(fact.removed ?? [])] : [],
    ),
  );
  const used = new Set([...nodes.flatMap(({ addresses }) => addresses.map(({ address }) => address)), ...shown]);
  let number = 1;
  while (used.has(newNodeAddress(number, 0)) || used.has(newNodeAddress(number, 1))) number += 1;
  return number;
}

/** The id of a machine that nothing in the world has. */
function freshProviderID({ nodes, providers }: Observation, { providerID }: NodeFacts): string {
  const prefix = providerID.replace(/\d+$/, "");
  if (prefix === providerID) return "";
  const holders = [...providers.values()].flatMap(({ addresses }) =>
    [...addresses.values()].flatMap((fact) => (fact.kind === "known" ? (fact.address.holderID ?? []) : [])),
  );
  const seen = new Set([...nodes.map((node) => node.providerID), ...holders.map((id) => `${prefix}${id}`)]);
  let number = 1;
  while (seen.has(`${prefix}${number}`)) number += 1;
  return `${prefix}${number}`;
}

function withAddress(world: Observation, ip: string, place: AddressPlace): Observation {
  const known = [...world.providers.values()].filter(({ addresses }) => addresses.has(ip));
  if (known.length === 0) {
    const all = [...world.providers.values()].flatMap(({ addresses }) => [...addresses.keys()]);
    throw missing(`No object names the address ${ip}, and the account does not show it.`, ip, all);
  }
  const changed = new Set(known.map(({ name }) => name));
  const providers = mapped(world.providers, (facts) =>
    changed.has(facts.name) ? { ...facts, addresses: placed(world, facts, ip, place) } : facts,
  );
  return { ...world, providers };
}

function placed(world: Observation, facts: ProviderFacts, ip: string, place: AddressPlace): ProviderFacts["addresses"] {
  if (place.kind === "gone") return new Map([...facts.addresses, [ip, { kind: "gone" }]]);
  const fact = facts.addresses.get(ip);
  const before: Address = fact?.kind === "known" ? fact.address : { ip, region: "", isLocked: false };
  const holderID = holderOf(world, facts.name, place);
  const address = { ...unattached(before), ...(holderID === undefined ? {} : { holderID }) };
  return new Map([...facts.addresses, [ip, { kind: "known", address }]]);
}

function holderOf(world: Observation, provider: string, place: AddressPlace): string | undefined {
  if (place.kind === "machine") return place.machineID;
  if (place.kind !== "node") return undefined;
  const node = nodeNamed(world, place.node);
  const machineID = world.registry.machineID(provider, node.providerID);
  if (machineID === undefined) throw new ConfigError("invalid", `Node ${node.name} is no machine of ${provider}.`);
  return machineID;
}

/** As it is when no call is answered: nothing is known of what the provider has. */
function withProviderDown(world: Observation, name: string): Observation {
  const { providers, dns, firewalls } = world;
  const sources = [...providers.keys()].map((source) => sourceNamed(source).provider);
  const inUse = [...new Set([...sources, ...dns.keys(), ...firewalls.keys()])];
  if (!inUse.includes(name)) throw missing(`No object uses a provider named ${name}.`, name, inUse);
  const unusable = { kind: "unanswered", message: `${name} does not answer` } as const;
  const down = <F>(all: ReadonlyMap<string, F>, nothing: Partial<F>): ReadonlyMap<string, F> =>
    new Map(
      [...all].map(([key, facts]) => [
        key,
        sourceNamed(key).provider === name ? { ...facts, ...nothing, unusable } : facts,
      ]),
    );
  return {
    ...world,
    providers: down(providers, { addresses: new Map(), isComplete: false }),
    dns: down(dns, { zones: new Map(), records: new Map() }),
    firewalls: down(firewalls, { firewalls: new Map() }),
  } satisfies KnownFacts & Observation;
}

function withProvider(world: Observation, name: string, change: (facts: ProviderFacts) => ProviderFacts): Observation {
  const { providers } = world;
  if (!providers.has(name))
    throw missing(`No object has addresses of a provider named ${name}.`, name, [...providers.keys()]);
  return { ...world, providers: mapped(providers, (facts) => (facts.name === name ? change(facts) : facts)) };
}

/** Returns the world as it is read again at a later time, when nothing has changed but the clock. Pure. */
export function later(world: Observation, ms: number): Observation {
  if (ms === 0) return world;
  return {
    ...world,
    observedAtMs: world.observedAtMs + ms,
    nodesReadAtMs: world.nodesReadAtMs + ms,
    providers: mapped(world.providers, (facts) => ({ ...facts, readAtMs: facts.readAtMs + ms })),
  };
}

function mapped<K, V>(all: ReadonlyMap<K, V>, change: (value: V) => V): ReadonlyMap<K, V> {
  return new Map([...all].map(([key, value]) => [key, change(value)]));
}
