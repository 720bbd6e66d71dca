import { setTimeout as sleep } from "node:timers/promises";
import { GROUP } from "../../src/model/resource.ts";
import type { Rest } from "../scenario/backend.ts";
import { collectionPath, type Kind } from "./kinds.ts";

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: { readonly properties: Record<string, { properties: Record<string, unknown> }> };
      };
    }[];
  };
}

/** How long a real API server may take until it serves a changed definition, milliseconds. */
const MOST_MS = 20_000;

/** Turns the definition of a kind into an older one, which knows nothing of these fields of the status (absent: of none); returns what brings the present one back. */
export async function olderDefinition(
  rest: Rest,
  kind: Kind,
  object: { readonly namespace: string; readonly name: string },
  fields?: readonly string[],
): Promise<() => Promise<void>> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${GROUP}`;
  const { spec: present } = structuredClone((await rest("GET", path)) as Definition);
  const older = structuredClone(present);
  for (const { schema } of older.versions) {
    const status = schema.openAPIV3Schema.properties["status"]?.properties ?? {};
    for (const field of fields ?? Object.keys(status)) delete status[field];
  }
  await rest("PATCH", path, { spec: { versions: older.versions } });
  const probe = fields?.[0] ?? "error";
  await until(async () => !(await knows(rest, kind, object, probe)));
  return async () => {
    await rest("PATCH", path, { spec: { versions: present.versions } });
    await until(async () => await knows(rest, kind, object, "error"));
  };
}

/** True when the API server keeps the field `error` of the status; for another field, when it still shows it. */
async function knows(
  rest: Rest,
  kind: Kind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  field: string,
): Promise<boolean> {
  const path = `${collectionPath(kind, namespace)}/${name}`;
  const body = field === "error" ? { status: { error: `probe ${Math.random()}` } } : {};
  const answer = (await rest("PATCH", `${path}/status`, body)) as { readonly status?: Record<string, unknown> };
  return answer.status?.[field] !== undefined;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + MOST_MS;
  while (!(await isTrue())) {
    if (Date.now() > endMs) throw new Error("the API server goes on with the former definition");
    await sleep(100);
  }
}
