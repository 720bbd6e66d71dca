import { type Address, CANONICAL } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { annotatedNodes, annotatedOn } from "../model/annotated.ts";
import type { NodeFacts } from "../model/node.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { managedIPs, ownerKey, type Pool } from "../model/resource.ts";

/** Which addresses of a provider a pass must know about. */
export interface WantedAddresses {
  /** Every address that some object of the provider manages or remembers, or that an annotation of one of them names. */
  readonly ips: ReadonlySet<string>;
  /** Where they are by status, or else by the annotation of a node, as machine ids; absent where neither says. */
  readonly holders: ReadonlyMap<string, string>;
  /** What the cluster says of those: the holder, and how the address stands by status. As a text, to see whether it changes. */
  readonly told: ReadonlyMap<string, string>;
  /** True when by status every one of them is active and no node is in error: then a cheap look is enough to see that nothing changed. */
  readonly isSteady: boolean;
  /** True when some object lacks addresses or waits for the answer of an acquisition: then the whole account matters. */
  readonly mayAcquire: boolean;
  /** True when some object lacks addresses should these not exist. */
  readonly lacksWithout: (gone: ReadonlySet<string>) => boolean;
  /** True when the answer of an acquisition is waited for: only the account's list can show it. */
  readonly hasOpenIntent: boolean;
  /** Which of the addresses are on a machine of a node where status does not have them, or not yet for sure: a change of another process may not have ended. */
  readonly unconfirmedAmong: (addresses: readonly Address[]) => readonly string[];
}

/** Collects the addresses to read for one provider. Pure. */
export function wantedAddresses(
  provider: string,
  pools: readonly Pool[],
  nodes: readonly NodeFacts[],
  registry: ProviderRegistry,
): WantedAddresses {
  const own = pools.filter(({ spec }) => spec.provider === provider);
  const keys = new Set(own.map(({ kind, meta }) => ownerKey({ kind, ...meta })));
  const managed = own.flatMap(managedIPs);
  const remembered = own.flatMap(({ status }) => [...Object.keys(status.ips), ...status.released.map(({ ip }) => ip)]);
  const annotated = annotatedNodes(nodes).flatMap((node) =>
    annotatedOn(node).flatMap(({ ip, owner }) =>
      keys.has(owner ?? "") ? [[ip, registry.machineID(provider, node.providerID) ?? ""] as const] : [],
    ),
  );
  const canonical = CANONICAL[sourceNamed(provider).family];
  const ips = new Set([...managed, ...remembered, ...annotated.map(([ip]) => ip)].filter((ip) => canonical(ip) === ip));
  const active = new Set(
    own.flatMap(({ status }) =>
      Object.entries(status.ips).flatMap(([ip, { state, reason }]) =>
        state === "active" && reason === undefined ? [ip] : [],
      ),
    ),
  );
  // Where a person has to say which address it was, no further look helps.
  const hasOpenIntent = own.some(({ status }) =>
    status.pendingAcquisitions.some(({ candidates }) => candidates === undefined),
  );
  const places: readonly Place[] = [
    ...annotated.flatMap(([ip, machine]) => (machine === "" ? [] : [{ ip, machine, state: "" }])),
    ...own.flatMap((pool) => placesByStatus(pool, registry)),
  ];
  return {
    ips,
    holders: new Map(places.map(({ ip, machine }) => [ip, machine])),
    told: new Map(places.map(({ ip, machine, state }) => [ip, `${machine} ${state}`])),
    // What is wrong with a node is known from the whole list: a look at less would forget it.
    isSteady: [...ips].every((ip) => active.has(ip)) && own.every(({ status }) => status.nodeErrors.length === 0),
    // An answer stays open also for a pool that wants nothing more: only the whole list shows which address it may be about.
    mayAcquire: own.some(({ spec, status }) => status.pendingAcquisitions.length > 0 || lacks(spec, status)),
    lacksWithout: (gone) => own.some(({ spec, status }) => lacks(spec, status, gone)),
    hasOpenIntent,
    unconfirmedAmong: (addresses) => {
      const machines = nodes.flatMap(({ providerID }) => registry.machineID(provider, providerID) ?? []);
      return unconfirmedAmong(addresses, own, { places, machines: new Set(machines) });
    },
  };
}

/**
 * The ips of addresses that may still be on their way: those that status has as on their way, wherever they are, and those that are on a node where nobody has confirmed them. flipop has not sent
 * an address anywhere that no status has: that is stored before the provider is asked.
 */
function unconfirmedAmong(
  addresses: readonly Address[],
  pools: readonly Pool[],
  { places, machines }: { readonly places: readonly Place[]; readonly machines: ReadonlySet<string> },
): readonly string[] {
  const isComing = ({ state }: Place): boolean => state === "in-progress";
  const textOf = ({ ip, machine }: Pick<Place, "ip" | "machine">): string => `${ip} ${machine}`;
  const confirmed = new Set(places.filter((place) => !isComing(place)).map(textOf));
  const coming = new Set(places.filter(isComing).map(({ ip }) => ip));
  const stored = new Set(
    pools.flatMap(({ status }) => [...Object.keys(status.ips), ...status.acquired.map(({ ip }) => ip)]),
  );
  const buyers = new Set(
    pools.flatMap(({ meta, status }) => (status.pendingAcquisitions.length > 0 ? [meta.uid] : [])),
  );
  return addresses.flatMap(({ ip, holderID: machine = "", isLocked, boughtFor }) => {
    const isSent = coming.has(ip) || buyers.has(boughtFor ?? "");
    const isUnconfirmed = stored.has(ip) && machines.has(machine) && !confirmed.has(textOf({ ip, machine }));
    return !isLocked && (isSent || isUnconfirmed) ? [ip] : [];
  });
}

function lacks(spec: Pool["spec"], status: Pool["status"], gone: ReadonlySet<string> = new Set()): boolean {
  const acquired = status.acquired.flatMap(({ ip }) => (gone.has(ip) ? [] : [ip]));
  return spec.desiredIPs > new Set([...spec.ips, ...acquired]).size;
}

/** Where an address is told to be. */
interface Place {
  readonly ip: string;
  readonly machine: string;
  /** Its state in status; `""` where only an annotation tells the place. */
  readonly state: string;
}

function placesByStatus({ spec, status }: Pool, registry: ProviderRegistry): readonly Place[] {
  return Object.entries(status.ips).flatMap(([ip, { providerID, state }]) => {
    const machine = registry.machineID(spec.provider, providerID ?? "");
    return machine === undefined ? [] : [{ ip, machine, state }];
  });
}
