import { type Kind, schemaOf } from "./kinds.ts";
import { BASES } from "./recipes.ts";
import { type SchemaField, schemaFields } from "./schema-fields.ts";
import { ABSENT, type Spec, withValue } from "./spec-value.ts";

/** A spec that the schema does not admit. */
export interface RefusedSpec {
  readonly kind: Kind;
  readonly title: string;
  readonly spec: Spec;
  /** What the refusal must name. */
  readonly path: string;
}

const WRONG_TYPES: Readonly<Record<string, unknown>> = {
  string: 5,
  integer: "five",
  number: "five",
  boolean: "yes",
  array: "a, b",
  object: "all",
  "integer or text": 1.5,
};

/** For every field of a kind a spec with a value of the wrong type, below the minimum, outside of the enum, and without what is required. */
export function refusedSpecs(kind: Kind): readonly RefusedSpec[] {
  return schemaFields(schemaOf(kind, "spec")).flatMap((field) =>
    refusedValues(field).map(([what, value]) => ({
      kind,
      title: `${kind.name} spec.${field.path} ${what}`,
      spec: withValue(BASES[kind.name], field.path, value),
      path: `spec.${field.path.replaceAll("[]", "[0]")}`,
    })),
  );
}

function refusedValues({ schema, isRequired }: SchemaField): readonly (readonly [what: string, value: unknown])[] {
  return [
    ["of the wrong type", WRONG_TYPES[schema.type ?? "integer or text"] ?? 5],
    ...(schema.minimum === undefined ? [] : [["below the minimum", schema.minimum - 1] as const]),
    ...(schema.maximum === undefined ? [] : [["above the maximum", schema.maximum + 1] as const]),
    ...(schema.enum === undefined ? [] : [["outside of the enum", "Perhaps"] as const]),
    ...(isRequired ? [["missing", ABSENT] as const] : []),
  ];
}
