import { refKey } from "../../src/model/action.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Plan } from "../../src/model/plan.ts";
import { objectKey, type Pool } from "../../src/model/resource.ts";
import { type DNSView, shownIn } from "./dns-view.ts";
import type { SimCall } from "./faults.ts";
import type { Monitor } from "./monitor.ts";
import type { Process } from "./process.ts";
import { dropletOf, managedBy, stillServes } from "./truth.ts";

/** How far lists may lag behind, with a few calls and their time, milliseconds. */
const LAG_MS = 5500;
/** What a pass may have read before a change, milliseconds. */
const RACE_MS = 1500;
/** What waits for others, or for resolvers. */
const GUARDS: ReadonlySet<string> = new Set(["DisruptionBudget", "Draining"]);

/** P16: no guard holds an address whose node serves no more. */
export function checkRecoveries(monitor: Monitor, process: Process, { holds }: Plan): void {
  const { world } = monitor.simulation;
  for (const { kind, object, subject, reason } of holds) {
    if (kind !== "assign-ip" || !GUARDS.has(reason)) continue;
    const holder = world.address(subject)?.droplet_id ?? undefined;
    const nodes = world.nodes().filter((node) => holder !== undefined && dropletOf(node) === holder);
    const isDown = nodes.length > 0 && nodes.every((node) => isLongDown(node, process));
    if (isDown)
      monitor.violated("P16", `${process.identity}: ${refKey(object)} holds ${subject}, whose node is down: ${reason}`);
  }
}

/** What a record set publishes of a node serves where the node is, whatever becomes of reserved addresses. */
function isAddress(ip: string): (own: NodeFacts["addresses"][number]) => boolean {
  return ({ address }) => address === ip;
}

function isLongDown({ ready }: NodeFacts, { passStartMs }: Process): boolean {
  return !ready.isReady && (ready.sinceMs ?? passStartMs) < passStartMs - LAG_MS;
}

/** Follows what processes take from nodes that serve, of their own accord. */
export class Voluntary {
  readonly #monitor: Monitor;
  /** Addresses that were taken so, by the uid of their pool; whether they are back is looked up. */
  readonly #taken = new Map<string, string>();

  constructor(monitor: Monitor) {
    this.#monitor = monitor;
  }

  /** Enters that an address is sent away by its provider. */
  move(process: Process, { subject: ip, operation }: SimCall, dns: DNSView): void {
    if (operation !== "assign" && operation !== "unassign") return;
    const pool = this.#owner(process, ip);
    if (pool === undefined || !this.#servesLong(process, pool, ip)) return;
    this.#taken.set(ip, pool.meta.uid);
    const shown = this.#shown(pool, dns);
    const left = shown.filter((other) => other !== ip);
    if (shown.includes(ip)) this.#check(process, pool, ip, left, `${operation} ${ip}`);
  }

  /** Enters that an address leaves a name. */
  leave(process: Process, { subject, provider }: SimCall, removed: readonly string[], left: readonly string[]): void {
    for (const ip of removed) {
      const pool = this.#owner(process, ip);
      const name = pool?.status.publishedDNS;
      if (pool === undefined || name?.name !== subject || name.provider !== provider) continue;
      // Who asks for no name any more asks for the end of the one it had.
      if (pool.spec.dnsRecordSet === undefined) continue;
      if (!this.#servesLong(process, pool, ip)) continue;
      this.#taken.set(ip, pool.meta.uid);
      this.#check(process, pool, ip, left, `${ip} leaves ${subject}`);
    }
  }

  /** P15: while another address of a name serves, no voluntary change leaves the name without one that answers. */
  #check(process: Process, pool: Pool, ip: string, left: readonly string[], what: string): void {
    if (left.some((other) => this.#answers(other))) return;
    const others = [...managedBy(pool)].filter((other) => other !== ip && this.#taken.get(other) === pool.meta.uid);
    const away = others.filter((other) => this.#answers(other) || this.#isOnItsWay(other));
    if (away.length === 0) return;
    this.#monitor.violated(
      "P15",
      `${process.identity}: ${what} while ${away.join(", ")} of ${objectKey(pool.meta)} was taken, too`,
    );
  }

  /** The one pool that an address belongs to, as it has been since the pass began. */
  #owner(process: Process, ip: string): Pool | undefined {
    const [pool, ...others] = this.#monitor.records.namers(ip);
    if (pool === undefined || others.length > 0 || !managedBy(pool).has(ip) || process.isMisled) return undefined;
    const hasRoom = managedBy(pool).size <= (pool.spec.desiredIPs || managedBy(pool).size);
    const isQuiet = this.#monitor.records.changedAtMs(objectKey(pool.meta)) < process.passStartMs - RACE_MS;
    return isQuiet && hasRoom && !pool.spec.suspend && !pool.meta.isDeleting ? pool : undefined;
  }

  /** True where the node has served since before the pass began, as far as the node itself shows. */
  #servesLong({ passStartMs }: Process, pool: Pool, ip: string): boolean {
    if (pool.spec.match.podLabel !== "" || pool.endpoints !== undefined) return false;
    const { world } = this.#monitor.simulation;
    return this.#nodesOf(ip).some(
      (node) => stillServes(world, pool, node) && (node.ready.sinceMs ?? passStartMs) < passStartMs - RACE_MS,
    );
  }

  #answers(ip: string): boolean {
    const own = this.#monitor.simulation.world.nodes().filter(({ addresses }) => addresses.some(isAddress(ip)));
    return !this.#isOnItsWay(ip) && [...this.#nodesOf(ip), ...own].some(({ ready }) => ready.isReady);
  }

  #isOnItsWay(ip: string): boolean {
    const { actions } = this.#monitor.simulation.world.cloud.state;
    return actions.some((action) => action.ip === ip && action.status === "in-progress");
  }

  #nodesOf(ip: string): readonly NodeFacts[] {
    const { world } = this.#monitor.simulation;
    const holder = world.address(ip)?.droplet_id ?? undefined;
    return world.nodes().filter((node) => holder !== undefined && dropletOf(node) === holder);
  }

  #shown({ status }: Pool, dns: DNSView): readonly string[] {
    const name = status.publishedDNS;
    return name === undefined ? [] : shownIn(dns, name.provider, name.name);
  }
}
