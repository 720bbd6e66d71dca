import type { KubeError } from "../../../model/errors.ts";
import type { Listing } from "../list-objects.ts";
import type { Sighting } from "./sighting.ts";

/** What a watch says. */
export type WatchEvent<T> =
  | { readonly kind: "changed"; readonly sighting: Sighting<T> }
  /** It is gone, or the selector no longer selects it. */
  | { readonly kind: "deleted"; readonly sighting: Sighting<T> }
  /** Everything up to this version has been said. */
  | { readonly kind: "bookmark"; readonly version: string }
  | { readonly kind: "failed"; readonly error: KubeError }
  /** Something else that cannot be understood. */
  | { readonly kind: "unknown"; readonly type: string };

/** One list of a cluster, and how to follow it. */
export interface WatchSource<T> {
  /**
   * The list as it is now, read from the cluster itself. `known` may return the facts of an object at a version, which then is not decoded again.
   * @throws KubeError, ConfigError
   */
  list(known: (key: string, version: string) => T | undefined): Promise<Listing<Sighting<T>>>;
  /**
   * What happens after a version, as batches in order of arrival. The first batch is empty and says that the server watches now. Ends when the server ends it in good
   * order; `signal` ends it at any time.
   * @throws KubeError, ConfigError when it is refused, breaks or stays silent for too long.
   */
  watch(version: string, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
  /** A KubeError `malformed` about this watch, for what only its reader can see. @param why one clause, without a full stop. */
  refuse(why: string): KubeError;
}
