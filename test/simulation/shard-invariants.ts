import { type ObjectMeta, objectKey } from "../../src/model/resource.ts";
import { isOfShard, overlaps, SHARD_LABEL } from "../../src/model/shard.ts";
import type { KubeObject } from "../../src/sandbox/kubernetes/object-store.ts";
import type { SimCall } from "./faults.ts";
import type { Monitor } from "./monitor.ts";
import type { Process } from "./process.ts";
import { nameKey } from "./publishers.ts";
import type { World } from "./world.ts";

/** A label that an object had, and until when, milliseconds. */
interface FormerLabel {
  readonly label: string;
  readonly untilMs: number;
}

/** Follows whose work the objects are. */
export class ShardRecords {
  /** By uid. */
  readonly #former = new Map<string, readonly FormerLabel[]>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.kubernetes.api.store.subscribe(({ resource, object, previous }) => {
      if (resource.startsWith("flipop.") && previous !== undefined) this.#changed(previous, object);
    });
  }

  /** Every label that an object had at some time since then, the one that it has now among them; `""` = none. */
  labelsSince({ uid, labels }: ObjectMeta, sinceMs: number): readonly string[] {
    const former = (this.#former.get(uid) ?? []).filter(({ untilMs }) => untilMs >= sinceMs);
    return [...former.map(({ label }) => label), labels[SHARD_LABEL] ?? ""];
  }

  #changed(previous: KubeObject, { metadata }: KubeObject): void {
    const label = previous.metadata.labels?.[SHARD_LABEL] ?? "";
    if (label === (metadata.labels?.[SHARD_LABEL] ?? "") || metadata.uid === undefined) return;
    const known = this.#former.get(metadata.uid) ?? [];
    this.#former.set(metadata.uid, [...known, { label, untilMs: this.#world.nowMs() }]);
  }
}

/** So long a status or an Event may be on its way, milliseconds: it tells of what its process did while the object was its own, such as a purchase, and others may stand before it. */
const TOLD_LATE_MS = 10_000;

/** What a write of one process breaks among several: what it changes is its own, and nobody else works for it. */
export function checkShard(monitor: Monitor, process: Process, call: SimCall, what: string): void {
  const { simulation, shards } = monitor;
  if (simulation.history.shards === undefined) return;
  checkOverlap(monitor, process, what);
  // An old list shows an old label.
  const objects = process.isMisled ? [] : objectsOf(monitor, call);
  const sinceMs = process.listsFromMs - (call.side === "cluster" ? TOLD_LATE_MS : 0);
  const isOwn = ({ namespace, ...meta }: ObjectMeta): boolean =>
    shards
      .labelsSince({ namespace, ...meta }, sinceMs)
      .some((label) => isOfShard({ namespace, labels: { [SHARD_LABEL]: label } }, process.shard));
  if (objects.length > 0 && !objects.some(isOwn))
    monitor.violated("shard", `${what}, which is of ${objects.map(textOf).join(", ")}`);
}

/** Nobody begins a pass or writes while another process is at work for some of the same objects. */
export function checkOverlap(monitor: Monitor, process: Process, what: string): void {
  const other = process.isAtWork ? rivalOf(monitor, process) : undefined;
  if (other !== undefined)
    monitor.violated("overlap", `${what} while ${other.identity} works for ${other.settings.shard ?? "no shard"}`);
}

function textOf(meta: ObjectMeta): string {
  return `${objectKey(meta)} (${meta.labels[SHARD_LABEL] ?? "no label"})`;
}

/** Another process that is at work for some of the same objects, with a Lease that is neither lost nor given back. */
function rivalOf({ simulation }: Monitor, { shard, leaseName, slot }: Process): Process | undefined {
  return simulation.running.find(
    (other) =>
      other !== undefined &&
      other.slot !== slot &&
      other.isAtWork &&
      !other.isDead &&
      other.leaseName !== leaseName &&
      overlaps(other.shard, shard) &&
      simulation.world.isLeaseFresh(other.leaseName, other.identity),
  );
}

/** The objects that a call writes, or whose address or name it changes. Of an address or a name that an object had that is gone nobody can tell. */
function objectsOf({ records, simulation: { world } }: Monitor, call: SimCall): readonly ObjectMeta[] {
  const { side, subject, provider = "digitalocean" } = call;
  const all = [...world.pools(), ...world.recordSets()].map(({ meta }) => meta);
  if (side === "cluster") return all.filter((meta) => objectKey(meta) === subject);
  const uids =
    side === "dns"
      ? (records.everWished.get(nameKey(provider, subject)) ?? [])
      : records.namers(subject).map(({ meta }) => meta.uid);
  const found = [...uids].map((uid) => all.find((meta) => meta.uid === uid));
  return found.flatMap((meta) => meta ?? []).length === found.length ? found.flatMap((meta) => meta ?? []) : [];
}
