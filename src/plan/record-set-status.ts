import type { Hold } from "../model/plan.ts";
import type { RecordSetStatus, RetryStatus } from "../model/resource.ts";
import { plain } from "../model/text.ts";
import { blockedByValidation } from "./blocked.ts";
import { conditionsOf, type Readiness } from "./conditions.ts";
import { dnsReadiness, raisedText } from "./dns/dns-readiness.ts";
import { dnsError, isOpenName } from "./dns/open-names.ts";
import type { ObjectNames } from "./dns/plan-dns.ts";
import { isSettling } from "./dns/settling.ts";
import { FINALIZER_SUBJECT } from "./finalizer-step.ts";
import { type RecordSetView, unreadyNodes } from "./record-set-view.ts";

/** What is known of a record set once everything is planned. */
export interface RecordSetStatusFacts {
  readonly view: RecordSetView;
  readonly names: ObjectNames;
  readonly holds: readonly Hold[];
  readonly pendingActions: number;
  readonly nowMs: number;
}

/** The status a record set should have: the stored one where it still holds, so that an unchanged world changes nothing. Pure. */
export function recordSetStatus({ view, names, holds, pendingActions, nowMs }: RecordSetStatusFacts): RecordSetStatus {
  const { meta, status } = view.recordSet;
  const blocked = blockedByValidation(view.validation);
  const readiness = recordSetReadiness(names);
  const conditions = conditionsOf(
    {
      meta,
      conditions: status.conditions,
      ips: {},
      holds,
      pendingActions,
      nowMs,
      ...(blocked === undefined ? {} : { blocked }),
    },
    readiness,
  );
  if (blocked !== undefined)
    return {
      ...status,
      observedGeneration: meta.generation,
      conditions,
      state: "error",
      error: plain(blocked.message),
    };
  const error = dnsError(names);
  const isOpen =
    pendingActions > 0 ||
    isSettling(names.present) ||
    holds.some(({ kind }) => kind === "add-finalizer" || kind === "remove-finalizer");
  return {
    observedGeneration: meta.generation,
    conditions,
    state: stateOf(readiness),
    ...(error === undefined ? {} : { error: plain(error) }),
    // What is on record waits, too, for the little while that the records do.
    unreadyNodes: isSettling(names.present) ? status.unreadyNodes : unreadyNodes(view, nowMs),
    retries: status.retries.filter((retry) => isCurrent(retry, names) || (isAboutFinalizer(retry) && isOpen)),
    ...names.memory,
  };
}

/** A name that cannot be one is an invalid spec, too; it is only known once the zone was read. */
function stateOf({ isTrue, reason }: Readiness): NonNullable<RecordSetStatus["state"]> {
  if (reason === "InvalidDNS") return "error";
  return isTrue || reason === "NothingToPublish" ? "active" : "in-progress";
}

function isCurrent({ subject }: RetryStatus, names: ObjectNames): boolean {
  return subject.startsWith("dns/") && isOpenName(names, subject.slice("dns/".length));
}

function isAboutFinalizer({ subject }: RetryStatus): boolean {
  return subject === FINALIZER_SUBJECT;
}

/** What a record set's condition Ready says: its records are as desired, and at least one address is published. Pure. */
function recordSetReadiness(names: ObjectNames): Readiness {
  const problem = dnsReadiness(names);
  if (problem !== undefined) return problem;
  const { target } = names.present;
  const count = target.kind === "ready" ? target.records.addresses.length : 0;
  if (count === 0) return { isTrue: false, reason: "NothingToPublish", message: "No address is published." };
  const message = `${count === 1 ? "1 address is" : `${count} addresses are`} published.`;
  return { isTrue: true, reason: "Ready", message: `${message}${raisedText(names)}` };
}
