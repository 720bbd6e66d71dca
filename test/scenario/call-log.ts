import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import type { MemoryCall } from "../fake/memory-cloud-calls.ts";
import { nodeOf, short } from "./scenario-names.ts";

/** One request that left the process, as a scenario speaks of it: `assign ip1 to n1`. */
export interface LoggedCall {
  readonly side: "cloud" | "dns" | "cluster";
  readonly isWrite: boolean;
  readonly line: string;
}

/** A call of the provider in memory. */
export function loggedMemoryCall({ operation, subject, detail }: MemoryCall): LoggedCall {
  const [, machine] = /(?:droplet|server) (\d+)/.exec(detail) ?? [];
  const [, region] = /(?:region|location) "([^"]*)"/.exec(detail) ?? [];
  return cloudCall(operation, subject, machine ?? region);
}

interface RequestBody {
  readonly type?: string;
  readonly droplet_id?: number;
  readonly region?: string;
  /** Of an IPv6 address. */
  readonly region_slug?: string;
}

/** A request to the emulated DigitalOcean. */
export function loggedCloudRequest({ method, path, body }: RecordedCall): LoggedCall {
  const { type = "", droplet_id, region_slug, region = region_slug } = (body ?? {}) as RequestBody;
  const [, , collection, written = "", detail] = path.split("/");
  const subject = decodeURIComponent(written);
  const isWrite = method === "POST";
  const place = droplet_id === undefined ? region : String(droplet_id);
  if (collection === "account") return cloudCall("limit", "", undefined);
  if (collection === "droplets") return cloudCall("machine", subject, undefined);
  if (subject === "") return cloudCall(isWrite ? "create" : "list", "", place);
  if (detail === "actions") return cloudCall(isWrite ? type : "action", subject, place);
  return cloudCall(method === "DELETE" ? "delete" : "get", subject, undefined);
}

/** A request to the emulated Hetzner Cloud about floating IPs. `ipOf` = the address of an id. */
export function loggedFloatingIPRequest(
  { method, path, body }: RecordedCall,
  ipOf: (id: number) => string | undefined,
): LoggedCall {
  const { server, home_location: region } = (body ?? {}) as { server?: number; home_location?: string };
  const [, , collection, id = "", , command] = path.split("/");
  const place = server === undefined ? region : String(server);
  const subject = ipOf(Number(id)) ?? "";
  if (collection === "actions") return cloudCall("action", id, undefined);
  if (collection === "servers") return cloudCall("machine", id, undefined);
  if (id === "") return cloudCall(method === "POST" ? "create" : "list", "", place);
  if (command !== undefined) return cloudCall(command, subject, place);
  return cloudCall(method === "DELETE" ? "delete" : "get", subject, undefined);
}

const CLOUD_WRITES: ReadonlySet<string> = new Set(["assign", "unassign", "create", "delete"]);

function cloudCall(operation: string, subject: string, place: string | undefined): LoggedCall {
  const isWrite = CLOUD_WRITES.has(operation);
  const where = place === undefined ? "" : /^\d+$/.test(place) ? nodeOf(place) : place;
  const line =
    operation === "create"
      ? `create ${/^\d+$/.test(place ?? "") ? "for" : "in"} ${where}`
      : operation === "machine"
        ? `machine ${nodeOf(subject)}`
        : [operation, short(subject), ...(operation === "assign" ? ["to", where] : [])]
            .filter((word) => word !== "")
            .join(" ");
  return { side: "cloud", isWrite, line };
}

const NAMESPACE_LIST: LoggedCall = { side: "cluster", isWrite: false, line: "list namespaces" };

/** A request to the Kubernetes API; undefined for Leases, which every run writes, and for reads but the list of namespaces. */
export function loggedClusterRequest(
  { method, path, query, body }: RecordedCall,
  prefix: string,
): LoggedCall | undefined {
  const parts = path.split("/");
  // A list of many namespaces comes in pages; the first one counts.
  if (method === "GET" && path === "/api/v1/namespaces" && !/watch=|continue=/.test(query)) return NAMESPACE_LIST;
  if (method === "GET" || parts.includes("leases")) return undefined;
  const isStatus = parts.at(-1) === "status";
  const name = (isStatus ? parts.at(-2) : parts.at(-1))?.replace(prefix, "") ?? "";
  if (path.startsWith("/api/v1/nodes/")) return clusterWrite(`annotate ${name}`);
  if (path.endsWith("/events")) return clusterWrite("event");
  const { metadata } = (body ?? {}) as { readonly metadata?: { readonly annotations?: unknown } };
  return clusterWrite(`${isStatus ? "status" : metadata?.annotations === undefined ? "finalizer" : "note"} ${name}`);
}

/** A call of the cluster in memory, by the port's operation or the part of the object that it writes; undefined for Leases, and for reads but the list of namespaces. */
export function loggedMemoryWrite(operation: string | undefined, subject: string): LoggedCall | undefined {
  const name = subject.split("/").at(-1) ?? "";
  switch (operation) {
    case "patchPoolStatus":
    case "patchRecordSetStatus":
    case "patchRoutedIPStatus":
      return clusterWrite(`status ${name}`);
    case "setPoolFinalizer":
    case "setRecordSetFinalizer":
    case "setRoutedIPFinalizer":
      return clusterWrite(`finalizer ${name}`);
    case "note":
      return clusterWrite(`note ${name}`);
    case "annotateNode":
      return clusterWrite(`annotate ${name}`);
    case "listNamespaceGrants":
      return NAMESPACE_LIST;
    case "createEvent":
      return clusterWrite("event");
    default:
      return undefined;
  }
}

function clusterWrite(line: string): LoggedCall {
  return { side: "cluster", isWrite: true, line };
}
