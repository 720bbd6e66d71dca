import type { Hold } from "../model/plan.ts";
import { problemText } from "../model/reason-text.ts";
import type { IPStatus } from "../model/resource.ts";
import type { Readiness } from "./conditions.ts";
import { dnsReadiness, raisedText } from "./dns/dns-readiness.ts";
import type { ObjectNames } from "./dns/plan-dns.ts";

/** What a pool's Ready is computed from. */
export interface PoolReadinessFacts {
  readonly ips: Readonly<Record<string, IPStatus>>;
  readonly holds: readonly Hold[];
  readonly names: ObjectNames;
  /** True when an address in use and a node that could take it wait for each other. */
  readonly isWaiting: boolean;
  /** Why it is not ready for its firewall's sake; undefined when it is. */
  readonly firewall: Readiness | undefined;
}

/** What a pool's condition Ready says: an address is active, its firewall lets everything in, DNS is as desired, and no address waits for a node that could take it. Pure. */
export function poolReadiness({ ips, holds, names, isWaiting, firewall }: PoolReadinessFacts): Readiness {
  const active = Object.values(ips).filter(({ state }) => state === "active").length;
  if (active === 0) {
    const kept = holds.some(({ reason }) => reason === "NothingToPublish") ? " The DNS records stay as they are." : "";
    const why = holds.find(({ kind, needsPerson }) => needsPerson && (kind === "assign-ip" || kind === "acquire-ip"));
    const because = why === undefined ? "" : ` ${problemText(why)}`;
    return { isTrue: false, reason: why?.reason ?? "NoActiveIP", message: `No address is active.${because}${kept}` };
  }
  if (isWaiting) {
    const message = "An address and a node that could take it wait for each other.";
    return { isTrue: false, reason: "WaitingForAssignment", message };
  }
  if (firewall !== undefined) return firewall;
  const dns = dnsReadiness(names);
  if (dns !== undefined) return dns;
  const message = `${active === 1 ? "1 address is" : `${active} addresses are`} active.`;
  return { isTrue: true, reason: "Ready", message: `${message}${raisedText(names)}` };
}
