import type { IncomingMessage } from "node:http";
import { KubeError } from "../../model/errors.ts";
import { GROUP, shownText, VERSION } from "../../model/resource.ts";
import type { Secrets } from "../../ports/system.ts";
import type { ProxyServer } from "../http/proxy-choice.ts";

/** One request to the API server, and what it means, for texts and repeats. */
export interface Call {
  readonly method: "GET" | "PATCH" | "PUT" | "POST";
  /** Path and query, escaped. */
  readonly path: string;
  /** As RBAC names it: `list`, `watch`, `get`, `patch`, `update`, `create`. */
  readonly verb: string;
  readonly resource: Resource;
  /** `status` when the call is about that part of the object. */
  readonly subresource?: "status";
  /** `NAMESPACE/NAME`, a node's name, or `""` for a whole list. */
  readonly subject: string;
  /** Sent as JSON: a merge patch for PATCH. */
  readonly body?: unknown;
  /** Encodings of the answer, as in the header of that name; JSON when absent. */
  readonly accept?: string;
}

/** A kind of object in the API: where it is served, and what people call it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** For texts: `pool`. */
  readonly noun: string;
}

type ResourceName =
  | "pools"
  | "recordSets"
  | "routedIPs"
  | "issuers"
  | "namespaces"
  | "nodes"
  | "pods"
  | "services"
  | "endpointSlices"
  | "leases"
  | "events"
  | "cronJobs"
  | "deployments";

/** The resources flipop uses. */
export const RESOURCES: Readonly<Record<ResourceName, Resource>> = {
  pools: { group: GROUP, version: VERSION, plural: "floatingippools", noun: "pool" },
  recordSets: { group: GROUP, version: VERSION, plural: "nodednsrecordsets", noun: "record set" },
  routedIPs: { group: GROUP, version: VERSION, plural: "routedips", noun: "routed IP" },
  issuers: { group: GROUP, version: VERSION, plural: "routedipissuers", noun: "routed IP issuer" },
  namespaces: { group: "", version: "v1", plural: "namespaces", noun: "namespace" },
  nodes: { group: "", version: "v1", plural: "nodes", noun: "node" },
  pods: { group: "", version: "v1", plural: "pods", noun: "pod" },
  services: { group: "", version: "v1", plural: "services", noun: "Service" },
  endpointSlices: { group: "discovery.k8s.io", version: "v1", plural: "endpointslices", noun: "EndpointSlice" },
  leases: { group: "coordination.k8s.io", version: "v1", plural: "leases", noun: "Lease" },
  events: { group: "events.k8s.io", version: "v1", plural: "events", noun: "Event" },
  cronJobs: { group: "batch", version: "v1", plural: "cronjobs", noun: "CronJob" },
  deployments: { group: "apps", version: "v1", plural: "deployments", noun: "Deployment" },
};

/** The query of a list that holds the object of this name alone. */
export function named(name: string): { readonly fieldSelector: string } {
  return { fieldSelector: `metadata.name=${name}` };
}

/**
 * The path of a resource: of all its objects, those of a namespace, one object, or a part of it. Names are escaped.
 * @throws KubeError `invalid` with status 0 for a name that cannot stand in a path. URLs resolve `.` and `..`, escaped or not, so
 *   `namespaces/../pods` would mean the pods of every namespace; an empty name would mean the whole list.
 */
export function resourcePath(
  resource: Resource,
  place: { readonly namespace?: string; readonly name?: string; readonly subresource?: string } = {},
): string {
  const { namespace, name, subresource } = place;
  const root = resource.group === "" ? ["", "api", resource.version] : ["", "apis", resource.group, resource.version];
  const parts = [
    ...(namespace ? ["namespaces", namespace] : []),
    resource.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  const wrong = parts.find((part) => UNUSABLE_SEGMENTS.includes(part) || !part.isWellFormed());
  if (wrong !== undefined) throw unusableName(resource, wrong);
  return [...root, ...parts.map(encodeURIComponent)].join("/");
}

const UNUSABLE_SEGMENTS: readonly string[] = ["", ".", ".."];

function unusableName({ plural, noun }: Resource, name: string): KubeError {
  const message = `Cannot ask for ${plural}: "${shownText(name)}" is not the name of a ${noun} or a namespace.`;
  return new KubeError({ failure: "invalid", operation: `get ${plural}`, subject: name, status: 0, message });
}

/** The resource as RBAC names it, with its group: `floatingippools.flipop.digitalocean.com/status`. */
export function qualifiedResource(call: Pick<Call, "resource" | "subresource">): string {
  const { group, plural } = call.resource;
  return `${plural}${group === "" ? "" : `.${group}`}${call.subresource === undefined ? "" : `/${call.subresource}`}`;
}

/** How to run an exec credential plugin (`client.authentication.k8s.io`). */
export interface ExecPlugin {
  /** An absolute path, or a name without a slash that is looked for in {@link searchPath}; `""` when the kubeconfig has none. */
  readonly command: string;
  /** The `$PATH` of flipop itself: what the kubeconfig adds to the plugin's environment does not count. */
  readonly searchPath: string;
  readonly args: readonly string[];
  /** The whole environment of the plugin. May hold secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly apiVersion: string;
  /** What the kubeconfig tells a person whose machine lacks the plugin; `""` when it says nothing. */
  readonly installHint: string;
  /** True when the plugin insists on a terminal, which flipop never gives it. */
  readonly needsTerminal: boolean;
  /** The values of added environment variables that have a name like a secret's, such as `VAULT_TOKEN`. */
  readonly secrets: readonly string[];
  /** `spec.cluster` of the plugin's input, when it asked for it. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

/** Who calls. At most one way to log in is used: plugin, provider, token file, token, password, certificate. */
export interface ConnectionUser {
  readonly token?: string;
  /** Read again while flipop runs: tokens of service accounts are replaced. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM, decoded. */
  readonly certificate?: string;
  readonly certificateFile?: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly exec?: ExecPlugin;
  /** A legacy `auth-provider` (oidc, gcp, azure), as written; client-node knows them. */
  readonly authProvider?: Readonly<Record<string, unknown>>;
}

/** Headers that make the API server treat the caller as somebody else. */
export interface Impersonation {
  readonly user?: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A chosen API server and how to log in to it. Nothing in it changes; files it names may. */
export interface Connection {
  /** URL without credentials and without a slash at the end. */
  readonly server: string;
  /** For texts: `context "admin" of /home/me/.kube/config`, or `the pod's service account`. */
  readonly source: string;
  /** `""` for a service account. */
  readonly context: string;
  /** The namespace of the context or of the pod; `default` when there is none. */
  readonly namespace: string;
  readonly tls: {
    /** PEM, decoded. Wins over the file. */
    readonly authority?: string;
    readonly authorityFile?: string;
    readonly serverName?: string;
    readonly isInsecure: boolean;
  };
  /** Absent = the server is reached directly. */
  readonly proxy?: ProxyServer;
  readonly user: ConnectionUser;
  /** Learns the credentials, and takes secrets out of texts of the server and of plugins. Absent = texts stay as they are. */
  readonly secrets?: Secrets;
  readonly impersonation: Impersonation;
}

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Empty where somebody has taken it while it arrived. */
  readonly body: Buffer;
}

/**
 * Begins to take the body of a successful answer, and returns what takes it, piece by piece, without ever throwing. Called anew for each try: one that breaks off is
 * repeated from its start.
 */
export type Receive = () => (chunk: Buffer) => void;

/** An object of one member, or of none when the value is undefined: to the compiler, absent and undefined differ. Pure. */
export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });
}
