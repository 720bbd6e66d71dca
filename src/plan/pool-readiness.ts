import type { Hold } from "../model/plan.ts";
import { capital, problemText } from "../model/reason.ts";
import type { IPStatus } from "../model/resource.ts";
import type { Readiness } from "./conditions.ts";
import { dnsReadiness, raisedText } from "./dns/dns-readiness.ts";
import type { ObjectNames } from "./dns/plan-dns.ts";

/** What a pool's Ready is computed from. */
export interface PoolReadinessFacts {
  readonly ips: Readonly<Record<string, IPStatus>>;
  readonly holds: readonly Hold[];
  readonly names: ObjectNames;
  /** What waits for its node or for the next run, as a sentence; undefined when nothing does. */
  readonly waiting: string | undefined;
  /** Why it is not ready for its firewall's sake; undefined when it is. */
  readonly firewall: Readiness | undefined;
}

/** What a pool's condition Ready says: an address is active, its firewall lets everything in, DNS is as desired, and no address waits for a node that could take it. Pure. */
export function poolReadiness({ ips, holds, names, waiting, firewall }: PoolReadinessFacts): Readiness {
  const active = Object.values(ips).filter(({ state }) => state === "active");
  const unread = Object.values(ips).filter(isUnread).length;
  if (active.length === 0) {
    const kept = holds.some(({ reason }) => reason === "NothingToPublish") ? " The DNS records stay as they are." : "";
    const why = holds.find(({ kind, needsPerson }) => needsPerson && (kind === "assign-ip" || kind === "acquire-ip"));
    const because = why === undefined ? "" : ` ${capital(problemText(why))}`;
    const none = unread === 0 ? "No address is active." : `No address is known to be active; ${unreadText(unread)}.`;
    return { isTrue: false, reason: why?.reason ?? "NoActiveIP", message: `${none}${because}${kept}` };
  }
  if (waiting !== undefined) return { isTrue: false, reason: "WaitingForAssignment", message: waiting };
  if (firewall !== undefined) return firewall;
  const dns = dnsReadiness(names);
  if (dns !== undefined) return dns;
  return { isTrue: true, reason: "Ready", message: `${servingText(active)}${raisedText(names)}` };
}

/** What is known to be active, and of what nobody could look at what was seen last. */
function servingText(active: readonly IPStatus[]): string {
  const unread = active.filter(isUnread).length;
  const known = active.length - unread;
  const sure = `${known === 1 ? "1 address is" : `${known} addresses are`} active.`;
  if (unread === 0) return sure;
  const last = `${unreadText(unread)}; ${unread === 1 ? "it was" : "they were"} active when last seen.`;
  return known === 0 ? last : `${sure} ${last}`;
}

function isUnread({ state, reason }: IPStatus): boolean {
  return state !== "disabled" && reason === "Unreadable";
}

function unreadText(count: number): string {
  return `${count} ${count === 1 ? "address" : "addresses"} could not be read`;
}
