import type { Action, WriteDNS } from "../../model/action.ts";
import { problemText } from "../../model/hold.ts";
import type { Hold } from "../../model/plan.ts";
import { REASONS } from "../../model/reason.ts";
import type { RetriedRecords } from "../../model/retry-subject.ts";
import type { NamePlan } from "../names/name-plan.ts";
import type { ObjectNames } from "../names/plan-dns.ts";
import type { Readiness } from "./conditions.ts";

/** What the plan has for the object of a name. */
interface Planned {
  readonly actions: readonly Action[];
  readonly holds: readonly Hold[];
}

/** Why the records of an object's present name are not as desired; undefined when they are, or when it has no name. Pure. */
export function dnsReadiness({ present, publisher }: ObjectNames, planned: Planned): Readiness | undefined {
  const [hold] = isSettling(present) ? [] : present.holds;
  if (hold !== undefined) return { isTrue: false, reason: hold.reason, message: problemText(hold) };
  if (present.target.kind !== "ready" || (present.actions.length === 0 && present.isInPlace)) return undefined;
  const { fqdn } = present.target.name;
  if (!publisher.isWritable) return { isTrue: false, reason: "RecordsDiffer", message: `${fqdn}: ${LEFT}` };
  const guard = guardOf(present.actions, planned);
  if (guard !== undefined) return { isTrue: false, reason: guard.reason, message: problemText(guard) };
  return { isTrue: false, reason: "DNSPending", message: `${fqdn}: ${REASONS.DNSPending.text}` };
}

/** Said where nothing of the name is pending: of an object that may be looked at and not written only a suspended one has a name to publish. */
const LEFT = `${REASONS.RecordsDiffer.text.replace(/\.$/, "")}, and stay as they are: the object is suspended.`;

/** What keeps every write of the name until a person acts; undefined where a write is left. */
function guardOf(writes: readonly WriteDNS[], { actions, holds }: Planned): Hold | undefined {
  const isLeft = actions.some(({ id }) => writes.some((write) => write.id === id));
  return isLeft ? undefined : holds.find(({ needsPerson, reason }) => needsPerson && REASONS[reason].isGuard === true);
}

/** A sentence about a TTL that was raised; `""` when it is as written. Pure. */
export function raisedText({ present: { target, sharedTTL } }: ObjectNames): string {
  if (target.kind !== "ready") return "";
  if (sharedTTL !== undefined)
    return ` TTL ${target.writtenTTL ?? target.ttlSeconds} was lowered to ${sharedTTL}, the lowest of the records at the name.`;
  if (target.writtenTTL === undefined) return "";
  const { writtenTTL, ttlSeconds, name } = target;
  const [change, bound] = writtenTTL < ttlSeconds ? ["raised", "least"] : ["lowered", "most"];
  return ` TTL ${writtenTTL} was ${change} to ${ttlSeconds}, the ${bound} ${name.provider} accepts.`;
}

/** True while something is left to do for a name, or may be once its addresses can be looked at, so that its last failure still means something. Pure. */
export function isOpenName({ present, former }: ObjectNames, { provider, fqdn }: RetriedRecords): boolean {
  const isAbout = (change: WriteDNS): boolean => change.dnsProvider === provider && change.fqdn === fqdn;
  const { target } = present;
  const name = target.kind === "none" ? undefined : target.name;
  const isPresent = name?.provider === provider && name.fqdn === fqdn;
  // Where the zone of an id cannot be read any name may be the object's.
  const isUntold = target.kind === "blocked" && target.name === undefined && target.cause !== "invalid";
  return (
    isUntold ||
    (isPresent &&
      (!present.isInPlace || present.actions.length > 0 || present.isUndecided === true || isSettling(present))) ||
    former.actions.some(isAbout) ||
    former.names.some((one) => one.provider === provider && one.name === fqdn)
  );
}

/** The error of an object's DNS part, for `status.error`; undefined when there is none. Pure. */
export function dnsError({ holds, present: { target }, publisher }: ObjectNames): string | undefined {
  const hold = holds.find(({ reason }) => REASONS[reason].wait !== "none");
  if (target.kind === "blocked" && target.cause === "invalid") return target.detail;
  if (hold === undefined) return undefined;
  const why = hold.detail === "" ? REASONS[hold.reason].text : hold.detail;
  const where = publisher.ref.kind !== "dns" ? `DNS of ${hold.subject}` : hold.subject;
  return `${where}: ${why}`;
}

/** True while a name's records wait a moment for nodes that are just changing: nothing that status tells of. Pure. */
export function isSettling({ waitsFor }: Pick<NamePlan, "waitsFor">): boolean {
  return waitsFor === "debounce";
}
