import { familyOf } from "../model/host-address.ts";
import type { HostState, PresentAddress } from "../ports/host.ts";

/** A change of the host. */
export type HostStep =
  | { readonly kind: "add"; readonly ip: string; readonly interface: string }
  | { readonly kind: "remove"; readonly address: PresentAddress };

/** What is to change on a host, and what stays. */
export interface HostPlan {
  /** Addresses are added before any is removed. */
  readonly steps: readonly HostStep[];
  /** Own addresses that are where they should be. */
  readonly kept: readonly PresentAddress[];
  /** Addresses that are asked for and were put there by somebody else: they serve, and stay as they are. */
  readonly foreign: readonly PresentAddress[];
  /** Addresses that cannot be put anywhere, with why. */
  readonly blocked: readonly { readonly ip: string; readonly why: string }[];
}

/**
 * Returns what makes a host have the addresses that are asked for. Only own addresses are ever removed.
 *
 * An own address that is there stays on its interface, wherever the default route leads by now: a route that comes and goes must not move an address that serves. If an
 * interface is `chosen`, every own address goes there.
 * @param ips - canonical, each once. @param chosen - the interface to use; absent = that of the default route. Pure.
 */
export function planHost(ips: readonly string[], state: HostState, chosen?: string): HostPlan {
  const judged = ips.map((ip) => judge(ip, state, chosen));
  const kept = judged.flatMap((one) => (one.kind === "kept" ? [one.address] : []));
  const added = judged.flatMap((one) => (one.kind === "add" ? [one] : []));
  const blocked = judged.flatMap((one) => (one.kind === "blocked" ? [{ ip: one.ip, why: one.why }] : []));
  const isBlocked = (ip: string): boolean => blocked.some((one) => one.ip === ip);
  const removed = state.addresses.filter(
    (address) => address.isOwn && !kept.includes(address) && !isBlocked(address.ip),
  );
  return {
    steps: [...added, ...removed.map((address) => ({ kind: "remove", address }) as const)],
    kept,
    foreign: judged.flatMap((one) => (one.kind === "foreign" ? [one.address] : [])),
    blocked,
  };
}

type Judged =
  | { readonly kind: "kept" | "foreign"; readonly address: PresentAddress }
  | { readonly kind: "add"; readonly ip: string; readonly interface: string }
  | { readonly kind: "blocked"; readonly ip: string; readonly why: string };

function judge(ip: string, { addresses, interfaces, defaults }: HostState, chosen: string | undefined): Judged {
  const present = addresses.filter((address) => address.ip === ip);
  const own = present.find((address) => address.isOwn && (chosen === undefined || address.interface === chosen));
  if (own !== undefined) return { kind: "kept", address: own };
  const foreign = present.find(({ isOwn }) => !isOwn);
  if (foreign !== undefined) return { kind: "foreign", address: foreign };
  if (chosen !== undefined && !interfaces.includes(chosen))
    return { kind: "blocked", ip, why: `there is no interface ${chosen}; there are ${interfaces.join(", ")}` };
  const on = chosen ?? (familyOf(ip) === 4 ? (defaults[4] ?? defaults[6]) : (defaults[6] ?? defaults[4]));
  if (on === undefined)
    return {
      kind: "blocked",
      ip,
      why: "the host has no default route that shows its interface: name it by --interface",
    };
  return { kind: "add", ip, interface: on };
}
