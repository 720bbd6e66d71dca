import type { ObjectAccess } from "./object-access.ts";

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
