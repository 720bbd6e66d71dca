/** A spec, or a part of one, as in a manifest. */
export type Spec = Readonly<Record<string, unknown>>;

/** Stands for a field that is not there. */
export const ABSENT: unique symbol = Symbol("absent");

/** The value at a path of {@link schemaFields}; of lists the first entry counts. {@link ABSENT} where there is none. Pure. */
export function valueAt(spec: unknown, path: string): unknown {
  const found = steps(path).reduce<unknown>(
    (value, step) => (typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined),
    spec,
  );
  return found === undefined ? ABSENT : found;
}

/** The spec with another value at a path; objects and entries on the way are made where they are missing. Pure. */
export function withValue(spec: Spec, path: string, value: unknown): Spec {
  return put(spec, steps(path), value) as Spec;
}

function put(holder: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list = Array.isArray(holder) ? holder : [];
    return [put(list[0], rest, value), ...list.slice(1)];
  }
  const { [step]: old, ...others } = (typeof holder === "object" && holder !== null ? holder : {}) as Spec;
  const next = put(old, rest, value);
  return next === ABSENT ? others : { ...others, [step]: next };
}

function steps(path: string): readonly (string | number)[] {
  return path.split(".").flatMap((part) => (part.endsWith("[]") ? [part.slice(0, -2), 0] : [part]));
}
