import type { ObjectRef } from "../model/action.ts";

/** Returns `pool/NAMESPACE/NAME`, the form every command accepts as a target. */
export function objectText(object: ObjectRef): string {
  return `${object.kind}/${object.namespace}/${object.name}`;
}
