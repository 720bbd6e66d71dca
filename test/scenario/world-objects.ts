import { GROUP, VERSION } from "../../src/model/resource.ts";
import type { ObjectAccess, StoredObject } from "./object-access.ts";

/** A spec, or part of one, as in a manifest. */
export type Spec = Readonly<Record<string, unknown>>;

/** What tells one kind of flipop's objects from the other. */
export interface ObjectKind<Status> {
  readonly kind: string;
  readonly plural: string;
  /** What a spec has that does not say it. */
  readonly defaults: Spec;
  readonly decodeStatus: (status: unknown) => Status;
  /** True for a kind without `spec.match`: nothing keeps its objects from nodes of other scenarios. */
  readonly isUnlimited?: boolean;
}

/** Objects of one kind of flipop's, of namespace `shop`, or of another one given as `NAMESPACE/NAME`. */
export class WorldObjects<Status> {
  protected readonly access: ObjectAccess;
  readonly #kind: ObjectKind<Status>;
  /** Restricts every object to the nodes of its own scenario where the cluster is shared. */
  readonly #label: string;
  readonly #made = new Set<string>();

  constructor(access: ObjectAccess, kind: ObjectKind<Status>) {
    this.access = access;
    this.#kind = kind;
    this.#label = access.prefix === "" || kind.isUnlimited === true ? "" : `scenario=${access.prefix.slice(0, -1)}`;
  }

  /** Creates an object; the spec is as in a manifest, with the defaults of its kind. */
  async create(
    name: string,
    spec: Spec,
    metadata: { readonly labels?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    const [namespace, own] = split(name);
    const body = {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: this.#kind.kind,
      metadata: { ...metadata, name: own },
      spec: this.#limited({ ...this.#kind.defaults, ...spec }),
    };
    await this.access.rest("POST", this.#path(namespace), body);
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
    await this.access.rest("PATCH", path, { status: status ?? wiped });
  }

  /** Writes an annotation behind flipop's back, or (`null`) removes it. */
  async annotate(name: string, annotation: string, text: string | null): Promise<void> {
    await this.#patch(name, { metadata: { annotations: { [annotation]: text } } });
  }

  /** Writes a label, or (`null`) removes it. */
  async label(name: string, label: string, text: string | null): Promise<void> {
    await this.#patch(name, { metadata: { labels: { [label]: text } } });
  }

  /** Asks for a deletion; finalizers keep the object. */
  async delete(name: string): Promise<void> {
    const [namespace, own] = split(name);
    await this.access.rest("DELETE", `${this.#path(namespace)}/${own}`);
  }

  /** The object as stored; undefined when it is gone. */
  async read(name: string): Promise<StoredObject | undefined> {
    const [namespace, own] = split(name);
    const list = (await this.access.rest("GET", this.#path(namespace))) as { readonly items: readonly StoredObject[] };
    return list.items.find(({ metadata }) => metadata.name === own);
  }

  /** Its finalizers; none when it is gone. */
  async finalizers(name: string): Promise<readonly string[]> {
    return (await this.read(name))?.metadata.finalizers ?? [];
  }

  /** Lets somebody else have a finalizer on it, which stays until it is removed. */
  async addForeignFinalizer(name: string): Promise<void> {
    await this.#patch(name, { metadata: { finalizers: [...(await this.finalizers(name)), "example.com/hold"] } });
  }

  /** Takes its finalizers away behind flipop's back. */
  async removeFinalizers(name: string): Promise<void> {
    await this.#patch(name, { metadata: { finalizers: null } });
  }

  /** Its status as flipop would read it, with the scenario's own names. @throws Error when the object is gone */
  async status(name: string): Promise<Status> {
    const object = await this.read(name);
    if (object === undefined) throw new Error(`${this.#kind.kind} ${name} is gone`);
    return this.#statusOf(object);
  }

  /** Names of the objects made here that still exist. */
  async existing(): Promise<readonly string[]> {
    return [...(await this.#stored()).keys()];
  }

  /** The statuses of all of them, as {@link status}, by name. */
  async statuses(): Promise<ReadonlyMap<string, Status>> {
    const decoded = [...(await this.#stored())].map(([name, object]) => [name, this.#statusOf(object)] as const);
    return new Map(decoded);
  }

  /**
   * Turns the definition into an older one that does not know a field of the status, or one of the entries of a list there: `acquired.provider`. Returns what makes it the
   * present one again.
   */
  async forgetStatusField(field: string): Promise<() => Promise<void>> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${this.#kind.plural}.${GROUP}`;
    const present = (await this.access.rest("GET", path)) as { spec: { versions: CRDVersion[] } };
    const crd = structuredClone(present);
    const [name = "", ofEntry] = field.split(".");
    for (const { schema } of crd.spec.versions) {
      const fields = schema.openAPIV3Schema.properties["status"]?.properties ?? {};
      if (ofEntry === undefined) delete fields[name];
      else delete fields[name]?.items?.properties?.[ofEntry];
    }
    const apply = async ({ spec }: typeof crd): Promise<void> => {
      await this.access.rest("PATCH", path, { spec: { versions: spec.versions } });
    };
    await apply(crd);
    return () => apply(present);
  }

  /** Returns what makes an object again as it is now, as a restored backup of the cluster does: also one that is gone by then. */
  async backUp(name: string): Promise<() => Promise<void>> {
    const then = await this.read(name);
    if (then === undefined) throw new Error(`${this.#kind.kind} ${name} is gone`);
    return async () => {
      if ((await this.read(name)) === undefined) await this.create(name, then.spec as Spec);
      const now = await this.read(name);
      const { annotations, finalizers = null } = then.metadata;
      await this.#patch(name, {
        metadata: { annotations: restored(now?.metadata.annotations, annotations), finalizers },
        spec: restored(now?.spec as Spec, then.spec as Spec),
      });
      await this.writeStatus(name, restored(now?.status as Spec | undefined, then.status as Spec | undefined));
    };
  }

  /** Takes every object away, whatever its finalizers. */
  async removeAll(): Promise<void> {
    for (const [name, { metadata }] of await this.#stored()) {
      const isKept = (metadata.finalizers ?? []).length > 0;
      if (isKept) await this.removeFinalizers(name);
      if (!isKept || (await this.read(name)) !== undefined) await this.delete(name);
    }
  }

  /** The objects made here that still exist, by name. */
  async #stored(): Promise<ReadonlyMap<string, StoredObject>> {
    const byNamespace = Map.groupBy(this.#made, (name) => split(name)[0]);
    const found: [name: string, object: StoredObject][] = [];
    for (const [namespace, names] of byNamespace) {
      const { items } = (await this.access.rest("GET", this.#path(namespace))) as {
        readonly items: readonly StoredObject[];
      };
      const byName = new Map(items.map((item) => [item.metadata.name, item]));
      for (const name of names) {
        const object = byName.get(split(name)[1]);
        if (object !== undefined) found.push([name, object]);
      }
    }
    return new Map(found);
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
    await this.access.rest("PATCH", `${this.#path(namespace)}/${own}`, body);
  }

  #path(namespace: string): string {
    const { prefix } = this.access;
    return `/apis/${GROUP}/${VERSION}/namespaces/${prefix}${namespace}/${this.#kind.plural}`;
  }

  #statusOf({ status = {} }: StoredObject): Status {
    return this.#kind.decodeStatus(JSON.parse(this.#plain(JSON.stringify(status))));
  }

  #plain(text: string): string {
    return this.access.prefix === "" ? text : text.replaceAll(this.access.prefix, "");
  }
}

/** A merge patch that makes fields of today those of another day. */
export function restored(now: Spec = {}, then: Spec = {}): Spec {
  return { ...Object.fromEntries(Object.keys(now).map((field) => [field, null])), ...then };
}

function split(name: string): readonly [namespace: string, name: string] {
  const [first = "", second] = name.split("/");
  return second === undefined ? ["shop", first] : [first, second];
}

interface CRDField {
  readonly properties?: Record<string, CRDField>;
  readonly items?: CRDField;
}

interface CRDVersion {
  readonly schema: {
    readonly openAPIV3Schema: { readonly properties: Record<string, { properties: Record<string, CRDField> }> };
  };
}
