import { type FieldValues, fieldValues } from "../campaign/field-values.ts";
import type { Kind } from "../campaign/kinds.ts";
import { BASES } from "../campaign/recipes.ts";
import { type Spec, withValue } from "../campaign/spec-value.ts";

/** A spec with some fields as every value that means something, or means nothing. */
export function randomSpec(kind: Kind, random: () => number): Spec {
  const fields = knownFields(kind);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  return Array.from({ length: 1 + Math.floor(random() * 4) }).reduce<Spec>((spec) => {
    const field = pick(fields);
    if (field === undefined) return spec;
    const values = [...field.usable, ...field.unusable.map(({ value }) => value)];
    return withValue(spec, field.path, pick(values));
  }, BASES[kind.name]);
}

const known = new Map<string, readonly FieldValues[]>();

/** The schema is read once. */
function knownFields(kind: Kind): readonly FieldValues[] {
  const fields = known.get(kind.name) ?? fieldValues(kind);
  known.set(kind.name, fields);
  return fields;
}
