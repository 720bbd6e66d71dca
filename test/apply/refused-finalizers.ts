import type { ResourceStores } from "../../src/apply/resource-store.ts";
import type { ObjectEvent } from "../../src/report/events.ts";

/** The Event of a refused change of the finalizer of the record set of this name. */
export function refusal(name: string): ObjectEvent {
  const object = { kind: "dns", namespace: "shop", name } as const;
  return { object, type: "Warning", reason: "Failed", action: "AddFinalizer", note: "no" };
}

/** A cluster that has every record set. */
export const stores = {
  dns: { kind: "NodeDNSRecordSet", get: (object: { name: string }) => ({ meta: { name: object.name } }) },
} as unknown as ResourceStores;
