import { REASONS, type Reason } from "../../model/reason.ts";
import type { ObjectNames } from "./plan-dns.ts";
import { isSettling } from "./settling.ts";

/** True while something is left to do for a name, or may be once its addresses can be looked at, so that its last failure still means something. Pure. */
export function isOpenName({ present, former }: ObjectNames, fqdn: string): boolean {
  const isAbout = ({ fqdn: name }: { readonly fqdn: string }): boolean => name === fqdn;
  const { target } = present;
  const isPresent = target.kind !== "none" && target.name?.fqdn === fqdn;
  // Where the zone of an id cannot be read any name may be the object's.
  const isUntold = target.kind === "blocked" && target.name === undefined && target.reason !== "InvalidDNS";
  return (
    isUntold ||
    (isPresent &&
      (!present.isInPlace || present.actions.length > 0 || present.isUndecided === true || isSettling(present))) ||
    former.actions.some(isAbout) ||
    former.names.some(({ name }) => name === fqdn)
  );
}

/** Holds that are as wished or end without a failure: no error. */
const NO_ERROR: ReadonlySet<Reason> = new Set<Reason>([
  "NothingToPublish",
  "NewNameFirst",
  "RecordsRetained",
  "Suspended",
  "Settling",
]);

/** The error of an object's DNS part, for `status.error`; undefined when there is none. Pure. */
export function dnsError({ holds, publisher }: Pick<ObjectNames, "holds" | "publisher">): string | undefined {
  const hold = holds.find(({ reason }) => !NO_ERROR.has(reason));
  if (hold === undefined) return undefined;
  if (hold.reason === "InvalidDNS") return hold.detail;
  const why = hold.detail === "" ? REASONS[hold.reason] : hold.detail;
  const where = publisher.ref.kind !== "dns" ? `DNS of ${hold.subject}` : hold.subject;
  return `${where}: ${why}`;
}
