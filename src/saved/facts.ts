import {
  type Action,
  type ActionKind,
  type AnnotateNode,
  type ObjectRef,
  ownPart,
  type Place,
  refKey,
  targetPlace,
  type WriteDNS,
} from "../model/action.ts";
import {
  changesAddress,
  changesAnnotation,
  changesMachines,
  changesName,
  changesPorts,
  providerOf,
} from "../model/action-kinds.ts";
import { clearedAddresses, shownAddresses } from "../model/annotated.ts";
import { addressesWithout } from "../model/dns.ts";
import { portText, shownPorts } from "../model/firewall.ts";
import { nodePhrase } from "../model/node-phrase.ts";
import type { Observation } from "../model/observation.ts";
import type { FactValue } from "../model/outcome.ts";
import type { Plan, PoolAssessment, RecordSetAssessment } from "../model/plan.ts";
import { FINALIZER } from "../model/resource.ts";
import { listText } from "../report/text/layout.ts";
import { rfc3339 } from "../report/text/times.ts";
import {
  type AtFirewall,
  addressFact,
  annotationOf,
  carriedBy,
  firewallOf,
  holderOf,
  machineName,
  managedBy,
  metaOf,
  NONE,
  nodeOf,
  nodesWith,
  recordsOf,
  UNKNOWN,
  UNREADABLE,
  YES,
  yesNo,
  zoneOf,
} from "./readings.ts";

/** What facts are read from: a world, and what is planned for it. */
export interface Now {
  readonly world: Observation;
  readonly plan: Plan;
  /** The action as it is planned now: it says whom it hurts. Absent where it is not planned. */
  readonly planned?: Action | undefined;
  /** Addresses that acquisitions of the same saved plan have brought. */
  readonly bought?: ReadonlySet<string>;
}

/** A question that is asked when a plan is saved, and once more before it is carried out. */
export interface Question {
  /** Names the fact: `ip/203.0.113.11.holder`. */
  readonly path: string;
  /** Another fact: where an earlier action of the same plan changes that one, this question is not asked either. */
  readonly of?: string;
  readonly read: (now: Now) => FactValue;
  /** Says in a sentence what must be true. */
  readonly must: (value: FactValue, now: Now) => string;
  /** Says in a sentence what is different now. */
  readonly changed: (is: FactValue, now: Now) => string;
}

/** What an action may depend on. */
type FactKind =
  | "object"
  | "spec"
  | "deletion"
  | "holder"
  | "lock"
  | "leaves"
  | "harm"
  | "target"
  | "machine"
  | "free"
  | "managed"
  | "shown"
  | "annotation"
  | "nodes"
  | "zone"
  | "records"
  | "foreign"
  | "ports"
  | "behind"
  | "finalizer";

const ALWAYS = ["object", "spec", "deletion"] as const;
const NAME = [...ALWAYS, "shown", "nodes", "zone", "records", "foreign", "harm"] as const;

/** What each kind of action depends on, in the order in which it is asked: the first fact that differs is told. A new kind does not compile without its row. */
const DEPENDS_ON: Readonly<Record<ActionKind, readonly FactKind[]>> = {
  "assign-ip": [...ALWAYS, "holder", "lock", "target", "machine", "free"],
  "move-ip": [...ALWAYS, "holder", "lock", "leaves", "harm", "target", "machine", "free"],
  "unassign-ip": [...ALWAYS, "holder", "lock", "leaves", "harm"],
  "delete-ip": [...ALWAYS, "holder", "lock"],
  "acquire-ip": [...ALWAYS, "managed", "target", "machine", "free"],
  "annotate-node": [...ALWAYS, "shown", "annotation"],
  "clear-annotation": [...ALWAYS, "shown", "annotation"],
  "update-dns": NAME,
  "withdraw-dns": NAME,
  "delete-dns": NAME,
  "open-ports": [...ALWAYS, "ports"],
  "close-ports": [...ALWAYS, "ports"],
  "add-to-firewall": [...ALWAYS, "behind"],
  "remove-from-firewall": [...ALWAYS, "behind"],
  "add-finalizer": [...ALWAYS, "finalizer"],
  "remove-finalizer": [...ALWAYS, "finalizer"],
};

/** Returns what an action depends on, as questions with different paths. Pure. */
export function questionsOf(action: Action): readonly Question[] {
  const all = DEPENDS_ON[action.kind].flatMap((kind) => QUESTIONS[kind](action));
  return [...new Map(all.map((question) => [question.path, question])).values()];
}

/** Returns the paths of the facts that an action changes when it succeeds. Pure. */
export function changesOf(action: Action): readonly string[] {
  if (action.kind === "acquire-ip") {
    const places = "node" in action.after ? [action.after.node] : [];
    return [...[action.newAddress ?? []].flat().map(holderPath), ...places.map(carriesPath)];
  }
  if (changesAddress(action)) {
    const places = [action.before, action.after].flatMap((place) => place ?? []);
    return [holderPath(action.ip), ...places.map(carriesPath)];
  }
  if (changesName(action)) return [namePath(action, "records"), namePath(action, "foreign")];
  if (changesAnnotation(action)) return [annotationPath(action)];
  if (changesPorts(action)) return action.ports.map((ports) => firewallPath(action, portText(ports)));
  if (changesMachines(action)) return action.machines.map(({ machineID }) => firewallPath(action, machineID));
  return [`${refKey(action.object)}.finalizer`];
}

/** The questions about each kind of fact; none where an action has nothing of the kind. */
const QUESTIONS: Readonly<Record<FactKind, (action: Action) => readonly Question[]>> = {
  object: ({ object }) => [
    {
      path: `${refKey(object)}.uid`,
      read: ({ world }) => metaOf(world, object)?.uid ?? NONE,
      must: () => `${refKey(object)} is the same object.`,
      changed: (is) => (is === NONE ? `${refKey(object)} is gone.` : `${refKey(object)} was deleted and made anew.`),
    },
  ],
  spec: ({ object }) => [
    {
      path: `${refKey(object)}.generation`,
      read: ({ world }) => String(metaOf(world, object)?.generation ?? NONE),
      must: (value) => `The spec of ${refKey(object)} is as it was in generation ${value}.`,
      changed: (is) => `The spec of ${refKey(object)} was changed: it has generation ${is} now.`,
    },
  ],
  deletion: ({ object }) => [
    flagged(
      `${refKey(object)}.deleting`,
      `${refKey(object)} is being deleted`,
      `${refKey(object)} is not being deleted`,
      {
        read: ({ world }) => metaOf(world, object)?.isDeleting === true,
      },
    ),
  ],
  holder: (action) => (changesAddress(action) ? [holderQuestion(action.ip, action.provider)] : []),
  lock: (action) => {
    if (!changesAddress(action)) return [];
    const { ip, provider } = action;
    const read = ({ world }: Now): boolean => {
      const fact = addressFact(world, provider, ip);
      return fact?.kind === "known" && fact.address.isLocked;
    };
    const of = holderPath(ip);
    return [
      flagged(`ip/${ip}.locked`, `${provider} is at work on ${ip}`, `${provider} is not at work on ${ip}`, {
        read,
        of,
      }),
    ];
  },
  leaves: (action) => (changesAddress(action) ? matchQuestions(action.object, action.before?.nodeName) : []),
  harm: (action) => {
    const taken = new Set((action.takes ?? []).map(({ what }) => what));
    const left = takenAway(action).filter((what) => !taken.has(what));
    return left.map((what) =>
      flagged(`clients/${what}`, `${what} serves somebody`, `${what} serves nobody`, {
        read: ({ planned }) => (planned?.takes ?? []).some((one) => one.what === what),
      }),
    );
  },
  target: (action) => matchQuestions(action.object, targetPlace(action)?.nodeName),
  machine: (action) => {
    const place = targetPlace(action);
    const provider = providerOf(action);
    if (place === undefined || provider === undefined) return [];
    const { nodeName } = place;
    return [
      {
        path: `node/${nodeName}.machine`,
        read: ({ world }) => world.registry.machineID(provider, nodeOf(world, nodeName)?.providerID ?? "") ?? NONE,
        must: (value) => `${nodeName} is machine ${value}.`,
        changed: (is) =>
          is === NONE ? `${nodeName} is no machine now.` : `${nodeName} is another machine now: ${is}.`,
      },
    ];
  },
  free: (action) => {
    const place = targetPlace(action);
    const provider = providerOf(action);
    if (place === undefined || provider === undefined) return [];
    return [
      {
        path: carriesPath(place),
        read: ({ world }) => carriedBy(world, provider, place),
        ...told((value) => `${place.nodeName} carries ${namesOf(value, "no address")}`),
      },
    ];
  },
  managed: ({ object, kind }) => {
    if (kind !== "acquire-ip") return [];
    return [
      {
        path: addressesPath(object),
        read: ({ world, bought }) => managedBy(world, object, bought),
        ...told((value) => `${refKey(object)} has ${namesOf(value, "no address")}`),
      },
    ];
  },
  shown: (action) => shownBy(action).map((ip) => holderQuestion(ip)),
  annotation: (action) => {
    if (!changesAnnotation(action)) return [];
    const { nodeName, ipFamily = "IPv4" } = action;
    const says = (value: FactValue): string =>
      value === NONE ? `${nodeName} is gone` : `The annotation of ${nodeName} says ${namesOf(value, "nothing")}`;
    const read: Question["read"] = ({ world }) => annotationOf(nodeOf(world, nodeName), ipFamily);
    return [{ path: annotationPath(action), read, ...told(says) }];
  },
  nodes: (action) => (changesName(action) ? changedAddresses(action).map((ip) => nodeQuestion(action.object, ip)) : []),
  zone: (action) => {
    if (!changesName(action)) return [];
    const says = (value: FactValue): string =>
      value === NONE
        ? `${action.dnsProvider} shows no zone of ${action.fqdn}`
        : `The zone of ${action.fqdn} is ${value}`;
    return [{ path: namePath(action, "zone"), read: ({ world }) => zoneOf(world, action), ...told(says) }];
  },
  records: (action) => {
    if (!changesName(action)) return [];
    const says = (value: FactValue): string =>
      `${nameText(action)} has ${value === UNREADABLE ? "records that cannot be read" : namesOf(value, "no A record")}`;
    return [{ path: namePath(action, "records"), read: ({ world }) => recordsOf(world, action), ...told(says) }];
  },
  foreign: (action) => {
    if (!changesName(action)) return [];
    return [
      {
        path: namePath(action, "foreign"),
        // Only a plan knows which records no object has on record. Where nothing is planned, nothing is known to differ.
        read: ({ planned = action }) => (changesName(planned) ? (planned.unrecorded ?? []) : []),
        ...told((value) => `Of what leaves ${nameText(action)}, no object has on record: ${namesOf(value, "none")}`),
      },
    ];
  },
  ports: (action) => {
    if (!changesPorts(action)) return [];
    return action.ports
      .map(portText)
      .map((port) =>
        atFirewall(action, port, `has a rule of flipop for ${port}`, `has no rule of flipop for ${port}`, (firewall) =>
          shownPorts(firewall).has(port),
        ),
      );
  },
  behind: (action) => {
    if (!changesMachines(action)) return [];
    return action.machines.map(({ machineID, nodeName = `machine ${machineID}` }) =>
      atFirewall(action, machineID, `has ${nodeName} behind it`, `does not have ${nodeName} behind it`, (firewall) =>
        firewall.machineIDs.includes(machineID),
      ),
    );
  },
  finalizer: ({ object }) => [
    flagged(
      `${refKey(object)}.finalizer`,
      `${refKey(object)} has the finalizer of flipop`,
      `${refKey(object)} has no finalizer of flipop`,
      {
        read: ({ world }) => metaOf(world, object)?.finalizers.includes(FINALIZER) === true,
      },
    ),
  ],
};

/** The texts of a fact that are one sentence, true or no longer true. */
function told(says: (value: FactValue, now: Now) => string): Pick<Question, "must" | "changed"> {
  return { must: (value, now) => `${says(value, now)}.`, changed: (is, now) => `${says(is, now)} now.` };
}

/** A fact that is true or not. */
function flagged(
  path: string,
  yes: string,
  no: string,
  { read, of }: { readonly read: (now: Now) => boolean; readonly of?: string },
): Question {
  const texts = told((value) => (value === YES ? yes : no));
  return { path, read: (now) => yesNo(read(now)), ...texts, ...(of === undefined ? {} : { of }) };
}

function namesOf(value: FactValue, none: string): string {
  const texts = typeof value === "string" ? [value] : value;
  return texts.length === 0 ? none : listText(texts, 5);
}

// Addresses and machines.

function holderPath(ip: string): string {
  return `ip/${ip}.holder`;
}

function carriesPath({ machineID }: Place): string {
  return `machine/${machineID}.addresses`;
}

/** Returns the path of the addresses that an object has. */
export function addressesPath(object: ObjectRef): string {
  return `${refKey(object)}.addresses`;
}

function holderQuestion(ip: string, provider?: string): Question {
  const says = (value: FactValue, { world }: Now): string => {
    switch (value) {
      case NONE:
        return `${ip} is on no machine`;
      case "gone":
        return `${provider} does not have ${ip}`;
      case UNKNOWN:
        return `No provider shows ${ip}`;
      case UNREADABLE:
        return `${ip} cannot be read`;
      default:
        return `${ip} is on ${machineName(world, String(value))}`;
    }
  };
  return { path: holderPath(ip), read: ({ world }) => holderOf(world, ip, provider), ...told(says) };
}

/** Addresses that come to a name or a node, or whose annotation goes. */
function shownBy(action: Action): readonly string[] {
  if (action.kind === "annotate-node") return shownAddresses(action.after);
  if (action.kind === "clear-annotation") return clearedAddresses(action);
  if (!changesName(action)) return [];
  return addressesWithout(action.after.addresses, action.before.addresses);
}

/** The addresses, or the name, that an action takes away from where it is. */
function takenAway(action: Action): readonly string[] {
  if (action.kind === "delete-dns") return [action.fqdn];
  if (!changesName(action)) return changesAddress(action) ? [action.ip] : [];
  return addressesWithout(ownPart(action, action.before.addresses), action.after.addresses);
}

// Nodes.

function annotationPath({ nodeName, ipFamily }: AnnotateNode): string {
  return `node/${nodeName}.annotation${ipFamily === undefined ? "" : `.${ipFamily}`}`;
}

/** Whether a node matches an object. */
function matchQuestions(object: ObjectRef, nodeName: string | undefined): readonly Question[] {
  if (nodeName === undefined) return [];
  return [
    {
      path: `node/${nodeName}.matches(${refKey(object)})`,
      read: (now) => yesNo(matches(now, object, nodeName)),
      must: (value) => `${nodeName} ${value === YES ? "matches" : "does not match"}.`,
      changed: (is, now) => (is === YES ? `${nodeName} matches again.` : whyNoMatch(nodeName, object, now)),
    },
  ];
}

/** Which nodes have an address of a name, and whether they match. */
function nodeQuestion(object: ObjectRef, ip: string): Question {
  const says = (value: FactValue): string =>
    `${ip} is the address of ${value.length === 0 ? "no node" : namesOf(value, "")}`;
  return {
    path: `ip/${ip}.node(${refKey(object)})`,
    of: holderPath(ip),
    read: (now) =>
      nodesWith(now.world, ip).map(
        (name) => `${name}, which ${matches(now, object, name) ? "matches" : "does not match"}`,
      ),
    ...told(says),
  };
}

function assessmentOf({ plan }: Now, object: ObjectRef): PoolAssessment | RecordSetAssessment | undefined {
  return [...plan.pools, ...plan.recordSets].find((one) => refKey(one.object) === refKey(object));
}

function matches(now: Now, object: ObjectRef, nodeName: string): boolean {
  return assessmentOf(now, object)?.matching.includes(nodeName) === true;
}

function whyNoMatch(nodeName: string, object: ObjectRef, now: Now): string {
  const node = nodeOf(now.world, nodeName);
  if (node === undefined) return `${nodeName} is gone.`;
  const verdict = assessmentOf(now, object)?.notMatching.find((one) => one.nodeName === nodeName);
  if (verdict === undefined) return `${nodeName} does not match now.`;
  const { isReady, sinceMs } = node.ready;
  const since = isReady || sinceMs === undefined ? "" : ` (since ${rfc3339(sinceMs)})`;
  return `${nodeName} does not match now: ${nodePhrase(verdict)}${since}.`;
}

// Names and firewalls.

function namePath({ dnsProvider, fqdn }: WriteDNS, what: string): string {
  return `dns/${dnsProvider}/${fqdn}.${what}`;
}

function nameText({ dnsProvider, fqdn }: WriteDNS): string {
  return `${fqdn} at ${dnsProvider}`;
}

function changedAddresses({ before, after }: WriteDNS): readonly string[] {
  const kept = new Set(before.addresses.filter((ip) => after.addresses.includes(ip)));
  return [...new Set([...before.addresses, ...after.addresses])].filter((ip) => !kept.has(ip));
}

function firewallPath({ firewall }: AtFirewall, what: string): string {
  return `firewall/${firewall.id}/${what}`;
}

/** Whether a firewall has a rule, or a machine behind it. */
function atFirewall(
  action: AtFirewall,
  what: string,
  yes: string,
  no: string,
  has: (firewall: NonNullable<ReturnType<typeof firewallOf>>) => boolean,
): Question {
  const says = (value: FactValue): string => {
    const { name } = action.firewall;
    return value === NONE
      ? `Firewall ${name} is gone or cannot be read`
      : `Firewall ${name} ${value === YES ? yes : no}`;
  };
  const read = ({ world }: Now): string => {
    const firewall = firewallOf(world, action);
    return firewall === undefined ? NONE : yesNo(has(firewall));
  };
  return { path: firewallPath(action, what), read, ...told(says) };
}
