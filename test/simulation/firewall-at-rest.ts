import { PROVIDERS } from "../../src/adapters/registry.ts";
import { portText } from "../../src/model/firewall.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import { objectKey, type Pool } from "../../src/model/resource.ts";
import { nodeSubject } from "../../src/model/retry-subject.ts";
import {
  type FirewallView,
  isHeldByFirewall,
  isOpen,
  keepsAll,
  liveRoutedIPs,
  onRecord,
  servingMachine,
  targetOf,
  viewFirewalls,
} from "./firewall-truth.ts";
import type { Violation } from "./monitor.ts";
import type { Simulation } from "./simulation.ts";
import { dropletOf, isBlocked, managedBy, serves } from "./truth.ts";
import type { World } from "./world.ts";

/** True where a name shows the address of an object that goes, beside one behind a firewall that cannot be opened: nobody knows whether that one serves. */
function isLastForCertain(world: World, pool: Pool, all: readonly FirewallView[]): boolean {
  const own = managedBy(pool);
  const doubtful = new Set(
    liveRoutedIPs(world).flatMap((other) => (typeof targetOf(other, all) === "object" ? [] : [...managedBy(other)])),
  );
  return Object.values(world.dns).some((account) =>
    account.records().some((record) => {
      const beside = account.records().filter(({ fqdn }) => fqdn === record.fqdn);
      return own.has(record.content) && beside.some(({ content }) => doubtful.has(content));
    }),
  );
}

/** What is wrong with the firewalls of a world in which the program had all the time it needs: something wanted is not there, or something nobody wants is. */
export function firewallsAtRest({ world, monitor }: Simulation): readonly Violation[] {
  const all = viewFirewalls(world);
  const live = liveRoutedIPs(world);
  // What the issuer of a deleted one said is on record, unless somebody took that away.
  const stuck = world
    .pools()
    .filter(({ meta }) => meta.isDeleting)
    .filter(
      (pool) =>
        isLastForCertain(world, pool, all) ||
        (isBlocked(pool) &&
          (pool.spec.suspend ||
            pool.decodeError === undefined ||
            monitor.records.touchedAtMs.has(objectKey(pool.meta)))),
    );
  const needed = new Set([
    ...live.flatMap((pool) => neededBy(world, pool, all)),
    ...stuck.flatMap(onRecord),
    ...portsInUse(world, all),
    ...live.flatMap((pool) => keptWhereLeft(world, pool, all)),
  ]);
  const known = monitor.firewalls.recorded();
  const left = monitor.firewalls.owed().flatMap(({ id, part }): readonly Violation[] => {
    const key = `${id} ${part}`;
    if (needed.has(key)) return known.has(key) ? [] : [{ invariant: "leak", text: `${key} is on no record` }];
    if (!known.has(key)) return [{ invariant: "leak", text: `${key} is needed by nobody and on no record` }];
    return [{ invariant: "P12", text: `${key} is needed by nobody, and stays` }];
  });
  return [...live.filter((pool) => !isBlocked(pool)).flatMap((pool) => shut(world, pool, all)), ...left];
}

/** What an object needs of firewalls, or has on record while nothing is let go for it. */
function neededBy(world: World, pool: Pool, all: readonly FirewallView[]): readonly string[] {
  const target = targetOf(pool, all);
  const kept = keepsAll(pool, all) || world.pools().some(({ meta }) => meta.isDeleting) ? [...onRecord(pool)] : [];
  if (typeof target !== "object") return kept;
  const { firewall, ports } = target;
  const holders = [...managedBy(pool)].flatMap((ip) => world.address(ip)?.droplet_id ?? []);
  // A machine that a purchase without an answer was made for may have the address: a person has to say which one it is.
  const asked = pool.status.pendingAcquisitions.flatMap(
    ({ providerID = "" }) => PROVIDERS.machineID("digitalocean", providerID) ?? [],
  );
  const machines = [...holders.map(String), ...asked];
  // What a former firewall has stays until the present one lets everybody in to the address.
  const isOpenTo = (id: string): boolean => firewall.covered.has(id) && ports.every((one) => isOpen(firewall, one));
  if (!machines.every(isOpenTo)) kept.push(...onRecord(pool));
  const needed = [...ports.map(portText), ...machines, ...triedAgain(world, pool)];
  return [...kept, ...needed.map((part) => `${firewall.id} ${part}`)];
}

/**
 * The machines of an object that serves nowhere to whose nodes an attempt failed, as status has it: it is tried again, however late and however often, and what lets clients in there
 * is not taken away and put back each time. A purchase that failed may have been for the machine of any node that matches: status does not keep which.
 */
function triedAgain(world: World, pool: Pool): readonly string[] {
  if (servingMachine(world, pool) !== undefined) return [];
  const failed = new Set(pool.status.retries.map(({ subject }) => subject));
  const isBuying = failed.has("acquire") && managedBy(pool).size === 0;
  const machineID = (node: NodeFacts): string => String(dropletOf(node) ?? "");
  const hasFailed = (node: NodeFacts): boolean =>
    failed.has(nodeSubject({ nodeName: node.name, machineID: machineID(node) }));
  const nodes = world.nodes().filter((node) => isBuying || hasFailed(node));
  return nodes.flatMap((node) => (serves(world, pool, node) === "match" ? machineID(node) : []));
}

/**
 * The ports on record at an object's firewall while its address is on a node that does not match, and cannot leave it: the Service may be another one since, and the ports of the former
 * one still let clients in there.
 */
function keptWhereLeft(world: World, pool: Pool, all: readonly FirewallView[]): readonly string[] {
  const target = targetOf(pool, all);
  if (typeof target !== "object") return [];
  const holders = new Set([...managedBy(pool)].map((ip) => world.address(ip)?.droplet_id));
  const own = world.nodes().filter((node) => holders.has(dropletOf(node)));
  const isLeft = own.length > 0 && own.every((node) => serves(world, pool, node) !== "match");
  const { id } = target.firewall;
  const present = (pool.status.firewalls ?? []).filter((memory) => memory.id === id);
  return isLeft ? present.flatMap(({ ports }) => ports.map((port) => `${id} ${port}`)) : [];
}

/** What is on record at firewalls that cover a machine with an address which a name shows, and whose object keeps none in step: its clients may come through that. */
function portsInUse(world: World, all: readonly FirewallView[]): readonly string[] {
  const pools = world.pools();
  const records = Object.values(world.dns).flatMap((account) => account.records());
  const shown = new Set(records.map(({ content }) => content));
  const owners = pools.filter((pool) => !pool.meta.isDeleting && typeof targetOf(pool, all) !== "object");
  const unguarded = new Set(owners.flatMap((pool) => [...managedBy(pool)].filter((ip) => shown.has(ip))));
  return pools.flatMap((pool) => {
    const { ips, released } = pool.status;
    const own = [...Object.keys(ips), ...released.map(({ ip }) => ip)].filter((ip) => unguarded.has(ip));
    const machines = own.map((ip) => String(world.address(ip)?.droplet_id ?? ""));
    const covering = all.filter(({ covered }) => machines.some((machine) => covered.has(machine)));
    return onRecord(pool).filter((part) => covering.some(({ id }) => part.startsWith(`${id} `)));
  });
}

function shut(world: World, pool: Pool, all: readonly FirewallView[]): readonly Violation[] {
  const target = targetOf(pool, all);
  const machine = servingMachine(world, pool);
  if (typeof target !== "object" || machine === undefined || isHeldByFirewall(world, pool)) return [];
  const { firewall, ports } = target;
  const what = `${objectKey(pool.meta)}: ${firewall.name}`;
  const absent = onRecord(pool).filter((part) => {
    const view = all.find(({ id }) => part.startsWith(`${id} `));
    return view?.parts.has(part.slice(view.id.length + 1)) === false;
  });
  const closed = ports.filter((one) => !isOpen(firewall, one)).map(portText);
  return [
    ...absent.map((part) => ({ invariant: "memory", text: `${what} has not ${part}, which is on record` })),
    ...(closed.length === 0 ? [] : [{ invariant: "P12", text: `${what} keeps ${closed.join(" ")} shut` }]),
    ...(firewall.covered.has(machine) ? [] : [{ invariant: "P12", text: `${what} does not cover ${machine}` }]),
  ];
}
