import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isRequestRefusal } from "../../src/model/errors.ts";
import { type PodSelector, podSelectorKey } from "../../src/model/node.ts";
import { objectKey } from "../../src/model/resource.ts";
import type { ClusterReader, WarmCluster } from "../../src/ports/cluster.ts";

/** A watch that has not told by then never will, milliseconds. */
const LONGEST_MS = 10_000;

const WHOLE_LISTS = [
  "listPools",
  "listRecordSets",
  "listRoutedIPs",
  "listRoutedIPIssuers",
  "listNamespaceGrants",
  "listServices",
  "listNodes",
] as const;

type Listing = (reader: ClusterReader) => Promise<readonly unknown[]>;

/** Whether two readers show the same. */
class SameLists {
  readonly #lists = new Map<string, Listing>();

  /** Takes note of a list that the process has asked for. */
  note(name: string, args: readonly unknown[]): void {
    if (name === "listPods") {
      const [selector] = args as readonly [PodSelector];
      this.#lists.set(`pods ${podSelectorKey(selector)}`, (reader) => reader.listPods(selector));
    } else if (name === "listEndpointSlices") {
      const [service] = args as readonly [Parameters<ClusterReader["listEndpointSlices"]>[0]];
      this.#lists.set(`slices ${objectKey(service)}`, (reader) => reader.listEndpointSlices(service));
    } else {
      const list = WHOLE_LISTS.find((one) => one === name);
      if (list !== undefined) this.#lists.set(list, (reader) => reader[list]());
    }
  }

  /** What the process is refused for good it does not lag behind in. */
  async areAlike(own: ClusterReader, truth: ClusterReader): Promise<boolean> {
    for (const list of this.#lists.values()) {
      const shown = await sorted(list(own));
      if (shown !== "refused" && !isDeepStrictEqual(shown, await sorted(list(truth)))) return false;
    }
    return true;
  }
}

/**
 * A cluster in the hands of a process, and what resolves once every list that the process has asked for is as `truth` shows it. The time is the world's: the cluster would
 * learn it with an answer only, and carry it on in real time.
 */
export function followed(
  cluster: WarmCluster,
  truth: ClusterReader,
  nowMs: () => number,
): { readonly lists: WarmCluster; readonly caughtUp: () => Promise<void> } {
  const same = new SameLists();
  const lists = new Proxy(cluster, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === "now") return nowMs;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        same.note(String(key), args);
        return value.apply(target, args) as unknown;
      };
    },
  });
  const caughtUp = async (): Promise<void> => {
    for (const startMs = performance.now(); !(await same.areAlike(cluster, truth)); await pause(1))
      if (performance.now() - startMs > LONGEST_MS) throw new Error("The watches do not show what the cluster has.");
  };
  return { lists, caughtUp };
}

/** In one order; a list that cannot be read is as unreadable to both. */
async function sorted(list: Promise<readonly unknown[]>): Promise<unknown> {
  try {
    return (await list).map((one) => JSON.stringify(one, mapsToo)).sort();
  } catch (error) {
    return isRequestRefusal(error, true) ? "refused" : "unreadable";
  }
}

function mapsToo(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : value;
}
