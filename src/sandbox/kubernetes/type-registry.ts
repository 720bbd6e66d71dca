import { customResourceTypes } from "./custom-resource-type.ts";
import { type ObjectStore, storeKey } from "./object-store.ts";
import { apiVersionOf, BUILT_IN, type ResourceType } from "./resource-type.ts";

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

  /** The resource of an object; undefined when it is not served. */
  byKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.all().find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
  }

  /** The resource, in some served version, that the store keeps under this name. */
  byStoreKey(resource: string): ResourceType | undefined {
    return this.all().find((type) => storeKey(type) === resource);
  }
}
