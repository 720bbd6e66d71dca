import { type ObjectRef, refKey } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import { entryOf, entryText } from "../model/address.ts";
import type { Gate } from "../model/explanation.ts";
import { GATE_IDS, GATES, type GateID, gateOf, isUnread } from "../model/gates.ts";
import { labelsAskedFor, nearestSelector } from "../model/nearest.ts";
import { type NodeFacts, podSelectorKey } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, NodeVerdict, Plan, PoolAssessment, RecordSetAssessment } from "../model/plan.ts";
import type { IPStatus, Pool, RecordSet } from "../model/resource.ts";
import { nodeSubject } from "../model/retry-subject.ts";
import { judgeAll, type Violation } from "../plan/nodes/match.ts";
import { Retries } from "../plan/retries.ts";
import { type Validation, validatePool, validateRecordSet } from "../plan/validate.ts";

/** A world, and what is planned for it. */
export interface Planned {
  readonly world: Observation;
  readonly plan: Plan;
}

/** One object in a planned world. */
export interface Seen extends Planned {
  readonly ref: ObjectRef;
  readonly object: Pool | RecordSet;
  readonly assessment: PoolAssessment | RecordSetAssessment;
  readonly validation: Validation;
}

/** Returns one object in a planned world; undefined where it is not there. Pure. */
export function seenIn(planned: Planned, ref: ObjectRef): Seen | undefined {
  const { world, plan } = planned;
  const isMeant = ({ object }: { readonly object: ObjectRef }): boolean => refKey(object) === refKey(ref);
  const isSame = ({ meta }: Pool | RecordSet): boolean => meta.namespace === ref.namespace && meta.name === ref.name;
  if (ref.kind === "dns") {
    const object = world.recordSets.find(isSame);
    const assessment = plan.recordSets.find(isMeant);
    if (object === undefined || assessment === undefined) return undefined;
    return { ...planned, ref, object, assessment, validation: validateRecordSet(object, world) };
  }
  const object = world.pools.find((pool) => pool.kind === ref.kind && isSame(pool));
  const assessment = plan.pools.find(isMeant);
  if (object === undefined || assessment === undefined) return undefined;
  return { ...planned, ref, object, assessment, validation: validatePool(object, world) };
}

/** Returns the machine of a node at the object's provider; undefined where it has none there. Pure. */
export function machineIn({ object, world }: Seen, node: NodeFacts | undefined): string | undefined {
  return world.registry.machineID(object.spec.provider, node?.providerID ?? "");
}

/** Returns the assessment of a pool or a routed IP; undefined for a record set. Pure. */
export function poolOf({ assessment }: Pick<Seen, "assessment">): PoolAssessment | undefined {
  return "desired" in assessment ? assessment : undefined;
}

/** Returns the status that an address has by a plan; undefined where the object does not have it. Pure. */
export function ipOf(seen: Pick<Seen, "assessment">, ip: string): IPStatus | undefined {
  return entryOf(poolOf(seen)?.status.ips ?? {}, ip);
}

/** Returns the gates of the object as a whole. Pure. */
export function objectGates(seen: Seen): readonly Gate[] {
  const { validation, object } = seen;
  const blocked: readonly Hold[] = holdsOf(seen).filter(({ kind }) => kind === "reconcile");
  const deleting = object.meta.isDeleting ? [shut("spec", { reason: "Deleting", detail: "" })] : [];
  const invalid = validation.kind === "blocked" ? [shut("spec", validation.why)] : deleting;
  const meant = meantSelector(seen);
  const selecting = (gate: Gate): Gate =>
    gate.id === "selects" && meant !== undefined ? { ...gate, detail: `${gate.detail}; ${meant.text}` } : gate;
  const gates = new Map([...blocked.flatMap(gateOfHold), ...invalid].map((gate) => [gate.id, selecting(gate)]));
  return GATE_IDS.filter(
    (id) => GATES[id].of === "object" && id !== "quota" && (id !== "selects" || gates.has(id)),
  ).map((id) => gates.get(id) ?? { id, pass: isBlockedBefore(gates, id) ? undefined : true, detail: "" });
}

/** The selector that was meant by one that selects nothing. */
interface MeantSelector {
  readonly field: "nodeLabel" | "podLabel";
  readonly label: string;
  /** `app=web selects 7 pods, 6 of them ready` */
  readonly text: string;
}

/** Returns the selector that was meant by the first of an object's that selects nothing, where there is a near one that does. Pure. */
export function meantSelector({ world, object }: Pick<Seen, "world" | "object">): MeantSelector | undefined {
  const { nodeLabel, podLabel, podNamespace } = object.spec.match;
  const nodes = world.nodes.map(({ labels }) => labels);
  const label = nodeLabel === "" ? undefined : nearestSelector(nodeLabel, nodes);
  if (label !== undefined) return { field: "nodeLabel", label, text: `${label} selects nodes` };
  return podLabel === "" ? undefined : meantPods(world, podNamespace, podLabel);
}

/** Of the selectors whose pods are known, of this object or another one. */
function meantPods({ pods }: Observation, namespace: string, empty: string): MeantSelector | undefined {
  const selecting = [...pods].flatMap(([key, reading]) => {
    const isOwn = key.startsWith(podSelectorKey({ namespace, label: "" }));
    return isOwn && reading.kind === "read" && reading.byNode.size > 0
      ? [[key, [...reading.byNode.values()]] as const]
      : [];
  });
  const asked = selecting.flatMap(([key]) => {
    const labels = labelsAskedFor(key.slice(namespace.length + 1));
    return labels === undefined ? [] : [labels];
  });
  const label = nearestSelector(empty, asked) ?? "";
  const [, counts] = selecting.find(([key]) => key === podSelectorKey({ namespace, label })) ?? [];
  if (label === "" || counts === undefined) return undefined;
  const ready = counts.reduce((sum, one) => sum + one.ready, 0);
  const all = counts.reduce((sum, one) => sum + one.notReady, ready);
  return {
    field: "podLabel",
    label,
    text: `${label} selects ${all} ${all === 1 ? "pod" : "pods"}, ${ready} of them ready`,
  };
}

function isBlockedBefore(gates: ReadonlyMap<GateID, Gate>, id: GateID): boolean {
  return gates.has("spec") && id !== "spec" && id !== "suspend";
}

/** Returns the gates of an address of the object. Pure. */
export function addressGates(seen: Seen, ip: string, wantedNode?: string): readonly Gate[] {
  const entry = ipOf(seen, ip);
  const held = holdsOf(seen)
    .filter(({ subject }) => subject === entryText(ip))
    .flatMap(gateOfHold);
  const known = new Map(held.map((gate) => [gate.id, gate]));
  const fault = faultGate(entry);
  const address = known.get("address") ?? fault ?? open("address");
  const inUse = entry?.state === "disabled" ? shut("in-use", { reason: "AboveDesired", detail: "" }) : open("in-use");
  const stays = known.get("stays") ?? stayGate(seen, entry, wantedNode);
  const own = wantedNode === undefined ? [address, inUse] : [address, inUse, stays];
  const more = held.filter(({ id }) => GATES[id].of === "pair" && id !== "turn");
  return [...own, ...more];
}

/** Only a node that matches keeps its address: one that does not holds it until another can take it. */
function stayGate(seen: Seen, entry: IPStatus | undefined, wantedNode: string | undefined): Gate {
  const holder = entry?.state === "active" ? entry.nodeName : undefined;
  const isKept = holder !== undefined && (poolOf(seen)?.matching ?? []).includes(holder);
  if (!isKept || wantedNode === undefined || holder === wantedNode) return open("stays");
  return { id: "stays", pass: false, detail: "", about: holder };
}

/** Returns until when a node that stopped matching a moment ago still counts as a match, milliseconds; undefined for any other node. Pure. */
export function graceUntilMs(seen: Seen, nodeName: string): number | undefined {
  const isOf = ({ subject }: Hold): boolean => (ipOf(seen, subject)?.nodeName ?? subject) === nodeName;
  return holdsOf(seen).find((hold) => isOf(hold) && gateOfHold(hold).some(({ id }) => id === "stays"))?.notBeforeMs;
}

function faultGate(entry: IPStatus | undefined): Gate | undefined {
  if (entry === undefined) return undefined;
  const { reason, error = "" } = entry;
  const known = gatesByName.get(reason ?? "");
  if (known === undefined || GATES[known.id].of !== "address" || known.id !== "address") return undefined;
  return shut("address", { reason: known.reason, detail: error });
}

const gatesByName: ReadonlyMap<string, { readonly id: GateID; readonly reason: NonNullable<Gate["reason"]> }> = new Map(
  GATE_IDS.flatMap((id) => GATES[id].reasons.map((reason) => [reason as string, { id, reason }] as const)),
);

/** Returns the gates that say whether a node matches, all of them. Pure. */
export function nodeGates(seen: Seen, node: NodeFacts): readonly Gate[] {
  const ids = GATE_IDS.filter((id) => GATES[id].of === "node");
  if (seen.validation.kind === "blocked") return ids.map((id) => ({ id, pass: undefined, detail: "" }));
  const { matcher } = seen.validation;
  const nowMs = seen.world.nodesReadAtMs;
  if (node.unreadable !== undefined) {
    const detail = `${node.unreadable} cannot be read`;
    return ids.map((id) => ({ id, pass: undefined, isUnread: true, reason: "Unreadable", detail }));
  }
  const violations = new Map(judgeAll(node, matcher, nowMs).map((one) => [gateOfViolation(one), one]));
  return ids.map((id) => {
    const violation = violations.get(id);
    if (violation !== undefined) return shutBy(id, violation);
    const isAsked = !(id === "node-label" && matcher.nodeLabel === "") && !(id === "pods" && !matcher.podsByNode);
    const since = id === "ready" && node.ready.sinceMs !== undefined ? { sinceMs: node.ready.sinceMs } : {};
    return { id, pass: isAsked ? true : undefined, detail: "", ...since };
  });
}

function gateOfViolation({ reason, isReadiness }: Violation): GateID | undefined {
  const id = gateOf(reason);
  return id === "taints" && isReadiness ? "condition-taints" : id;
}

function shutBy(id: GateID, { reason, detail, sinceMs, doubt }: Violation): Gate {
  if (doubt !== undefined) return { id, pass: undefined, isUnread: true, reason: "Unreadable", detail: doubt };
  return { id, pass: false, reason, detail, ...(sinceMs === undefined ? {} : { sinceMs }) };
}

/** Returns the gates of a match that is to take an address: its machine, its firewall, what it carries, and when it is tried again. Pure. */
export function takingGates(seen: Seen, nodeName: string, ip?: string): readonly Gate[] {
  const pool = poolOf(seen);
  if (pool === undefined) return [];
  const isMatch = pool.matching.includes(nodeName);
  const skip = pool.skipped.find((one) => one.nodeName === nodeName);
  const id = skip?.isOfFirewall === true ? "firewall" : skip && gateOf(skip.reason);
  const others = Object.entries(pool.status.ips).flatMap(([address, entry]) =>
    address !== ip && entry.nodeName === nodeName && entry.state === "active" ? [address] : [],
  );
  const most = maxPerNode(seen);
  const ofOwn = others.length < most ? undefined : gateOfOwn(others, most, ip);
  const gates = (["machine", "firewall", "free"] as const)
    .filter((gate) => gate !== "firewall" || id === "firewall")
    .map((gate): Gate => {
      if (gate === "free" && ofOwn !== undefined) return ofOwn;
      if (skip !== undefined && id === gate) return toldOf(gate, skip);
      if (gate === "machine" && !isMatch) return machineGate(seen, nodeName);
      return { id: gate, pass: isMatch ? true : undefined, detail: "" };
    });
  return [...gates, ...(isMatch ? laterGate(seen, nodeName) : [])];
}

/** The gate of a node that does not match, and is not asked for its machine: one of another cloud would have none even if it matched. */
function machineGate({ world, object }: Seen, nodeName: string): Gate {
  const { providerID = "" } = world.nodes.find(({ name }) => name === nodeName) ?? {};
  const isOther = providerID !== "" && world.registry.machineID(object.spec.provider, providerID) === undefined;
  if (!isOther) return { id: "machine", pass: undefined, detail: "" };
  return shut("machine", { reason: "UnusableProviderID", detail: providerID });
}

/** The gate of a node that has as many of the object's own addresses as it may. It lacks none: another one is asked for only where the explanation is about that one. */
function gateOfOwn(own: readonly string[], most: number, ip: string | undefined): Gate {
  if (ip === undefined) return { id: "free", pass: undefined, detail: "" };
  const detail = `already carrying ${own.join(", ")} of the same object, and may have no more than ${most}`;
  const [about = ""] = own;
  return { id: "free", pass: false, detail, about };
}

/** Returns the gate of an object's firewall; none where it has no firewall. Nobody knows of one that could not be read. What a person must do there shuts it, whatever the reason is. Pure. */
export function firewallGates(seen: Seen): readonly Gate[] {
  if (!("firewall" in seen.object) || seen.object.firewall === undefined) return [];
  const held = holdsOf(seen).filter(({ kind }) => kind === "open-ports" || kind === "add-to-firewall");
  const found = held.flatMap(gateOfHold).find(({ id }) => id === "firewall");
  const hidden = held.find(({ reason }) => isUnread(reason));
  if (found === undefined && hidden !== undefined) return [unread("firewall", hidden)];
  const asked = held.find(({ needsPerson }) => needsPerson);
  return [found ?? (asked === undefined ? open("firewall") : shut("firewall", asked))];
}

/** A node whose last attempt failed comes behind all others until it is tried again. */
function laterGate(seen: Seen, nodeName: string): readonly Gate[] {
  const { assessment, world } = seen;
  const machineID = machineIn(
    seen,
    world.nodes.find(({ name }) => name === nodeName),
  );
  if (machineID === undefined) return [];
  const retries = new Retries(assessment.status.retries, world.observedAtMs);
  const why = retries.obstacle(nodeSubject({ nodeName, machineID }));
  if (why?.notBeforeMs === undefined) return [];
  return [{ ...shut("due", why), notBeforeMs: why.notBeforeMs }];
}

/** Returns how many addresses a node may have at most for the object's sake. Pure. */
export function maxPerNode({ object: { spec }, world: { registry } }: Seen): number {
  return registry.maxPerNode(spec.provider, "maxPerNode" in spec ? spec.maxPerNode : undefined);
}

/** Returns how many addresses a node has at most if the pool allows one more; undefined where its provider gives a machine no more, or the object is no pool. Pure. */
export function raisedMaxPerNode(seen: Seen): number | undefined {
  const { ref, object, world } = seen;
  const raised = maxPerNode(seen) + 1;
  const isRoom = ref.kind === "pool" && world.registry.maxPerNode(object.spec.provider, raised) === raised;
  return isRoom ? raised : undefined;
}

/** Returns the gates that keep an object from acquiring what it lacks. Pure. */
export function acquiringGates(seen: Seen): readonly Gate[] {
  return holdsOf(seen)
    .filter(({ kind }) => kind === "acquire-ip")
    .flatMap(gateOfHold);
}

/** Returns the gates of the names that the object publishes; none = of what it is to publish, where the full name is not known. Pure. */
export function nameGates(seen: Seen, names: readonly { readonly fqdn: string }[]): readonly Gate[] {
  const isOf = (subject: string): boolean => names.length === 0 || names.some(({ fqdn }) => fqdn === subject);
  return holdsOf(seen)
    .filter(({ subject, kind }) => kind !== "reconcile" && ACTIONS[kind].affects === "name" && isOf(subject))
    .flatMap((hold): readonly Gate[] => {
      const [gate] = gateOfHold(hold);
      if (gate === undefined || gate.id === "approval") return [];
      return [gate.id === "address" ? { ...gate, id: "name-owner" } : gate];
    });
}

/** Returns what of an object waits until a person approves it, a gate for each address or name that is to be taken from somebody. Pure. */
export function approvalGates(seen: Seen): readonly Gate[] {
  return holdsOf(seen).flatMap((hold) =>
    gateOfHold(hold).flatMap((gate) => (gate.id === "approval" ? [{ ...gate, about: hold.subject }] : [])),
  );
}

/** True for what waits until a person approves it. Pure. */
export function awaitsApproval(hold: Hold): boolean {
  return gateOfHold(hold).some(({ id }) => id === "approval");
}

function holdsOf({ plan, ref }: Seen): readonly Hold[] {
  return plan.holds.filter(({ object }) => refKey(object) === refKey(ref));
}

function gateOfHold({ reason, detail, notBeforeMs, subject, advice }: Hold): readonly Gate[] {
  const id = gateOf(reason);
  if (id === undefined) return [];
  if (isUnread(reason)) return [{ id, pass: undefined, isUnread: true, reason, detail, about: subject }];
  const until = notBeforeMs === undefined ? {} : { notBeforeMs };
  return [{ ...shut(id, { reason, detail }), ...until, ...(advice === undefined ? {} : { advice }) }];
}

function shut(
  id: GateID,
  { reason, detail }: { readonly reason: NonNullable<Gate["reason"]>; readonly detail: string },
  about?: string,
): Gate {
  return { id, pass: false, reason, detail, ...(about === undefined ? {} : { about }) };
}

/** The gate of a match that is passed over. Nobody knows of what could not be read. */
function toldOf(id: GateID, { reason, detail }: Pick<NodeVerdict, "reason" | "detail">): Gate {
  return isUnread(reason) ? unread(id, { reason, detail }) : shut(id, { reason, detail }, detail);
}

function unread(id: GateID, { reason, detail }: Pick<NodeVerdict, "reason" | "detail">): Gate {
  return { id, pass: undefined, isUnread: true, reason, detail };
}

function open(id: GateID): Gate {
  return { id, pass: true, detail: "" };
}
