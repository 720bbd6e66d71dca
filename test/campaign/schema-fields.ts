import type { SchemaNode } from "../manifests/shipped.ts";

/** One place of a schema that can hold a value. */
export interface SchemaField {
  /** `match.tolerations[].key`: `[]` is an entry of a list, `{}` one of a map. */
  readonly path: string;
  readonly schema: SchemaNode & { readonly minimum?: number; readonly maximum?: number };
  readonly isRequired: boolean;
}

/** Every field of a schema, at every depth, in its order; entries of lists of plain values belong to their list. Pure. */
export function schemaFields(schema: SchemaNode, prefix = ""): readonly SchemaField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) === true;
    return [{ path, schema: inner, isRequired }, ...fieldsBelow(inner, path)];
  });
}

function fieldsBelow(schema: SchemaNode, path: string): readonly SchemaField[] {
  if (schema.items !== undefined) return schemaFields(schema.items, `${path}[].`);
  if (schema.additionalProperties !== undefined) return schemaFields(schema.additionalProperties, `${path}{}.`);
  return schemaFields(schema, `${path}.`);
}
