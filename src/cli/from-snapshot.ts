import { basename } from "node:path";
import { PROVIDERS } from "../adapters/registry.ts";
import { ConfigError, KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import { objectKey } from "../model/resource.ts";
import type { Overlay } from "../ports/cluster.ts";
import { planWorld } from "../reconcile.ts";
import { readSnapshot, type Snapshot } from "../snapshot/snapshot.ts";
import type { Config } from "./config.ts";
import { digestOf, readDocumentFile } from "./document-file.ts";
import { editedSnapshot } from "./edited-snapshot.ts";
import type { Planner, Reader } from "./wiring.ts";

/** The part of a configuration that a snapshot is read with. */
type FromConfig = Pick<Config, "grants" | "warn"> & { readonly from: string };

/** Returns the objects of a snapshot in the place of those of a cluster. @throws ConfigError `invalid` for what cannot be read */
export async function snapshotReader({ from, warn }: FromConfig): Promise<Reader> {
  return readerOf(await readSnapshotFile(from, warn));
}

/**
 * Returns a world that was taken before in the place of one that is observed now: its time is the time it was taken.
 * @param overlay - how objects are seen in the place of those of the snapshot; absent = as they are
 * @throws ConfigError `invalid` for what cannot be read, and for objects that ask for what the snapshot does not hold
 */
export async function snapshotPlanner({ from, grants, warn }: FromConfig, overlay?: Overlay): Promise<Planner> {
  const taken = await readSnapshotFile(from, warn);
  const snapshot = overlay === undefined || overlay.isEmpty ? taken : editedSnapshot(taken, overlay);
  const world = withGrants(snapshot.observation, grants);
  return { cluster: readerOf(snapshot), plan: async (selection, options) => planWorld(world, selection, options) };
}

/** Where the digest of a snapshot differs somebody has edited the snapshot, which is allowed. */
function readSnapshotFile(path: string, warn: Config["warn"]): Promise<Snapshot> {
  return readDocumentFile(path, ["Snapshot", "snapshot"], ({ name, document: { observed, stored, digest } }) => {
    if (digest !== digestOf([observed, stored]))
      warn("Edited", `${name} was edited since it was taken: its digest is another one.`);
    const cluster = path === "-" ? "snapshot" : basename(path);
    return readSnapshot({ observed, stored }, { name: cluster, registry: PROVIDERS });
  });
}

/** How grants count is the run's to say, but what namespaces grant must have been read. */
function withGrants(world: Observation, mode: Config["grants"]): Observation {
  if (mode === undefined || (mode !== "off" && world.grants?.mode === mode)) return world;
  const { grants, ...rest } = world;
  if (mode === "off") return rest;
  if (grants !== undefined) return { ...world, grants: { ...grants, mode } };
  throw new ConfigError("invalid", `The snapshot does not hold what namespaces grant. Take one with --grants ${mode}.`);
}

function readerOf({ observation, stored }: Snapshot): Reader {
  const { leaseKey, lease, leaseError, events, eventsError, workloads } = stored;
  const [storedNamespace = "", storedName = ""] = leaseKey.split("/");
  return {
    server: observation.cluster,
    now: () => observation.observedAtMs,
    listPools: async () => stored.pools,
    listRoutedIPs: async () => stored.routedIPs,
    listRecordSets: async () => observation.recordSets,
    listRoutedIPIssuers: async () => stored.issuers ?? [],
    listServices: async () => stored.services ?? [],
    listNodes: async () => observation.nodes,
    hasNamespace: async () => undefined,
    listWorkloads: async (namespace) => {
      if (workloads !== undefined && namespace === storedNamespace) return workloads;
      throw unread("not-found", "list workloads", "", "The snapshot holds none.");
    },
    listEvents: async (namespace) => {
      if (events !== undefined)
        return namespace === undefined ? events : events.filter(({ object }) => object.namespace === namespace);
      if (eventsError !== undefined) throw unread("forbidden", "list events", "", eventsError);
      throw unread("not-found", "list events", "", "The snapshot holds none.");
    },
    clusterUID: async () => {
      throw new ConfigError("usage", "A snapshot does not say of which cluster it is: leave out --from.");
    },
    readLease: async (namespace, name) => {
      if (leaseError !== undefined) throw unread("forbidden", "get leases", leaseKey, leaseError);
      const asked = objectKey({ namespace, name });
      if (asked !== leaseKey)
        throw new ConfigError(
          "invalid",
          `The snapshot knows of the Lease ${leaseKey}, not of ${asked}. Pass --lease-namespace ${storedNamespace} --lease-name ${storedName}.`,
        );
      return lease === undefined ? undefined : { ...lease, namespace: storedNamespace, name: storedName };
    },
  };
}

function unread(failure: "forbidden" | "not-found", operation: string, subject: string, message: string): KubeError {
  const status = failure === "forbidden" ? 403 : 404;
  return new KubeError({ failure, operation, subject, status, message });
}
