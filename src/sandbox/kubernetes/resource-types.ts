import {
  arrayAt,
  isObject,
  type JSONObject,
  type KubeObject,
  type ObjectStore,
  objectAt,
  storeKey,
  textAt,
  valueAt,
} from "./object-store.ts";
import type { Schema } from "./schema.ts";

/** What the API knows about one resource of one group and version. */
export interface ResourceType {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  /** True when `status` is written through `/status` only. */
  readonly hasStatus: boolean;
  /** True when a POST to `/eviction` deletes one. */
  readonly hasEviction?: boolean;
  /** True when `metadata.generation` is kept. */
  readonly hasGeneration: boolean;
  /** True when a PUT without resourceVersion replaces whatever is there. */
  readonly allowsUnconditionalUpdate: boolean;
  /** True when a PUT of a missing object creates it, whatever resourceVersion it names (leases, 1.35.4, verified 2026-08). */
  readonly createsOnUpdate: boolean;
  /** Fields of a field selector besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
  /** Custom resources only: what is pruned, defaulted and validated. */
  readonly schema?: Schema;
  /** Custom resources only: `additionalPrinterColumns`, if there are any. */
  readonly columns?: readonly unknown[];
  /** Only shows the objects of another resource, in its own form. */
  readonly view?: View;
}

/** Another look at the objects of a resource; it cannot be written. */
interface View {
  /** Name in the store of the resource that has the objects. */
  readonly storedAs: string;
  readonly show: (object: KubeObject) => KubeObject;
}

/** `apiVersion` of the objects of a resource. */
export function apiVersionOf(type: Pick<ResourceType, "group" | "version">): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** The resource as errors and RBAC name it: `nodes`, `leases.coordination.k8s.io`. */
export function qualifiedResource(type: Pick<ResourceType, "group" | "plural">): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}

/** The kind as errors name it: `Pod`, `Lease.coordination.k8s.io`. */
export function qualifiedKind(type: Pick<ResourceType, "group" | "kind">): string {
  const group = errorGroup(type);
  return group === "" ? type.kind : `${type.kind}.${group}`;
}

/** The group that validation errors name: that of events is the one they were in first. */
export function errorGroup(type: Pick<ResourceType, "group" | "kind">): string {
  return type.group === "events.k8s.io" ? "" : type.group;
}

type Facts = Pick<ResourceType, "group" | "version" | "kind" | "plural"> & Partial<ResourceType>;

function builtIn(facts: Facts): ResourceType {
  return {
    singular: facts.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced: true,
    hasStatus: false,
    hasGeneration: false,
    allowsUnconditionalUpdate: true,
    createsOnUpdate: false,
    selectableFields: [],
    ...facts,
  };
}

const core = { group: "", version: "v1" } as const;

/** The resources every API server of the sandbox has, in the order in which files list them. */
export const BUILT_IN: readonly ResourceType[] = [
  builtIn({
    ...core,
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    isNamespaced: false,
    hasStatus: true,
  }),
  builtIn({ ...core, kind: "Node", plural: "nodes", shortNames: ["no"], isNamespaced: false, hasStatus: true }),
  builtIn({
    ...core,
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    hasStatus: true,
    hasEviction: true,
    hasGeneration: true,
    selectableFields: ["spec.nodeName", "status.phase"],
  }),
  builtIn({
    ...core,
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    hasStatus: true,
  }),
  builtIn({
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    hasStatus: true,
    hasGeneration: true,
  }),
  builtIn({
    group: "batch",
    version: "v1",
    kind: "CronJob",
    plural: "cronjobs",
    shortNames: ["cj"],
    categories: ["all"],
    hasStatus: true,
    hasGeneration: true,
  }),
  builtIn({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    isNamespaced: false,
    hasStatus: true,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
  }),
  builtIn({
    group: "coordination.k8s.io",
    version: "v1",
    kind: "Lease",
    plural: "leases",
    allowsUnconditionalUpdate: false,
    createsOnUpdate: true,
  }),
  builtIn({
    group: "discovery.k8s.io",
    version: "v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    hasGeneration: true,
  }),
  builtIn({
    group: "events.k8s.io",
    version: "v1",
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    createsOnUpdate: true,
    selectableFields: ["regarding.apiVersion", "regarding.kind", "regarding.name"],
  }),
  builtIn({
    ...core,
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    selectableFields: [
      ...["apiVersion", "kind", "namespace", "name", "uid"].map((field) => `involvedObject.${field}`),
      "reason",
      "type",
    ],
    view: { storedAs: "events.k8s.io/events", show: coreEvent },
  }),
];

/** An Event as the core group shows it, which is where kubectl looks. */
function coreEvent(event: KubeObject): KubeObject {
  const {
    regarding,
    note,
    reportingController,
    deprecatedCount,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedSource,
    ...same
  } = event;
  return {
    ...same,
    involvedObject: regarding ?? {},
    message: note ?? "",
    reportingComponent: reportingController ?? "",
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    ...(deprecatedCount === undefined ? {} : { count: deprecatedCount }),
  };
}

/** The resources a CustomResourceDefinition makes the API serve: one per served version. */
function customResourceTypes(crd: JSONObject): readonly ResourceType[] {
  const names = objectAt(crd, "spec", "names");
  const kind = textAt(names, "kind");
  return arrayAt(crd, "spec", "versions")
    .filter((version) => valueAt(version, "served") === true)
    .map((version) => ({
      group: textAt(crd, "spec", "group"),
      version: textAt(version, "name"),
      kind,
      plural: textAt(names, "plural"),
      singular: textAt(names, "singular") || kind.toLowerCase(),
      shortNames: arrayAt(names, "shortNames").map(String),
      categories: arrayAt(names, "categories").map(String),
      isNamespaced: textAt(crd, "spec", "scope") === "Namespaced",
      hasStatus: isObject(valueAt(version, "subresources", "status")),
      hasGeneration: true,
      allowsUnconditionalUpdate: false,
      createsOnUpdate: false,
      selectableFields: [],
      // Checked by nobody: a definition is taken as its author wrote it.
      schema: objectAt(version, "schema", "openAPIV3Schema") as Schema,
      columns: arrayAt(version, "additionalPrinterColumns"),
    }));
}

/** The definition with the status a cluster gives it: names accepted, established, its stored version. */
export function establishedCRD(crd: JSONObject, now: string): JSONObject {
  const stored = arrayAt(crd, "spec", "versions").filter((version) => valueAt(version, "storage") === true);
  const condition = (type: string, reason: string, message: string): JSONObject => {
    return { type, status: "True", lastTransitionTime: now, reason, message };
  };
  return {
    ...crd,
    status: {
      acceptedNames: objectAt(crd, "spec", "names"),
      conditions: [
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
      ],
      storedVersions: stored.map((version) => textAt(version, "name")),
    },
  };
}

/** Name in the store of the resource that adds resources. */
export const CRD_RESOURCE = "apiextensions.k8s.io/customresourcedefinitions";

/** The resources that are served now: the built-in ones, and those of the stored CustomResourceDefinitions. */
export class TypeRegistry {
  private readonly store: ObjectStore;
  private custom: readonly ResourceType[] = [];
  private customAt = 0;

  constructor(store: ObjectStore) {
    this.store = store;
  }

  /** Every served resource; built-in ones first. */
  all(): readonly ResourceType[] {
    const touched = this.store.timesTouched(CRD_RESOURCE);
    if (touched !== this.customAt) this.custom = this.store.all(CRD_RESOURCE).flatMap(customResourceTypes);
    this.customAt = touched;
    return [...BUILT_IN, ...this.custom];
  }

  /** The resource of a URL; undefined when it is not served. */
  byPlural(group: string, version: string, plural: string): ResourceType | undefined {
    return this.all().find((type) => type.group === group && type.version === version && type.plural === plural);
  }

  /** The resource that an object is written to; undefined when there is none. */
  byKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.all().find(
      (type) => type.kind === kind && apiVersionOf(type) === apiVersion && type.view === undefined,
    );
  }

  /** The resource, in some served version, that the store keeps under this name. */
  byStoreKey(resource: string): ResourceType | undefined {
    return this.all().find((type) => storeKey(type) === resource);
  }
}
