import type { Fault, FaultList, SandboxServerName } from "../../src/sandbox/faults.ts";
import type { DNSName } from "../fake/dns-account.ts";

/** The operations of the IP provider's port. */
export type CloudOperation =
  | "list"
  | "get"
  | "assign"
  | "unassign"
  | "create"
  | "delete"
  | "machine"
  | "limit"
  | "action"
  /** Of firewalls; the subject is the id of one, for `tagged-machines` a tag. */
  | "firewalls"
  | "firewall"
  | "tagged-machines"
  | "open-ports"
  | "close-ports"
  | "add-machines"
  | "remove-machines";

/** The calls that the port of a DNS provider makes: `write` at Cloudflare alone, single records at DigitalOcean alone. */
export type DNSOperation = "zone" | "records" | "texts" | "add-record" | "set-ttl" | "remove-record" | "write";

/** The operations of the cluster's port; `lease` is every write of a Lease. */
export type ClusterOperation =
  | "listPools"
  | "listRecordSets"
  | "listRoutedIPs"
  | "listRoutedIPIssuers"
  | "listNamespaceGrants"
  | "listServices"
  | "listEndpointSlices"
  | "listNodes"
  | "listPods"
  | "readPool"
  | "patchPoolStatus"
  /** Every write of a pool's metadata: its finalizer, and its annotation. */
  | "setPoolFinalizer"
  | "readRecordSet"
  | "patchRecordSetStatus"
  | "setRecordSetFinalizer"
  | "readRoutedIP"
  | "patchRoutedIPStatus"
  /** Every write of a RoutedIP's metadata. */
  | "setRoutedIPFinalizer"
  | "annotateNode"
  | "createEvent"
  | "lease";

/** How an operation fails: refused before any effect, or (`lost-answer`) carried out with the answer lost. `no-success` is Cloudflare's status 200 that is none. */
export type FaultKind =
  | "500"
  | "429"
  | "431"
  | "422"
  | "414"
  | "400"
  | "404"
  | "403"
  | "401"
  | "409"
  | "timeout"
  | "lost-answer"
  | "cut"
  | "html"
  | "no-success";

/** One misbehaviour, in terms of the port's operations: its next `times` calls (0 = all) after the first `skip` fail. */
export type OperationFault = {
  readonly kind: FaultKind;
  /** Address, machine, object or node; at a DNS provider the zone of a `zone`; of pods and EndpointSlices their namespace; absent = any. */
  readonly subject?: string;
  readonly times?: number;
  readonly skip?: number;
  /** Seconds a 429 asks for; absent = the answer does not say. */
  readonly retryAfter?: number;
  /** What a 422 or 403 says. */
  readonly message?: string;
  /** True = the request has its effect although this is answered. */
  readonly isDone?: boolean;
} & (
  | { readonly side: "cloud"; readonly operation: CloudOperation }
  | { readonly side: "dns"; readonly provider: DNSName; readonly operation: DNSOperation }
  | { readonly side: "cluster"; readonly operation: ClusterOperation }
);

const ANY_IP = "[\\d.]+";

/** Method and path of a cloud operation. Assign and unassign are one route: only the order of calls tells them apart. */
function cloudRoute(operation: CloudOperation, subject: string | undefined): Route {
  const address = (subject ?? ANY_IP).replaceAll(".", "\\.").replace("[\\d\\.]+", ANY_IP);
  const routes: Readonly<Record<CloudOperation, readonly [string, string]>> = {
    list: ["GET", "^/v2/reserved_ips$"],
    get: ["GET", `^/v2/reserved_ips/${address}$`],
    assign: ["POST", `^/v2/reserved_ips/${address}/actions$`],
    unassign: ["POST", `^/v2/reserved_ips/${address}/actions$`],
    create: ["POST", "^/v2/reserved_ips$"],
    delete: ["DELETE", `^/v2/reserved_ips/${address}$`],
    machine: ["GET", `^/v2/droplets/${subject ?? "\\d+"}$`],
    limit: ["GET", "^/v2/account$"],
    action: ["GET", `^/v2/reserved_ips/${address}/actions/`],
    firewalls: ["GET", "^/v2/firewalls$"],
    firewall: ["GET", `^/v2/firewalls/${subject ?? "[^/]+"}$`],
    "tagged-machines": ["GET", "^/v2/droplets$"],
    "open-ports": ["POST", `^/v2/firewalls/${subject ?? "[^/]+"}/rules$`],
    "close-ports": ["DELETE", `^/v2/firewalls/${subject ?? "[^/]+"}/rules$`],
    "add-machines": ["POST", `^/v2/firewalls/${subject ?? "[^/]+"}/droplets$`],
    "remove-machines": ["DELETE", `^/v2/firewalls/${subject ?? "[^/]+"}/droplets$`],
  };
  const [method, path] = routes[operation];
  return { method, path };
}

/** Method and path of a call to a DNS provider. */
function dnsRoute(provider: DNSName, operation: DNSOperation, zone: string | undefined): Route {
  if (provider === "webhook") return webhookRoute(operation);
  if (provider === "hetzner") return hetznerRoute(operation, zone);
  const base = provider === "digitalocean" ? "^/v2/domains" : "^/client/v4/zones";
  const records = provider === "digitalocean" ? `${base}/[^/]+/records` : `${base}/[^/]+/dns_records`;
  switch (operation) {
    case "zone":
      return { method: "GET", path: provider === "digitalocean" ? `${base}/${zone ?? "[^/]+"}$` : `${base}(/[^/]+)?$` };
    case "records":
    case "texts":
      return { method: "GET", path: `${records}$` };
    case "add-record":
      return { method: "POST", path: `${records}$` };
    case "set-ttl":
      return { method: "PATCH", path: `${records}/` };
    case "remove-record":
      return { method: "DELETE", path: `${records}/` };
    case "write":
      return { method: "POST", path: `${records}/batch$` };
  }
}

/** A zone, its sets, and one write of a whole set. */
function hetznerRoute(operation: DNSOperation, zone: string | undefined): Route {
  const zones = "^/v1/zones";
  if (operation === "zone") return { method: "GET", path: `${zones}(/${zone ?? "[^/]+"})?$` };
  if (operation === "records" || operation === "texts") return { method: "GET", path: `${zones}/[^/]+/rrsets$` };
  return { path: `${zones}/[^/]+/rrsets(/[^/]+/A(/actions/.*)?)?$`, method: "POST" };
}

/** Only what the protocol has: one read of everything, and one write. */
function webhookRoute(operation: DNSOperation): Route {
  if (operation === "zone") return { method: "GET", path: "^/$" };
  return { method: operation === "records" || operation === "texts" ? "GET" : "POST", path: "^/records$" };
}

interface Route {
  readonly method?: string;
  readonly path: string;
}

const OWN = "^/apis/flipop\\.digitalocean\\.com/v1alpha1";

function clusterRoute(operation: ClusterOperation, subject: string | undefined): Route {
  const name = subject ?? "[^/]+";
  const inNamespace = subject === undefined ? "" : `/namespaces/${subject}`;
  const get = (path: string): Route => ({ method: "GET", path });
  const patch = (path: string): Route => ({ method: "PATCH", path });
  const routes: Readonly<Record<ClusterOperation, Route>> = {
    listPools: get(`${OWN}/floatingippools$`),
    listRecordSets: get(`${OWN}/nodednsrecordsets$`),
    listRoutedIPs: get(`${OWN}/routedips$`),
    listRoutedIPIssuers: get(`${OWN}/routedipissuers$`),
    listNamespaceGrants: get("^/api/v1/namespaces$"),
    listServices: get("^/api/v1/services$"),
    listEndpointSlices: get(`${inNamespace}/endpointslices$`),
    listNodes: get("^/api/v1/nodes$"),
    listPods: get(`${inNamespace}/pods$`),
    readPool: get(`/floatingippools/${name}$`),
    patchPoolStatus: patch(`/floatingippools/${name}/status$`),
    setPoolFinalizer: patch(`/floatingippools/${name}$`),
    readRecordSet: get(`/nodednsrecordsets/${name}$`),
    patchRecordSetStatus: patch(`/nodednsrecordsets/${name}/status$`),
    setRecordSetFinalizer: patch(`/nodednsrecordsets/${name}$`),
    readRoutedIP: get(`/routedips/${name}$`),
    patchRoutedIPStatus: patch(`/routedips/${name}/status$`),
    setRoutedIPFinalizer: patch(`/routedips/${name}$`),
    annotateNode: patch(`^/api/v1/nodes/${name}$`),
    createEvent: { method: "POST", path: "/events$" },
    lease: { path: "/leases(/[^/]+)?$" },
  };
  return routes[operation];
}

/** Which calls of an operation an adapter sends again by itself after such a failure, and how often. */
function repeats(fault: OperationFault, method: string | undefined): number {
  const isPassing = ["500", "cut", "lost-answer"].includes(fault.kind);
  if (fault.side !== "cluster") return method === "GET" && isPassing ? 1 : 0;
  return method !== "POST" && (isPassing || fault.kind === "429") ? 3 : 0;
}

/** How long a planned hang lasts, milliseconds. */
const HANG_MS = 4500;
/** How long a call may take where one may hang, and where none does: no busy machine ends one then. */
export const LEAST_TIMEOUT_MS = 4000;
const PATIENT_TIMEOUT_MS = 20_000;

/** How long a call may take in a process that starts now, milliseconds. */
export function timeoutAmong(faults: FaultList): number {
  const canHang = faults.remaining().some(({ delayMs }) => delayMs !== undefined);
  return canHang ? LEAST_TIMEOUT_MS : PATIENT_TIMEOUT_MS;
}

/**
 * The fault as the emulated APIs understand it.
 * @param isRepeated - true where a real adapter stands before the API, which repeats what is idempotent: every failure of the
 * operation is then several failures of the call.
 */
export function httpFault(fault: OperationFault, isRepeated: boolean): Fault {
  const route = routeOf(fault);
  const tries = isRepeated ? 1 + repeats(fault, route.method) : 1;
  return {
    server: serverOf(fault),
    ...route,
    times: (fault.times ?? 1) * tries,
    skip: fault.skip ?? 0,
    ...effect(fault),
  };
}

function routeOf(fault: OperationFault): Route {
  switch (fault.side) {
    case "cloud":
      return cloudRoute(fault.operation, fault.subject);
    case "dns":
      return dnsRoute(fault.provider, fault.operation, fault.subject);
    case "cluster":
      return clusterRoute(fault.operation, fault.subject);
  }
}

function serverOf(fault: OperationFault): SandboxServerName {
  if (fault.side === "cluster") return "kubernetes";
  return fault.side === "dns" ? fault.provider : "digitalocean";
}

function effect(fault: OperationFault): Partial<Fault> {
  switch (fault.kind) {
    case "timeout":
      return { delayMs: HANG_MS };
    case "lost-answer":
      return { cut: "after" };
    case "cut":
      return { cut: "before" };
    case "no-success":
      return { status: 200, body: cloudflareBody(fault.message ?? "it did not work") };
    case "html":
      return { status: 200, body: "<html>hello</html>", contentType: "text/html" };
    default: {
      const status = Number(fault.kind);
      const headers = fault.retryAfter === undefined ? {} : { headers: { "retry-after": String(fault.retryAfter) } };
      const done = fault.isDone === true ? { effect: true } : {};
      return { status, ...done, ...headers, body: faultBody(fault) };
    }
  }
}

const WORDS: Readonly<Record<string, readonly [id: string, reason: string, message: string]>> = {
  "400": ["bad_request", "BadRequest", "unable to parse requirement"],
  "414": ["uri_too_long", "", "Request-URI Too Long"],
  "431": ["header_too_large", "", "Request Header Fields Too Large"],
  "500": ["server_error", "InternalError", "an internal error occurred"],
  "429": ["too_many_requests", "TooManyRequests", "too many requests"],
  "422": ["unprocessable_entity", "Invalid", "it was refused"],
  "404": ["not_found", "NotFound", "The resource you requested could not be found."],
  "403": ["Forbidden", "Forbidden", "the account may not do this"],
  "401": ["Unauthorized", "Unauthorized", "Unable to authenticate you"],
  "409": ["conflict", "Conflict", "the object has been modified"],
};

/** What the answer says, in the words of its API. */
export function faultBody(fault: OperationFault): unknown {
  if (fault.side === "cluster") return statusBody(fault);
  const text = fault.message ?? WORDS[fault.kind]?.[2] ?? "";
  return fault.side === "dns" && fault.provider === "cloudflare" ? cloudflareBody(text) : cloudBody(fault);
}

function cloudBody({ kind, message }: OperationFault): unknown {
  const [id, , text] = WORDS[kind] ?? ["", "", ""];
  return { id, message: message ?? text };
}

function cloudflareBody(message: string): unknown {
  return { success: false, errors: [{ code: 1000, message }], messages: [], result: null };
}

function statusBody({ kind, message }: OperationFault): unknown {
  const [, reason, text] = WORDS[kind] ?? ["", "", ""];
  const said = message ?? text;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: said,
    reason,
    code: Number(kind),
  };
}
