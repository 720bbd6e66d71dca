import { isRequestRefusal, KubeError } from "../../../model/errors.ts";
import { type NodeFacts, type PodFacts, type PodSelector, podSelectorKey } from "../../../model/node.ts";
import { type ObjectMeta, objectKey, type Pool, type RecordSet } from "../../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../../model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../../model/service.ts";
import type { ClusterChange, Staleness } from "../../../ports/cluster.ts";
import { resourcePath } from "../call.ts";
import { CUSTOM_RESOURCES, type ReadableResource } from "../custom-resource.ts";
import type { ListRequest } from "../list-objects.ts";
import {
  endpointSlicesRequest,
  NODES_REQUEST,
  podsRequest,
  SERVICES_REQUEST,
  type ServicePlace,
} from "../list-requests.ts";
import { optional } from "../optional.ts";
import { KubeWatchSource, type StreamSource } from "./kube-watch-source.ts";
import { Reflector } from "./reflector.ts";
import { subjectOf } from "./sighting.ts";
import { smallPods } from "./small-pods.ts";
import { CUSTOM_RULES, ISSUER_RULES, NODE_RULES, POD_RULES, VERSIONED_RULES } from "./store-rules.ts";
import { Readings, UsedLists } from "./used-lists.ts";
import type { StoreRules } from "./watched-store.ts";

/** What the lists are made from. */
export interface ListAccess extends StreamSource {
  /** Shown the `meta` of every custom object as decoded, with the object it came from. */
  readonly onObject?: (meta: ObjectMeta, object: unknown) => void;
}

/** The lists that somebody has asked for, each read and watched since then. */
export class WarmLists {
  readonly #access: ListAccess;
  readonly #listeners: ((change: ClusterChange) => void)[] = [];
  readonly #ending = new AbortController();
  readonly #readings = new Readings();
  readonly #pods: UsedLists<PodFacts>;
  readonly #endpointSlices: UsedLists<EndpointSliceFacts>;
  #nodes: Reflector<NodeFacts> | undefined;
  #services: Reflector<ServiceFacts> | undefined;
  #pools: Reflector<Pool> | undefined;
  #recordSets: Reflector<RecordSet> | undefined;
  #routedIPs: Reflector<RoutedIP> | undefined;
  #issuers: Reflector<RoutedIPIssuer> | undefined;

  constructor(access: ListAccess) {
    this.#access = access;
    this.#pods = new UsedLists(access.clock, this.#readings, this.#ending.signal);
    this.#endpointSlices = new UsedLists(access.clock, this.#readings, this.#ending.signal);
  }

  /** See {@link Reflector.values}; so are all that follow. */
  async nodes(): Promise<readonly NodeFacts[]> {
    this.#nodes ??= this.#follow("node", NODES_REQUEST, NODE_RULES);
    return await this.#first("nodes", this.#nodes);
  }

  async services(): Promise<readonly ServiceFacts[]> {
    this.#services ??= this.#follow("service", SERVICES_REQUEST, VERSIONED_RULES);
    return await this.#services.values();
  }

  async pools(): Promise<readonly Pool[]> {
    this.#pools ??= this.#follow("pool", this.#requestOf(CUSTOM_RESOURCES.pools), CUSTOM_RULES);
    return await this.#first("pools", this.#pools);
  }

  async recordSets(): Promise<readonly RecordSet[]> {
    this.#recordSets ??= this.#follow("record-set", this.#requestOf(CUSTOM_RESOURCES.recordSets), CUSTOM_RULES);
    return await this.#first("record sets", this.#recordSets);
  }

  async routedIPs(): Promise<readonly RoutedIP[]> {
    this.#routedIPs ??= this.#follow("routed-ip", this.#requestOf(CUSTOM_RESOURCES.routedIPs), CUSTOM_RULES);
    return await this.#first("routed IPs", this.#routedIPs);
  }

  async issuers(): Promise<readonly RoutedIPIssuer[]> {
    this.#issuers ??= this.#follow("issuer", this.#requestOf(CUSTOM_RESOURCES.issuers), ISSUER_RULES);
    return await this.#issuers.values();
  }

  async pods(selector: PodSelector): Promise<readonly PodFacts[]> {
    const isRefused = (error: unknown): boolean => isRequestRefusal(error, selector.namespace !== "");
    const follow = (): Reflector<PodFacts> =>
      this.#follow("pod", smallPods(podsRequest(selector)), POD_RULES, isRefused);
    return await this.#pods.values(`pods ${podSelectorKey(selector)}`, follow);
  }

  async endpointSlices(service: ServicePlace): Promise<readonly EndpointSliceFacts[]> {
    const isRefused = (error: unknown): boolean => isRequestRefusal(error, true);
    const follow = (): Reflector<EndpointSliceFacts> =>
      this.#follow("endpoint-slice", endpointSlicesRequest(service), VERSIONED_RULES, isRefused);
    return await this.#endpointSlices.values(`endpoints ${objectKey(service)}`, follow);
  }

  /** The nodes, if they are followed, for what this process writes itself; so are the next three. */
  get followedNodes(): Reflector<NodeFacts> | undefined {
    return this.#nodes;
  }

  get followedPools(): Reflector<Pool> | undefined {
    return this.#pools;
  }

  get followedRecordSets(): Reflector<RecordSet> | undefined {
    return this.#recordSets;
  }

  get followedRoutedIPs(): Reflector<RoutedIP> | undefined {
    return this.#routedIPs;
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.#listeners.push(listener);
  }

  /** The oldest failure among the lists. That the cluster has none of a later kind of object because it does not know the kind is none: it is known. */
  staleness(): Staleness | undefined {
    const later: readonly unknown[] = [this.#recordSets, this.#routedIPs, this.#issuers];
    const failures = this.#followed().flatMap((one) => {
      const staleness = one.staleness();
      const isKnown = later.includes(one) && staleness?.error.failure === "missing-resource";
      return staleness === undefined || isKnown ? [] : [staleness];
    });
    return failures.sort((a, b) => a.sinceMs - b.sinceMs)[0];
  }

  close(): void {
    this.#ending.abort();
    for (const one of this.#followed()) one.close();
  }

  /** Reads one of the lists that every reading begins with. An unknown kind counts as an answer: the cluster has no such objects. */
  async #first<T>(name: string, list: Reflector<T>): Promise<readonly T[]> {
    const attempt = this.#readings.begin(name);
    try {
      const values = await list.values();
      this.#readings.answered(attempt);
      return values;
    } catch (error) {
      if (error instanceof KubeError && error.failure === "missing-resource") this.#readings.answered(attempt);
      throw error;
    }
  }

  #followed(): readonly Pick<Reflector<unknown>, "staleness" | "close">[] {
    const custom = [this.#pools, this.#recordSets, this.#routedIPs, this.#issuers];
    return [this.#nodes, this.#services, ...custom, ...this.#selected()].filter((one) => one !== undefined);
  }

  #selected(): readonly Pick<Reflector<unknown>, "staleness" | "close" | "askAgain">[] {
    return [...this.#pods.all(), ...this.#endpointSlices.all()];
  }

  #follow<T>(
    kind: ClusterChange["kind"],
    request: ListRequest<T>,
    rules: StoreRules<T>,
    isRefused?: (error: unknown) => boolean,
  ): Reflector<T> {
    const { clock, random } = this.#access;
    const onChange = (keys: readonly string[]): void => {
      // Whoever edits an object, or its Service, may have mended why its list is refused.
      const isOfObject = kind !== "node" && kind !== "pod" && kind !== "endpoint-slice";
      if (isOfObject) for (const one of this.#selected()) one.askAgain();
      for (const key of keys) for (const tell of this.#listeners) tell({ kind, subject: subjectOf(key) });
    };
    const source = new KubeWatchSource(this.#access, request);
    const reflector = new Reflector({ source, rules, clock, random, onChange, ...optional("isRefused", isRefused) });
    if (this.#ending.signal.aborted) reflector.close();
    else reflector.start();
    return reflector;
  }

  #requestOf<T extends { readonly meta: ObjectMeta }>({ resource, decode }: ReadableResource<T>): ListRequest<T> {
    const project = (object: unknown): T | undefined => {
      const decoded = decode(object);
      if (decoded !== undefined) this.#access.onObject?.(decoded.meta, object);
      return decoded;
    };
    return { resource, path: resourcePath(resource), project };
  }
}
