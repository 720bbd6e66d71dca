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
  readonly isNamespaced: boolean;
  /** True when `status` is written through `/status` only. */
  readonly hasStatus: boolean;
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
    isNamespaced: true,
    hasStatus: false,
    hasGeneration: false,
    allowsUnconditionalUpdate: true,
    createsOnUpdate: false,
    selectableFields: [],
    ...facts,
  };
}

/** The resources every API server of the sandbox has, in the order in which files list them. */
export const BUILT_IN: readonly ResourceType[] = [
  builtIn({
    group: "",
    version: "v1",
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    isNamespaced: false,
    hasStatus: true,
    selectableFields: ["status.phase"],
  }),
  builtIn({
    group: "",
    version: "v1",
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    isNamespaced: false,
    hasStatus: true,
    selectableFields: ["spec.unschedulable"],
  }),
  builtIn({
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    hasStatus: true,
    hasGeneration: true,
    selectableFields: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "spec.hostNetwork",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ],
  }),
  builtIn({ group: "", version: "v1", kind: "Service", plural: "services", shortNames: ["svc"], hasStatus: true }),
  builtIn({
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
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
    selectableFields: ["reason", "type", "regarding.kind", "regarding.name", "regarding.namespace", "regarding.uid"],
  }),
];
