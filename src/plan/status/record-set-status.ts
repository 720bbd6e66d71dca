import { addressesWithout } from "../../model/dns.ts";
import type { RecordSetAssessment, SetAssessment } from "../../model/plan.ts";
import type { RecordType } from "../../model/record-types.ts";
import {
  compareText,
  type DNSMemory,
  type RecordSetStatus,
  type RetryStatus,
  type UnreadyNode,
} from "../../model/resource.ts";
import { FINALIZER_SUBJECT, retriedRecords } from "../../model/retry-subject.ts";
import { plain } from "../../model/text.ts";
import { isPast, pastMs, timestamp } from "../../model/time.ts";
import type { NamePlan } from "../names/name-plan.ts";
import type { ObjectNames } from "../names/plan-dns.ts";
import type { RecordSetView } from "../record-set-view.ts";
import { inTime } from "../retries.ts";
import { sortedNames, withoutNodes } from "../verdicts.ts";
import { conditionsOf, type Readiness } from "./conditions.ts";
import { dnsError, dnsReadiness, isOpenName, isSettling, raisedText } from "./name-readiness.ts";
import type { OwnPlan } from "./pool-status.ts";

/** What the plan has for a record set: for each type of its records what is done about them, A first. */
type RecordSetPlan = Omit<OwnPlan, "names" | "firewall" | "isAwaited"> & { readonly names: readonly ObjectNames[] };

/**
 * What was found out about a record set, its status included; undefined where it has no view. Pure.
 *
 * @param views - one for each type of its records, A first
 */
export function assessRecordSet(
  views: readonly RecordSetView[],
  plan: RecordSetPlan,
  nowMs: number,
): RecordSetAssessment | undefined {
  const [view] = views;
  if (view === undefined) return undefined;
  const { spec } = view.recordSet;
  const { zone, recordName } = spec.dnsRecordSet;
  const wish = views.map(({ publisher }) => publisher.wish).find(({ kind }) => kind === "named");
  const provider = wish?.kind === "named" ? wish.provider : spec.provider;
  const [first = {}, second] = askedFor(plan.names).map(setAssessment);
  const judged = views.find(({ publisher }) => publisher.wish.kind !== "none") ?? view;
  const matching = views.length === 1 ? view.matching : sortedNames(views.flatMap((one) => one.matching));
  const restless = views.flatMap((one) => one.restless);
  return {
    object: view.ref,
    written: { provider, zone, recordName },
    ...(view.suspended === undefined ? {} : { suspended: view.suspended }),
    ...first,
    ...(second === undefined ? {} : { ipv6: second }),
    matching,
    notMatching: views.length === 1 ? view.notMatching : withoutNodes(judged.notMatching, matching),
    ...(restless.length === 0 ? {} : { restless }),
    status: recordSetStatus(view, views, plan, nowMs),
  };
}

/** What is done about the sets that the object asks for; about the first one where it asks for none. */
function askedFor(names: readonly ObjectNames[]): readonly ObjectNames[] {
  const asked = names.filter(({ present }) => present.target.kind !== "none");
  return asked.length === 0 ? names.slice(0, 1) : asked;
}

function setAssessment({ present }: ObjectNames): SetAssessment {
  const { target, drift, foreign } = present;
  const published = ownAddressesOf(present);
  return {
    ...(target.kind === "none" || target.name === undefined ? {} : { fqdn: target.name.fqdn }),
    ...(published === undefined ? {} : { published }),
    ...(drift === undefined ? {} : { drift }),
    ...(foreign === undefined ? {} : { foreign }),
  };
}

/** The status a record set should have: the stored one where it still holds, so that an unchanged world changes nothing. */
function recordSetStatus(
  { recordSet: { meta, status }, validation }: RecordSetView,
  views: readonly RecordSetView[],
  { names, actions, holds, missing }: RecordSetPlan,
  nowMs: number,
): RecordSetStatus {
  const blocked = validation.kind === "blocked" ? validation.why : undefined;
  const readiness = recordSetReadiness(askedFor(names), { actions, holds });
  const pendingActions = actions.length;
  const facts = { meta, conditions: status.conditions, ips: {}, holds, missing, pendingActions, blocked, nowMs };
  const common = { observedGeneration: meta.generation, conditions: conditionsOf(facts, readiness) };
  if (blocked !== undefined) return { ...status, ...common, state: "error", error: plain(blocked.detail) };
  const [error] = names.flatMap((own) => dnsError(own) ?? []);
  const isWaiting = names.some(({ present }) => isSettling(present));
  const isOpen =
    pendingActions > 0 ||
    isWaiting ||
    holds.some(({ kind }) => kind === "add-finalizer" || kind === "remove-finalizer");
  const isCurrent = (retry: RetryStatus): boolean => names.some((own) => isAbout(retry, own));
  const [memory, ipv6] = memories(names);
  return {
    ...common,
    ...summaryOf(status, askedFor(names)),
    state: readiness.state,
    ...(error === undefined ? {} : { error: plain(error) }),
    // What is on record waits, too, for the little while that the records do.
    unreadyNodes: isWaiting ? status.unreadyNodes : unreadyNodes(views, nowMs),
    retries: status.retries
      .filter((retry) => isCurrent(retry) || (isAboutFinalizer(retry) && isOpen))
      .map((retry) => inTime(retry, nowMs)),
    ...memory,
    ...(ipv6 === undefined ? {} : { ipv6 }),
  };
}

/** What is to be remembered of A records, and of AAAA records; of these nothing where there is nothing. */
function memories(names: readonly ObjectNames[]): readonly [a: DNSMemory, aaaa: DNSMemory | undefined] {
  const of = (type: RecordType): DNSMemory | undefined =>
    names.find(({ publisher }) => publisher.recordType === type)?.memory;
  const { formerDNS = [], ...aaaa } = of("AAAA") ?? {};
  const isEmpty = formerDNS.length === 0 && Object.keys(aaaa).length === 0;
  return [of("A") ?? { formerDNS: [] }, isEmpty ? undefined : { ...aaaa, formerDNS }];
}

/** How many of the addresses to publish have a record: of none where no address serves, even if records stay. As stored while that is not known, or records wait for nodes that are just changing. */
function summaryOf({ summary }: RecordSetStatus, names: readonly ObjectNames[]): Pick<RecordSetStatus, "summary"> {
  const counts = names.map(countsOf);
  if (counts.includes(undefined)) return summary === undefined ? {} : { summary };
  const sum = (part: "standing" | "desired"): number => counts.reduce((all, one) => all + (one?.[part] ?? 0), 0);
  return { summary: { addresses: `${sum("standing")}/${sum("desired")}` } };
}

/** How many addresses a set should show, and how many of them it does; undefined while that is not known. */
function countsOf({
  present,
  memory,
}: ObjectNames): { readonly standing: number; readonly desired: number } | undefined {
  const desired = ownAddressesOf(present);
  if (present.kept !== undefined) return { standing: 0, desired: 0 };
  if (desired === undefined || isSettling(present)) return undefined;
  const known = new Set(memory.publishedDNS?.addresses);
  return { standing: desired.filter((ip) => known.has(ip)).length, desired: desired.length };
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

function isAbout(retry: RetryStatus, names: ObjectNames): boolean {
  const records = retriedRecords(retry);
  return records !== undefined && isOpenName(names, records);
}

function isAboutFinalizer({ subject }: RetryStatus): boolean {
  return subject === FINALIZER_SUBJECT;
}

/** What a record set's condition Ready says: the records of each of its sets are as desired, and each has an address. Pure. */
function recordSetReadiness(
  names: readonly ObjectNames[],
  planned: Pick<RecordSetPlan, "actions" | "holds">,
): Readiness & { readonly state: NonNullable<RecordSetStatus["state"]> } {
  const [problem] = names.flatMap((own) => {
    const found = dnsReadiness(own, planned);
    return found === undefined ? [] : [{ ...found, state: stateOf(own.present) }];
  });
  if (problem !== undefined) return problem;
  const counts = names.map(({ present }) => ownAddressesOf(present)?.length ?? 0);
  if (counts.length === 0 || counts.includes(0))
    return { isTrue: false, reason: "NothingToPublish", message: "No address is published.", state: "active" };
  const count = counts.reduce((sum, one) => sum + one, 0);
  const message = `${count === 1 ? "1 address is" : `${count} addresses are`} published.`;
  const raised = [...new Set(names.map(raisedText))].join("");
  return { isTrue: true, reason: "Ready", message: `${message}${raised}`, state: "active" };
}

/** The unready nodes as status keeps them; the stored text where it means the same instant. Pure. */
function unreadyNodes(views: readonly RecordSetView[], nowMs: number): readonly UnreadyNode[] {
  const stored = views[0]?.recordSet.status.unreadyNodes ?? [];
  const found = new Map(views.flatMap(({ unready }) => unready.map((one) => [one.node.name, one.sinceMs] as const)));
  return [...found]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([nodeName, sinceMs]) => {
      const known = stored.find((one) => one.nodeName === nodeName);
      const isSame = known !== undefined && isPast(known.since, nowMs) && pastMs(known.since, nowMs) === sinceMs;
      return isSame ? known : { nodeName, since: timestamp(sinceMs) };
    });
}
