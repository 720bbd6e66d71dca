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

/** Who follows a watch. */
export interface Follower<T> {
  /** Ends the watch at any time. */
  readonly signal: AbortSignal;
  /**
   * Told what happens, as batches in order of arrival. The first batch is empty and says that the server watches now. What it throws ends the watch, which throws the
   * same.
   */
  readonly take: (events: readonly WatchEvent<T>[]) => void;
  /** An object as it is known: of what has not changed nothing need be read again. */
  readonly known: (key: string) => Sighting<T> | undefined;
}

/** One list of a cluster, and how to follow it. */
export interface WatchSource<T> {
  /**
   * The list as it is now, read from the cluster itself. `known` may return the facts of an object at a version, which then is not decoded again.
   * @throws KubeError, ConfigError
   */
  list(known: (key: string, version: string) => T | undefined): Promise<Listing<Sighting<T>>>;
  /**
   * Tells what happens after a version. Resolves when the server ends it in good order, or when the follower's signal has ended it.
   * @throws KubeError, ConfigError when it is refused, breaks or stays silent for too long; what the follower throws.
   */
  watch(version: string, follower: Follower<T>): Promise<void>;
  /** A KubeError `malformed` about this watch, for what only its reader can see. @param why one clause, without a full stop. */
  refuse(why: string): KubeError;
}
