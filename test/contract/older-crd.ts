import { shippedCRDs } from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import type { Manifest } from "./cluster-world.ts";

/** A shipped CustomResourceDefinition, and the same one from before it had this field of the status. @throws Error for unknown names */
export function olderCRD(name: string, field: string): { readonly older: Manifest; readonly shipped: Manifest } {
  const shipped = shippedCRDs().find((crd) => (crd as unknown as Manifest).metadata.name === name);
  if (shipped === undefined) throw new Error(`no CRD ${name} is shipped`);
  const older = structuredClone(shipped) as unknown as Manifest & { readonly spec: Definition };
  const fields = older.spec.versions[0]?.schema.openAPIV3Schema.properties.status.properties ?? {};
  if (!(field in fields)) throw new Error(`the CRD ${name} has no status.${field}`);
  delete fields[field];
  return { older, shipped: shipped as unknown as Manifest };
}

interface Definition {
  readonly versions: readonly {
    readonly schema: {
      readonly openAPIV3Schema: {
        readonly properties: { readonly status: { readonly properties: Record<string, unknown> } };
      };
    };
  }[];
}
