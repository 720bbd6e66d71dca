import { type ObjectRef, refKey } from "../model/action.ts";
import { canonicalAddress, entryOf } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import type { Approval } from "../model/approval.ts";
import type { ChangeTold, Gate } from "../model/explanation.ts";
import type { GateID } from "../model/gates.ts";
import { EQUALITY } from "../model/nearest.ts";
import { CORDON_KEY, type Taint } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { ObjectMeta } from "../model/resource.ts";
import type { FactEdit } from "./edit.ts";
import { editWorld } from "./edited-world.ts";
import { meantSelector, poolOf, raisedMaxPerNode, type Seen } from "./gates.ts";
import { withoutSuspension, withoutSuspensionOfAll } from "./resumed.ts";

/** A change that a person could make, or wait for: what is told of it, and what it makes of a world. */
export interface Change extends ChangeTold {
  readonly make: (world: Observation) => Observation;
}

/** What a remedy is about, beside its object. */
export interface Concern {
  readonly seen: Seen;
  readonly ip?: string;
  readonly node?: string;
  /** Where the looking ahead begins and how far it goes, milliseconds: what ends by itself before that needs no change. */
  readonly fromMs: number;
  readonly horizonMs: number;
}

/** Returns the changes that can open a gate, the cheapest first. None where nobody can, or where nobody knows how. Pure. */
export function remediesOf(gate: Gate, concern: Concern): readonly Change[] {
  return REMEDIES[gate.id](gate, concern).toSorted((a, b) => a.cost - b.cost);
}

type Remedy = (gate: Gate, concern: Concern) => readonly Change[];

const none: Remedy = () => [];

const REMEDIES: Readonly<Record<GateID, Remedy>> = {
  spec: none,
  suspend: resumed,
  provider: none,
  selects: selecting,
  address: addressOwn,
  "in-use": (_, { seen }) => {
    const pool = poolOf(seen);
    return pool === undefined ? [] : ofSpec(seen, "desiredIPs", pool.desired + 1, 2);
  },
  stays: elsewhere,
  deleting: none,
  "provider-id": none,
  "node-label": labelled,
  taints: untainted,
  ready: nodeReady,
  "condition-taints": nodeReady,
  pods: (gate, concern) => [...selecting(gate, concern), ...podsReady(gate, concern)],
  machine: none,
  firewall: none,
  free: freed,
  region: none,
  due: waited,
  turn: elsewhere,
  pace: waited,
  approval: approved,
  "cool-off": waited,
  quota: withinLimit,
  "dns-valid": none,
  zone: none,
  "name-owner": none,
  serves: none,
};

function factual(edit: FactEdit, told: Omit<ChangeTold, "edit">): Change {
  return { ...told, edit: edit.text, make: (world) => editWorld(world, [edit]) };
}

/** Another value of a field of the spec of a pool. What a RoutedIP is by its issuer changes for others, too: there is no such change. */
function ofSpec(seen: Seen, path: string, value: unknown, cost: number, words?: string): readonly Change[] {
  const { ref } = seen;
  if (ref.kind === "routedip") return [];
  const fields = path.split(".");
  const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
  const patch = fields.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
  return [
    {
      edit: `${refKey(ref)}.${path}=${shown}`,
      cost,
      command: patchCommand(ref, patch),
      message: words ?? `set spec.${path}: ${shown} of ${refKey(ref)}`,
      make: (world) => withSpec(world, ref, (spec) => withField(spec, fields, value)),
    },
  ];
}

const RESOURCES: Readonly<Record<ObjectRef["kind"], string>> = {
  pool: "floatingippool",
  routedip: "routedip",
  dns: "nodednsrecordset",
};

function patchCommand({ kind, namespace, name }: ObjectRef, spec: unknown): string {
  return `kubectl -n ${namespace} patch ${RESOURCES[kind]} ${name} --type=merge -p '${JSON.stringify({ spec })}'`;
}

function withSpec(world: Observation, ref: ObjectRef, change: (spec: object) => object): Observation {
  return withObject(world, ref, (object) => ({
    ...object,
    meta: { ...object.meta, generation: object.meta.generation + 1 },
    spec: change(object.spec),
  }));
}

function withObject(
  world: Observation,
  ref: ObjectRef,
  changed: <O extends { readonly meta: ObjectMeta; readonly spec: object }>(object: O) => O,
): Observation {
  if (ref.kind === "dns")
    return {
      ...world,
      recordSets: world.recordSets.map((one) => (isAt(one.meta, ref) ? changed(one) : one)),
    };
  return {
    ...world,
    pools: world.pools.map((one) => (one.kind === ref.kind && isAt(one.meta, ref) ? changed(one) : one)),
  };
}

function isAt(meta: { readonly namespace: string; readonly name: string }, ref: ObjectRef): boolean {
  return meta.namespace === ref.namespace && meta.name === ref.name;
}

function withField(object: object, [field = "", ...rest]: readonly string[], value: unknown): object {
  const before: unknown = (object as Readonly<Record<string, unknown>>)[field];
  const inner = rest.length === 0 ? value : withField((before ?? {}) as object, rest, value);
  return { ...object, [field]: inner };
}

function resumed(_: Gate, { seen }: Concern): readonly Change[] {
  const { assessment, ref } = seen;
  const { suspended } = assessment;
  if (suspended === undefined) return [];
  if (suspended.source === "spec") {
    const text = `${refKey(ref)}.suspend=false`;
    return [
      {
        edit: text,
        cost: 2,
        command: patchCommand(ref, { suspend: false }),
        message: `set spec.suspend: false of ${refKey(ref)}`,
        make: (world) => withSpec(world, ref, (spec) => ({ ...spec, suspend: false })),
      },
    ];
  }
  const isOfAll = suspended.source === "lease";
  return [
    {
      cost: 2,
      command: `flipop resume ${isOfAll ? "--all" : refKey(ref)}`,
      message: isOfAll ? "let flipop go on for all objects" : `let flipop go on for ${refKey(ref)}`,
      make: (world) => (isOfAll ? withoutSuspensionOfAll(world) : withoutSuspension(world, ref)),
    },
  ];
}

/** A person approves all that the object would take from somebody now. */
function approved(_: Gate, { seen: { plan, ref } }: Concern): readonly Change[] {
  const asked = plan.toApprove?.find(({ object }) => refKey(object) === refKey(ref));
  if (asked === undefined) return [];
  const approval: Approval = { plan: new Set(asked.plan), by: "", untilMs: Number.POSITIVE_INFINITY };
  const approve = <O extends { readonly meta: ObjectMeta }>(object: O): O => ({
    ...object,
    meta: { ...object.meta, approval },
  });
  return [
    {
      cost: 2,
      command: `flipop approve ${refKey(ref)}`,
      message: `approve what ${refKey(ref)} waits for`,
      make: (world) => withObject(world, ref, approve),
    },
  ];
}

/** Whatever of these applies: it is told only where it helps. */
function addressOwn(_: Gate, { seen, ip }: Concern): readonly Change[] {
  if (ip === undefined) return [];
  const { world, ref } = seen;
  const own = world.pools.find(({ kind, meta }) => kind === ref.kind && isAt(meta, ref))?.spec;
  if (own === undefined) return [];
  const distinct = [...new Set(own.ips)];
  const others = listedElsewhere(seen, ip).filter(({ edit = "" }) => !edit.startsWith(`${refKey(ref)}.`));
  return [
    ...(distinct.length < own.ips.length ? ofSpec(seen, "ips", distinct, 2) : []),
    ...others.map((change) => ({ ...change, cost: 2 })),
    ...(own.foreignHolder === "TakeOver" ? [] : ofSpec(seen, "foreignHolder", "TakeOver", 2)),
    ...(isHeld(world, ip) ? [detached(ip, 3)] : []),
  ];
}

function isHeld({ providers }: Observation, ip: string): boolean {
  const facts = [...providers.values()].flatMap(({ addresses }) => addresses.get(ip) ?? []);
  return facts.some((fact) => fact.kind === "known" && fact.address.holderID !== undefined);
}

function detached(ip: string, cost: number): Change {
  return factual(
    { kind: "address", text: `ip/${ip}=Unattached`, ip, place: { kind: "unattached" } },
    { cost, message: `${ip} is taken off its machine at the provider` },
  );
}

/** What keeps the address where it is stops matching; or somebody puts the address on the node by hand. */
function elsewhere({ about }: Gate, { seen, ip, node }: Concern): readonly Change[] {
  const holder = about === undefined ? [] : [notReady(about)];
  return ip === undefined || node === undefined ? holder : [...holder, ...byHand(seen, ip, node)];
}

/** An address is sent to a node at the provider, which refuses it for a machine that carries another one: then nothing changes. */
function byHand(seen: Seen, ip: string, node: string): readonly Change[] {
  const target = seen.world.nodes.find(({ name }) => name === node);
  const provider = poolOf(seen)?.provider ?? "";
  const machine = target === undefined ? undefined : seen.world.registry.machineID(provider, target.providerID);
  if (machine === undefined) return [];
  const isTaken = ({ providers }: Observation): boolean =>
    [...(providers.get(provider)?.addresses ?? [])].some(
      ([other, fact]) => other !== ip && fact.kind === "known" && fact.address.holderID === machine,
    );
  const edit: FactEdit = { kind: "address", text: `ip/${ip}=on:node/${node}`, ip, place: { kind: "node", node } };
  return [
    {
      edit: edit.text,
      cost: 3,
      message: `move ${ip} to ${node} (machine ${machine}) by hand at ${sourceNamed(provider).provider}`,
      make: (world) => (isTaken(world) ? world : editWorld(world, [edit])),
    },
  ];
}

/** Returns the change that a node stops being ready, whatever else it lacks. */
export function notReady(node: string): Change {
  return factual(
    { kind: "node-state", text: `node/${node}=NotReady`, node, state: "NotReady" },
    { cost: 4, message: `${node} stops matching, such as NotReady` },
  );
}

/** A part of a selector that asks only for a key. */
const EXISTS = /^\s*([^\s=!,<>()]+)\s*$/;

function labelled(_: Gate, { seen, node }: Concern): readonly Change[] {
  if (node === undefined) return [];
  const parts = seen.object.spec.match.nodeLabel.split(",");
  const wanted = parts.flatMap((part): readonly (readonly [string, string])[] => {
    const [, key, value] = EQUALITY.exec(part) ?? [];
    if (key !== undefined) return [[key, value ?? ""]];
    const [, present] = EXISTS.exec(part) ?? [];
    return present === undefined ? [] : [[present, "true"]];
  });
  if (wanted.length !== parts.length) return [];
  const labels = seen.world.nodes.find(({ name }) => name === node)?.labels ?? {};
  return wanted
    .filter(([key, value], at) =>
      EQUALITY.test(parts[at] ?? "") ? labels[key] !== value : !Object.hasOwn(labels, key),
    )
    .slice(0, 1)
    .map(([key, value]) =>
      factual(
        { kind: "label", text: `node/${node}.label=${key}=${value}`, node, key, value },
        {
          cost: 1,
          command: `kubectl label node ${node} --overwrite ${key}=${value}`,
          message: `label ${node} with ${key}=${value}`,
        },
      ),
    );
}

function untainted({ detail }: Gate, { seen, node }: Concern): readonly Change[] {
  const taint = seen.world.nodes.find(({ name }) => name === node)?.taints.find((one) => taintText(one) === detail);
  if (node === undefined || taint === undefined) return [];
  const { key, value, effect } = taint;
  const { tolerations } = seen.object.spec.match;
  const toleration = { key, operator: "Equal", ...(value === "" ? {} : { value }), effect };
  const tolerate = ofSpec(
    seen,
    "match.tolerations",
    [...tolerations, toleration],
    2,
    `tolerate ${detail} in spec.match.tolerations of ${refKey(seen.ref)}`,
  );
  if (key === CORDON_KEY)
    return [
      factual(
        { kind: "node-state", text: `node/${node}=Uncordoned`, node, state: "Uncordoned" },
        { cost: 1, command: `kubectl uncordon ${node}`, message: `uncordon ${node}` },
      ),
      ...tolerate,
    ];
  return [
    factual(
      { kind: "remove-taint", text: `node/${node}.taint=${key}:${effect}-`, node, key, effect },
      {
        cost: 1,
        command: `kubectl taint node ${node} ${key}:${effect}-`,
        message: `remove the taint ${detail} from ${node}`,
      },
    ),
    ...tolerate,
  ];
}

function taintText({ key, value, effect }: Taint): string {
  return `${key}${value === "" ? "" : `=${value}`}:${effect}`;
}

function nodeReady(gate: Gate, concern: Concern): readonly Change[] {
  const { node } = concern;
  if (node === undefined) return [];
  // A taint that only says where pods had better not go ends with itself, not with the node's condition.
  const soft = gate.id === "condition-taints" ? untainted(gate, concern) : [];
  const ready = factual(
    { kind: "node-state", text: `node/${node}=Ready`, node, state: "Ready" },
    { cost: 4, message: `${node} becomes ready` },
  );
  return gate.detail.endsWith(":PreferNoSchedule") ? soft : [ready];
}

/** The selector that was meant. */
function selecting(_: Gate, { seen }: Concern): readonly Change[] {
  const meant = meantSelector(seen);
  return meant === undefined ? [] : ofSpec(seen, `match.${meant.field}`, meant.label, 2);
}

function podsReady(_: Gate, { node }: Concern): readonly Change[] {
  if (node === undefined) return [];
  return [
    factual(
      { kind: "pods", text: `node/${node}.pods=Ready`, node, state: "Ready" },
      { cost: 4, message: `a pod that is asked for becomes ready on ${node}` },
    ),
  ];
}

/** What the machine carries goes elsewhere: to a node that waits, or to none where no object wants it. */
function freed({ about: other = "" }: Gate, { seen, ip }: Concern): readonly Change[] {
  if (canonicalAddress(other) === undefined) return [];
  const waiting = poolOf(seen)?.waiting ?? [];
  const away = waiting.slice(0, 1).flatMap((node) => byHand(seen, other, node));
  const owners = seen.world.pools.filter(({ spec }) => spec.ips.includes(other));
  const dropped = ip === other || isServing(seen.plan, other) ? [] : listedElsewhere(seen, other);
  const most = raisedMaxPerNode(seen);
  const stacked = most === undefined ? [] : ofSpec(seen, "maxPerNode", most, 2);
  return [...stacked, ...(owners.length === 0 ? [detached(other, 3)] : []), ...away, ...dropped];
}

/** True for an address that is active on a node that matches: out of its spec it would serve no more. */
function isServing({ pools }: Plan, ip: string): boolean {
  return pools.some(({ status: { ips }, matching }) => {
    const { state, nodeName } = entryOf(ips, ip) ?? {};
    return state === "active" && nodeName !== undefined && matching.includes(nodeName);
  });
}

/** Each pool that lists an address lists it no longer; not where it was the only one, or that pool would be invalid. */
function listedElsewhere(seen: Seen, ip: string): readonly Change[] {
  return seen.world.pools.flatMap(({ kind, meta, spec }) => {
    const left = spec.ips.filter((one) => one !== ip);
    if (kind !== "pool" || left.length === spec.ips.length || left.length === 0) return [];
    const owner = { kind, namespace: meta.namespace, name: meta.name };
    return ofSpec({ ...seen, ref: owner }, "ips", left, 4, `remove ${ip} from spec.ips of ${refKey(owner)}`);
  });
}

/** What ends by itself, where that is further off than is looked ahead. */
function waited({ notBeforeMs }: Gate, { fromMs, horizonMs }: Concern): readonly Change[] {
  const ms = notBeforeMs === undefined ? 0 : notBeforeMs - fromMs;
  if (ms <= horizonMs) return [];
  const seconds = Math.ceil(ms / 1000);
  return [
    factual({ kind: "time", text: `+${seconds}s`, ms: seconds * 1000 }, { cost: 0, message: `wait ${seconds} s` }),
  ];
}

function withinLimit(_: Gate, { seen }: Concern): readonly Change[] {
  const provider = poolOf(seen)?.provider ?? "";
  const facts = seen.world.providers.get(provider);
  if (facts?.addressLimit === undefined) return [];
  const pool = poolOf(seen);
  const lacking = pool === undefined ? 1 : Math.max(1, pool.desired - Object.keys(pool.status.ips).length);
  const limit = Math.max(facts.addressLimit, facts.addressCount ?? 0) + lacking;
  return [
    factual(
      { kind: "quota", text: `quota/${provider}=${limit}`, provider, limit },
      { cost: 3, message: `${provider} raises the account's limit of addresses to ${limit}` },
    ),
  ];
}
