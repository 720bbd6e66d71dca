import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "./transport.ts";

const servedTimeoutMs = 15_000;

type Call = <T = KubeObject>(method: string, path: string, body?: unknown, contentType?: string) => Promise<T>;
type Manifest = KubeObject & { readonly apiVersion: string; readonly kind: string };
type Resource = { readonly name: string; readonly kind: string; readonly namespaced: boolean };
type Definition = {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
};

/** Applies manifests of any kind: the server itself says where a kind lives. An unknown field is refused. */
export class Applier {
  readonly #call: Call;
  readonly #resources: Map<string, Resource> = new Map();

  constructor(call: Call) {
    this.#call = call;
  }

  /** Applies every document in order and returns the stored objects. @throws APIError at the first refusal. */
  async apply(yamlText: string, defaultNamespace: string): Promise<KubeObject[]> {
    const stored: KubeObject[] = [];
    for (const manifest of parse(yamlText)) {
      const path = await this.#path(manifest, defaultNamespace);
      const query = "?fieldManager=test&force=true&fieldValidation=Strict";
      // JSON is YAML, so the content type tells the truth.
      stored.push(await this.#call("PATCH", `${path}${query}`, manifest, "application/apply-patch+yaml"));
      if (manifest.kind === "CustomResourceDefinition") await this.#untilServed(path);
    }
    return stored;
  }

  async #path({ apiVersion, kind, metadata }: Manifest, defaultNamespace: string): Promise<string> {
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const resource = await this.#resource(root, kind);
    const scope = resource.namespaced ? `/namespaces/${metadata.namespace ?? defaultNamespace}` : "";
    return `${root}${scope}/${resource.name}/${metadata.name}`;
  }

  async #resource(root: string, kind: string): Promise<Resource> {
    const known = this.#resources.get(`${root} ${kind}`);
    if (known !== undefined) return known;
    const { resources } = await this.#call<{ resources: Resource[] }>("GET", root);
    const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
    if (found === undefined) throw new Error(`the server does not know the kind ${kind} in ${root}`);
    this.#resources.set(`${root} ${kind}`, found);
    return found;
  }

  /** "Established" comes before the handler and the discovery document do, so each is asked for. */
  async #untilServed(path: string): Promise<void> {
    const deadlineMs = Date.now() + servedTimeoutMs;
    while (!(await this.#isServed(path))) {
      if (Date.now() > deadlineMs) throw new Error(`${path} is not served after ${servedTimeoutMs} ms`);
      await sleep(50);
    }
  }

  async #isServed(path: string): Promise<boolean> {
    const stored = await this.#call<{ spec: Definition; status?: { conditions?: { type: string; status: string }[] } }>(
      "GET",
      path,
    );
    const conditions = stored.status?.conditions ?? [];
    if (!conditions.some(({ type, status }) => type === "Established" && status === "True")) return false;
    const { group, names, versions } = stored.spec;
    const roots = versions.filter(({ served }) => served).map(({ name }) => `/apis/${group}/${name}`);
    const answers = await Promise.all(roots.map(async (root) => await this.#isListed(root, names.plural)));
    return answers.every(Boolean);
  }

  async #isListed(root: string, plural: string): Promise<boolean> {
    try {
      const { resources } = await this.#call<{ resources: Resource[] }>("GET", root);
      await this.#call("GET", `${root}/${plural}?limit=1`);
      return resources.some(({ name }) => name === plural);
    } catch {
      return false;
    }
  }
}

function parse(yamlText: string): Manifest[] {
  return parseAllDocuments(yamlText).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const value = document.toJS() as Manifest | null;
    if (value === null) return [];
    return value.kind === "List" ? ((value.items ?? []) as Manifest[]) : [value];
  });
}
