import { expect, test } from "vitest";
import { encodeLease } from "../../src/adapters/kube/lease.ts";
import * as annotations from "../../src/model/lease-annotations.ts";
import { NODE_ANNOTATIONS } from "../../src/model/node-annotations.ts";
import { ACQUIRED_ANNOTATION, FINALIZER } from "../../src/model/resource.ts";
import { type SchemaNode, shippedSchema } from "../manifests/shipped.ts";
import { REMEMBERED } from "./remembered-state.ts";
import { schemaFields } from "./schema-fields.ts";

const lease = encodeLease(
  {
    namespace: "n",
    name: "l",
    holder: "h",
    durationSeconds: 1,
    acquireTimeMs: 1,
    renewTimeMs: 1,
    transitions: 0,
    annotations: {},
  },
  undefined,
);

/** Everything the code keeps outside itself, by where. */
const KEPT: readonly (readonly [where: RegExp, path: string])[] = [
  ...statusFields(shippedSchema("crds/floatingippools.yaml"), /^(pool, routed IP )?status$/),
  ...statusFields(shippedSchema("crds/routedips.yaml"), /^((pool, )?routed IP )?status$/),
  ...statusFields(shippedSchema("crds/nodednsrecordsets.yaml"), /^(record set )?status$/),
  ...Object.values(NODE_ANNOTATIONS)
    .flatMap(({ address, pool, host }) => [address, pool, host])
    .map((path) => [/^node$/, path] as const),
  [/^pool, routed IP$/, ACQUIRED_ANNOTATION],
  [/^object$/, FINALIZER],
  ...Object.keys(lease["spec"] as object).map((path) => [/^Lease$/, path] as const),
  ...Object.values(annotations).map((path) => [/^Lease$/, path] as const),
  [/^Event$/, "Events"],
];

function statusFields({ properties }: SchemaNode, where: RegExp): readonly (readonly [where: RegExp, path: string])[] {
  const status = properties?.["status"];
  return status === undefined ? [] : schemaFields(status).map(({ path }) => [where, path] as const);
}

function covers(pattern: string, path: string): boolean {
  return pattern.endsWith(".*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

test("every field of a status, annotation, finalizer and field of the Lease has exactly one row in the table of what flipop remembers", () => {
  const rows = KEPT.map(([where, path]) => ({
    path,
    rows: REMEMBERED.filter((row) => where.test(row.where) && row.paths.some((pattern) => covers(pattern, path)))
      .length,
  }));
  expect(rows.filter((row) => row.rows !== 1)).toEqual([]);
});

test("the table of what flipop remembers has nothing that is not kept", () => {
  const idle = REMEMBERED.flatMap(({ where, paths }) =>
    paths.filter((pattern) => !KEPT.some(([place, path]) => place.test(where) && covers(pattern, path))),
  );
  expect(idle).toEqual([]);
});
