import type { ObjectRef } from "../model/action.ts";
import { refKey } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import type { Finding } from "../model/finding.ts";
import { type GateID, gateOf } from "../model/gates.ts";
import { adviceFor, whyHeld } from "../model/hold.ts";
import type { Observation } from "../model/observation.ts";
import type { Hold, Plan } from "../model/plan.ts";
import type { NothingSelected } from "../plan/holds.ts";
import { emptyTarget } from "../plan/nodes/empty-target.ts";
import { validatePool, validateRecordSet } from "../plan/validate.ts";
import { type CheckedObject, findingOf } from "./checked-object.ts";
import { pathSteps } from "./documents.ts";

/**
 * Returns what of the files a person has to mend, by a plan of the cluster in which they stand in the place of the stored objects: every hold of theirs that needs a person, and
 * selectors that select nothing. What was found without the cluster is not said again. Pure.
 */
export function heldFindings(
  objects: readonly CheckedObject[],
  found: readonly Finding[],
  { plan, observation }: { readonly plan: Plan; readonly observation: Observation },
): readonly Finding[] {
  const errors = found.filter(({ severity }) => severity === "error");
  return objects.flatMap((object) => {
    const own = errors.filter((finding) => finding.object === object.ref);
    const empty = emptyOf(object, observation);
    const held = heldOf(object, plan, { isInvalid: own.length > 0, isEmpty: empty.length > 0 });
    const said = [...held, ...empty];
    return said
      .filter(({ path }) => !own.some((finding) => finding.path === path))
      .filter(({ path, message }, at, all) => all.findIndex((one) => isSame(one, { path, message })) === at)
      .map(({ path, message }) =>
        findingOf(
          { code: "FLP240", path, message },
          { file: object.file, object: object.ref, position: object.document.valueAt(pathSteps(path)) },
        ),
      );
  });
}

/** What is said of one field. */
type Said = Pick<Finding, "path" | "message">;

function isSame(a: Said, b: Said): boolean {
  return a.path === b.path && a.message === b.message;
}

/** An invalid spec of which something was said already is not called invalid once more, and a selector that selects nothing is told at its field. */
function heldOf(
  object: CheckedObject,
  { holds }: Plan,
  { isInvalid, isEmpty }: { readonly isInvalid: boolean; readonly isEmpty: boolean },
): readonly Said[] {
  return holds
    .filter((hold) => hold.needsPerson && refKey(hold.object) === object.ref)
    .filter((hold) => !(isInvalid && isAboutSpec(hold)) && !(isEmpty && isAboutSelection(hold)))
    .map((hold) => ({ path: pathOf(hold, object), message: messageOf(hold) }));
}

function isAboutSpec({ reason }: Hold): boolean {
  const gate = gateOf(reason);
  return gate === "spec";
}

function isAboutSelection({ reason }: Hold): boolean {
  const gate = gateOf(reason);
  return gate === "selects";
}

function messageOf(hold: Hold): string {
  const advice = adviceFor(hold);
  const why = whyHeld(hold).replace(/\.$/, "");
  return `${hold.reason}: ${why}${advice === undefined ? "" : `. ${advice.replace(/\.$/, "")}`}`;
}

/** An application that was scaled to zero is no mistake of its manifest, so a plan says this only where something serves; a file that is about to be applied is told at once. */
function emptyOf({ spec, ref }: CheckedObject, observation: Observation): readonly Said[] {
  const { pools, recordSets, nodes } = observation;
  const [pool, recordSet] = [
    pools.find((one) => refKey({ kind: one.kind, ...placeOf(one) }) === ref),
    recordSets.find((one) => refKey({ kind: "dns", ...placeOf(one) }) === ref),
  ];
  const empty =
    pool === undefined
      ? recordSet && emptyTarget(recordSet, validateRecordSet(recordSet, observation), nodes)
      : emptyTarget(pool, validatePool(pool, observation), nodes);
  if (empty === undefined) return [];
  const path = spec.of === "routedip" ? "spec.serviceName" : selectorPath(empty.of, spec);
  return [{ path, message: `EmptyTarget: ${empty.what}` }];
}

function selectorPath(of: NothingSelected["of"], spec: CheckedObject["spec"]): string {
  if (of === "nodes") return "spec.match.nodeLabel";
  const hasLabel = "match" in spec.object.spec && spec.object.spec.match.podLabel !== "";
  return hasLabel ? "spec.match.podLabel" : "spec.match.podNamespace";
}

function placeOf({
  meta: { namespace, name },
}: {
  readonly meta: Pick<ObjectRef, "namespace" | "name">;
}): Pick<ObjectRef, "namespace" | "name"> {
  return { namespace, name };
}

/** The field that a shut gate is about: of a pool or record set, and of a RoutedIP. */
type Fields = readonly [own: string, routed: string];

const WHOLE: Fields = ["spec", "spec"];
const MATCH: Fields = ["spec.match", "spec.serviceName"];
const ADDRESS: Fields = ["spec.ips", "spec.address"];
const RECORD: Fields = ["spec.dnsRecordSet.recordName", "spec.dnsRecordSet.recordName"];

const FIELDS: Readonly<Record<GateID, Fields>> = {
  spec: WHOLE,
  suspend: ["spec.suspend", "spec.suspend"],
  provider: ["spec.provider", "spec.issuer"],
  selects: ["spec.match.podLabel", "spec.serviceName"],
  address: ADDRESS,
  "in-use": ["spec.desiredIPs", "spec.address"],
  stays: WHOLE,
  deleting: MATCH,
  "provider-id": MATCH,
  "node-label": ["spec.match.nodeLabel", "spec.issuer"],
  taints: ["spec.match.tolerations", "spec.issuer"],
  ready: MATCH,
  "condition-taints": MATCH,
  pods: ["spec.match.podLabel", "spec.serviceName"],
  machine: MATCH,
  firewall: ["spec", "spec.issuer"],
  free: MATCH,
  region: ["spec.region", "spec.issuer"],
  due: WHOLE,
  turn: MATCH,
  pace: WHOLE,
  approval: ["spec.approval", "spec.approval"],
  "cool-off": ["spec.assignmentCoolOffSeconds", "spec.issuer"],
  quota: ["spec.desiredIPs", "spec.address"],
  "dns-valid": RECORD,
  zone: ["spec.dnsRecordSet.zone", "spec.dnsRecordSet.zone"],
  "name-owner": RECORD,
  serves: RECORD,
};

/** Where in the spec a hold has its cause. */
function pathOf(hold: Hold, { spec }: CheckedObject): string {
  const gate = gateOf(hold.reason);
  if (hold.kind !== "reconcile" && ACTIONS[hold.kind].affects === "name") return namePath(gate);
  if (spec.of === "routedip") return gate === "spec" ? referencePath(hold) : FIELDS[gate ?? "spec"][1];
  const at = spec.of === "pool" ? spec.object.spec.ips.indexOf(hold.subject) : -1;
  return at >= 0 ? `spec.ips[${at}]` : FIELDS[gate ?? "spec"][0];
}

function namePath(gate: GateID | undefined): string {
  if (gate === "zone") return FIELDS.zone[0];
  return gate === "provider" ? "spec.dnsRecordSet.provider" : RECORD[0];
}

/** A RoutedIP is invalid, too, where what it refers to is not there. */
function referencePath({ detail }: Hold): string {
  return /^issuer\b/.test(detail) ? "spec.issuer" : "spec.serviceName";
}

/** Returns that the API server refuses an object, at the field that it names first. Pure. */
export function refusedFinding({ file, ref, document }: CheckedObject, message: string): Finding {
  const path = /(?:^|[\s["])(spec(?:\.[A-Za-z]\w*|\[\d+\])*)/.exec(message)?.[1] ?? "";
  const position = path === "" ? document.valueAt([]) : document.valueAt(pathSteps(path));
  return findingOf({ code: "FLP241", path, message: message.replace(/\.$/, "") }, { file, object: ref, position });
}
