import { expect, test } from "vitest";
import { parse } from "yaml";
import { CLAIM_ROWS, type ClaimRow, type Granted } from "./policy-rows.ts";
import { type SchemaNode, shippedFiles, shippedText } from "./shipped.ts";

/** By kind the fields of a spec that name something of the account, and what grants it: the rows of {@link CLAIM_ROWS} are made of them. */
const NAMING: Readonly<Record<ClaimRow["kind"], Readonly<Record<string, keyof Granted>>>> = {
  FloatingIPPool: {
    ips: "addresses",
    desiredIPs: "purchases",
    foreignHolder: "take-over",
    "dnsRecordSet.provider": "names",
    "dnsRecordSet.zone": "names",
    "dnsRecordSet.recordName": "names",
  },
  NodeDNSRecordSet: {
    provider: "names",
    "dnsRecordSet.provider": "names",
    "dnsRecordSet.zone": "names",
    "dnsRecordSet.recordName": "names",
  },
  RoutedIP: {
    address: "addresses",
    foreignHolder: "take-over",
    "dnsRecordSet.provider": "names",
    "dnsRecordSet.zone": "names",
    "dnsRecordSet.recordName": "names",
  },
  RoutedIPIssuer: { routedIPFirewallName: "firewalls" },
};

/** Fields that name nothing of the account, of whichever kind, and why not. */
const NAMES_NOTHING: readonly (readonly [field: RegExp, why: string])[] = [
  [/^(match|tolerations|nodeLabel)\b/, "chooses among nodes and pods of the cluster"],
  [/^(provider|ipFamily|region)$/, "says where something is bought or looked for; what is bought or named has a grant"],
  [/^(issuer|serviceName)$/, "names an object of the same namespace"],
  [/^ports\b/, "is opened only on a firewall that is granted"],
  [/^dnsRecordSet\.(ttl|foreignRecords)$/, "says how a name that is granted is written"],
  [/^(addressType|ipFamilies|whenEmpty)$/, "says what is published under a name that is granted"],
  [/^(reclaimPolicy|routedIPReclaimPolicy)$/, "concerns only what flipop acquired and wrote"],
  [
    /^(assignmentCoolOffSeconds|gracePeriodSeconds|suspend|approval|maxUnavailable|drainSeconds)$/,
    "says when, not what",
  ],
  [/^maxPerNode$/, "says how many of them a node may have"],
  [/^hostAddress$/, "says who puts them on the systems of their nodes"],
];

/** Every field of a schema that holds no other fields: `dnsRecordSet.zone`. */
function leaves({ properties, items }: SchemaNode, path: readonly string[] = []): readonly string[] {
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, node]) => leaves(node, [...path, name]));
  return items === undefined ? [path.join(".")] : leaves(items, path);
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: ClaimRow["kind"] };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: SchemaNode } }];
  };
}

const DEFINITIONS = shippedFiles("crds").map((file) => parse(shippedText(file)) as Definition);

const FIELDS = DEFINITIONS.flatMap(({ spec: { names, versions } }) => {
  const schema = versions[0].schema.openAPIV3Schema.properties?.["spec"];
  if (schema === undefined) throw new Error(`${names.kind} has no spec`);
  return leaves(schema).map((field) => ({ kind: names.kind, field }));
});

/** The value of `dnsRecordSet.zone` in a spec. */
function fieldOf(spec: unknown, field: string): unknown {
  return field
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], spec);
}

test("every field of every kind is judged by a grant, or names nothing of the account", () => {
  const isKnown = ({ kind, field }: (typeof FIELDS)[number]): boolean =>
    Object.hasOwn(NAMING[kind], field) || NAMES_NOTHING.some(([pattern]) => pattern.test(field));
  // A field that is named here is new. If it names something of the account it needs a grant, a rule of the policy, and rows of CLAIM_ROWS.
  expect(FIELDS.filter((field) => !isKnown(field))).toEqual([]);
  expect(FIELDS.length).toBeGreaterThan(50);
});

test.for(
  Object.entries(NAMING).flatMap(([kind, fields]) =>
    Object.entries(fields).map(([field, grant]) => [kind, field, grant] as const),
  ),
)("the field of a %s %s is in the schema, and in rows with and without the grant of %s", ([kind, field, grant]) => {
  expect(FIELDS).toContainEqual({ kind, field });
  const rows = CLAIM_ROWS.filter((row) => row.kind === kind && fieldOf(row.spec, field) !== undefined);
  expect(rows.some(({ granted }) => (granted[grant] ?? "") === "")).toBe(true);
  expect(rows.some(({ granted }) => (granted[grant] ?? "") !== "")).toBe(true);
});
