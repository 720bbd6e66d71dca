/** One request; `NS` in paths and bodies stands for the test's namespace, `ID` for a name no other test uses. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Default: JSON, a merge patch for PATCH. */
  readonly contentType?: string;
  /** Default: JSON. */
  readonly accept?: string;
}

/** Some requests, and what the last one is answered: status, reason and message, or the fields that `show` names. */
export interface APICase {
  readonly title: string;
  readonly steps: readonly Step[];
  /** Dotted paths into the last answer. */
  readonly show?: readonly string[];
  readonly expected: string;
}

/** Paths of the collections the cases use. */
export const WIDGETS: string = "/apis/sandbox.test/v1/namespaces/NS/widgets";
/** See {@link WIDGETS}. */
export const LEASES: string = "/apis/coordination.k8s.io/v1/namespaces/NS/leases";
/** See {@link WIDGETS}. */
export const EVENTS: string = "/apis/events.k8s.io/v1/namespaces/NS/events";
/** See {@link WIDGETS}. */
export const PODS: string = "/api/v1/namespaces/NS/pods";
/** See {@link WIDGETS}. */
export const NODES: string = "/api/v1/nodes";

/** A POST. */
export function post(path: string, body: unknown): Step {
  return { method: "POST", path, body };
}

/** A GET. */
export function get(path: string): Step {
  return { method: "GET", path };
}

/** A PUT. */
export function put(path: string, body: unknown): Step {
  return { method: "PUT", path, body };
}

/** A PATCH, a merge patch unless told otherwise. */
export function patch(path: string, body: unknown, contentType?: string): Step {
  return { method: "PATCH", path, body, ...(contentType === undefined ? {} : { contentType }) };
}

/** A DELETE. */
export function remove(path: string, body?: unknown): Step {
  return { method: "DELETE", path, ...(body === undefined ? {} : { body }) };
}

/** A Lease named `lock`. */
export function aLease(
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): unknown {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "lock", ...metadata }, spec };
}

/** An Event that is valid. */
export function anEvent(fields: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "e1" },
    eventTime: "2026-01-02T03:04:05.000000Z",
    reportingController: "flipop.digitalocean.com/flipop",
    reportingInstance: "test",
    action: "AssignIP",
    reason: "Assigned",
    type: "Normal",
    note: "hello",
    regarding: { apiVersion: "v1", kind: "Pod", namespace: "NS", name: "p" },
    ...fields,
  };
}

/** A Pod that is valid. */
export function aPod(name: string, fields: Readonly<Record<string, unknown>> = {}): unknown {
  const spec = { containers: [{ name: "main", image: "example.test/none" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec, ...fields };
}

/** A Pod on the node `ID`. */
export const boundPod: unknown = aPod("p1", {
  spec: { nodeName: "ID", containers: [{ name: "main", image: "example.test/none" }] },
});
