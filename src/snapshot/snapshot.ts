import { ConfigError } from "../model/errors.ts";
import { parseLabelSelector } from "../model/label-selector.ts";
import type { NodeFacts } from "../model/node.ts";
import type { Observation } from "../model/observation.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { GROUP, type Pool } from "../model/resource.ts";
import type { RoutedIP } from "../model/routed-ip.ts";
import { POOL, ROUTED_IP, texts } from "./object-shapes.ts";
import { fields, list, number, type Shape, text, type Written } from "./shape.ts";
import { OBSERVED, type ObservedPart } from "./world-shapes.ts";

/** What one pass saw, and what `status` reads beside it. */
export interface Snapshot {
  readonly observation: Observation;
  readonly stored: StoredPart;
}

/** What `status` reads and a plan does not. */
export interface StoredPart {
  /** FloatingIPPools as they are stored. */
  readonly pools: readonly Pool[];
  /** RoutedIPs as they are stored. */
  readonly routedIPs: readonly RoutedIP[];
  /** `NAMESPACE/NAME` of the Lease. */
  readonly leaseKey: string;
  /** Absent where there is none, or where it may not be read. */
  readonly lease?: LeasePart;
  /** Why it may not be read. */
  readonly leaseError?: string;
}

/** What `status` reads of the Lease. */
interface LeasePart {
  readonly holder: string;
  readonly renewTimeMs: number;
  readonly annotations: Readonly<Record<string, string>>;
}

const STORED: Shape<StoredPart> = fields<StoredPart>(
  {
    pools: list(POOL),
    routedIPs: list(ROUTED_IP),
    leaseKey: text,
    lease: fields<LeasePart>({ holder: text, renewTimeMs: number, annotations: texts }),
    leaseError: text,
  },
  "lease",
  "leaseError",
);

/** What stands in a file of a snapshot. */
export interface WrittenSnapshot {
  readonly observed: Written;
  readonly stored: Written;
}

/**
 * Returns a snapshot as it is written: of every object the fields that flipop reads, of nodes the labels that something asks for, of the Lease flipop's own notes. Pools
 * stand under `stored` only where their annotation knows more than their status. Pure.
 */
export function writeSnapshot({ observation, stored }: Snapshot): WrittenSnapshot {
  const labels = askedLabels(observation);
  const nodes = observation.nodes.map((node) => withLabels(node, labels));
  const known = new Set(observation.pools.map((pool) => JSON.stringify(POOL.write(pool))));
  const pools = stored.pools.filter((pool) => !known.has(JSON.stringify(POOL.write(pool))));
  const { lease } = stored;
  const own = lease === undefined ? {} : { lease: { ...lease, annotations: ownNotes(lease.annotations) } };
  return {
    observed: OBSERVED.write({ ...observation, nodes }),
    stored: STORED.write({ ...stored, pools, ...own }),
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

/** The labels of nodes that a selector reads, or that a provider names places with. */
function askedLabels({ pools, recordSets, registry }: Observation): ReadonlySet<string> {
  const selectors = [...pools, ...recordSets].map(({ spec }) => parseLabelSelector(spec.match.nodeLabel));
  const asked = selectors.flatMap((parsed) => ("selector" in parsed ? [...parsed.selector.demands.keys()] : []));
  const providers = new Set(pools.map(({ spec }) => spec.provider));
  const places = [...providers].flatMap((name) => registry.get(name)?.addresses?.regionLabel ?? []);
  return new Set([...asked, ...places]);
}

function withLabels(node: NodeFacts, keys: ReadonlySet<string>): NodeFacts {
  return { ...node, labels: Object.fromEntries(Object.entries(node.labels).filter(([key]) => keys.has(key))) };
}

function ownNotes(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(`${GROUP}/`)));
}

/** @throws ConfigError `invalid` for a document that is no snapshot, or one of a later version */
export function checkHead(
  { apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown },
  mine: string,
): void {
  if (kind !== "Snapshot") throw new ConfigError("invalid", "It is no snapshot: its kind is not Snapshot.");
  if (apiVersion === mine) return;
  const given = typeof apiVersion === "string" ? apiVersion : "none";
  throw new ConfigError("invalid", `Its apiVersion is ${given}; this flipop reads ${mine}.`);
}
