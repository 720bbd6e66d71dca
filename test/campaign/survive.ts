import type { Backend } from "../scenario/backend.ts";
import { World } from "../scenario/world.ts";
import { comeToRest } from "./come-to-rest.ts";
import { BOTH, collectionPath, KINDS, type Kind } from "./kinds.ts";
import { OBJECTS, type Situation, type Statuses, settle } from "./situations.ts";

/** What must not suffer from damaged state. */
export interface Outcome {
  /** Addresses of the account, bought ones by their number. */
  readonly addresses: number;
  readonly serving: number;
  /** `PROVIDER NAME` of everything published. */
  readonly names: readonly string[];
  readonly conditions: readonly string[];
  readonly holds: readonly string[];
  readonly violations: readonly string[];
  readonly providerWrites: readonly string[];
}

/** Plays a situation, lets `damage` do its work, and passes until rest; undefined where it changed nothing. @throws Error when rest is never reached */
export async function survive(
  backend: Backend,
  situation: Situation,
  damage: (world: World, backend: Backend, before: Statuses) => Promise<boolean>,
): Promise<Outcome | undefined> {
  const world = new World(backend);
  try {
    await settle(world, situation.family);
    const before = await statuses(world);
    await situation.event?.(world);
    if (situation.diesBefore !== undefined) await world.crash(situation.diesBefore);
    if (!(await damage(world, backend, before))) return undefined;
    world.advance(5000);
    return await outcomeOf(world);
  } finally {
    await world.close();
  }
}

/** Passes until rest and tells what came of everything. @throws Error when rest is never reached */
export async function outcomeOf(world: World): Promise<Outcome> {
  const { last, providerWrites } = await comeToRest(world);
  const pool = await world.pools.status("web");
  const recordSet = await world.recordSets.status("nodes");
  const own = [...pool.conditions, ...recordSet.conditions];
  return {
    addresses: world.cloud.allAddresses().length,
    serving: Object.values(pool.ips).filter(({ state }) => state === "active").length,
    names: world.dns
      .sets()
      .map(({ provider, fqdn }) => `${provider} ${fqdn}`)
      .toSorted(),
    conditions: own.map(({ type, status, reason }) => `${type}=${status} (${reason})`),
    holds: [...new Set(last.remaining.holds.map(({ kind, reason }) => `${kind} ${reason}`))].toSorted(),
    violations: world.dnsSafety.violations,
    providerWrites,
  };
}

/** Both statuses as stored. */
export async function statuses(world: World): Promise<Statuses> {
  return {
    FloatingIPPool: (await world.pools.read(OBJECTS.FloatingIPPool))?.status,
    NodeDNSRecordSet: (await world.recordSets.read(OBJECTS.NodeDNSRecordSet))?.status,
  };
}

/** Puts a status in the place of an object's, as a person does; false when the API server refuses it. */
export async function writeStatus(world: World, { rest }: Backend, kind: Kind, status: unknown): Promise<boolean> {
  const objects = kind === KINDS.FloatingIPPool ? world.pools : world.recordSets;
  const name = OBJECTS[kind.name];
  const stored = await objects.read(name);
  const namespace = stored?.metadata.namespace ?? "";
  const path = `${collectionPath(kind, namespace)}/${name}/status`;
  return await rest("PUT", path, { ...stored, status }).then(
    () => true,
    () => false,
  );
}

/** Loses the whole status of both objects. */
export async function loseStatuses(world: World, backend: Backend): Promise<boolean> {
  for (const kind of BOTH) await writeStatus(world, backend, kind, {});
  return true;
}
