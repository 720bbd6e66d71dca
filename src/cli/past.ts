import type { PastEvent } from "../model/change.ts";
import { KubeError, type KubeFailure } from "../model/errors.ts";
import type { StoredFacts } from "../report/overview.ts";
import { readLease } from "./status.ts";
import type { Reader } from "./wiring.ts";

/** What a cluster still knows of the past beside its objects. */
export interface Past extends Pick<StoredFacts, "lease" | "leaseError"> {
  /** About objects of flipop, whoever wrote them. */
  readonly events?: readonly PastEvent[];
  /** Why Events cannot be had. */
  readonly eventsError?: string;
}

/** Reads the Lease, and the Events about objects, of one namespace or of all. What may not be read is said, and everything else is told without it. */
export async function readPast(
  cluster: Pick<Reader, "listEvents" | "readLease">,
  lease: { readonly namespace: string; readonly name: string },
  namespace?: string,
): Promise<Past> {
  const [events, kept] = await Promise.all([
    readEvents(cluster, namespace),
    readLease(cluster, lease.namespace, lease.name),
  ]);
  return { ...events, ...kept };
}

/** A missing permission, and a snapshot that holds none. */
const NOT_TO_BE_HAD: readonly KubeFailure[] = ["forbidden", "not-found"];

/** Reads the Events about objects, of one namespace or of all; or why they cannot be had. */
export async function readEvents(
  cluster: Pick<Reader, "listEvents">,
  namespace?: string,
): Promise<Pick<Past, "events" | "eventsError">> {
  try {
    return { events: await cluster.listEvents(namespace) };
  } catch (error) {
    if (error instanceof KubeError && NOT_TO_BE_HAD.includes(error.failure)) return { eventsError: error.message };
    throw error;
  }
}

/** Returns what of the past could not be had, a sentence each. */
export function pastGaps({ eventsError, leaseError }: Past): readonly string[] {
  return [
    ...(eventsError === undefined ? [] : [`Events are not shown. ${eventsError}`]),
    ...(leaseError === undefined ? [] : [`The last run is not known. ${leaseError}`]),
  ];
}
