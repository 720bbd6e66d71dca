import { asFlag, asInteger, asList, asRecord, asText, asTexts, jsonText } from "./json.ts";

// Descriptions of custom resources: each field of an object is described once, for reading and, in a status, for writing. The compiler checks a description against
// the type it stands for. Reading is lenient: whatever has the wrong shape counts as absent, and whoever reads may be told of it.

/** One value of an object. */
export interface Field<T> {
  /** Undefined for what is absent or has another shape. An object that lacks a field which is not optional is no object either. */
  read(value: unknown, wrong: Wrong): T | undefined;
  /** How the value is stored; absent = as it is. */
  write?(value: T, stored: unknown): unknown;
  /** The name it is stored under; absent = the one in the description. */
  readonly key?: string;
}

/** Is told what was expected in place of a value. The path leads there, with a dot or bracket before each step; absent = here. */
export type Wrong = (expected: string, value: unknown, path?: string) => void;

type OptionalField<T> = Field<T> & { readonly isOptional: true };

/** A description of every field of an object. The compiler refuses one that is forgotten, or optional in only one of the two. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
    ? OptionalField<Exclude<T[K], undefined>>
    : Field<T[K]>;
};

/** Text; `""` is absent. */
export const text: Field<string> = {
  read: (value, wrong) => {
    if (typeof (value ?? "") !== "string") wrong("text", value);
    return asText(value);
  },
};

/** Text, or `""`. */
export const textOrEmpty: Field<string> = orElse(text, "");

/** An integer of any sign. */
export const integer: Field<number> = { read: asInteger };

/** True or false. */
export const flag: Field<boolean> = {
  read: (value, wrong) => {
    if (typeof (value ?? false) !== "boolean") wrong("true or false", value);
    return asFlag(value);
  },
};

/** The texts in a list. */
export const texts: Field<readonly string[]> = { read: asTexts };

/** One of some words. */
export function word<T extends string>(words: readonly T[]): Field<T> {
  return {
    read: (value, wrong) => {
      const read = text.read(value, wrong);
      const known = words.find((candidate) => candidate === read);
      if (read !== undefined && known === undefined) wrong(words.join(" or "), read);
      return known;
    },
  };
}

/** A list; its entries that cannot be read are left out. */
export function list<T>(entry: Field<T>): Field<readonly T[]> {
  return {
    read: (value, wrong) => {
      if (!Array.isArray(value ?? [])) wrong("a list", value);
      return asList(value).flatMap((one, index) => entry.read(one, within(wrong, `[${index}]`)) ?? []);
    },
    write: (values) => values.map((one) => (entry.write === undefined ? one : entry.write(one, undefined))),
  };
}

/** An object with these fields. */
export function object<T extends object>(fields: FieldsOf<T>): Field<T> {
  const members = membersOf(fields);
  return {
    read: (value, wrong) => {
      const record = asRecord(value);
      if (record === undefined && (value ?? undefined) !== undefined) wrong("an object", value);
      return record && (readMembers(members, record, wrong) as T | undefined);
    },
    write: (value) => storedObject(fields, value),
  };
}

/** Returns an object as it is stored: every field that is there, under the name that it is stored under. */
export function storedObject<T extends object>(fields: FieldsOf<T>, value: T): Readonly<Record<string, unknown>> {
  const described = membersOf(fields).flatMap(([name, { key = name, write }]) => {
    const member: unknown = value[name as keyof T];
    return member === undefined ? [] : [[key, write === undefined ? member : write(member, undefined)] as const];
  });
  return Object.fromEntries(described);
}

/** An object whose fields all have defaults: there is one even where it is absent. */
export function defaulted<T extends object>(fields: FieldsOf<T>): Field<T> {
  const field = object(fields);
  return { ...field, read: (value, wrong) => field.read(value, wrong) ?? field.read({}, wrong) };
}

/** What may be left out. An empty list counts as absent. */
export function optional<T>(field: Field<T>): OptionalField<T> {
  const read: Field<T>["read"] = (value, wrong) => {
    const result = (value ?? undefined) === undefined ? undefined : field.read(value, wrong);
    return Array.isArray(result) && result.length === 0 ? undefined : result;
  };
  return { ...field, read, isOptional: true };
}

/** What has a default. */
export function orElse<T>(field: Field<T>, otherwise: T): Field<T> {
  return { ...field, read: (value, wrong) => field.read(value, wrong) ?? otherwise };
}

/** A field that is stored under another name. */
export function named<T>(key: string, field: Field<T>): Field<T> {
  return { ...field, key };
}

/** Adds to an object, when it is read, what follows from its other fields and is not stored. */
export function derived<T, K extends keyof T>(
  stored: Field<Omit<T, K>>,
  more: (value: Omit<T, K>) => Partial<T>,
): Field<T> {
  return {
    ...stored,
    read: (value, wrong) => {
      const read = stored.read(value, wrong);
      return read && ({ ...read, ...more(read) } as T);
    },
  };
}

/** The fields of a JSON merge patch (RFC 7396) that turn a stored object into this one: all that are described, `null` where one is absent or empty. */
export function patchOf<T extends object>(
  fields: FieldsOf<T>,
  value: T,
  stored: unknown,
): Readonly<Record<string, unknown>> {
  const record = asRecord(stored) ?? {};
  const members = membersOf(fields).map(([name, { write }]) => {
    const member: unknown = value[name as keyof T];
    const isEmpty = member === undefined || member === "" || (Array.isArray(member) && member.length === 0);
    const written = isEmpty || write === undefined ? member : write(member, record[name]);
    return [name, isEmpty ? null : (written ?? null)];
  });
  return Object.fromEntries(members);
}

/** The same listener for what is wrong one step further inside. */
export function within(wrong: Wrong, step: string): Wrong {
  return (expected, value, path = "") => wrong(expected, value, `${step}${path}`);
}

/** One sentence for each wrong part of a value, with its path. */
export function problemsOf(path: string, problems: string[]): Wrong {
  return (expected, value, inner = "") => {
    problems.push(`${path}${inner} must be ${expected}, not ${describe(value)}`);
  };
}

/** The value as JSON when it is short, else its type. */
function describe(value: unknown): string {
  const json = jsonText(value);
  if (json !== undefined && json.length <= 40) return json;
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a long ${typeof value}`;
}

function readMembers(
  described: readonly (readonly [string, Field<unknown>])[],
  record: Readonly<Record<string, unknown>>,
  wrong: Wrong,
): unknown {
  const members: [string, unknown][] = [];
  for (const [name, field] of described) {
    const key = field.key ?? name;
    // The path is put together only where something is wrong: a status may have thousands of entries.
    const value = field.read(record[key], (expected, odd, path = "") => wrong(expected, odd, `.${key}${path}`));
    if (value !== undefined) members.push([name, value]);
    else if (!("isOptional" in field)) return undefined;
  }
  return Object.fromEntries(members);
}

function membersOf<T>(fields: FieldsOf<T>): readonly (readonly [string, Field<unknown>])[] {
  return Object.entries(fields as Readonly<Record<string, Field<unknown>>>);
}
