import { KubeError } from "../model/errors.ts";

/** The objects of one kind; `missing` says why there can be none, where the cluster does not know the kind. */
export interface KnownObjects<T> {
  readonly objects: readonly T[];
  readonly missing?: string;
}

/**
 * Lists objects of a kind that the cluster may not know yet, as after an update of flipop alone: then it has none, which must not stop anything else.
 * @throws KubeError when the list fails for any other reason
 */
export async function orMissing<T>(list: () => Promise<readonly T[]>): Promise<KnownObjects<T>> {
  try {
    return { objects: await list() };
  } catch (error) {
    if (error instanceof KubeError && error.failure === "missing-resource")
      return { objects: [], missing: error.message };
    throw error;
  }
}
