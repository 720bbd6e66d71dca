import { createHash } from "node:crypto";
import { basename } from "node:path";
import { parseDocument } from "yaml";
import { PROVIDERS } from "../adapters/registry.ts";
import { ConfigError, KubeError } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import { objectKey } from "../model/resource.ts";
import type { Overlay } from "../ports/cluster.ts";
import { planWorld } from "../reconcile.ts";
import { API_VERSION } from "../report/json/document.ts";
import { checkHead, readSnapshot, type Snapshot, type WrittenSnapshot } from "../snapshot/snapshot.ts";
import type { Config } from "./config.ts";
import { readBytes } from "./manifest-files.ts";
import type { Planner, Reader } from "./wiring.ts";

/** The part of a configuration that a snapshot is read with. */
type FromConfig = Pick<Config, "grants" | "warn"> & { readonly from: string };

/** Returns the objects of a snapshot in the place of those of a cluster. @throws ConfigError `invalid` for what cannot be read */
export async function snapshotReader({ from, warn }: FromConfig): Promise<Reader> {
  return readerOf(await readSnapshotFile(from, warn));
}

/**
 * Returns a world that was taken before in the place of one that is observed now: its time is the time it was taken.
 * @throws ConfigError `invalid` for what cannot be read, `usage` for objects that only a cluster could read
 */
export async function snapshotPlanner({ from, grants, warn }: FromConfig, overlay?: Overlay): Promise<Planner> {
  if (overlay?.isEmpty === false)
    throw new ConfigError(
      "usage",
      "A snapshot holds objects as they were read: -f, and edits of objects, need a cluster. Leave out --from.",
    );
  const snapshot = await readSnapshotFile(from, warn);
  const world = withGrants(snapshot.observation, grants);
  return { cluster: readerOf(snapshot), plan: async (selection, options) => planWorld(world, selection, options) };
}

/** Returns the digest of what a snapshot holds. Where it differs somebody has edited the snapshot, which is allowed. */
export function digestOf({ observed, stored }: WrittenSnapshot): string {
  return createHash("sha256")
    .update(JSON.stringify([observed, stored]))
    .digest("hex");
}

/** What stands before the world in a snapshot. */
interface Head {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly digest?: unknown;
}

async function readSnapshotFile(path: string, warn: Config["warn"]): Promise<Snapshot> {
  const name = path === "-" ? "stdin" : path;
  try {
    const document = parseDocument((await readBytes(path)).toString("utf8"), { logLevel: "silent" });
    const [wrong] = document.errors;
    if (wrong !== undefined) throw new ConfigError("invalid", `It is no YAML: ${wrong.message.split("\n", 1)[0]}`);
    const written = (document.toJS({ maxAliasCount: 0 }) ?? {}) as WrittenSnapshot & Head;
    checkHead(written, API_VERSION);
    if (written.digest !== digestOf(written))
      warn("Edited", `${name} was edited since it was taken: its digest is another one.`);
    return readSnapshot(written, { name: path === "-" ? "snapshot" : basename(path), registry: PROVIDERS });
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(error.kind, `Cannot use ${name}. ${error.message}`);
    const { message, code } = error as NodeJS.ErrnoException;
    const text = code === "ENOENT" ? `There is no file ${name}.` : `Cannot read ${name}: ${message}`;
    throw new ConfigError("invalid", text, { cause: error });
  }
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
  const { leaseKey, lease, leaseError } = stored;
  return {
    server: observation.cluster,
    now: () => observation.observedAtMs,
    listPools: async () => stored.pools,
    listRoutedIPs: async () => stored.routedIPs,
    listRecordSets: async () => observation.recordSets,
    listNodes: async () => observation.nodes,
    hasNamespace: async () => undefined,
    readLease: async (namespace, name) => {
      if (leaseError !== undefined) throw unreadLease(leaseKey, leaseError);
      const [storedNamespace = "", storedName = ""] = leaseKey.split("/");
      const isIt = objectKey({ namespace, name }) === leaseKey;
      return lease === undefined || !isIt ? undefined : { ...lease, namespace: storedNamespace, name: storedName };
    },
  };
}

function unreadLease(subject: string, message: string): KubeError {
  return new KubeError({ failure: "forbidden", operation: "get leases", subject, status: 403, message });
}
