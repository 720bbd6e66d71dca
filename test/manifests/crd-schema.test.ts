import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { decodePool } from "../../src/adapters/kube/decode-pool.ts";
import { MAXIMAL_SPEC, MAXIMAL_STATUS } from "./maximal-pool.ts";
import { documents, type SchemaNode, shippedFiles, shippedSchema, shippedText, unknownPaths } from "./shipped.ts";

const POOLS = "crds/floatingippools.yaml";
const RECORD_SETS = "crds/nodednsrecordsets.yaml";
const GO = readFileSync(new URL("fixtures/go-operator.yaml", import.meta.url), "utf8");

/** Each schema node below spec and status with its path. */
function* nodes(schema: SchemaNode, path: string): Generator<readonly [string, SchemaNode]> {
  yield [path, schema];
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* nodes(inner, `${path}.${name}`);
  if (schema.additionalProperties !== undefined) yield* nodes(schema.additionalProperties, `${path}{}`);
  if (schema.items !== undefined) yield* nodes(schema.items, `${path}[]`);
}

/** The fields of a schema that a value does not have; of lists and maps, the first entry counts. */
function* fieldsWithout(value: unknown, schema: SchemaNode, path: string): Generator<string> {
  const [first] = typeof value === "object" && value !== null ? Object.values(value) : [];
  if (schema.items !== undefined) yield* fieldsWithout(first, schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) yield* fieldsWithout(first, schema.additionalProperties, `${path}{}`);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field === undefined) yield `${path}.${name}`;
    else yield* fieldsWithout(field, inner, `${path}.${name}`);
  }
}

/** Validates as the API server does: OpenAPI's `nullable` is JSON Schema's "or null", formats are not checked. */
function validator(file: string): (value: unknown) => readonly string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(shippedSchema(file));
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

describe.for([POOLS, RECORD_SETS])("%s", (file) => {
  test("has one served and stored version with a status subresource, its own short name and the category flipop", () => {
    const [crd] = documents(shippedText(file));
    expect(crd).toMatchObject({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { labels: { "app.kubernetes.io/name": "flipop", "app.kubernetes.io/part-of": "flipop" } },
      spec: {
        group: "flipop.digitalocean.com",
        scope: "Namespaced",
        names: { categories: ["flipop"], shortNames: [file === POOLS ? "fip" : "nodedns"] },
        versions: [{ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  test("explains every field in whole sentences", () => {
    const { spec, status } = shippedSchema(file).properties ?? {};
    const silent = [...nodes(spec ?? {}, "spec"), ...nodes(status ?? {}, "status")]
      .filter(([path]) => !path.endsWith("[]") && !path.endsWith("{}"))
      .filter(([, node]) => !/^[A-Zf].+\.$/s.test(node.description ?? ""));
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test("writes nothing into objects by itself and checks no format that a status of an older run could fail", () => {
    const found = [...nodes(shippedSchema(file), "")].filter(
      ([, node]) => node.default !== undefined || (node.format !== undefined && node.format !== "int64"),
    );
    expect(found.map(([path]) => path)).toEqual([]);
  });

  test("requires nothing of a spec that the Go operator did not", () => {
    const required = [...nodes(shippedSchema(file).properties?.["spec"] ?? {}, "spec")].flatMap(([path, node]) =>
      (node.required ?? []).map((name) => `${path}.${name}`),
    );
    expect(required).toEqual(file === POOLS ? ["spec.provider"] : []);
  });
});

describe("floatingippools", () => {
  test("keeps every status field of the model", () => {
    expect(unknownPaths(shippedSchema(POOLS), { status: MAXIMAL_STATUS })).toEqual([]);
    expect(validator(POOLS)({ spec: MAXIMAL_SPEC, status: MAXIMAL_STATUS })).toEqual([]);
  });

  test("has no status field that the model does not know", () => {
    const status = shippedSchema(POOLS).properties?.["status"] ?? {};
    expect([...fieldsWithout(MAXIMAL_STATUS, status, "status")]).toEqual([]);
    expect([...fieldsWithout({ ...MAXIMAL_STATUS, retries: [{ subject: "x" }] }, status, "status")]).toEqual([
      "status.retries[].attempts",
      "status.retries[].nextAttemptTime",
      "status.retries[].error",
    ]);
  });

  test("keeps every spec field of the model", () => {
    expect(unknownPaths(shippedSchema(POOLS), { spec: MAXIMAL_SPEC })).toEqual([]);
  });

  test("notices a field that would be pruned", () => {
    expect(unknownPaths(shippedSchema(POOLS), { status: { retries: [{ planted: 1 }] } })).toEqual([
      ".status.retries[0].planted",
    ]);
  });
});

describe("manifests", () => {
  test("of the Go operator's kind are valid and lose no field", () => {
    for (const document of documents(GO)) {
      const file = document["kind"] === "FloatingIPPool" ? POOLS : RECORD_SETS;
      expect({ document, errors: validator(file)(document) }).toEqual({ document, errors: [] });
      expect(unknownPaths(shippedSchema(file), { spec: document["spec"] })).toEqual([]);
    }
  });

  test.for(shippedFiles("examples"))("%s is valid, loses no field and is understood", (file) => {
    for (const document of documents(shippedText(file))) {
      expect(validator(POOLS)(document)).toEqual([]);
      expect(unknownPaths(shippedSchema(POOLS), { spec: document["spec"] })).toEqual([]);
      expect(decodePool(document)).toMatchObject({ meta: { name: expect.any(String) } });
      expect(decodePool(document)).not.toHaveProperty("decodeError");
    }
  });

  test.for([
    [{ reclaimPolicy: "Remove" }, "/spec/reclaimPolicy"],
    [{ foreignHolder: "Steal" }, "/spec/foreignHolder"],
    [{ gracePeriodSeconds: -1 }, "/spec/gracePeriodSeconds"],
    [{ suspend: "yes" }, "/spec/suspend"],
    [{ desiredIPs: -1 }, "/spec/desiredIPs"],
  ] as const)("a pool with %o is refused with the field named", ([change, path]) => {
    const errors = validator(POOLS)({ spec: { provider: "digitalocean", ...change } });
    expect(errors.join()).toContain(path);
  });
});
