// What the cluster contract works on, and what its tests put there.
import type { Pool } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";

/** A Kubernetes object as YAML manifests write it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A cluster with nobody else in it, and a way to put objects there that does not go through the port. */
export interface ContractWorld {
  readonly cluster: ClusterWriter;
  readonly seed: {
    /** Creates a FloatingIPPool with exactly this metadata, spec and status. */
    pool(manifest: Manifest): Promise<void>;
    /** Creates a Node with exactly these taints, labels, annotations and status. */
    node(manifest: Manifest): Promise<void>;
    /** Creates a Pod with exactly this spec and status. */
    pod(manifest: Manifest): Promise<void>;
    /** A namespace that exists and is this world's alone. */
    namespace(): string;
  };
  dispose(): Promise<void>;
}

/** A pool in the world's namespace, provider digitalocean, with this spec beside. */
export function aPool({ seed }: ContractWorld, name: string, spec: Readonly<Record<string, unknown>>): Manifest {
  return {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "FloatingIPPool",
    metadata: { namespace: seed.namespace(), name },
    spec: { provider: "digitalocean", match: {}, ...spec },
  };
}

/** Seeds a pool and returns it as read back. */
export async function seeded(
  world: ContractWorld,
  name: string,
  spec: Readonly<Record<string, unknown>>,
): Promise<Pool> {
  await world.seed.pool(aPool(world, name, spec));
  return await stored(world, name);
}

/** The pool of this name. @throws Error when there is none. */
export async function stored({ cluster, seed }: ContractWorld, name: string): Promise<Pool> {
  const pool = await cluster.readPool({ namespace: seed.namespace(), name });
  if (pool === undefined) throw new Error(`the pool ${name} was not seeded`);
  return pool;
}
