import type { ObjectMeta } from "../../model/resource.ts";
import { decodeMeta } from "./decode-meta.ts";
import { asRecord } from "./json-value.ts";
import { SpecReader } from "./spec-reader.ts";

/** What every custom resource of flipop is made of. */
export interface DecodedObject<Spec, Status> {
  readonly meta: ObjectMeta;
  readonly spec: Spec;
  readonly status: Status;
  readonly decodeError?: string;
}

/**
 * A custom object with its spec defaulted and its status read leniently. Wrong parts of the spec take their defaults and are
 * named in `decodeError`, all of them in one line; the planner then leaves the object alone. Undefined only for something
 * without a name. Never throws.
 */
export function decodeObject<Spec, Status>(
  value: unknown,
  part: { readonly spec: (spec: SpecReader) => Spec; readonly status: (status: unknown) => Status },
): DecodedObject<Spec, Status> | undefined {
  const meta = decodeMeta(value);
  if (meta === undefined) return undefined;
  const object = asRecord(value);
  const problems: string[] = [];
  const spec = part.spec(new SpecReader(object?.["spec"], "spec", problems));
  const decoded = { meta, spec, status: part.status(object?.["status"]) };
  return problems.length === 0 ? decoded : { ...decoded, decodeError: problems.join("; ") };
}
