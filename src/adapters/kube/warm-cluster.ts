import type { NodeFacts } from "../../model/node.ts";
import type { ObjectMeta } from "../../model/resource.ts";
import type { ClusterChange, Staleness, WarmCluster } from "../../ports/cluster.ts";
import { type WriteAccess, writeAccess } from "./access.ts";
import type { Connection } from "./call.ts";
import { KubeClusterWriter, type NodeAnnotations, type WriterOptions } from "./cluster-writer.ts";
import type { CustomResource } from "./custom-resources.ts";
import type { ListRequest } from "./lists.ts";
import { decodeNode } from "./node.ts";
import { Transport } from "./transport.ts";
import { WarmLists } from "./watch/warm-lists.ts";
import type { StreamSource } from "./watch/watch-source.ts";
import { keyOf } from "./watch/watched-store.ts";
import type { CustomObjectWriter } from "./write-custom-object.ts";

/**
 * A cluster whose lists are read once and then watched, until `close`, which ends all watches and lets connections go: nothing of it keeps the process alive then. No
 * call is made before its first method is called. It takes the verb `watch` beside `list`.
 */
export function createWarmCluster(
  connection: Connection,
  options: WriterOptions & {
    /** From 0 to 1, anew at each call; default: chance. */
    readonly random?: () => number;
  },
): WarmCluster {
  const { random = Math.random, reportingInstance } = options;
  const access = { ...writeAccess(new Transport(connection, options)), random };
  return new KubeWarmCluster(access, reportingInstance);
}

/** A {@link WarmCluster} over HTTP. */
export class KubeWarmCluster extends KubeClusterWriter implements WarmCluster {
  readonly #lists: WarmLists;

  constructor(access: WriteAccess & StreamSource, reportingInstance: string) {
    super(access, reportingInstance);
    this.#lists = new WarmLists(access);
  }

  protected override async items<T>(request: ListRequest<T>): Promise<readonly T[]> {
    return await this.#lists.values(request);
  }

  onChange(listener: (change: ClusterChange) => void): void {
    this.#lists.onChange(listener);
  }

  staleness(): Staleness | undefined {
    return this.#lists.staleness();
  }

  override close(): void {
    this.#lists.close();
    super.close();
  }

  protected override async written<T extends { readonly meta: ObjectMeta; readonly status: Status }, Status>(
    kind: CustomResource<T, Status>,
    meta: ObjectMeta,
    write: (object: CustomObjectWriter<T, Status>) => Promise<T>,
  ): Promise<T> {
    const followed = this.#lists.followed<T>(kind.kind);
    if (followed === undefined) return await super.written(kind, meta, write);
    const key = keyOf(meta);
    return await followed.write(
      key,
      () => super.written(kind, meta, write),
      (stored) => {
        // Without finalizers an object that is being deleted is gone, although the answer still shows it.
        const isGone = stored.meta.isDeleting && stored.meta.finalizers.length === 0;
        return { key, version: stored.meta.resourceVersion, facts: isGone ? undefined : stored };
      },
    );
  }

  override async annotateNode(name: string, annotations: NodeAnnotations): Promise<void> {
    const followed = this.#lists.followed<NodeFacts>("node");
    if (followed === undefined) return await super.annotateNode(name, annotations);
    const key = keyOf({ name });
    await followed.write(
      key,
      () => this.patchNode(name, annotations),
      (read) => {
        const facts = decodeNode(read());
        return facts && { key, version: facts.resourceVersion, facts };
      },
    );
  }
}
