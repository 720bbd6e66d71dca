import { canonicalIPv4 } from "../../model/address.ts";
import type { AnswerValue } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/provider-caller.ts";
import { providerError } from "./api.ts";

/** Matches a UUID. */
export const uuid: RegExp = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * An address that may go into a URL path.
 * @throws ProviderError `refused`, before anything is sent, when it is not a canonical IPv4 address
 */
export function addressSubject(facts: Omit<CallFacts, "subject">, ip: string): string {
  if (canonicalIPv4(ip) !== undefined) return ip;
  throw providerError(
    { ...facts, subject: ip },
    { failure: "refused", status: 0, reason: `${JSON.stringify(ip)} is not an IPv4 address` },
  );
}

/**
 * A droplet id as the number that the API wants.
 * @throws ProviderError `refused`, before anything is sent, when it is not a decimal number JavaScript holds exactly
 */
export function machineSubject(facts: Omit<CallFacts, "subject">, machineID: string): number {
  const id = /^[1-9]\d*$/.test(machineID) ? Number(machineID) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw providerError(
    { ...facts, subject: machineID },
    { failure: "refused", status: 0, reason: `${JSON.stringify(machineID)} is not a droplet id` },
  );
}

/**
 * A firewall id that may go into a URL path, in lower case.
 * @throws ProviderError `refused`, before anything is sent, when it is not a UUID
 */
export function firewallSubject(facts: Omit<CallFacts, "subject">, id: string): string {
  if (isFirewallID(id)) return id.toLowerCase();
  throw providerError(
    { ...facts, subject: id },
    { failure: "refused", status: 0, reason: `${JSON.stringify(id)} is not the id of a firewall` },
  );
}

/**
 * A tag to filter by.
 * @throws ProviderError `refused`, before anything is sent, when it is empty, which would mean no filter
 */
export function tagSubject(facts: Omit<CallFacts, "subject">, tag: string): string {
  if (tag !== "") return tag;
  throw providerError({ ...facts, subject: tag }, { failure: "refused", status: 0, reason: "a tag must not be empty" });
}

/** True when a text could be the id of a firewall. */
function isFirewallID(text: string): boolean {
  return uuid.test(text);
}

/**
 * The numeric id > 0 that a value is, as decimal text.
 * @throws AnswerFault
 */
export function answeredID(value: AnswerValue): string {
  const { raw } = value;
  if (typeof raw !== "number" || !Number.isSafeInteger(raw) || raw < 1) throw value.fault("a numeric id");
  return String(raw);
}
