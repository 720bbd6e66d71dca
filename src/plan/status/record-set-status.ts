import { addressesWithout } from "../../model/dns.ts";
import type { RecordSetAssessment } from "../../model/plan.ts";
import type { RecordSetStatus, RetryStatus, UnreadyNode } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { isPast, pastMs, timestamp } from "../../model/time.ts";
import type { NamePlan } from "../names/name-plan.ts";
import type { ObjectNames } from "../names/plan-dns.ts";
import type { RecordSetView } from "../record-set-view.ts";
import { FINALIZER_SUBJECT } from "../retries.ts";
import { conditionsOf, type Readiness } from "./conditions.ts";
import { dnsError, dnsReadiness, isOpenName, isSettling, raisedText } from "./name-readiness.ts";
import type { OwnPlan } from "./pool-status.ts";

/** What was found out about a record set, its status included. Pure. */
export function assessRecordSet(
  view: RecordSetView,
  { names, actions, holds, missing }: OwnPlan,
  nowMs: number,
): RecordSetAssessment {
  const { target, drift, foreign } = names.present;
  const published = ownAddressesOf(names.present);
  const { spec } = view.recordSet;
  const { zone, recordName } = spec.dnsRecordSet;
  const provider = view.publisher.wish.kind === "named" ? view.publisher.wish.provider : spec.provider;
  return {
    object: view.ref,
    written: { provider, zone, recordName },
    ...(view.suspended === undefined ? {} : { suspended: view.suspended }),
    ...(target.kind === "none" || target.name === undefined ? {} : { fqdn: target.name.fqdn }),
    ...(published === undefined ? {} : { published }),
    ...(drift === undefined ? {} : { drift }),
    ...(foreign === undefined ? {} : { foreign }),
    matching: view.matching,
    notMatching: view.notMatching,
    status: recordSetStatus(view, { names, actions, holds, missing }, nowMs),
  };
}

/** The status a record set should have: the stored one where it still holds, so that an unchanged world changes nothing. */
function recordSetStatus(
  view: RecordSetView,
  { names, actions, holds, missing }: OwnPlan,
  nowMs: number,
): RecordSetStatus {
  const { meta, status } = view.recordSet;
  const blocked = view.validation.kind === "blocked" ? view.validation.why : undefined;
  const readiness = recordSetReadiness(names);
  const pendingActions = actions.length;
  const facts = { meta, conditions: status.conditions, ips: {}, holds, missing, pendingActions, blocked, nowMs };
  const common = { observedGeneration: meta.generation, conditions: conditionsOf(facts, readiness) };
  if (blocked !== undefined) return { ...status, ...common, state: "error", error: plain(blocked.detail) };
  const error = dnsError(names);
  const isOpen =
    pendingActions > 0 ||
    isSettling(names.present) ||
    holds.some(({ kind }) => kind === "add-finalizer" || kind === "remove-finalizer");
  return {
    ...common,
    ...summaryOf(status, names),
    state: readiness.state,
    ...(error === undefined ? {} : { error: plain(error) }),
    // What is on record waits, too, for the little while that the records do.
    unreadyNodes: isSettling(names.present) ? status.unreadyNodes : unreadyNodes(view, nowMs),
    retries: status.retries.filter((retry) => isCurrent(retry, names) || (isAboutFinalizer(retry) && isOpen)),
    ...names.memory,
  };
}

/** How many of the addresses to publish have a record: of none where no address serves, even if records stay. As stored while that is not known, or records wait for nodes that are just changing. */
function summaryOf({ summary }: RecordSetStatus, { present, memory }: ObjectNames): Pick<RecordSetStatus, "summary"> {
  const desired = ownAddressesOf(present);
  if (present.kept !== undefined) return { summary: { addresses: "0/0" } };
  if (desired === undefined || isSettling(present)) return summary === undefined ? {} : { summary };
  const standing = new Set(memory.publishedDNS?.addresses);
  return { summary: { addresses: `${desired.filter((ip) => standing.has(ip)).length}/${desired.length}` } };
}

/** The addresses of the name that flipop wrote; undefined where its records are not known. */
function ownAddressesOf({ target, foreign = [] }: NamePlan): readonly string[] | undefined {
  return target.kind === "ready" ? addressesWithout(target.records.addresses, foreign) : undefined;
}

/** A name that cannot be one is an invalid spec, too; it is only known once the zone was read. */
function stateOf({ target, kept }: NamePlan): NonNullable<RecordSetStatus["state"]> {
  if (target.kind === "blocked" && target.cause === "invalid") return "error";
  return kept === undefined ? "in-progress" : "active";
}

function isCurrent({ subject }: RetryStatus, names: ObjectNames): boolean {
  return subject.startsWith("dns/") && isOpenName(names, subject.slice("dns/".length));
}

function isAboutFinalizer({ subject }: RetryStatus): boolean {
  return subject === FINALIZER_SUBJECT;
}

/** What a record set's condition Ready says: its records are as desired, and at least one address is published. Pure. */
function recordSetReadiness(names: ObjectNames): Readiness & { readonly state: NonNullable<RecordSetStatus["state"]> } {
  const problem = dnsReadiness(names);
  if (problem !== undefined) return { ...problem, state: stateOf(names.present) };
  const count = ownAddressesOf(names.present)?.length ?? 0;
  if (count === 0)
    return { isTrue: false, reason: "NothingToPublish", message: "No address is published.", state: "active" };
  const message = `${count === 1 ? "1 address is" : `${count} addresses are`} published.`;
  return { isTrue: true, reason: "Ready", message: `${message}${raisedText(names)}`, state: "active" };
}

/** The unready nodes as status keeps them; the stored text where it means the same instant. Pure. */
function unreadyNodes(
  { recordSet, unready, publisher: { target } }: RecordSetView,
  nowMs: number,
): readonly UnreadyNode[] {
  const { unreadyNodes: stored } = recordSet.status;
  if (target.kind === "blocked") return stored;
  return unready.map(({ node, sinceMs }) => {
    const known = stored.find(({ nodeName }) => nodeName === node.name);
    const isSame = known !== undefined && isPast(known.since, nowMs) && pastMs(known.since, nowMs) === sinceMs;
    return isSame ? known : { nodeName: node.name, since: timestamp(sinceMs) };
  });
}
