import { FINDINGS, type Finding } from "../model/finding.ts";
import type { ManifestDocument } from "./documents.ts";
import type { Remark, SpecObject } from "./meaning.ts";

/** One of flipop's objects in a file. */
export interface CheckedObject {
  /** `pool/ingress/web`. */
  readonly ref: string;
  readonly file: string;
  readonly document: ManifestDocument;
  readonly spec: SpecObject;
}

/** Returns a finding from what is said of it and where it stands. */
export function findingOf(
  { code, severity, path, message }: Pick<Remark, "code" | "severity" | "path" | "message">,
  {
    file,
    object,
    position,
  }: Pick<Finding, "file" | "object"> & { readonly position: Pick<Finding, "line" | "column"> },
): Finding {
  return { code, severity: severity ?? FINDINGS[code].severity, file, ...position, object, path, message };
}
