import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import {
  decodePool,
  decodeRecordSet,
  decodeRoutedIP,
  decodeRoutedIPIssuer,
} from "../../src/adapters/kube/custom-resources.ts";
import { MAXIMAL_SPEC, MAXIMAL_STATUS } from "./maximal-pool.ts";
import { MAXIMAL_RECORD_SET_SPEC, MAXIMAL_RECORD_SET_STATUS } from "./maximal-record-set.ts";
import { MAXIMAL_ISSUER_SPEC, MAXIMAL_ROUTED_IP_SPEC, MAXIMAL_ROUTED_IP_STATUS } from "./maximal-routed-ip.ts";
import { documents, type SchemaNode, shippedFiles, shippedSchema, shippedText, unknownPaths } from "./shipped.ts";

const POOLS = "crds/floatingippools.yaml";
const RECORD_SETS = "crds/nodednsrecordsets.yaml";
const ROUTED_IPS = "crds/routedips.yaml";
const ISSUERS = "crds/routedipissuers.yaml";

/** What each definition is, and what it requires of a spec. */
const DEFINITIONS = [
  { file: POOLS, kind: "FloatingIPPool", short: "fip", hasStatus: true, required: ["spec.provider"] },
  { file: RECORD_SETS, kind: "NodeDNSRecordSet", short: "nodedns", hasStatus: true, required: [] },
  {
    file: ROUTED_IPS,
    kind: "RoutedIP",
    short: "rip",
    hasStatus: true,
    required: [
      "spec.issuer",
      "spec.serviceName",
      "spec.ports[].protocol",
      "spec.dnsRecordSet.zone",
      "spec.dnsRecordSet.recordName",
    ],
  },
  { file: ISSUERS, kind: "RoutedIPIssuer", short: "ripissuer", hasStatus: false, required: ["spec.provider"] },
];
const DECODERS: Readonly<Record<string, (object: unknown) => unknown>> = {
  [POOLS]: decodePool,
  [RECORD_SETS]: decodeRecordSet,
  [ROUTED_IPS]: decodeRoutedIP,
  [ISSUERS]: decodeRoutedIPIssuer,
};
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
  const definition = DEFINITIONS.find(({ kind }) => kind === manifest["kind"]);
  if (definition === undefined) throw new Error(`no CRD of ${manifest["kind"]} is shipped`);
  return definition.file;
}

/** Validates as the API server does: OpenAPI's `nullable` is JSON Schema's "or null", formats are not checked. */
function validator(file: string): (value: unknown) => readonly string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(shippedSchema(file));
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

test("every shipped CRD is looked at", () => {
  expect(DEFINITIONS.map(({ file }) => file).toSorted()).toEqual(shippedFiles("crds"));
});

describe.for(DEFINITIONS)("$file", ({ file, kind, short, hasStatus, required: wanted }) => {
  test("has one served and stored version, a status subresource where flipop writes one, its own short name and the category flipop", () => {
    const [crd] = documents(shippedText(file));
    expect(crd).toMatchObject({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { labels: { "app.kubernetes.io/name": "flipop", "app.kubernetes.io/part-of": "flipop" } },
      spec: {
        group: "flipop.digitalocean.com",
        scope: "Namespaced",
        names: { categories: ["flipop"], kind, shortNames: [short] },
        versions: [{ name: "v1alpha1", served: true, storage: true }],
      },
    });
    expect(JSON.stringify(crd).includes(`"subresources":{"status":{}}`)).toBe(hasStatus);
  });

  test("explains every field in whole sentences", () => {
    const { spec, status } = shippedSchema(file).properties ?? {};
    const silent = [...nodes(spec ?? {}, "spec"), ...(status === undefined ? [] : nodes(status, "status"))]
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

  test("requires of a spec of the Go operator's kinds what that did, and of others what they cannot do without", () => {
    const required = [...nodes(shippedSchema(file).properties?.["spec"] ?? {}, "spec")].flatMap(([path, node]) =>
      (node.required ?? []).map((name) => `${path}.${name}`),
    );
    expect(required).toEqual(wanted);
  });
});

const KINDS = [
  { file: POOLS, spec: MAXIMAL_SPEC, status: MAXIMAL_STATUS },
  { file: RECORD_SETS, spec: MAXIMAL_RECORD_SET_SPEC, status: MAXIMAL_RECORD_SET_STATUS },
  { file: ROUTED_IPS, spec: MAXIMAL_ROUTED_IP_SPEC, status: MAXIMAL_ROUTED_IP_STATUS },
];

test("an issuer's definition keeps every field of the model and has no other", () => {
  const schema = shippedSchema(ISSUERS);
  expect(unknownPaths(schema, { spec: MAXIMAL_ISSUER_SPEC })).toEqual([]);
  expect(validator(ISSUERS)({ spec: MAXIMAL_ISSUER_SPEC })).toEqual([]);
  expect([...fieldsWithout(MAXIMAL_ISSUER_SPEC, schema.properties?.["spec"] ?? {}, "spec")]).toEqual([]);
});

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
      "status.retries[].reason",
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
      const decoded = DECODERS[crd]?.(document);
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

  test.for([
    [{ issuer: "" }, "/spec/issuer"],
    [{ serviceName: "" }, "/spec/serviceName"],
    [{ ports: [{ protocol: "sctp", port: 80 }] }, "/spec/ports/0/protocol"],
    [{ ports: [{ protocol: "tcp", port: 0 }] }, "/spec/ports/0/port"],
    [{ ports: [{ protocol: "tcp", port: 65_536 }] }, "/spec/ports/0/port"],
    [{ ports: [{ protocol: "tcp", port: "80:90" }] }, "/spec/ports/0/port"],
    [{ dnsRecordSet: { zone: "example.com" } }, "/spec/dnsRecordSet"],
    [{ foreignHolder: "Steal" }, "/spec/foreignHolder"],
  ] as const)("a routed IP with %o is refused with the field named", ([change, path]) => {
    expect(validator(ROUTED_IPS)({ spec: { issuer: "a", serviceName: "b" } })).toEqual([]);
    expect(validator(ROUTED_IPS)({ spec: { issuer: "a", serviceName: "b", ...change } }).join()).toContain(path);
  });

  test.for([
    [{ provider: "" }, "/spec/provider"],
    [{ routedIPReclaimPolicy: "Remove" }, "/spec/routedIPReclaimPolicy"],
    [{ tolerations: [{ tolerationSeconds: "60" }] }, "/spec/tolerations/0/tolerationSeconds"],
  ] as const)("an issuer with %o is refused with the field named", ([change, path]) => {
    expect(validator(ISSUERS)({ spec: { provider: "digitalocean", ...change } }).join()).toContain(path);
  });
});
