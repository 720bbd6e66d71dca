import { type ObjectRef, refKey } from "../model/action.ts";
import type { ChangeTold, Explanation, Gate, Next, NodeTold, Section, Subject } from "../model/explanation.ts";
import { placeSentence } from "../model/node-phrase.ts";
import type { Observation } from "../model/observation.ts";
import type { NameService, Plan, PoolAssessment } from "../model/plan.ts";
import { setNamed } from "../model/record-types.ts";
import type { ObjectMeta } from "../model/resource.ts";
import { SHARD_LABEL, shardLabels } from "../model/shard.ts";
import { formatTime } from "../model/time.ts";
import { plan } from "../plan/plan.ts";
import { counterfactual, Rehearsal, type Statement } from "./counterfactual.ts";
import { evidenceOf, type Looked } from "./evidence.ts";
import { ASSUMED, begunIn, type Story } from "./forward.ts";
import {
  acquiringGates,
  addressGates,
  approvalGates,
  firewallGates,
  graceUntilMs,
  ipOf,
  nameGates,
  nodeGates,
  objectGates,
  type Planned,
  poolOf,
  type Seen,
  seenIn,
  takingGates,
} from "./gates.ts";
import { notReady, remediesOf } from "./remedies.ts";
import { namesServed } from "./serving.ts";
import {
  type Ahead,
  activeCount,
  addressStatement,
  isActive,
  nameStatement,
  namesOf,
  nodeStatement,
  objectStatement,
  pairStatement,
  shortAddressGates,
} from "./statements.ts";
import { factsBeyond } from "./subject-facts.ts";

/** What is to be explained, and for which objects. */
export interface Question {
  readonly subject: Subject;
  /** True for the objects that are asked about, of those that have to do with the subject. Each gets a section. */
  readonly isMeant: (object: ObjectRef) => boolean;
  readonly horizonMs: number;
}

/** Says why the world is as it is, and what would have to be otherwise. Each object is explained as the process of its shard sees it. Pure. */
export function explain(observation: Observation, question: Question): Explanation {
  const { subject, horizonMs } = question;
  const now: Planned = { world: observation, plan: plan(observation, {}) };
  const { pools, recordSets } = observation;
  const meant = [
    ...pools.filter(({ kind, meta }) => question.isMeant({ kind, namespace: meta.namespace, name: meta.name })),
    ...recordSets.filter(({ meta }) => question.isMeant({ kind: "dns", namespace: meta.namespace, name: meta.name })),
  ];
  const sections = [
    ...sectionsOf(now, question),
    ...shardLabels(meant)
      .toSorted()
      .flatMap((shard) => {
        const world = asShard(observation, shard);
        const fact = `Only the process with --shard ${shard} works for it: the label ${SHARD_LABEL} says so.`;
        const found = sectionsOf({ world, plan: plan(world, {}) }, question);
        return found.map((section) => ({ ...section, facts: [fact, ...section.facts] }));
      }),
  ];
  return {
    observedAtMs: observation.observedAtMs,
    cluster: observation.cluster,
    subject,
    horizonMs,
    assumed: ASSUMED,
    sections,
    facts: factsBeyond(now, subject),
  };
}

/** Stands for the shard of objects without a label; no shard is written so. */
const OTHER_SHARD = "?";

/** The world as the process of a shard sees it: what has its label is its own, and all else is others'. */
function asShard(observation: Observation, shard: string): Observation {
  const relabelled = <O extends { readonly meta: ObjectMeta }>(object: O): O => {
    const { [SHARD_LABEL]: label = "", ...labels } = object.meta.labels;
    const meta = {
      ...object.meta,
      labels: label === shard ? labels : { ...labels, [SHARD_LABEL]: label || OTHER_SHARD },
    };
    return { ...object, meta };
  };
  return {
    ...observation,
    pools: observation.pools.map(relabelled),
    recordSets: observation.recordSets.map(relabelled),
  };
}

/** A section for each object that the process whose plan it is works for, and that is asked about. */
function sectionsOf(now: Planned, { subject, isMeant, horizonMs }: Question): readonly Section[] {
  const whole = new Rehearsal(now.world, horizonMs);
  const objects = concerned(now.plan, subject).filter(isMeant);
  return objects.flatMap((ref): readonly Section[] => {
    const isAlone = subject.kind === "node";
    const seen = seenIn(isAlone ? alone(now, ref, subject.node) : now, ref);
    if (seen === undefined) return [];
    const rehearsal = new Rehearsal(seen.world, horizonMs);
    return [sectionOf(seen, subject, { horizonMs, rehearsal, whole: isAlone ? whole : rehearsal })];
  });
}

/** The objects that a node, an address or a name has to do with. */
function concerned({ pools, recordSets }: Plan, subject: Subject): readonly ObjectRef[] {
  const all = [...pools, ...recordSets];
  const refs = (some: readonly { readonly object: ObjectRef }[]): readonly ObjectRef[] =>
    some.map(({ object }) => object);
  if ("ip" in subject) return refs(pools.filter((assessment) => ipOf({ assessment }, subject.ip) !== undefined));
  if (subject.kind !== "name") return refs(all);
  const isMeant = ({ fqdn }: { readonly fqdn: string }): boolean =>
    fqdn === subject.fqdn || setNamed(fqdn).fqdn === subject.fqdn;
  return refs(all.filter((assessment) => namesOf({ assessment }).some(isMeant)));
}

/** Whether a node matches depends on nothing but the node and the object: a search among a thousand others need not look at them. */
function alone({ world, plan: whole }: Planned, ref: ObjectRef, node: string): Planned {
  const isOwn = ({ meta }: { readonly meta: ObjectMeta }): boolean =>
    meta.namespace === ref.namespace && meta.name === ref.name;
  return {
    world: {
      ...world,
      nodes: world.nodes.filter(({ name }) => name === node),
      pools: world.pools.filter((pool) => pool.kind === ref.kind && isOwn(pool)),
      recordSets: ref.kind === "dns" ? world.recordSets.filter(isOwn) : [],
    },
    plan: whole,
  };
}

interface Stages {
  readonly horizonMs: number;
  /** Rehearses the part of the world in which it is decided whether a statement is true. */
  readonly rehearsal: Rehearsal;
  /** Rehearses all of it: what flipop does in a part of the world is not what it would do. */
  readonly whole: Rehearsal;
}

function sectionOf(seen: Seen, subject: Subject, { horizonMs, rehearsal, whole }: Stages): Section {
  const ahead: Ahead = { fromMs: seen.world.observedAtMs, horizonMs };
  const statement = statementOf(seen.ref, subject, ahead);
  const holds = statement.isTrue(seen);
  const story = rehearsal.with([]);
  const isComing = !holds && statement.isTrue({ world: story.world, plan: story.remaining });
  const answer = holds || isComing ? undefined : counterfactual(rehearsal, statement);
  return {
    object: seen.ref,
    holds,
    message: messageOf(seen, subject),
    gates: gatesOf(seen, subject, ahead).map((gate) => ({
      ...gate,
      evidence: evidenceOf(gate, lookedAt(seen, subject, gate)),
    })),
    nodes: subject.kind === "pair" || subject.kind === "node" ? [] : nodesOf(seen),
    facts: factsOf(seen, subject),
    ...(answer === undefined
      ? {}
      : {
          counterfactual: {
            changes: answer.changes.map(told),
            alternatives: answer.alternatives.map((others) => others.map(told)),
          },
        }),
    isComing,
    plans: rehearsal.plans,
    next: nextOf(answer === undefined ? (isComing ? whole.with([]) : undefined) : whole.with(answer.changes), seen.ref),
  };
}

function lookedAt(seen: Seen, subject: Subject, { about }: Gate): Looked {
  const name = "node" in subject ? subject.node : undefined;
  const node = seen.world.nodes.find((one) => one.name === name);
  const ip = "ip" in subject ? subject.ip : subject.kind === "object" || subject.kind === "name" ? about : undefined;
  return { seen, ...(ip === undefined ? {} : { ip }), ...(node === undefined ? {} : { node }) };
}

function told({ make: _make, ...change }: ChangeTold & { readonly make: unknown }): ChangeTold {
  return change;
}

function nextOf(story: Story | undefined, ref: ObjectRef): Next {
  const steps = story?.steps ?? [];
  const own = steps
    .flatMap(begunIn)
    .filter(({ actions: [action] }) => refKey(action.object) === refKey(ref))
    .toSorted((a, b) => a.atMs - b.atMs);
  const shown = new Set(
    (story?.views ?? []).flatMap(({ names }) =>
      names.flatMap(({ object, fqdn }) => (refKey(object) === refKey(ref) ? [fqdn] : [])),
    ),
  );
  const names = story === undefined || steps.length === 0 ? [] : namesServed(story);
  return {
    steps: own,
    names: names.filter(({ fqdn }) => shown.has(fqdn)),
  };
}

function statementOf(ref: ObjectRef, subject: Subject, ahead: Ahead): Statement {
  switch (subject.kind) {
    case "pair":
      return pairStatement(ref, subject.ip, subject.node, ahead);
    case "ip":
      return addressStatement(ref, subject.ip, ahead);
    case "node":
      return nodeStatement(ref, subject.node, ahead);
    case "object":
      return objectStatement(ref, ahead);
    case "name":
      return nameStatement(ref, ahead);
  }
}

function gatesOf(seen: Seen, subject: Subject, ahead: Ahead): readonly Gate[] {
  const own = objectGates(seen);
  switch (subject.kind) {
    case "pair":
      return [...own, ...pairGates(seen, subject, ahead)];
    case "ip":
      return [...own, ...firewallGates(seen), ...addressGates(seen, subject.ip)];
    case "node": {
      const node = seen.world.nodes.find(({ name }) => name === subject.node);
      return node === undefined ? own : [...own, ...nodeGates(seen, node), ...takingGates(seen, subject.node)];
    }
    case "object":
    case "name":
      return [
        ...own,
        ...firewallGates(seen),
        ...shortAddressGates(seen),
        ...acquiringGates(seen),
        ...nameGates(seen, namesOf(seen)),
        ...approvalGates(seen),
      ];
  }
}

/** All gates between an address and a node. Those that only a match is asked are asked as if the node matched, and were its turn. */
function pairGates(
  seen: Seen,
  { ip, node: name }: { readonly ip: string; readonly node: string },
  ahead: Ahead,
): readonly Gate[] {
  const node = seen.world.nodes.find((one) => one.name === name);
  if (node === undefined) return [];
  const address = addressGates(seen, ip, name);
  const own = nodeGates(seen, node);
  const shut = own.filter(({ pass }) => pass === false);
  const openings = shut.map((gate) => remediesOf(gate, { seen, ip, node: name, ...ahead })[0]);
  const isOpenable = openings.every((change) => change !== undefined);
  const matched = isOpenable ? openings.reduce((world, change) => change?.make(world) ?? world, seen.world) : undefined;
  const probe = matched === undefined ? undefined : seenIn({ world: matched, plan: plan(matched, {}) }, seen.ref);
  const taking = probe === undefined ? takingGates(seen, name, ip) : takingGates(probe, name, ip);
  return [...address, ...own, ...taking, ...(probe === undefined ? [] : turnGate(probe, ip, name))];
}

/** Who would get the address if it were free. */
function turnGate({ world, ref, ...probe }: Seen, ip: string, name: string): readonly Gate[] {
  const entry = ipOf(probe, ip);
  if (entry?.nodeName === name && entry.state === "active") return [{ id: "turn", pass: true, detail: "" }];
  const holder = entry?.nodeName;
  const isNode = holder !== undefined && world.nodes.some((node) => node.name === holder);
  const freed = isNode ? notReady(holder).make(world) : world;
  const { actions } = plan(freed, {});
  const sent = actions.flatMap((action) =>
    (action.kind === "assign-ip" || action.kind === "move-ip") &&
    action.ip === ip &&
    refKey(action.object) === refKey(ref)
      ? [action.after.nodeName]
      : [],
  );
  const [first] = sent;
  if (first === undefined) return [{ id: "turn", pass: undefined, detail: "" }];
  if (first === name) return [{ id: "turn", pass: true, detail: "" }];
  return [{ id: "turn", pass: false, detail: "", about: first }];
}

/** Every node as the object sees it, those that match first; none where its spec cannot be used. */
function nodesOf(seen: Seen): readonly NodeTold[] {
  if (seen.validation.kind === "blocked") return [];
  const pool = poolOf(seen);
  const { matching } = seen.assessment;
  const matches = new Set(matching);
  const taken = matching.map((node): NodeTold => {
    const gate = pool === undefined ? undefined : takingGates(seen, node).find(({ pass }) => pass === false);
    const isOwn = gate?.about !== undefined;
    return gate === undefined || isOwn ? { node } : { node, gate };
  });
  const others = seen.world.nodes
    .filter(({ name }) => !matches.has(name))
    .map((node): NodeTold => {
      const gate = nodeGates(seen, node).find(({ pass, isUnread }) => pass === false || isUnread === true);
      return gate === undefined ? { node: node.name } : { node: node.name, gate };
    });
  return [...taken, ...others];
}

/** How it stands now, as one sentence. */
function messageOf(seen: Seen, subject: Subject): string {
  const object = refKey(seen.ref);
  switch (subject.kind) {
    case "pair":
      return pairMessage(seen, subject.ip, subject.node);
    case "ip":
      return placed(seen, subject.ip);
    case "node": {
      if (!seen.assessment.matching.includes(subject.node)) return `${subject.node} does not match ${object}.`;
      const grace = graceUntilMs(seen, subject.node);
      return grace === undefined
        ? `${subject.node} matches ${object}.`
        : `${subject.node} does not match ${object} any more, and counts as a match until ${formatTime(grace)}: it is in grace.`;
    }
    case "object":
    case "name":
      return wholeMessage(seen);
  }
}

function pairMessage(seen: Seen, ip: string, node: string): string {
  const { state, nodeName } = ipOf(seen, ip) ?? {};
  const isThere = nodeName === node && (state === "active" || state === "no-match");
  if (!isThere) return `${placed(seen, ip)} It is not on ${node}.`;
  return isActive(seen, ip)
    ? `${ip} is active on ${node}.`
    : `${placed(seen, ip)} It stays there although ${node} does not match.`;
}

/** How many of its addresses an object has. */
function wholeMessage(seen: Seen): string {
  const object = refKey(seen.ref);
  const pool = poolOf(seen);
  if (pool === undefined)
    return `${object} has ${nodesText(seen.assessment.matching.length)} of ${seen.world.nodes.length}.`;
  const desired = desiredBy(seen, pool);
  const addresses = desired === 1 ? "address" : "addresses";
  const stored = Object.values(pool.status.ips).filter(({ state }) => state === "active").length;
  if (seen.validation.kind !== "blocked" || stored === 0)
    return `${object} has ${activeCount(seen)} of ${desired} ${addresses} active on nodes that match.`;
  const what = seen.ref.kind === "pool" ? "Its spec cannot be used" : "What it needs cannot be used";
  return `${object} had ${stored} of ${desired} ${addresses} active when it was looked at last. ${what}, so nobody can tell which nodes match.`;
}

/** How many addresses an object is to have. Of an invalid one that is not planned: its spec says it, and a routed IP always is to have one. */
function desiredBy({ ref, object: { spec }, validation }: Seen, { desired }: PoolAssessment): number {
  if (validation.kind !== "blocked") return desired;
  return ref.kind === "routedip" || !("ips" in spec) ? 1 : spec.desiredIPs || new Set(spec.ips).size;
}

/** Where an address is by its status, and whether the node can serve at all: while nothing can be decided for the object its status is old. */
function placed(seen: Seen, ip: string): string {
  const entry = ipOf(seen, ip);
  const sentence = placeSentence(ip, entry);
  if (entry?.state !== "active") return sentence;
  const node = seen.world.nodes.find(({ name }) => name === entry.nodeName);
  if (node === undefined) return `${sentence} That is what status says: there is no such node.`;
  const grace = graceUntilMs(seen, node.name);
  if (grace !== undefined) return `${sentence} The node still counts as a match until ${formatTime(grace)}.`;
  return node.ready.isReady ? sentence : `${sentence} That is what status says: the node is not ready.`;
}

function nodesText(count: number): string {
  return count === 1 ? "1 matching node" : `${count} matching nodes`;
}

/** What is known of the subject beside its gates. */
function factsOf(seen: Seen, subject: Subject): readonly string[] {
  const names = namesOf(seen);
  const pool = poolOf(seen);
  if (subject.kind === "object" || subject.kind === "name") {
    const addresses = Object.keys(pool?.status.ips ?? {}).map((ip) => placed(seen, ip));
    return [...addresses, ...names.flatMap((name) => nameFacts(seen, name))];
  }
  if (subject.kind === "node") {
    const carried = Object.entries(pool?.status.ips ?? {}).flatMap(([ip, { nodeName }]) =>
      nodeName === subject.node ? [`It carries ${ip}.`] : [],
    );
    const isLater = takingGates(seen, subject.node).some(({ id }) => id === "due");
    const waits = isLater ? -1 : (pool?.waiting.indexOf(subject.node) ?? -1);
    return [
      ...carried,
      ...(waits < 0 ? [] : [`It waits for an address, ${waits + 1} of ${pool?.waiting.length} by name.`]),
    ];
  }
  return names.slice(0, 1).flatMap(({ fqdn }) => inName(seen, fqdn, subject.ip));
}

/** The records of the object's name. Those of a name that belongs to another object are told by that one. */
function serviceOf({ plan: { names }, ref }: Seen, fqdn: string): NameService | undefined {
  const isSame = (name: string): boolean => setNamed(name).type === setNamed(fqdn).type;
  const own = names.find((name) => refKey(name.object) === refKey(ref) && name.isFormer !== true && isSame(name.fqdn));
  return own ?? names.find((name) => name.fqdn === fqdn && name.isFormer !== true);
}

function inName(seen: Seen, fqdn: string, ip: string): readonly string[] {
  const service = serviceOf(seen, fqdn);
  if (service === undefined) return [];
  return [`${fqdn} ${service.shown.includes(ip) ? "shows" : "does not show"} it.`];
}

function nameFacts(seen: Seen, { fqdn, drift }: ReturnType<typeof namesOf>[number]): readonly string[] {
  const service = serviceOf(seen, fqdn);
  if (service === undefined) return [`The records of ${fqdn} could not be read.`];
  const { shown } = service;
  const state = drift === undefined ? "" : drift === 0 ? `: as desired${deadText(service)}` : ": not as desired";
  return [`${fqdn} shows ${shown.length === 0 ? "no address" : shown.join(", ")}${state}.`];
}

/** What a name shows that does not answer: it may be all that there is to show. */
function deadText({ shown, serving }: NameService): string {
  const dead = shown.filter((ip) => !serving.includes(ip));
  if (dead.length === 0) return "";
  if (dead.length < shown.length) return `, but ${dead.join(", ")} ${dead.length === 1 ? "does" : "do"} not answer now`;
  return ", but nothing there answers now, and there is nothing else to show";
}
