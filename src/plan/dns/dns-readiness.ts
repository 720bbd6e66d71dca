import { problemText, REASONS } from "../../model/reason.ts";
import type { Readiness } from "../conditions.ts";
import type { ObjectNames } from "./plan-dns.ts";
import { isSettling } from "./settling.ts";

/** Why the records of an object's present name are not as desired; undefined when they are, or when it has no name. Pure. */
export function dnsReadiness({ present }: ObjectNames): Readiness | undefined {
  const [hold] = isSettling(present) ? [] : present.holds;
  if (hold !== undefined) return { isTrue: false, reason: hold.reason, message: problemText(hold) };
  if (present.target.kind === "ready" && (present.actions.length > 0 || !present.isInPlace))
    return { isTrue: false, reason: "DNSPending", message: `${present.target.name.fqdn}: ${REASONS.DNSPending}` };
  return undefined;
}

/** A sentence about a TTL that was raised; `""` when it is as written. Pure. */
export function raisedText({ present: { target } }: ObjectNames): string {
  if (target.kind !== "ready" || target.raisedFrom === undefined) return "";
  return ` TTL ${target.raisedFrom} was raised to ${target.ttlSeconds}, the least ${target.name.provider} accepts.`;
}
