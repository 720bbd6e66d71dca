import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { decodePool } from "../../src/adapters/kube/decode-pool.ts";
import { decodeRecordSet } from "../../src/adapters/kube/decode-record-set.ts";
import { MAXIMAL_SPEC, MAXIMAL_STATUS } from "./maximal-pool.ts";
import { MAXIMAL_RECORD_SET_SPEC, MAXIMAL_RECORD_SET_STATUS } from "./maximal-record-set.ts";
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

/** The CRD of a manifest. */
function fileOf(manifest: Readonly<Record<string, unknown>>): string {
  return manifest["kind"] === "FloatingIPPool" ? POOLS : RECORD_SETS;
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

const KINDS = [
  { file: POOLS, spec: MAXIMAL_SPEC, status: MAXIMAL_STATUS },
  { file: RECORD_SETS, spec: MAXIMAL_RECORD_SET_SPEC, status: MAXIMAL_RECORD_SET_STATUS },
];

describe.for(KINDS)("$file", ({ file, spec, status }) => {
  test("keeps every field of the model", () => {
    expect(unknownPaths(shippedSchema(file), { spec, status })).toEqual([]);
    expect(validator(file)({ spec, status })).toEqual([]);
  });

  test("has no field that the model does not know", () => {
    const known = shippedSchema(file).properties ?? {};
    expect([...fieldsWithout(status, known["status"] ?? {}, "status")]).toEqual([]);
    expect([...fieldsWithout(spec, known["spec"] ?? {}, "spec")]).toEqual([]);
    const less = { ...status, retries: [{ subject: "x" }] };
    expect([...fieldsWithout(less, known["status"] ?? {}, "status")]).toEqual([
      "status.retries[].attempts",
      "status.retries[].nextAttemptTime",
      "status.retries[].error",
    ]);
  });

  test("notices a field that would be pruned", () => {
    expect(unknownPaths(shippedSchema(file), { status: { retries: [{ planted: 1 }] } })).toEqual([
      ".status.retries[0].planted",
    ]);
  });
});

describe("manifests", () => {
  test("of the Go operator's kind are valid and lose no field", () => {
    for (const document of documents(GO)) {
      const file = fileOf(document);
      expect({ document, errors: validator(file)(document) }).toEqual({ document, errors: [] });
      expect(unknownPaths(shippedSchema(file), { spec: document["spec"] })).toEqual([]);
    }
  });

  test.for(shippedFiles("examples"))("%s is valid, loses no field and is understood", (file) => {
    for (const document of documents(shippedText(file))) {
      const crd = fileOf(document);
      expect(validator(crd)(document)).toEqual([]);
      expect(unknownPaths(shippedSchema(crd), { spec: document["spec"] })).toEqual([]);
      const decoded = crd === POOLS ? decodePool(document) : decodeRecordSet(document);
      expect(decoded).toMatchObject({ meta: { name: expect.any(String) } });
      expect(decoded).not.toHaveProperty("decodeError");
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

  test.for([
    [{ whenEmpty: "Drop" }, "/spec/whenEmpty"],
    [{ reclaimPolicy: "Remove" }, "/spec/reclaimPolicy"],
    [{ gracePeriodSeconds: -1 }, "/spec/gracePeriodSeconds"],
    [{ suspend: "yes" }, "/spec/suspend"],
    [{ dnsRecordSet: { ttl: "60" } }, "/spec/dnsRecordSet/ttl"],
  ] as const)("a record set with %o is refused with the field named", ([change, path]) => {
    expect(validator(RECORD_SETS)({ spec: change }).join()).toContain(path);
  });
});
