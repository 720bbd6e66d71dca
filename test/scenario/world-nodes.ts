import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { IPFamily } from "../../src/model/address-source.ts";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";

import type { ObjectAccess, StoredObject } from "./object-access.ts";
import { dropletOf, externalIP, internalIP, short } from "./scenario-names.ts";
import { restored } from "./world-objects.ts";

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
  /** Default: `extN` and `intN` of node `nN`. */
  readonly addresses?: readonly NodeAddress[];
}

/** An entry of `status.addresses`. */
export interface NodeAddress {
  readonly type: "ExternalIP" | "InternalIP" | "Hostname";
  readonly address: string;
}

/** What is true of a node, without asking the cluster. */
export interface NodeTruth {
  readonly droplet: number | null;
  readonly isReady: boolean;
  readonly addresses: readonly NodeAddress[];
}

/** Nodes, as a kubelet and its helpers keep them. */
export class WorldNodes {
  readonly #access: ObjectAccess;
  readonly #made = new Map<string, NodeTruth>();

  constructor(access: ObjectAccess) {
    this.#access = access;
  }

  /** Creates a node, ready and without taints unless told otherwise. */
  async create(name: string, options: NodeOptions = {}): Promise<void> {
    const { droplet = options.providerID === undefined ? dropletOf(name) : null } = options;
    const providerID =
      options.providerID ?? (droplet === null ? undefined : PROVIDERS.providerID(this.#access.provider, `${droplet}`));
    const { prefix, rest } = this.#access;
    const { addresses = addressesOf(name) } = options;
    const isReady = options.ready ?? true;
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
      status: { conditions: [this.#condition(isReady)], addresses },
    });
    this.#made.set(name, { droplet, isReady, addresses });
    await this.patch(name, { spec: { taints: options.taints ?? null } });
  }

  /** Sets the condition Ready, as of now. */
  async setReady(name: string, isReady: boolean): Promise<void> {
    await this.#access.rest("PATCH", `${this.#path(name)}/status`, {
      status: { conditions: [this.#condition(isReady)] },
    });
    this.#know(name, { isReady });
  }

  /** Sets `status.addresses`. */
  async setAddresses(name: string, ...addresses: readonly NodeAddress[]): Promise<void> {
    await this.#access.rest("PATCH", `${this.#path(name)}/status`, { status: { addresses } });
    this.#know(name, { addresses });
  }

  /** The nodes that are ready and not being deleted, without asking the cluster. */
  ready(): readonly NodeTruth[] {
    return [...this.#made.values()].filter(({ isReady }) => isReady);
  }

  /** True for a node that was made and not deleted. */
  has(name: string): boolean {
    return this.#made.has(name);
  }

  /** A merge patch of the node. */
  async patch(name: string, body: unknown): Promise<void> {
    await this.#access.rest("PATCH", this.#path(name), body);
  }

  /** Sets (or with `null` removes) flipop's own annotations of a family behind its back. */
  async annotate(
    name: string,
    address: string | null,
    pool: string | null = null,
    family: IPFamily = "IPv4",
  ): Promise<void> {
    const own = pool === null ? null : `${this.#access.prefix}${pool}`;
    const keys = NODE_ANNOTATIONS[family];
    await this.patch(name, { metadata: { annotations: { [keys.address]: address, [keys.pool]: own } } });
  }

  /** Asks for a deletion that a finalizer holds up. */
  async beginDeletion(name: string): Promise<void> {
    await this.patch(name, { metadata: { finalizers: ["example.com/hold"] } });
    await this.#access.rest("DELETE", this.#path(name));
    this.#know(name, { isReady: false });
  }

  async delete(name: string): Promise<void> {
    await this.#access.rest("DELETE", this.#path(name));
    this.#made.delete(name);
  }

  /** Address annotations of a family by node, in short names; an annotation of another object than shop/web says whose it is. */
  async annotations(family: IPFamily = "IPv4"): Promise<Readonly<Record<string, string>>> {
    const { prefix } = this.#access;
    const list = (await this.#access.rest("GET", "/api/v1/nodes")) as { readonly items: readonly StoredObject[] };
    return Object.fromEntries(
      list.items.flatMap(({ metadata }) => {
        const name = metadata.name.slice(prefix.length);
        const address = metadata.annotations?.[NODE_ANNOTATIONS[family].address];
        const pool = metadata.annotations?.[NODE_ANNOTATIONS[family].pool]?.replace(prefix, "");
        if (!metadata.name.startsWith(prefix) || !this.#made.has(name) || (address ?? pool) === undefined) return [];
        return [[name, `${short(address ?? "-")}${pool === "shop/web" ? "" : ` of ${pool ?? "nobody"}`}`]];
      }),
    );
  }

  /** Returns what puts the annotations of the nodes back as they are now, as a restored backup of the cluster does. */
  async backUp(): Promise<() => Promise<void>> {
    const then = await this.#stored();
    return async () => {
      for (const [name, annotations] of await this.#stored())
        await this.patch(name, { metadata: { annotations: restored(annotations, then.get(name)) } });
    };
  }

  async #stored(): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
    const { prefix } = this.#access;
    const list = (await this.#access.rest("GET", "/api/v1/nodes")) as { readonly items: readonly StoredObject[] };
    return new Map(
      list.items.flatMap(({ metadata }) => {
        const name = metadata.name.slice(prefix.length);
        return metadata.name.startsWith(prefix) && this.#made.has(name) ? [[name, metadata.annotations ?? {}]] : [];
      }),
    );
  }

  /** What the nodes say of a family for `flipop host`, by node, in short names. */
  async hosts(family: IPFamily = "IPv4"): Promise<Readonly<Record<string, string>>> {
    const { prefix } = this.#access;
    const list = (await this.#access.rest("GET", "/api/v1/nodes")) as { readonly items: readonly StoredObject[] };
    return Object.fromEntries(
      list.items.flatMap(({ metadata }) => {
        const name = metadata.name.slice(prefix.length);
        const text = metadata.annotations?.[NODE_ANNOTATIONS[family].host];
        return metadata.name.startsWith(prefix) && this.#made.has(name) && text !== undefined
          ? [[name, short(text)]]
          : [];
      }),
    );
  }

  /** Takes every node away. */
  async removeAll(): Promise<void> {
    for (const name of [...this.#made.keys()]) {
      await this.patch(name, { metadata: { finalizers: null } }).catch(() => undefined);
      await this.delete(name).catch(() => undefined);
    }
  }

  #know(name: string, change: Partial<NodeTruth>): void {
    const known = this.#made.get(name);
    if (known !== undefined) this.#made.set(name, { ...known, ...change });
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

function addressesOf(name: string): readonly NodeAddress[] {
  const number = Number(/^n(\d+)$/.exec(name)?.[1] ?? 0);
  if (number === 0 || number > 254) return [];
  return [
    { type: "ExternalIP", address: externalIP(number) },
    { type: "InternalIP", address: internalIP(number) },
  ];
}
