import type { PastEvent } from "../model/change.ts";
import { selectedLabels } from "../model/label-selector.ts";
import { nearestSelector } from "../model/nearest.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { GROUP, type Pool } from "../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../model/routed-ip.ts";
import type { ServiceFacts } from "../model/service.ts";
import type { ScheduledWorkload } from "../model/workload.ts";
import { POOL, ROUTED_IP, ROUTED_IP_ISSUER, SERVICE } from "./object-shapes.ts";
import {
  fields,
  flag,
  list,
  number,
  type Renaming,
  recordOf,
  type Shape,
  sentence,
  term,
  text,
  type Written,
  word,
} from "./shape.ts";
import { OBSERVED, type ObservedPart, PAST_EVENT } from "./world-shapes.ts";

/** What one pass saw, and what `status` reads beside it. */
export interface Snapshot {
  readonly observation: Observation;
  readonly stored: StoredPart;
}

/** What `status` reads and a plan does not, and what a plan of other objects is made of. */
export interface StoredPart {
  /** FloatingIPPools as they are stored. */
  readonly pools: readonly Pool[];
  /** RoutedIPs as they are stored. */
  readonly routedIPs: readonly RoutedIP[];
  /** What they refer to; of Services only those that they name. Absent = not known. */
  readonly issuers?: readonly RoutedIPIssuer[];
  readonly services?: readonly ServiceFacts[];
  /** The labels of nodes that are held though no object selects by them. Absent = none. */
  readonly nodeLabels?: readonly string[];
  /** `NAMESPACE/NAME` of the Lease. */
  readonly leaseKey: string;
  /** Absent where there is none, or where it may not be read. */
  readonly lease?: LeasePart;
  /** Why it may not be read. */
  readonly leaseError?: string;
  /** The Events that flipop wrote. Absent where they were left out, or may not be read. */
  readonly events?: readonly PastEvent[];
  /** Why they may not be read. */
  readonly eventsError?: string;
  /** What runs flipop in the namespace of the Lease. Absent where nobody may look. */
  readonly workloads?: readonly ScheduledWorkload[];
}

/** What `status` reads of the Lease. */
interface LeasePart {
  readonly holder: string;
  readonly renewTimeMs: number;
  readonly annotations: Readonly<Record<string, string>>;
}

const WORKLOAD: Shape<ScheduledWorkload> = fields<ScheduledWorkload>(
  { kind: word("CronJob", "Deployment"), name: text, isSuspended: flag, schedule: term, timeZone: term },
  "timeZone",
);

const STORED: Shape<StoredPart> = fields<StoredPart>(
  {
    pools: list(POOL),
    routedIPs: list(ROUTED_IP),
    issuers: list(ROUTED_IP_ISSUER),
    services: list(SERVICE),
    nodeLabels: list(text),
    leaseKey: term,
    lease: fields<LeasePart>({ holder: text, renewTimeMs: number, annotations: recordOf(term, term) }),
    leaseError: sentence,
    events: list(PAST_EVENT),
    eventsError: sentence,
    workloads: list(WORKLOAD),
  },
  "issuers",
  "services",
  "nodeLabels",
  "lease",
  "leaseError",
  "events",
  "eventsError",
  "workloads",
);

/** What stands in a file of a snapshot. */
export interface WrittenSnapshot {
  readonly observed: Written;
  readonly stored: Written;
}

/**
 * Returns a snapshot as it is written: of every object the fields that flipop reads, of nodes the labels that something asks for, of the Lease and of Events what flipop wrote. Pools
 * stand under `stored` only where their annotation knows more than their status. Pure.
 * @param by - what is written in the place of texts; absent = they are written as they are
 */
export function writeSnapshot({ observation, stored }: Snapshot, by?: Renaming): WrittenSnapshot {
  const labels = heldLabels({ observation, stored });
  const nodes = observation.nodes.map((node) => withLabels(node, labels));
  const known = new Set(observation.pools.map((pool) => JSON.stringify(POOL.write(pool))));
  const pools = stored.pools.filter((pool) => !known.has(JSON.stringify(POOL.write(pool))));
  const { lease } = stored;
  const own = lease === undefined ? {} : { lease: { ...lease, annotations: ownNotes(lease.annotations) } };
  const events = stored.events?.filter(({ controller }) => controller === `${GROUP}/flipop`);
  return {
    observed: OBSERVED.write({ ...observation, nodes }, by),
    stored: STORED.write({ ...stored, pools, ...own, ...(events === undefined ? {} : { events }) }, by),
  };
}

/**
 * Reads what {@link writeSnapshot} wrote. Names that it does not know mean nothing. Pure.
 * @param name - what stands for the cluster in texts
 * @throws ConfigError `invalid` for what is no snapshot
 */
export function readSnapshot(
  { observed, stored }: { readonly observed?: unknown; readonly stored?: unknown },
  { name, registry }: { readonly name: string; readonly registry: ProviderRegistry },
): Snapshot {
  const part: ObservedPart = OBSERVED.read(observed, "observed");
  const rest = STORED.read(stored, "stored");
  const differing = new Map(rest.pools.map((pool) => [keyOf(pool), pool]));
  const pools = part.pools.filter(({ kind }) => kind === "pool").map((pool) => differing.get(keyOf(pool)) ?? pool);
  return { observation: { ...part, cluster: name, registry }, stored: { ...rest, pools } };
}

function keyOf({ meta }: Pool): string {
  return `${meta.namespace}/${meta.name}`;
}

/** Returns which labels of nodes a snapshot holds: those that a selector reads or means, that say where a node is, and that were asked for. Pure. */
export function heldLabels({ observation, stored: { issuers = [], nodeLabels = [] } }: Snapshot): ReadonlySet<string> {
  const { pools, recordSets, nodes, registry } = observation;
  const selecting = [...[...pools, ...recordSets].map(({ spec }) => spec.match), ...issuers.map(({ spec }) => spec)];
  const selectors = [...new Set(selecting.map(({ nodeLabel }) => nodeLabel))];
  const labels = nodes.map((node) => node.labels);
  const meant = selectors.flatMap((selector) => nearestSelector(selector, labels) ?? []);
  const providers = new Set(pools.map(({ spec }) => spec.provider));
  const places = [...providers].flatMap((name) => registry.get(name)?.addresses?.regionLabel ?? []);
  return new Set([
    ...[...selectors, ...meant].flatMap(selectedLabels),
    ...places,
    ...Object.values(registry.placeLabels),
    ...nodeLabels,
  ]);
}

function withLabels(node: NodeFacts, keys: ReadonlySet<string>): NodeFacts {
  return { ...node, labels: Object.fromEntries(Object.entries(node.labels).filter(([key]) => keys.has(key))) };
}

function ownNotes(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(`${GROUP}/`)));
}
