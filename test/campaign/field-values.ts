import type { SchemaNode } from "../manifests/shipped.ts";
import { type Kind, schemaOf } from "./kinds.ts";
import { RECIPES, type Recipe, type Recipes, type Unusable } from "./recipes.ts";
import { type SchemaField, schemaFields } from "./schema-fields.ts";
import { ABSENT } from "./spec-value.ts";

/** The values a campaign gives a field. */
export interface FieldValues {
  readonly path: string;
  /** Those that flipop can use, in one order: absent, null, empty, least, ordinary ones, greatest, the members of an enum. */
  readonly usable: readonly unknown[];
  /** Those that the API server admits and flipop cannot use. */
  readonly unusable: readonly Unusable[];
  readonly recipe: Recipe;
}

/** The greatest number of a JSON `number`, and the greatest integer that JavaScript keeps exactly. */
const GREATEST: Readonly<Record<string, number>> = { number: Number.MAX_VALUE, integer: Number.MAX_SAFE_INTEGER };
/** The greatest 64-bit integer, as JavaScript reads it: an integer the API server admits where the schema sets no maximum. */
const GREATEST_INT64 = 2 ** 63 - 1024;

/** What the schema says nothing about: which texts and which entries of a list mean something. */
const NEEDS_RECIPE: ReadonlySet<string> = new Set(["string", "array"]);

/** The values of every field of a kind's spec, by default of the shipped schema. @throws Error for a field that needs a recipe, saying where to write it */
export function fieldValues(
  kind: Kind,
  {
    recipes = RECIPES,
    schema = schemaOf(kind, "spec"),
  }: { readonly recipes?: Recipes; readonly schema?: SchemaNode } = {},
): readonly FieldValues[] {
  return schemaFields(schema).map((field) => {
    const isTold = field.schema.enum !== undefined || !NEEDS_RECIPE.has(field.schema.type ?? "");
    const recipe = recipes[kind.name][field.path] ?? (isTold ? { ordinary: [] } : undefined);
    if (recipe === undefined)
      throw new Error(
        `spec.${field.path} of ${kind.name} has no value recipe: ` +
          "add one to test/campaign/recipes.ts that says which values mean something in the world of the campaigns",
      );
    const usable = [...emptyValues(field, recipe), ...scalarValues(field), ...recipe.ordinary];
    return { path: field.path, usable: distinct(usable), unusable: unusableValues(field, recipe), recipe };
  });
}

/** Recipes that no field of the schema asks for. */
export function idleRecipes(kind: Kind): readonly string[] {
  const paths = new Set(schemaFields(schemaOf(kind, "spec")).map(({ path }) => path));
  return Object.keys(RECIPES[kind.name]).filter((path) => !paths.has(path));
}

/** Absent, null and the empty value, as far as the schema admits them and the recipe does not call them unusable. */
function emptyValues({ schema, isRequired }: SchemaField, { unusable = [] }: Recipe): readonly unknown[] {
  const empty: Readonly<Record<string, unknown>> = { string: "", array: [], object: {} };
  const hasEmpty = schema.enum === undefined && schema.type !== undefined && Object.hasOwn(empty, schema.type);
  const refused = new Set(unusable.map(({ value }) => keyOf(value)));
  const values = [
    ...(isRequired ? [] : [ABSENT]),
    ...(schema.nullable === true ? [null] : []),
    ...(hasEmpty ? [empty[schema.type]] : []),
  ];
  return values.filter((value) => !refused.has(keyOf(value)));
}

function scalarValues({ schema }: SchemaField): readonly unknown[] {
  if (schema.enum !== undefined) return schema.enum;
  if (schema.type === "boolean") return [true, false];
  const greatest = GREATEST[schema.type ?? ""];
  return greatest === undefined ? [] : [schema.minimum ?? 0, schema.maximum ?? greatest];
}

function unusableValues({ schema, path }: SchemaField, { unusable = [] }: Recipe): readonly Unusable[] {
  if (schema.type !== "integer" || schema.maximum !== undefined || schema.format === "int64") return unusable;
  return [...unusable, { value: GREATEST_INT64, says: `spec.${path}` }];
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()];
}

function keyOf(value: unknown): string {
  return value === ABSENT ? "absent" : JSON.stringify(value);
}
