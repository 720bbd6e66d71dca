import { type NodeFacts, type PodFacts, type PodSelector, podSelectorKey } from "../../../model/node.ts";
import type { ObjectMeta, Pool, RecordSet } from "../../../model/resource.ts";
import type { ClusterChange, Staleness } from "../../../ports/warm-cluster.ts";
import { type Resource, resourcePath } from "../call.ts";
import { CUSTOM_RESOURCES } from "../custom-resource.ts";
import type { ListRequest } from "../list-objects.ts";
import { NODES_REQUEST, podsRequest } from "../list-requests.ts";
import { KubeWatchSource, type StreamSource } from "./kube-watch-source.ts";
import { Reflector } from "./reflector.ts";
import { subjectOf } from "./sighting.ts";
import { smallPods } from "./small-pods.ts";
import { CUSTOM_RULES, NODE_RULES, POD_RULES } from "./store-rules.ts";
import type { StoreRules } from "./watched-store.ts";

/** What the lists are made from. */
export interface ListAccess extends StreamSource {
  /** Shown the `meta` of every pool and record set as decoded, with the object it came from. */
  readonly onObject?: (meta: ObjectMeta, object: unknown) => void;
}

interface PodList {
  readonly reflector: Reflector<PodFacts>;
  usedAtMs: number;
}

/** A pod selector that no object has any more is followed no longer, after a time in which it may come back. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;

/** The lists that somebody has asked for, each read and watched since then. */
export class WarmLists {
  readonly #access: ListAccess;
  readonly #listeners: ((change: ClusterChange) => void)[] = [];
  readonly #pods = new Map<string, PodList>();
  readonly #ending = new AbortController();
  #nodes: Reflector<NodeFacts> | undefined;
  #pools: Reflector<Pool> | undefined;
  #recordSets: Reflector<RecordSet> | undefined;
  #isLooking = false;

  constructor(access: ListAccess) {
    this.#access = access;
  }

  /** See {@link Reflector.values}; so are the next three. */
  async nodes(): Promise<readonly NodeFacts[]> {
    this.#nodes ??= this.#follow("node", NODES_REQUEST, NODE_RULES);
    return await this.#nodes.values();
  }

  async pools(): Promise<readonly Pool[]> {
    this.#pools ??= this.#follow("pool", this.#requestOf(CUSTOM_RESOURCES.pools), CUSTOM_RULES);
    return await this.#pools.values();
  }

  async recordSets(): Promise<readonly RecordSet[]> {
    this.#recordSets ??= this.#follow("record-set", this.#requestOf(CUSTOM_RESOURCES.recordSets), CUSTOM_RULES);
    return await this.#recordSets.values();
  }

  async pods(selector: PodSelector): Promise<readonly PodFacts[]> {
    const key = podSelectorKey(selector);
    const usedAtMs = this.#access.clock.monotonicMs();
    const known = this.#pods.get(key);
    const list = known ?? { reflector: this.#follow("pod", smallPods(podsRequest(selector)), POD_RULES), usedAtMs };
    list.usedAtMs = usedAtMs;
    this.#pods.set(key, list);
    if (!this.#isLooking) void this.#dropUnusedPods();
    return await list.reflector.values();
  }

  /** The nodes, if they are followed, for what this process writes itself; so are the next two. */
  get followedNodes(): Reflector<NodeFacts> | undefined {
    return this.#nodes;
  }

  get followedPools(): Reflector<Pool> | undefined {
    return this.#pools;
  }

  get followedRecordSets(): Reflector<RecordSet> | undefined {
    return this.#recordSets;
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.#listeners.push(listener);
  }

  /** The oldest failure among the lists. That the cluster has no record sets because it does not know them is none: it is known. */
  staleness(): Staleness | undefined {
    const failures = this.#followed().flatMap((one) => {
      const staleness = one.staleness();
      const isKnown = one === this.#recordSets && staleness?.error.failure === "missing-resource";
      return staleness === undefined || isKnown ? [] : [staleness];
    });
    return failures.sort((a, b) => a.sinceMs - b.sinceMs)[0];
  }

  close(): void {
    this.#ending.abort();
    for (const one of this.#followed()) one.close();
  }

  #followed(): readonly Pick<Reflector<unknown>, "staleness" | "close">[] {
    const pods = Array.from(this.#pods.values(), ({ reflector }) => reflector);
    return [this.#nodes, this.#pools, this.#recordSets, ...pods].filter((one) => one !== undefined);
  }

  #follow<T>(kind: ClusterChange["kind"], request: ListRequest<T>, rules: StoreRules<T>): Reflector<T> {
    const { clock, random } = this.#access;
    const onChange = (keys: readonly string[]): void => {
      for (const key of keys) for (const tell of this.#listeners) tell({ kind, subject: subjectOf(key) });
    };
    const source = new KubeWatchSource(this.#access, request);
    const reflector = new Reflector({ source, rules, clock, random, onChange });
    if (this.#ending.signal.aborted) reflector.close();
    else reflector.start();
    return reflector;
  }

  #requestOf<T extends { readonly meta: ObjectMeta }>({ resource, decode }: Readable<T>): ListRequest<T> {
    const project = (object: unknown): T | undefined => {
      const decoded = decode(object);
      if (decoded !== undefined) this.#access.onObject?.(decoded.meta, object);
      return decoded;
    };
    return { resource, path: resourcePath(resource), project };
  }

  async #dropUnusedPods(): Promise<void> {
    const { clock } = this.#access;
    const { signal } = this.#ending;
    this.#isLooking = true;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      for (const [key, { reflector, usedAtMs }] of this.#pods) {
        if (clock.monotonicMs() - usedAtMs < UNUSED_MS) continue;
        this.#pods.delete(key);
        reflector.close();
      }
    }
  }
}

type Readable<T> = { readonly resource: Resource; readonly decode: (object: unknown) => T | undefined };
