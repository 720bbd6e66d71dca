import { isRequestRefusal, KubeError } from "../../../model/errors.ts";
import { type NodeFacts, type PodFacts, type PodSelector, podSelectorKey } from "../../../model/node.ts";
import { type ObjectMeta, objectKey, type Pool, type RecordSet } from "../../../model/resource.ts";
import type { RoutedIP, RoutedIPIssuer } from "../../../model/routed-ip.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../../model/service.ts";
import type { ClusterChange, Staleness } from "../../../ports/cluster.ts";
import type { Clock } from "../../../ports/system.ts";
import { optional, resourcePath } from "../call.ts";
import {
  endpointSlicesRequest,
  NODES_REQUEST,
  podsRequest,
  SERVICES_REQUEST,
  type ServicePlace,
} from "../cluster-reader.ts";
import { CUSTOM_RESOURCES, type ReadableResource } from "../decode-custom.ts";
import type { ListRequest } from "../lists.ts";
import { KubeWatchSource, type StreamSource } from "./kube-watch-source.ts";
import { Reflector } from "./reflector.ts";
import {
  CUSTOM_RULES,
  ISSUER_RULES,
  NODE_RULES,
  POD_RULES,
  type StoreRules,
  subjectOf,
  VERSIONED_RULES,
} from "./watched-store.ts";

/** What the lists are made from. */
interface ListAccess extends StreamSource {
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

interface Used<T> {
  readonly reflector: Reflector<T>;
  usedAtMs: number;
  usedIn: number;
}

/** A list stays open for at least so long after its last use: it may be wanted again. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;
/** So many readings must begin after the last use: the first of them has then ended without the list. */
const READINGS = 2;

/** How many lists every reading of the cluster begins with: nodes, pools, record sets, routed IPs. They say which others it needs. */
const FIRST_LISTS = 4;
/** The key that stands for all first lists of a reading. */
const FIRST = "";

/**
 * Counts readings of the cluster. One reading asks for each list once: a list that is asked for again begins the next. A reading that fails over one of its first lists
 * does not count: nobody knows what else it would have asked for.
 *
 *   first lists, pods of a, pods of b | first lists, pods of a | first lists, …      the second reading went on without "pods of b"
 */
export class Readings {
  #count = 0;
  readonly #asked = new Set<string>();
  #attempt = 0;
  readonly #begun = new Set<string>();
  #answers = 0;

  /** Number of the reading under way. */
  get count(): number {
    return this.#count;
  }

  /** Takes note that somebody asks for one of the first lists. Returns what to tell {@link answered}. */
  begin(list: string): number {
    if (this.#begun.has(list)) {
      this.#begun.clear();
      this.#answers = 0;
      this.#attempt += 1;
    }
    this.#begun.add(list);
    return this.#attempt;
  }

  /** Takes note that one of the first lists was answered. */
  answered(attempt: number): void {
    if (attempt !== this.#attempt) return;
    this.#answers += 1;
    if (this.#answers === FIRST_LISTS) this.ask(FIRST);
  }

  /** Takes note that somebody asks for another list. */
  ask(key: string): void {
    if (this.#asked.has(key)) {
      this.#asked.clear();
      this.#count += 1;
    }
    this.#asked.add(key);
  }
}

/**
 * Lists of one kind of object, each of what one selector selects. A list is closed if a whole reading of the cluster did not ask for it, and its last use is ten
 * minutes ago. While nobody reads the cluster, all lists stay open: the watch loop waits for their changes.
 */
export class UsedLists<T> {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #readings: Readings;
  readonly #lists = new Map<string, Used<T>>();
  #isLooking = false;

  /** @param readings is told of every use. @param signal ends the looking for unused lists; their watches end with {@link all}'s `close`. */
  constructor(clock: Clock, readings: Readings, signal: AbortSignal) {
    this.#clock = clock;
    this.#readings = readings;
    this.#signal = signal;
  }

  /** See {@link Reflector.values}; `follow` begins a list that is not followed. `key` is unique over all kinds of lists. */
  async values(key: string, follow: () => Reflector<T>): Promise<readonly T[]> {
    this.#readings.ask(key);
    const use = { usedAtMs: this.#clock.monotonicMs(), usedIn: this.#readings.count };
    const list = Object.assign(this.#lists.get(key) ?? { reflector: follow(), ...use }, use);
    this.#lists.set(key, list);
    if (!this.#isLooking) void this.#dropUnused();
    return await list.reflector.values();
  }

  /** The lists that are followed now, in no order. */
  all(): readonly Reflector<T>[] {
    return Array.from(this.#lists.values(), ({ reflector }) => reflector);
  }

  async #dropUnused(): Promise<void> {
    this.#isLooking = true;
    while (!this.#signal.aborted) {
      await this.#clock.sleep(LOOK_MS, this.#signal);
      for (const [key, { reflector, usedAtMs, usedIn }] of this.#lists) {
        const isRecent = this.#clock.monotonicMs() - usedAtMs < UNUSED_MS;
        if (isRecent || this.#readings.count - usedIn < READINGS) continue;
        this.#lists.delete(key);
        reflector.close();
      }
    }
  }
}

/** The same request for pods whose facts share the texts that repeat: tens of thousands of pods have few namespaces, nodes and phases. */
function smallPods(request: ListRequest<PodFacts>): ListRequest<PodFacts> {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, text);
    return text;
  };
  return {
    ...request,
    project: (item) => {
      const pod = request.project(item);
      if (pod === undefined) return undefined;
      return { ...pod, namespace: shared(pod.namespace), nodeName: shared(pod.nodeName), phase: shared(pod.phase) };
    },
  };
}
