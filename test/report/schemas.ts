import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** Names of the schema files, by the kind of document. */
export const SCHEMA_FILES = {
  Plan: "plan.json",
  Explanation: "explanation.json",
  Simulation: "simulation.json",
  RunResult: "run-result.json",
  Status: "status.json",
  Error: "error.json",
  Version: "version.json",
  Findings: "findings.json",
  Snapshot: "snapshot.json",
  Checks: "checks.json",
  History: "history.json",
  SavedPlan: "saved-plan.json",
  Sandbox: "sandbox.json",
  Notice: "notice.json",
} as const;

/** A part of a schema, as far as tests look into it. */
interface SchemaPart {
  readonly enum: string[];
  readonly properties?: Record<string, SchemaPart>;
}

/** A schema file as shipped. */
export function readSchema(file: string): { readonly $id: string; readonly $defs: Record<string, SchemaPart> } {
  return JSON.parse(readFileSync(new URL(`../../src/report/schema/${file}`, import.meta.url), "utf8"));
}

/** Returns what is wrong with a document by the schema of its kind, fields that the schema does not know included; empty = nothing. */
export function schemaErrors(document: unknown, kind: keyof typeof SCHEMA_FILES): readonly string[] {
  schemas ??= closedSchemas();
  const validate = schemas.getSchema(readSchema(SCHEMA_FILES[kind]).$id);
  if (validate === undefined) throw new Error(`no schema for ${kind}`);
  validate(document);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Made once: to compile them takes longer than a run of flipop. */
let schemas: Ajv2020 | undefined;

function closedSchemas(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false });
  addFormats.default(ajv);
  for (const file of Object.values(SCHEMA_FILES)) ajv.addSchema(closed(readSchema(file)) as object);
  return ajv;
}

/** The schema with every object closed to unknown fields, so that an undocumented field fails a test. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return "properties" in copy && !("additionalProperties" in copy) ? { ...copy, additionalProperties: false } : copy;
}
