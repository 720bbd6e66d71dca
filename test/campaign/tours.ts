import { type FieldValues, fieldValues } from "./field-values.ts";
import { BOTH, type Kind } from "./kinds.ts";
import type { Unusable } from "./recipes.ts";
import { type Setting, settingFlag, USUAL } from "./settings.ts";
import { type Spec, withValue } from "./spec-value.ts";

/** One change of a spec. */
export interface Step {
  readonly kind: Kind;
  readonly spec: Spec;
  /** Set where flipop cannot use the value. */
  readonly unusable?: Unusable;
}

/** One walk over the values of one field. */
export interface Tour {
  /** `KIND spec.PATH`. */
  readonly title: string;
  /** What repeats it in memory. */
  readonly command: string;
  readonly steps: readonly (readonly Step[])[];
}

/** For every field of a kind a walk that makes each transition between two of its values, there and back, and visits each unusable value from a usable one and returns. */
export function fieldTours(kind: Kind, setting: Setting = USUAL): readonly Tour[] {
  return fieldValues(kind, setting).map((field) => {
    const title = `${kind.name} spec.${field.path}`;
    return {
      title,
      command: `npm run campaign -- --field "${title}"${settingFlag(setting)}`,
      steps: stepsOf(kind, field, setting).map((step) => [step]),
    };
  });
}

/** The walks of both kinds, those over a field that both have side by side: half the steps. */
export function pairedTours(): readonly Tour[] {
  const paths = new Map<string, Tour[]>();
  for (const tour of BOTH.flatMap((kind) => fieldTours(kind))) {
    const path = tour.title.split(" ")[1] ?? "";
    paths.set(path, [...(paths.get(path) ?? []), tour]);
  }
  return [...paths].map(([path, tours]) => {
    const count = Math.max(...tours.map(({ steps }) => steps.length));
    const steps = Array.from({ length: count }, (_, index) => tours.flatMap((tour) => tour.steps[index] ?? []));
    return { title: path, command: `npm run campaign -- --field "${path}"`, steps };
  });
}

function stepsOf(kind: Kind, { path, usable, unusable, recipe }: FieldValues, { bases }: Setting): readonly Step[] {
  const base = { ...bases[kind.name], ...recipe.beside };
  const step = (value: unknown): Step => ({ kind, spec: withValue(base, path, value) });
  const bad = unusable.flatMap((entry, index) => [
    { kind, spec: withValue({ ...base, ...entry.beside }, path, entry.value), unusable: entry },
    step(usable[index % usable.length]),
  ]);
  return [...allTransitions(usable).map(step), ...bad];
}

/** A walk over the values that makes every ordered transition between two different ones exactly once: it leaves the first for each other one, and before it comes back makes the round of the later ones. Pure. */
export function allTransitions<T>(values: readonly T[]): readonly T[] {
  const [first, ...rest] = values;
  if (first === undefined) return [];
  const walk = rest.flatMap((low, index): readonly T[] => {
    const later = rest.slice(index + 1);
    return [low, ...later.flatMap((high) => [high, low]), first];
  });
  return [first, ...walk];
}
