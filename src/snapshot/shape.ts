import { ConfigError } from "../model/errors.ts";

// How values are written down and read again. A field that no shape names is never written, so a shape is the list of what may leave a cluster.

/** What stands in a file. */
export type Written = string | number | boolean | null | readonly Written[] | { readonly [name: string]: Written };

/** One kind of value, and how it stands in a file. */
export interface Shape<T> {
  readonly write: (value: T) => Written;
  /** `path` is where the value stands, for messages. @throws ConfigError `invalid` for something else */
  readonly read: (value: unknown, path: string) => T;
}

/** A shape for every field of an object, optional or not. The compiler refuses one that is forgotten. */
type Fields<T> = { readonly [K in keyof T]-?: Shape<Exclude<T[K], undefined>> };

/** A text as it is. */
export const text: Shape<string> = {
  write: (value) => value,
  read: (value, path) => (typeof value === "string" ? value : refuse(path, "a text")),
};

/** A number; infinity is written as a word. */
export const number: Shape<number> = {
  write: (value) => (Number.isFinite(value) ? value : String(value)),
  read: (value, path) => {
    const isWord = value === "Infinity" || value === "-Infinity";
    return typeof value === "number" || isWord ? Number(value) : refuse(path, "a number");
  },
};

/** True or false. */
export const flag: Shape<boolean> = {
  write: (value) => value,
  read: (value, path) => (typeof value === "boolean" ? value : refuse(path, "true or false")),
};

/** The mark of something that is there or absent. */
export const mark: Shape<true> = {
  write: (value) => value,
  read: (value, path) => value === true || refuse(path, "true"),
};

/** Returns the shape of one of some words. */
export function word<T extends string>(...words: readonly T[]): Shape<T> {
  return {
    write: (value) => value,
    read: (value, path) => words.find((one) => one === value) ?? refuse(path, words.join(" or ")),
  };
}

/** Returns the shape of a list. */
export function list<T>(entry: Shape<T>): Shape<readonly T[]> {
  return {
    write: (values) => values.map((value) => entry.write(value)),
    read: (value, path) =>
      Array.isArray(value) ? value.map((one, at) => entry.read(one, `${path}[${at}]`)) : refuse(path, "a list"),
  };
}

/** Returns the shape of a set, which is written as a list in its order. */
export function setOf<T>(entry: Shape<T>): Shape<ReadonlySet<T>> {
  const { write, read } = list(entry);
  return { write: (values) => write([...values]), read: (value, path) => new Set(read(value, path)) };
}

/** Returns the shape of a map by text, in its order. */
export function mapOf<T>(entry: Shape<T>): Shape<ReadonlyMap<string, T>> {
  const { write, read } = recordOf(entry);
  return {
    write: (values) => write(Object.fromEntries(values)),
    read: (value, path) => new Map(Object.entries(read(value, path))),
  };
}

/** Returns the shape of an object whose names are texts from outside. */
export function recordOf<T>(entry: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    write: (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, entry.write(value)])),
    read: (value, path) =>
      Object.fromEntries(
        Object.entries(membersOf(value, path)).map(([name, one]) => [name, entry.read(one, `${path}.${name}`)]),
      ),
  };
}

/** Returns the shape of an object with these fields; names that are not among them are neither written nor read. */
export function fields<T extends object>(
  shapes: Fields<T>,
  ...optional: readonly { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T][]
): Shape<T> {
  const all = Object.entries(shapes) as [string, Shape<unknown>][];
  const mayLack = new Set<string>(optional as readonly string[]);
  return {
    write: (value) => {
      const members = value as Readonly<Record<string, unknown>>;
      const written = all.flatMap(([name, shape]) =>
        members[name] === undefined ? [] : [[name, shape.write(members[name])] as const],
      );
      return Object.fromEntries(written);
    },
    read: (value, path) => {
      const members = membersOf(value, path);
      const found = all.flatMap(([name, shape]) => {
        if (members[name] === undefined && mayLack.has(name)) return [];
        return [[name, shape.read(members[name], `${path}.${name}`)] as const];
      });
      return Object.fromEntries(found) as T;
    },
  };
}

/** Returns the shape of one of several objects that tell themselves apart by `kind`. */
export function oneOf<T extends { readonly kind: string }>(
  shapes: {
    readonly [K in T["kind"]]: Shape<Extract<T, { readonly kind: K }>>;
  },
): Shape<T> {
  const byKind = new Map<string, Shape<T>>(Object.entries(shapes));
  const shapeOf = (kind: unknown, path: string): Shape<T> =>
    byKind.get(String(kind)) ?? refuse(`${path}.kind`, [...byKind.keys()].join(" or "));
  return {
    write: (value) => shapeOf(value.kind, "").write(value),
    read: (value, path) => shapeOf(membersOf(value, path)["kind"], path).read(value, path),
  };
}

function membersOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : refuse(path, "an object");
}

function refuse(path: string, wanted: string): never {
  throw new ConfigError("invalid", `It is no snapshot that can be read: ${path.replace(/^\./, "")} must be ${wanted}.`);
}
