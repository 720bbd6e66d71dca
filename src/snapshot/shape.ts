import { ConfigError } from "../model/errors.ts";

// How values are written down and read again. A field that no shape names is never written, so a shape is the list of what may leave a cluster.

/** What stands in a file. */
export type Written = string | number | boolean | null | readonly Written[] | { readonly [name: string]: Written };

/**
 * What a text says, which decides what may stand in its place:
 *
 *   name      of an object, a node, a machine, an address, a label, a person; or several of them between signs
 *   dns       a name of DNS, in which capital letters mean nothing
 *   firewall  of a firewall
 *   subject   what is tried again: `ip/203.0.113.10`
 *   term      a word of flipop, Kubernetes or a provider
 *   figure    a number, a port, a share: `3/5`, `worker-1 +2`
 *   sentence  anything that is for people
 */
export type TextKind = "name" | "dns" | "firewall" | "subject" | "term" | "figure" | "sentence";

/** Returns what is written in the place of a text. */
export type Renaming = (kind: TextKind, text: string) => string;

/** One kind of value, and how it stands in a file. */
export interface Shape<T> {
  /** `by` absent = every text is written as it is. */
  readonly write: (value: T, by?: Renaming) => Written;
  /** `path` is where the value stands, for messages. @throws ConfigError `invalid` for something else */
  readonly read: (value: unknown, path: string) => T;
}

/** A shape for every field of an object, optional or not. The compiler refuses one that is forgotten. */
type Fields<T> = { readonly [K in keyof T]-?: Shape<Exclude<T[K], undefined>> };

/** Returns the shape of a text of this kind. */
export function textOf(kind: TextKind): Shape<string> {
  return {
    write: (value, by) => by?.(kind, value) ?? value,
    read: (value, path) => (typeof value === "string" ? value : refuse(path, "a text")),
  };
}

/** A name, and any text of which nothing else is known. */
export const text: Shape<string> = textOf("name");
/** Names with commas between them. */
export const names: Shape<string> = {
  write: (value, by) =>
    value
      .split(",")
      .map((name) => by?.("name", name) ?? name)
      .join(","),
  read: text.read,
};
/** A word that is known to everybody. */
export const term: Shape<string> = textOf("term");
/** A text for people. */
export const sentence: Shape<string> = textOf("sentence");

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

/** Returns the shape of a name that has a row in a table. */
export function keyOf<K extends string>(table: Readonly<Record<K, unknown>>): Shape<K> {
  return word(...(Object.keys(table) as K[]));
}

/** Returns the shape of a list. */
export function list<T>(entry: Shape<T>): Shape<readonly T[]> {
  return {
    write: (values, by) => values.map((value) => entry.write(value, by)),
    read: (value, path) =>
      Array.isArray(value) ? value.map((one, at) => entry.read(one, `${path}[${at}]`)) : refuse(path, "a list"),
  };
}

/** Returns the shape of a set, which is written as a list in its order. */
export function setOf<T>(entry: Shape<T>): Shape<ReadonlySet<T>> {
  const { write, read } = list(entry);
  return { write: (values, by) => write([...values], by), read: (value, path) => new Set(read(value, path)) };
}

/** Returns the shape of a map by text, in its order. */
export function mapOf<T>(entry: Shape<T>, key: Shape<string> = text): Shape<ReadonlyMap<string, T>> {
  const { write, read } = recordOf(entry, key);
  return {
    write: (values, by) => write(Object.fromEntries(values), by),
    read: (value, path) => new Map(Object.entries(read(value, path))),
  };
}

/** Returns the shape of an object whose names are texts from outside. */
export function recordOf<T>(entry: Shape<T>, key: Shape<string> = text): Shape<Readonly<Record<string, T>>> {
  return {
    write: (values, by) =>
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [String(key.write(name, by)), entry.write(value, by)]),
      ),
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
    write: (value, by) => {
      const members = value as Readonly<Record<string, unknown>>;
      const written = all.flatMap(([name, shape]) =>
        members[name] === undefined ? [] : [[name, shape.write(members[name], by)] as const],
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
    write: (value, by) => shapeOf(value.kind, "").write(value, by),
    read: (value, path) => shapeOf(membersOf(value, path)["kind"], path).read(value, path),
  };
}

/** Returns the fields of an object that is read. @throws ConfigError `invalid` for something else */
export function membersOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : refuse(path, "an object");
}

/** @throws ConfigError `invalid`: what stands at the path is something else */
export function refuse(path: string, wanted: string): never {
  throw new ConfigError("invalid", `It cannot be read: ${path.replace(/^\./, "")} must be ${wanted}.`);
}
