import {
  type AcquireIP,
  type Action,
  type ActionKind,
  type AnnotateNode,
  type AssignIP,
  type ChangeMachines,
  type ChangePorts,
  type DeleteIP,
  IMPACT_CLASSES,
  type NodeAnnotations,
  type ObjectRef,
  type Place,
  type RecordSetContent,
  type SetFinalizer,
  type Taken,
  type UnassignIP,
  type WriteDNS,
} from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import type { OtherRecords, Zone } from "../model/dns.ts";
import type { ServedPorts } from "../model/firewall.ts";
import type { FactValue } from "../model/outcome.ts";
import { REASONS } from "../model/reason.ts";
import type { RunLimits } from "../model/restraint.ts";
import type { Selection } from "../model/run.ts";
import type { Precondition, SavedAction, SavedPlan } from "../model/saved-plan.ts";
import { timestamp } from "../model/time.ts";
import { PORT_RANGE } from "./object-shapes.ts";
import {
  fields,
  flag,
  keyOf,
  list,
  mark,
  membersOf,
  names,
  number,
  refuse,
  type Shape,
  text,
  type Written,
  word,
} from "./shape.ts";

// How a saved plan stands in a file: what no shape names is never written.

/** The shape of what never has a value. */
const none: Shape<never> = { write: () => null, read: (_, path) => refuse(path, "absent") };

const PLACE: Shape<Place> = fields<Place>({ machineID: text, nodeName: text }, "nodeName");
const NODE: Shape<Required<Place>> = fields<Required<Place>>({ machineID: text, nodeName: text });

type Impact = NonNullable<Action["impact"]>;

const COMMON = {
  id: text,
  object: fields<ObjectRef>({ kind: word("pool", "dns", "routedip"), namespace: text, name: text }),
  reason: keyOf(REASONS),
  requires: list(text),
  follows: list(text),
  impact: word<Impact>(...IMPACT_CLASSES.filter((name) => name !== "none")),
  takes: list(
    fields<Taken>({ what: text, impact: word("relocation", "reduction", "takeover"), isName: mark }, "isName"),
  ),
};

const ASSIGN: Shape<AssignIP> = fields<AssignIP>(
  {
    ...COMMON,
    kind: word("assign-ip", "move-ip"),
    provider: text,
    ip: text,
    before: PLACE,
    after: NODE,
    mustNotCarry: list(text),
    isHolderJudged: flag,
    isServing: mark,
    replaces: text,
  },
  "impact",
  "takes",
  "before",
  "isServing",
  "replaces",
);

const UNASSIGN: Shape<UnassignIP> = fields<UnassignIP>(
  {
    ...COMMON,
    kind: word("unassign-ip"),
    provider: text,
    ip: text,
    before: PLACE,
    after: none,
    isHolderJudged: flag,
    isGivenBack: mark,
  },
  "impact",
  "takes",
  "after",
  "isGivenBack",
);

const FOR_NODE: Shape<{ readonly node: Required<Place> }> = fields<{ readonly node: Required<Place> }>({ node: NODE });
const IN_REGION: Shape<{ readonly region: string }> = fields<{ readonly region: string }>({ region: text });
const AT: Shape<AcquireIP["after"]> = {
  write: (after, by) => ("node" in after ? FOR_NODE.write(after, by) : IN_REGION.write(after, by)),
  read: (value, path) => ("node" in membersOf(value, path) ? FOR_NODE : IN_REGION).read(value, path),
};

const ACQUIRE: Shape<AcquireIP> = fields<AcquireIP>(
  {
    ...COMMON,
    kind: word("acquire-ip"),
    provider: text,
    ordinal: number,
    newAddress: text,
    before: none,
    after: AT,
  },
  "impact",
  "takes",
  "newAddress",
  "before",
);

const DELETE: Shape<DeleteIP> = fields<DeleteIP>(
  { ...COMMON, kind: word("delete-ip"), provider: text, ip: text, before: PLACE, after: none },
  "impact",
  "takes",
  "before",
  "after",
);

const ANNOTATIONS: Shape<NodeAnnotations> = fields<NodeAnnotations>(
  { address: names, pool: names, host: names },
  "address",
  "pool",
  "host",
);

const ANNOTATE: Shape<AnnotateNode> = fields<AnnotateNode>(
  {
    ...COMMON,
    kind: word("annotate-node", "clear-annotation"),
    nodeName: text,
    ipFamily: word("IPv4", "IPv6"),
    before: ANNOTATIONS,
    after: ANNOTATIONS,
    holder: PLACE,
    isGivenUp: mark,
  },
  "impact",
  "takes",
  "ipFamily",
  "holder",
  "isGivenUp",
);

const FINALIZER: Shape<SetFinalizer> = fields<SetFinalizer>(
  { ...COMMON, kind: word("add-finalizer", "remove-finalizer"), before: none, after: none },
  "impact",
  "takes",
  "before",
  "after",
);

const DNS: Shape<WriteDNS> = fields<WriteDNS>(
  {
    ...COMMON,
    kind: word("update-dns", "withdraw-dns", "delete-dns"),
    dnsProvider: text,
    zoneText: text,
    zone: fields<Zone>({ id: text, name: text }, "name"),
    fqdn: text,
    before: fields<RecordSetContent>({ addresses: list(text), ttlSeconds: number }, "ttlSeconds"),
    after: fields<WriteDNS["after"]>({ addresses: list(text), ttlSeconds: number }),
    isRepair: mark,
    unrecorded: list(text),
    others: fields<OtherRecords>({ addresses: list(text), expected: word("any", "none", "some") }),
    cachedSeconds: number,
  },
  "impact",
  "takes",
  "isRepair",
  "unrecorded",
  "others",
  "cachedSeconds",
);

const AT_FIREWALL = {
  ...COMMON,
  provider: text,
  firewall: fields<ChangePorts["firewall"]>({ id: text, name: text }),
  before: list(text),
  after: list(text),
  awaited: list(text),
};

const PORTS: Shape<ChangePorts> = fields<ChangePorts>(
  {
    ...AT_FIREWALL,
    kind: word("open-ports", "close-ports"),
    ports: list(PORT_RANGE),
    replaced: list(fields<ServedPorts>({ ports: PORT_RANGE, family: word("IPv4", "IPv6") })),
    otherMachines: number,
  },
  "impact",
  "takes",
  "replaced",
  "otherMachines",
);

const MACHINES: Shape<ChangeMachines> = fields<ChangeMachines>(
  { ...AT_FIREWALL, kind: word("add-to-firewall", "remove-from-firewall"), machines: list(PLACE) },
  "impact",
  "takes",
);

const KIND: Shape<ActionKind> = keyOf(ACTIONS);

/** The shape of each kind. The compiler refuses one that is forgotten. */
const SHAPES: Readonly<Record<ActionKind, Shape<Action>>> = {
  "assign-ip": of(ASSIGN),
  "move-ip": of(ASSIGN),
  "unassign-ip": of(UNASSIGN),
  "delete-ip": of(DELETE),
  "acquire-ip": of(ACQUIRE),
  "annotate-node": of(ANNOTATE),
  "clear-annotation": of(ANNOTATE),
  "add-finalizer": of(FINALIZER),
  "remove-finalizer": of(FINALIZER),
  "update-dns": of(DNS),
  "withdraw-dns": of(DNS),
  "delete-dns": of(DNS),
  "open-ports": of(PORTS),
  "close-ports": of(PORTS),
  "add-to-firewall": of(MACHINES),
  "remove-from-firewall": of(MACHINES),
};

/** The shape of some kinds of actions as that of any: only {@link SHAPES} asks it. */
function of<A extends Action>(shape: Shape<A>): Shape<Action> {
  return { write: (action, by) => shape.write(action as A, by), read: shape.read };
}

const ACTION: Shape<Action> = {
  write: (action, by) => SHAPES[action.kind].write(action, by),
  read: (value, path) => SHAPES[KIND.read(membersOf(value, path)["kind"], `${path}.kind`)].read(value, path),
};

const FACT: Shape<FactValue> = {
  write: (value, by) => (typeof value === "string" ? text.write(value, by) : list(text).write(value, by)),
  read: (value, path) => (typeof value === "string" ? value : list(text).read(value, path)),
};

const ENTRY: Shape<SavedAction> = fields<SavedAction>({
  text,
  action: ACTION,
  preconditions: list(fields<Precondition>({ path: text, equals: FACT, message: text })),
  needs: list(number),
});

/** A saved plan as it stands in a file, beside what every document has. */
interface WrittenPlan extends Pick<SavedPlan, "selection" | "limits" | "actions" | "followUps"> {
  readonly planId: string;
  /** RFC 3339. */
  readonly savedAt: string;
  readonly cluster: { readonly uid: string };
}

const WRITTEN: Shape<WrittenPlan> = fields<WrittenPlan>({
  planId: text,
  savedAt: text,
  cluster: fields<WrittenPlan["cluster"]>({ uid: text }),
  selection: fields<Selection>(
    { namespace: text, objects: list(text), labelSelector: text, shard: text },
    "namespace",
    "objects",
    "labelSelector",
    "shard",
  ),
  limits: fields<RunLimits>(
    { voluntaryMoves: number, purchases: number, removals: number },
    "voluntaryMoves",
    "purchases",
    "removals",
  ),
  actions: list(ENTRY),
  followUps: list(ENTRY),
});

/** Returns a saved plan as it is written. Pure. */
export function writeSavedPlan({ planID: planId, savedAtMs, clusterUID: uid, ...plan }: SavedPlan): Written {
  return WRITTEN.write({ ...plan, planId, savedAt: timestamp(savedAtMs), cluster: { uid } });
}

/** Reads what {@link writeSavedPlan} wrote. Pure. @throws ConfigError `invalid` for something else */
export function readSavedPlan(written: unknown): SavedPlan {
  const { planId: planID, savedAt, cluster, ...plan } = WRITTEN.read(written, "");
  const savedAtMs = Date.parse(savedAt);
  if (Number.isNaN(savedAtMs)) refuse("savedAt", "a time");
  return { ...plan, planID, savedAtMs, clusterUID: cluster.uid };
}
