import { isDeepStrictEqual } from "node:util";
import { type Call, RESOURCES } from "../../src/adapters/kube/call.ts";
import {
  decodePool,
  decodeRecordSet,
  decodeRoutedIP,
  decodeRoutedIPIssuer,
} from "../../src/adapters/kube/custom-resources.ts";
import { decodeNamespace } from "../../src/adapters/kube/namespace.ts";
import { decodeNode } from "../../src/adapters/kube/node.ts";
import { decodePod } from "../../src/adapters/kube/pod.ts";
import type { ServicePlace } from "../../src/adapters/kube/service.ts";
import { decodeEndpointSlice, decodeService, SERVICE_NAME_LABEL } from "../../src/adapters/kube/service.ts";
import type { KubeError } from "../../src/model/errors.ts";
import type { NamespaceGrants } from "../../src/model/grants.ts";
import { type NodeFacts, type PodFacts, type PodSelector, podSelectorKey } from "../../src/model/node.ts";
import { objectKey, type Pool, type RecordSet } from "../../src/model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../src/model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../src/model/service.ts";
import type { ClusterChange, Staleness, WarmCluster } from "../../src/ports/cluster.ts";
import { objectFilter } from "../../src/sandbox/kubernetes/lists.ts";
import { type Change, storeKey } from "../../src/sandbox/kubernetes/object-store.ts";
import type { ResourceType } from "../../src/sandbox/kubernetes/resource-types.ts";
import { MemoryCluster, type MemoryClusterOptions, UNFINISHED } from "./memory-cluster.ts";

/** One list that somebody asked for, and how it is found in the emulated store. */
interface Query<T> {
  readonly key: string;
  readonly kind: ClusterChange["kind"];
  readonly resource: keyof typeof RESOURCES;
  readonly decode: (object: unknown) => T | undefined;
  readonly namespace?: string;
  readonly label?: string;
}

interface Watched {
  readonly query: Query<unknown>;
  readonly includes: (change: Change["object"]) => boolean;
  readonly entries: Map<string, { readonly version: number; readonly facts: unknown }>;
  /** At which version objects ended. */
  readonly ends: Map<string, number>;
}

/**
 * The memory cluster with lists that are kept by watches: a list is read by its first call only, faults of `beforeCall` included, and answers from memory afterwards.
 * Changes arrive, and are announced, within the call that made them, unless {@link delay} or {@link disconnect} holds them back; what this fake wrote itself is in the
 * lists at once. A list is never undecided: it waits for nothing but promises.
 */
export class MemoryWarmCluster extends MemoryCluster implements WarmCluster {
  private readonly watched = new Map<string, Watched>();
  private readonly listeners = new Set<(change: ClusterChange) => void>();
  private readonly held: Change[] = [];
  private readonly unsubscribe: () => void;
  private isDelayed = false;
  private isWriting = false;
  private stale: Staleness | undefined;

  constructor(options: MemoryClusterOptions = {}) {
    super(options);
    this.unsubscribe = this.sandbox.api.store.subscribe((change) => this.arrive(change));
  }

  override async listPools(): Promise<readonly Pool[]> {
    const query = { key: "pools", kind: "pool", resource: "pools", decode: decodePool } as const;
    return await this.warm(query, () => super.listPools());
  }

  override async listRecordSets(): Promise<readonly RecordSet[]> {
    const query = { key: "record sets", kind: "record-set", resource: "recordSets", decode: decodeRecordSet } as const;
    return await this.warm(query, () => super.listRecordSets());
  }

  override async listRoutedIPs(): Promise<readonly RoutedIP[]> {
    const query = { key: "routed IPs", kind: "routed-ip", resource: "routedIPs", decode: decodeRoutedIP } as const;
    return await this.warm(query, () => super.listRoutedIPs());
  }

  override async listRoutedIPIssuers(): Promise<readonly RoutedIPIssuer[]> {
    const query = { key: "issuers", kind: "issuer", resource: "issuers", decode: decodeRoutedIPIssuer } as const;
    return await this.warm(query, () => super.listRoutedIPIssuers());
  }

  override async listNamespaceGrants(): Promise<readonly NamespaceGrants[]> {
    const query = { key: "namespaces", kind: "namespace", resource: "namespaces", decode: decodeNamespace } as const;
    return await this.warm(query, () => super.listNamespaceGrants());
  }

  override async listServices(): Promise<readonly ServiceFacts[]> {
    const query = { key: "services", kind: "service", resource: "services", decode: decodeService } as const;
    return await this.warm(query, () => super.listServices());
  }

  override async listEndpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    const place = { namespace: service.namespace, label: `${SERVICE_NAME_LABEL}=${service.name}` };
    const key = `endpoint slices ${objectKey(service)}`;
    const query = { key, kind: "endpoint-slice", resource: "endpointSlices", ...place } as const;
    return await this.warm({ ...query, decode: decodeEndpointSlice }, () => super.listEndpointSlices(service));
  }

  override async listNodes(): Promise<readonly NodeFacts[]> {
    const query = { key: "nodes", kind: "node", resource: "nodes", decode: decodeNode } as const;
    return await this.warm(query, () => super.listNodes());
  }

  override async listPods(selector: PodSelector): Promise<readonly PodFacts[]> {
    const query = { key: `pods ${podSelectorKey(selector)}`, kind: "pod", resource: "pods", ...selector } as const;
    return await this.warm({ ...query, decode: decodePod }, () => super.listPods(selector));
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.listeners.add(listener);
  }

  staleness(): Staleness | undefined {
    return this.watched.size === 0 ? undefined : this.stale;
  }

  close(): void {
    this.unsubscribe();
    this.listeners.clear();
    this.watched.clear();
  }

  /** Breaks all watches: lists fail with the error, and changes wait, until {@link reconnect}. */
  disconnect(error: KubeError, sinceMs: number): void {
    this.stale = { sinceMs, error };
  }

  /** Holds changes back, as a slow watch does: the lists stay as they are until {@link reconnect}. */
  delay(): void {
    this.isDelayed = true;
  }

  /**
   * Ends {@link disconnect} and {@link delay}: what happened meanwhile is in the lists now, and announced.
   * @param arrive - in which order the changes come, and how often each; `lastOfEach` for a list that is read anew.
   */
  reconnect(arrive: (changes: readonly Change[]) => readonly Change[] = (changes) => changes): void {
    this.stale = undefined;
    this.isDelayed = false;
    for (const change of arrive(this.held.splice(0))) this.take(change, false);
  }

  protected override write<T>(
    facts: Pick<Call, "verb" | "resource" | "subject" | "subresource">,
    work: (type: ResourceType) => T,
  ): T {
    this.isWriting = true;
    try {
      return super.write(facts, work);
    } finally {
      this.isWriting = false;
    }
  }

  private async warm<T>(query: Query<T>, read: () => Promise<readonly T[]>): Promise<readonly T[]> {
    const { key } = query;
    if (this.stale !== undefined) throw this.stale.error;
    if (!this.watched.has(key)) {
      await read();
      this.watch(query);
    }
    const entries = [...(this.watched.get(key)?.entries ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    return entries.map(([, { facts }]) => facts as T);
  }

  private watch<T>(query: Query<T>): void {
    const { group, version, plural } = RESOURCES[query.resource];
    const type = this.sandbox.api.types.byPlural(group, version, plural);
    if (type === undefined || this.watched.has(query.key)) return;
    const fields: Readonly<Record<string, string>> = query.kind === "pod" ? { fieldSelector: UNFINISHED } : {};
    const params = new URLSearchParams({ ...fields, labelSelector: query.label ?? "" });
    const { includes } = objectFilter(type, query.namespace || undefined, params);
    const entries: Watched["entries"] = new Map();
    for (const object of this.sandbox.api.store.all(storeKey(type)).filter(includes)) {
      const facts = query.decode(object);
      const { namespace = "", name, resourceVersion } = object.metadata;
      if (facts !== undefined) entries.set(`${namespace}/${name}`, { version: Number(resourceVersion), facts });
    }
    this.watched.set(query.key, { query, includes, entries, ends: new Map() });
  }

  private arrive(change: Change): void {
    if (this.isWriting) this.take(change, true);
    else if (this.isDelayed || this.stale !== undefined) this.held.push(change);
    else this.take(change, false);
  }

  private take(change: Change, isOwn: boolean): void {
    for (const watched of this.watched.values()) {
      const { group, plural } = RESOURCES[watched.query.resource];
      if (change.resource === storeKey({ group, plural })) this.apply(watched, change, isOwn);
    }
  }

  private apply({ query, includes, entries, ends }: Watched, change: Change, isOwn: boolean): void {
    const { namespace = "", name } = change.object.metadata;
    const key = `${namespace}/${name}`;
    const before = entries.get(key);
    if ((before?.version ?? ends.get(key) ?? 0) >= change.resourceVersion) return;
    const facts = change.type !== "DELETED" && includes(change.object) ? query.decode(change.object) : undefined;
    if (facts === undefined) {
      entries.delete(key);
      ends.set(key, change.resourceVersion);
    } else entries.set(key, { version: change.resourceVersion, facts });
    // An own write upon something that was not in the list yet brings that along, and it must not go unnoticed.
    const isUnderstood = isOwn && before?.version === Number(change.previous?.metadata.resourceVersion);
    if (isUnderstood || isDeepStrictEqual(unversioned(before?.facts), unversioned(facts))) return;
    for (const listener of this.listeners) listener({ kind: query.kind, subject: namespace === "" ? name : key });
  }
}

/** Of each object its last state alone: what a list shows that is read anew, ends of what came back under its name unseen. */
export function lastOfEach(changes: readonly Change[]): readonly Change[] {
  const keyOf = ({ resource, object }: Change): string =>
    `${resource} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  return [...new Map(changes.map((change) => [keyOf(change), change])).values()];
}

/** The facts without what changes with every write. */
function unversioned(facts: unknown): unknown {
  const { meta, ...rest } = { meta: undefined, ...(facts as object | undefined) };
  return { ...rest, resourceVersion: "", meta: { ...(meta as object | undefined), resourceVersion: "" } };
}
