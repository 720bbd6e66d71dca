import { type Action, refKey } from "../../src/model/action.ts";
import { changesName } from "../../src/model/action-kinds.ts";
import type { Address, AddressFact } from "../../src/model/address.ts";
import { type Firewall, portText } from "../../src/model/firewall.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import { FINALIZER, type ObjectMeta, type Pool } from "../../src/model/resource.ts";
import { aPool } from "../plan/builders.ts";

/** A world, and what is planned for it. */
export interface Planned {
  readonly world: Observation;
  readonly plan: Plan;
}

/** How a fact is changed, by the form of its path; the rest of the path names what it is about. */
const CHANGES: readonly (readonly [RegExp, (now: Planned, ...parts: readonly string[]) => Planned])[] = [
  [/^((?:pool|dns|routedip)\/.*)\.uid$/, (now, object) => withMeta(now, object, () => ({ uid: "another" }))],
  [
    /^((?:pool|dns|routedip)\/.*)\.generation$/,
    (now, object) => withMeta(now, object, ({ generation }) => ({ generation: generation + 1 })),
  ],
  [
    /^((?:pool|dns|routedip)\/.*)\.deleting$/,
    (now, object) => withMeta(now, object, ({ isDeleting }) => ({ isDeleting: !isDeleting })),
  ],
  [
    /^((?:pool|dns|routedip)\/.*)\.finalizer$/,
    (now, object) =>
      withMeta(now, object, ({ finalizers }) => ({ finalizers: finalizers.includes(FINALIZER) ? [] : [FINALIZER] })),
  ],
  [/^((?:pool|routedip)\/.*)\.addresses$/, withMoreAddresses],
  [
    /^ip\/([^/]*)\.holder$/,
    (now, ip) => withAddress(now, ip, (one) => ({ ...one, holderID: `9${one.holderID ?? ""}` })),
  ],
  [/^ip\/([^/]*)\.locked$/, (now, ip) => withAddress(now, ip, (one) => ({ ...one, isLocked: !one.isLocked }))],
  [/^machine\/(.*)\.addresses$/, withCarried],
  [/^node\/([^/]*)\.machine$/, (now, name) => withNode(now, name, () => ({ providerID: "digitalocean://999" }))],
  [/^node\/([^/]*)\.annotation$/, (now, name) => withNode(now, name, () => ({ addressAnnotation: "203.0.113.99" }))],
  [/^node\/([^/]*)\.matches\((.*)\)$/, withOtherVerdict],
  [/^ip\/([^/]*)\.node\((.*)\)$/, withOtherNode],
  [/^dns\/([^/]*)\/(.*)\.zone$/, withOtherZone],
  [/^dns\/([^/]*)\/(.*)\.records$/, withOtherRecords],
  [/^dns\/([^/]*)\/(.*)\.foreign$/, (now, provider, fqdn) => withPlanned(now, (one) => foreignAt(one, provider, fqdn))],
  [/^clients\/(.*)$/, (now, what) => withPlanned(now, (one) => takingToo(one, what))],
  [/^firewall\/([^/]*)\/(.*\/.*|icmp)$/, withOtherRule],
  [/^firewall\/([^/]*)\/(\d+)$/, withOtherMachine],
];

/** Returns the world, or the plan, in which the fact of that path differs. @throws Error for a path of no known form: a new fact needs a row */
export function withFactChanged(path: string, now: Planned): Planned {
  for (const [form, change] of CHANGES) {
    const parts = form.exec(path);
    if (parts !== null) return change(now, ...parts.slice(1));
  }
  throw new Error(`nobody knows how to change ${path}`);
}

function withMeta({ world, plan }: Planned, key: string, change: (meta: ObjectMeta) => Partial<ObjectMeta>): Planned {
  const changed = (meta: ObjectMeta): ObjectMeta => ({ ...meta, ...change(meta) });
  const [kind, namespace = "", name = ""] = key.split("/");
  const isKey = ({ kind: own, meta }: Pool): boolean => refKey({ kind: own, ...meta }) === key;
  // An object that is gone comes back.
  const back = aPool({ name });
  const all =
    kind !== "pool" || world.pools.some(isKey)
      ? world.pools
      : [...world.pools, { ...back, meta: { ...back.meta, namespace } }];
  const pools = all.map((pool) => (isKey(pool) ? { ...pool, meta: changed(pool.meta) } : pool));
  const recordSets = world.recordSets.map((set) =>
    refKey({ kind: "dns", ...set.meta }) === key ? { ...set, meta: changed(set.meta) } : set,
  );
  return { world: { ...world, pools, recordSets }, plan };
}

function withMoreAddresses({ world, plan }: Planned, key = ""): Planned {
  const pools = world.pools.map((pool) => {
    if (refKey({ kind: pool.kind, ...pool.meta }) !== key) return pool;
    return { ...pool, spec: { ...pool.spec, ips: [...pool.spec.ips, "203.0.113.99"] } };
  });
  return { world: { ...world, pools }, plan };
}

function withAddress({ world, plan }: Planned, ip = "", change: (address: Address) => Address): Planned {
  const providers = [...world.providers].map(([name, facts]) => {
    const fact = facts.addresses.get(ip);
    const address = fact?.kind === "known" ? fact.address : { ip, region: "nyc3", isLocked: false };
    const known: AddressFact = { kind: "known", address: change(address) };
    return [name, { ...facts, addresses: new Map([...facts.addresses, [ip, known]]) }] as const;
  });
  return { world: { ...world, providers: new Map(providers) }, plan };
}

function withCarried(now: Planned, machine = ""): Planned {
  return withAddress(now, "203.0.113.98", (address) => ({ ...address, holderID: machine }));
}

function withNode({ world, plan }: Planned, name = "", change: (node: NodeFacts) => Partial<NodeFacts>): Planned {
  const nodes = world.nodes.map((node) => (node.name === name ? { ...node, ...change(node) } : node));
  return { world: { ...world, nodes }, plan };
}

function withOtherVerdict({ world, plan }: Planned, name = "", key = ""): Planned {
  const judged = <O extends Plan["pools"][number] | Plan["recordSets"][number]>(one: O): O => {
    if (refKey(one.object) !== key) return one;
    const isMatch = one.matching.includes(name);
    const matching = isMatch ? one.matching.filter((other) => other !== name) : [...one.matching, name];
    return { ...one, matching };
  };
  return { world, plan: { ...plan, pools: plan.pools.map(judged), recordSets: plan.recordSets.map(judged) } };
}

function withOtherNode(now: Planned, ip = "", key = ""): Planned {
  const node = now.world.nodes.find(
    ({ addresses, addressAnnotation }) => addressAnnotation === ip || addresses.some(({ address }) => address === ip),
  );
  if (node !== undefined) return withOtherVerdict(now, node.name, key);
  const free = now.world.nodes.find(({ addressAnnotation }) => addressAnnotation === undefined);
  return withNode(now, free?.name, ({ addresses }) => ({
    addresses: [...addresses, { type: "ExternalIP", address: ip }],
  }));
}

function withOtherZone({ world, plan }: Planned, provider = ""): Planned {
  const facts = world.dns.get(provider);
  if (facts === undefined) throw new Error(`no DNS provider ${provider}`);
  const zones = new Map([...facts.zones].map(([name]) => [name, { kind: "missing" } as const]));
  return { world: { ...world, dns: new Map([...world.dns, [provider, { ...facts, zones }]]) }, plan };
}

function withOtherRecords({ world, plan }: Planned, provider = "", fqdn = ""): Planned {
  const facts = world.dns.get(provider);
  if (facts === undefined) throw new Error(`no DNS provider ${provider}`);
  const records = [...facts.records].map(([key, fact]) => {
    if (!key.endsWith(` ${fqdn}`) || fact.kind !== "known") return [key, fact] as const;
    const addresses = [...fact.records.addresses, "203.0.113.97"];
    return [key, { ...fact, records: { ...fact.records, addresses } }] as const;
  });
  return {
    world: { ...world, dns: new Map([...world.dns, [provider, { ...facts, records: new Map(records) }]]) },
    plan,
  };
}

function withPlanned({ world, plan }: Planned, change: (action: Action) => Action): Planned {
  return { world, plan: { ...plan, actions: plan.actions.map(change), followUps: plan.followUps.map(change) } };
}

function foreignAt(action: Action, provider = "", fqdn = ""): Action {
  if (!changesName(action) || action.fqdn !== fqdn || action.dnsProvider !== provider) return action;
  return { ...action, unrecorded: [...(action.unrecorded ?? []), "203.0.113.96"] };
}

function takingToo(action: Action, what = ""): Action {
  const isIt = changesName(action)
    ? action.fqdn === what || action.before.addresses.includes(what)
    : "ip" in action && action.ip === what;
  return isIt ? { ...action, takes: [...(action.takes ?? []), { what, impact: "relocation" }] } : action;
}

function withFirewalls(
  { world, plan }: Planned,
  id: string,
  change: (firewall: Firewall) => Partial<Firewall>,
): Planned {
  const firewalls = [...world.firewalls].map(([name, facts]) => {
    const all = [...facts.firewalls].map(([key, fact]) => {
      if (fact.kind !== "known" || fact.firewall.id !== id) return [key, fact] as const;
      return [key, { ...fact, firewall: { ...fact.firewall, ...change(fact.firewall) } }] as const;
    });
    return [name, { ...facts, firewalls: new Map(all) }] as const;
  });
  return { world: { ...world, firewalls: new Map(firewalls) }, plan };
}

function portsOf(firewall: Firewall): readonly string[] {
  return firewall.rules.map(({ ports }) => portText(ports));
}

function withOtherRule(now: Planned, id = "", port = ""): Planned {
  const action = [...now.plan.actions, ...now.plan.followUps].find(
    (one) => "ports" in one && one.ports.some((ports) => portText(ports) === port),
  );
  return withFirewalls(now, id, (firewall) => {
    if (portsOf(firewall).includes(port))
      return { rules: firewall.rules.filter(({ ports }) => portText(ports) !== port) };
    const ports =
      action !== undefined && "ports" in action ? action.ports.find((one) => portText(one) === port) : undefined;
    return ports === undefined ? {} : { rules: [...firewall.rules, { ports, openTo: IP_FAMILIES, isPlain: true }] };
  });
}

function withOtherMachine(now: Planned, id = "", machine = ""): Planned {
  return withFirewalls(now, id, ({ machineIDs }) => ({
    machineIDs: machineIDs.includes(machine) ? machineIDs.filter((one) => one !== machine) : [...machineIDs, machine],
  }));
}
