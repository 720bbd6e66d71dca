import { decodePoolStatus } from "../../src/adapters/kube/decode-pool-status.ts";
import { GROUP, type PoolStatus, VERSION } from "../../src/model/resource.ts";
import type { ObjectAccess, StoredObject } from "./object-access.ts";

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
