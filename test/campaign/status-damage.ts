import type { IPFamily } from "../../src/model/address-source.ts";
import { ipv6 } from "../scenario/scenario-names.ts";
import type { SchemaField } from "./schema-fields.ts";
import { ABSENT } from "./spec-value.ts";

/** What may become of a stored value behind flipop's back. */
export type Damage = "lost" | "stale" | "garbage" | "another value";

/** Every damage. */
export const DAMAGES: readonly Damage[] = ["lost", "stale", "garbage", "another value"];

/** Values of the right type that mean something else, by the path, else by its last word. */
const OTHER_VALUES: Readonly<Record<string, unknown>> = {
  "summary.addresses": "9/9",
  "summary.nodes": "n3 +4",
  address: "203.0.113.2",
  observedGeneration: 99,
  type: "Ready",
  status: "Unknown",
  lastTransitionTime: "2999-01-01T00:00:00Z",
  reason: "Conflict",
  message: "All is well.",
  error: "Nothing works.",
  state: "error",
  nodeName: "n3",
  providerID: "digitalocean://103",
  previousProviderID: "digitalocean://103",
  notMatchingSince: "2999-01-01T00:00:00Z",
  drainingUntil: "2999-01-01T00:00:00Z",
  drainsForSeconds: 86400,
  releasedAt: "2999-01-01T00:00:00Z",
  since: "2999-01-01T00:00:00Z",
  assignableNodes: ["n1"],
  nodeErrors: ["n1: on fire"],
  ip: "203.0.113.2",
  acquiredAt: "2999-01-01T00:00:00Z",
  adopted: true,
  inherited: true,
  acquired: true,
  startedAt: "2999-01-01T00:00:00Z",
  region: "ams3",
  knownIPs: ["203.0.113.1"],
  restored: true,
  candidates: ["203.0.113.1"],
  provider: "cloudflare",
  zone: "example.net",
  name: "other.example.com",
  addresses: ["203.0.113.2"],
  subject: "acquire",
  attempts: 12,
  nextAttemptTime: "2999-01-01T00:00:00Z",
  lastAssignmentTime: "2999-01-01T00:00:00Z",
  assignments: 7,
  ttlSeconds: 300,
  seen: ["203.0.113.2"],
  times: ["2999-01-01T00:00:00Z"],
  count: 9,
};

const GARBAGE: Readonly<Record<string, unknown>> = { string: "?!", integer: -7, number: -7, boolean: false };

/** What becomes of one field of a status. */
export interface FieldDamage {
  readonly field: SchemaField;
  readonly damage: Damage;
  /** Of the addresses that the field is about. */
  readonly family: IPFamily;
}

/** The status with one field of every entry damaged; an equal one where that changes nothing. `before` is an earlier status. @throws Error for a field for which no other value is known, saying where to write it */
export function damaged(status: unknown, { field, damage, family }: FieldDamage, before: unknown): unknown {
  const { path } = field;
  if (isPlain(field) && !(path in OTHER_VALUES || lastOf(path) in OTHER_VALUES))
    throw new Error(`status.${path} has no other value: add one to test/campaign/status-damage.ts`);
  return replaced(status, path.split("."), (old) => ofFamily(family, valueAfter(field, damage, old)), before);
}

function valueAfter(field: SchemaField, damage: Damage, old: unknown): unknown {
  const { path, schema } = field;
  switch (damage) {
    case "lost":
      return ABSENT;
    case "stale":
      return old === undefined ? ABSENT : old;
    case "garbage":
      return schema.items === undefined ? (GARBAGE[schema.type ?? ""] ?? {}) : [];
    case "another value":
      return isPlain(field) ? (OTHER_VALUES[path] ?? OTHER_VALUES[lastOf(path)]) : ABSENT;
  }
}

/** Other values are written for IPv4; of IPv6 they are the addresses and names that stand for the same. */
function ofFamily(family: IPFamily, value: unknown): unknown {
  if (family === "IPv4") return value;
  if (Array.isArray(value)) return value.map((entry) => ofFamily(family, entry));
  if (value === "other.example.com") return "other.example.com AAAA";
  const [, number] = /^203\.0\.113\.(\d+)$/.exec(String(value)) ?? [];
  return number === undefined ? value : ipv6(Number(number));
}

/** True for a value without fields of its own. */
function isPlain({ schema: { items, additionalProperties, properties } }: SchemaField): boolean {
  return items?.type === "string" || (items ?? additionalProperties ?? properties) === undefined;
}

function lastOf(path: string): string {
  return path.split(".").at(-1) ?? path;
}

/** A value with the member at a path put in the place of the old one, in every entry of the lists and maps on the way. */
function replaced(
  holder: unknown,
  [step = "", ...rest]: readonly string[],
  value: (old: unknown) => unknown,
  before: unknown,
): unknown {
  const own = asMap(holder);
  const name = step.replace(/(\[\]|\{\})$/, "");
  const [old, was] = [own[name], asMap(before)[name]];
  const next =
    rest.length === 0 ? value(was) : eachEntry(old, step, was, (entry, past) => replaced(entry, rest, value, past));
  if (next === undefined) return holder;
  const { [name]: _, ...others } = own;
  return next === ABSENT ? others : { ...others, [name]: next };
}

function eachEntry(
  holder: unknown,
  step: string,
  before: unknown,
  change: (entry: unknown, past: unknown) => unknown,
): unknown {
  if (holder === undefined) return undefined;
  if (step.endsWith("[]"))
    return Array.isArray(holder)
      ? holder.map((entry, index) => change(entry, Reflect.get(Object(before), index)))
      : holder;
  if (step.endsWith("{}"))
    return Object.fromEntries(
      Object.entries(asMap(holder)).map(([key, entry]) => [key, change(entry, asMap(before)[key])]),
    );
  return change(holder, before);
}

function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
