import { parseLabelSelector, selects } from "../../model/label-selector.ts";
import { fieldSelector } from "./field-selector.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceType } from "./resource-type.ts";
import { badRequest } from "./status-error.ts";

/** Which objects of a resource a list or watch is about. */
export interface ObjectFilter {
  readonly includes: (object: KubeObject) => boolean;
  /** True when a label or field selector narrows the list. */
  readonly isSelective: boolean;
}

/** Reads `labelSelector` and `fieldSelector`. @throws StatusError 400 for one that cannot be read */
export function objectFilter(type: ResourceType, namespace: string | undefined, query: URLSearchParams): ObjectFilter {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  const parsed = parseLabelSelector(labels);
  if ("error" in parsed) throw badRequest(parsed.error);
  const fits = fieldSelector(type, fields);
  return {
    includes: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      selects(parsed.selector, object.metadata.labels ?? {}) &&
      fits(object),
    isSelective: labels !== "" || fields !== "",
  };
}
