// The objects of the cluster as people and other controllers make and change them.
import { decodePoolStatus } from "../../src/adapters/kube/decode-pool-status.ts";
import { ADDRESS_ANNOTATION, GROUP, POOL_ANNOTATION, type PoolStatus, VERSION } from "../../src/model/resource.ts";
import type { Rest } from "./backend.ts";
import { dropletOf, short } from "./scenario-names.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What every kind of object needs to be reached. */
export interface ObjectAccess {
  readonly rest: Rest;
  readonly clock: VirtualClock;
  readonly prefix: string;
}

/** A pool or another object as far as scenarios look into one. */
export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** FloatingIPPools of namespace `shop`, or of another one given as `NAMESPACE/NAME`. */
export class WorldPools {
  readonly #access: ObjectAccess;
  /** Restricts every pool to the nodes of its own scenario where the cluster is shared. */
  readonly #label: string;
  readonly #made = new Set<string>();

  constructor(access: ObjectAccess) {
    this.#access = access;
    this.#label = access.prefix === "" ? "" : `scenario=${access.prefix.slice(0, -1)}`;
  }

  /** Creates a pool; the spec is as in a manifest, provider and region aside. */
  async create(
    name: string,
    spec: Spec,
    metadata: { readonly labels?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    const [namespace, own] = split(name);
    const body = {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: "FloatingIPPool",
      metadata: { ...metadata, name: own },
      spec: this.#limited({ provider: "digitalocean", region: "nyc3", ...spec }),
    };
    await this.#access.rest("POST", this.#path(namespace), body);
    this.#made.add(name);
  }

  /** Changes fields of the spec; `null` removes one. */
  async edit(name: string, spec: Spec): Promise<void> {
    const changed = "match" in spec ? this.#limited(spec) : spec;
    await this.#patch(name, { spec: changed });
  }

  /** Replaces fields of the status behind flipop's back; `null` for the whole of it. */
  async writeStatus(name: string, status: Spec | null): Promise<void> {
    const [namespace, own] = split(name);
    const path = `${this.#path(namespace)}/${own}/status`;
    const stored = status === null ? Object.keys((await this.read(name))?.status ?? {}) : [];
    const wiped = Object.fromEntries(stored.map((field) => [field, null]));
    await this.#access.rest("PATCH", path, { status: status ?? wiped });
  }

  /** Asks for a deletion; finalizers keep the object. */
  async delete(name: string): Promise<void> {
    const [namespace, own] = split(name);
    await this.#access.rest("DELETE", `${this.#path(namespace)}/${own}`);
  }

  /** The object as stored; undefined when it is gone. */
  async read(name: string): Promise<StoredObject | undefined> {
    const [namespace, own] = split(name);
    const list = (await this.#access.rest("GET", this.#path(namespace))) as { readonly items: readonly StoredObject[] };
    return list.items.find(({ metadata }) => metadata.name === own);
  }

  /** Its status as flipop would read it, with the scenario's own names. @throws Error when the pool is gone */
  async status(name: string): Promise<PoolStatus> {
    const pool = await this.read(name);
    if (pool === undefined) throw new Error(`pool ${name} is gone`);
    return decodePoolStatus(JSON.parse(this.#plain(JSON.stringify(pool.status ?? {}))));
  }

  /** Turns the definition into an older one that does not know a field of the status. */
  async forgetStatusField(field: string): Promise<void> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/floatingippools.${GROUP}`;
    const crd = structuredClone(await this.#access.rest("GET", path)) as { spec: { versions: CRDVersion[] } };
    for (const { schema } of crd.spec.versions) delete schema.openAPIV3Schema.properties["status"]?.properties[field];
    await this.#access.rest("PATCH", path, { spec: { versions: crd.spec.versions } });
  }

  /** Names of the pools made here that still exist. */
  async existing(): Promise<readonly string[]> {
    const found = await Promise.all(
      [...this.#made].map(async (name) => ((await this.read(name)) === undefined ? [] : [name])),
    );
    return found.flat();
  }

  /** Takes every pool away, whatever its finalizers. */
  async removeAll(): Promise<void> {
    for (const name of await this.existing()) {
      await this.#patch(name, { metadata: { finalizers: null } });
      if ((await this.read(name)) !== undefined) await this.delete(name);
    }
  }

  /** A spec whose match selects only nodes of this scenario. */
  #limited(spec: Spec): Spec {
    if (this.#label === "") return spec;
    const match = (spec["match"] ?? {}) as Spec;
    const own = match["nodeLabel"];
    return { ...spec, match: { ...match, nodeLabel: own ? `${this.#label},${own}` : this.#label } };
  }

  async #patch(name: string, body: unknown): Promise<void> {
    const [namespace, own] = split(name);
    await this.#access.rest("PATCH", `${this.#path(namespace)}/${own}`, body);
  }

  #path(namespace: string): string {
    return `/apis/${GROUP}/${VERSION}/namespaces/${this.#access.prefix}${namespace}/floatingippools`;
  }

  #plain(text: string): string {
    return this.#access.prefix === "" ? text : text.replaceAll(this.#access.prefix, "");
  }
}

interface CRDVersion {
  readonly schema: {
    readonly openAPIV3Schema: { readonly properties: Record<string, { properties: Record<string, unknown> }> };
  };
}

type Spec = Readonly<Record<string, unknown>>;

function split(name: string): readonly [namespace: string, name: string] {
  const [first = "", second] = name.split("/");
  return second === undefined ? ["shop", first] : [first, second];
}

/** How a node is made. */
export interface NodeOptions {
  /** Default: by its name; see {@link dropletOf}. `null` = no providerID yet. */
  readonly droplet?: number | null;
  readonly providerID?: string;
  readonly region?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Readonly<Record<string, string>>[];
  readonly ready?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Nodes, as a kubelet and its helpers keep them. */
export class WorldNodes {
  readonly #access: ObjectAccess;
  readonly #made = new Set<string>();

  constructor(access: ObjectAccess) {
    this.#access = access;
  }

  /** Creates a node, ready and without taints unless told otherwise. */
  async create(name: string, options: NodeOptions = {}): Promise<void> {
    const { droplet = options.providerID === undefined ? dropletOf(name) : null } = options;
    const providerID = options.providerID ?? (droplet === null ? undefined : `digitalocean://${droplet}`);
    const { prefix, rest } = this.#access;
    const labels = {
      "topology.kubernetes.io/region": options.region ?? "nyc3",
      ...(prefix === "" ? {} : { scenario: prefix.slice(0, -1) }),
      ...options.labels,
    };
    await rest("POST", "/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `${prefix}${name}`, labels, annotations: options.annotations ?? {} },
      spec: providerID === undefined ? {} : { providerID },
      status: { conditions: [this.#condition(options.ready ?? true)] },
    });
    this.#made.add(name);
    await this.patch(name, { spec: { taints: options.taints ?? null } });
  }

  /** Sets the condition Ready, as of now. */
  async setReady(name: string, isReady: boolean): Promise<void> {
    await this.#access.rest("PATCH", `${this.#path(name)}/status`, {
      status: { conditions: [this.#condition(isReady)] },
    });
  }

  /** A merge patch of the node. */
  async patch(name: string, body: unknown): Promise<void> {
    await this.#access.rest("PATCH", this.#path(name), body);
  }

  /** Sets (or with `null` removes) flipop's own annotations behind its back. */
  async annotate(name: string, address: string | null, pool: string | null = null): Promise<void> {
    const own = pool === null ? null : `${this.#access.prefix}${pool}`;
    await this.patch(name, { metadata: { annotations: { [ADDRESS_ANNOTATION]: address, [POOL_ANNOTATION]: own } } });
  }

  /** Asks for a deletion that a finalizer holds up. */
  async beginDeletion(name: string): Promise<void> {
    await this.patch(name, { metadata: { finalizers: ["example.com/hold"] } });
    await this.#access.rest("DELETE", this.#path(name));
  }

  async delete(name: string): Promise<void> {
    await this.#access.rest("DELETE", this.#path(name));
    this.#made.delete(name);
  }

  /** Address annotations by node, in short names; an annotation of another object than shop/web says whose it is. */
  async annotations(): Promise<Readonly<Record<string, string>>> {
    const { prefix } = this.#access;
    const list = (await this.#access.rest("GET", "/api/v1/nodes")) as { readonly items: readonly StoredObject[] };
    return Object.fromEntries(
      list.items.flatMap(({ metadata }) => {
        const name = metadata.name.slice(prefix.length);
        const address = metadata.annotations?.[ADDRESS_ANNOTATION];
        const pool = metadata.annotations?.[POOL_ANNOTATION]?.slice(prefix.length);
        if (!metadata.name.startsWith(prefix) || !this.#made.has(name) || (address ?? pool) === undefined) return [];
        return [[name, `${short(address ?? "-")}${pool === "shop/web" ? "" : ` of ${pool ?? "nobody"}`}`]];
      }),
    );
  }

  /** Takes every node away. */
  async removeAll(): Promise<void> {
    for (const name of [...this.#made]) {
      await this.patch(name, { metadata: { finalizers: null } }).catch(() => undefined);
      await this.delete(name).catch(() => undefined);
    }
  }

  #condition(isReady: boolean): unknown {
    const time = new Date(this.#access.clock.nowMs()).toISOString().replace(/\.\d+Z$/, "Z");
    const status = isReady ? "True" : "False";
    return { type: "Ready", status, reason: "Kubelet", message: "", lastHeartbeatTime: time, lastTransitionTime: time };
  }

  #path(name: string): string {
    return `/api/v1/nodes/${this.#access.prefix}${name}`;
  }
}

/** Pods, as their controller and kubelet keep them. */
export class WorldPods {
  readonly #access: ObjectAccess;
  readonly #made = new Map<string, string>();

  constructor(access: ObjectAccess) {
    this.#access = access;
  }

  /** Creates a pod that runs on a node, ready unless told otherwise; in namespace `shop`. */
  async create(
    name: string,
    options: {
      readonly node: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly ready?: boolean;
      readonly namespace?: string;
    },
  ): Promise<void> {
    const { node, labels = {}, namespace = "shop" } = options;
    this.#made.set(name, `${this.#access.prefix}${namespace}`);
    await this.#access.rest("POST", this.#path(name).replace(/\/[^/]+$/, ""), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels },
      spec: { nodeName: `${this.#access.prefix}${node}`, containers: [{ name: "main", image: "example.test/none" }] },
    });
    await this.setReady(name, options.ready ?? true);
  }

  /** Sets phase Running and the condition Ready, as of now. */
  async setReady(name: string, isReady: boolean): Promise<void> {
    const lastTransitionTime = new Date(this.#access.clock.nowMs()).toISOString().replace(/\.\d+Z$/, "Z");
    const status = {
      phase: "Running",
      conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime }],
    };
    await this.#access.rest("PATCH", `${this.#path(name)}/status`, { status });
  }

  /** Asks it to end: it stays, terminating, as long as its kubelet takes. */
  async delete(name: string): Promise<void> {
    await this.#access.rest("DELETE", this.#path(name));
  }

  /** Takes it away at once. */
  async deleteForced(name: string): Promise<void> {
    await this.#access.rest("DELETE", `${this.#path(name)}?gracePeriodSeconds=0`);
    this.#made.delete(name);
  }

  /** Takes every pod away. */
  async removeAll(): Promise<void> {
    for (const name of [...this.#made.keys()]) await this.deleteForced(name).catch(() => undefined);
  }

  #path(name: string): string {
    return `/api/v1/namespaces/${this.#made.get(name)}/pods/${name}`;
  }
}
