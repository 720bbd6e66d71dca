import type { Send } from "./case-runner.ts";
import { AS_TABLE } from "./table-cases.ts";

/** The resources that both servers have, by group and version. Of one that is only shown, the real server says that it can be written as well. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  v1: ["events", "namespaces", "nodes", "pods", "services"],
  "apps/v1": ["deployments"],
  "batch/v1": ["cronjobs"],
  "apiextensions.k8s.io/v1": ["customresourcedefinitions"],
  "coordination.k8s.io/v1": ["leases"],
  "discovery.k8s.io/v1": ["endpointslices"],
  "events.k8s.io/v1": ["events"],
  "sandbox.test/v1": ["widgets"],
  "flipop.digitalocean.com/v1alpha1": ["floatingippools", "nodednsrecordsets", "routedipissuers", "routedips"],
};

/** What both servers tell of their resources. */
export const RESOURCES: readonly string[] = [
  "v1 events event Event namespaced ev",
  "v1 namespaces namespace Namespace cluster ns +status",
  "v1 nodes node Node cluster no +status",
  "v1 pods pod Pod namespaced po all +status",
  "v1 services service Service namespaced svc all +status",
  "apps/v1 deployments deployment Deployment namespaced deploy all +status",
  "batch/v1 cronjobs cronjob CronJob namespaced cj all +status",
  "apiextensions.k8s.io/v1 customresourcedefinitions customresourcedefinition CustomResourceDefinition cluster crd,crds api-extensions +status",
  "coordination.k8s.io/v1 leases lease Lease namespaced",
  "discovery.k8s.io/v1 endpointslices endpointslice EndpointSlice namespaced",
  "events.k8s.io/v1 events event Event namespaced ev",
  "sandbox.test/v1 widgets widget Widget namespaced wdg +status",
  "flipop.digitalocean.com/v1alpha1 floatingippools floatingippool FloatingIPPool namespaced fip flipop +status",
  "flipop.digitalocean.com/v1alpha1 nodednsrecordsets nodednsrecordset NodeDNSRecordSet namespaced nodedns flipop +status",
  "flipop.digitalocean.com/v1alpha1 routedipissuers routedipissuer RoutedIPIssuer namespaced ripissuer flipop",
  "flipop.digitalocean.com/v1alpha1 routedips routedip RoutedIP namespaced rip flipop +status",
];

interface Resource {
  readonly name: string;
  readonly singularName: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly string[];
}

/** What a server tells of the shared resources, asked version by version as older clients do. */
export async function resourcesByVersion(send: Send): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const [version, names] of Object.entries(SHARED)) {
    const { resources } = await read<{ resources: readonly Resource[] }>(send, `${prefixOf(version)}/${version}`);
    for (const name of names) {
      const one = resources.find((resource) => resource.name === name);
      if (one === undefined) throw new Error(`${version} has no ${name}`);
      const scope = one.namespaced ? "namespaced" : "cluster";
      const status = resources.some((resource) => resource.name === `${name}/status`);
      seen.push(lineOf([version, name, one.singularName, one.kind, scope], one, status));
    }
  }
  return seen;
}

interface Discovered {
  readonly resource: string;
  readonly singularResource: string;
  readonly responseKind: { readonly kind: string };
  readonly scope: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface Groups {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly Discovered[] }[];
  }[];
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/** The same, asked for at once as kubectl does. */
export async function resourcesAtOnce(send: Send): Promise<readonly string[]> {
  const lists = [await read<Groups>(send, "/api", AGGREGATED), await read<Groups>(send, "/apis", AGGREGATED)];
  const groups = lists.flatMap(({ items }) => items);
  return Object.entries(SHARED).flatMap(([apiVersion, names]) => {
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    const found = groups.find(({ metadata }) => (metadata.name ?? "") === group);
    const resources = found?.versions.find((one) => one.version === version)?.resources ?? [];
    return names.map((name) => {
      const one = resources.find(({ resource }) => resource === name);
      if (one === undefined) return `${apiVersion} has no ${name}`;
      const scope = one.scope === "Namespaced" ? "namespaced" : "cluster";
      const status = one.subresources?.some(({ subresource }) => subresource === "status") ?? false;
      return lineOf([apiVersion, name, one.singularResource, one.responseKind.kind, scope], one, status);
    });
  });
}

function lineOf(
  words: readonly string[],
  { shortNames, categories }: Pick<Resource, "shortNames" | "categories">,
  hasStatus: boolean,
): string {
  const more = [shortNames?.join(","), categories?.join(","), hasStatus ? "+status" : undefined];
  return [...words, ...more.filter((word) => word !== undefined)].join(" ");
}

/** The groups of both servers, with their preferred versions. */
export async function groupsSeen(send: Send): Promise<readonly string[]> {
  type Group = { readonly name: string; readonly preferredVersion: { readonly groupVersion: string } };
  const { groups } = await read<{ groups: readonly Group[] }>(send, "/apis");
  const shared = Object.keys(SHARED).map((version) => version.split("/")[0]);
  const found = groups.filter(({ name }) => shared.includes(name));
  return found.map(({ preferredVersion }) => preferredVersion.groupVersion).sort();
}

/** The groups that both have. */
export const GROUPS: readonly string[] = Object.keys(SHARED)
  .filter((version) => version.includes("/"))
  .sort();

interface Definition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

/** The columns that a server gives each shared resource: name, type and format, those of `-o wide` in brackets. */
export async function columnsSeen(send: Send): Promise<Readonly<Record<string, string>>> {
  const seen: [string, string][] = [];
  for (const [version, names] of Object.entries(SHARED)) {
    for (const name of names) {
      const path = `${prefixOf(version)}/${version}/${name}`;
      const { columnDefinitions } = await read<{ columnDefinitions: readonly Definition[] }>(send, path, AS_TABLE);
      seen.push([`${version} ${name}`, columnDefinitions.map(columnText).join(" ")]);
    }
  }
  return Object.fromEntries(seen);
}

function columnText({ name, type, format, priority }: Definition): string {
  const text = [name, ...(type === "string" && format === "" ? [] : [type, format])].join(":");
  return priority > 0 ? `[${text}]` : text;
}

const EVENT = "Last Seen Type Reason Object [Subobject] [Source] Message [First Seen] [Count] [Name:string:name]";

/** The columns of both. */
export const COLUMNS: Readonly<Record<string, string>> = {
  "v1 events": EVENT,
  "v1 namespaces": "Name:string:name Status Age",
  "v1 nodes":
    "Name:string:name Status Roles Age Version [Internal-IP] [External-IP] [OS-Image] [Kernel-Version] [Container-Runtime]",
  "v1 pods": "Name:string:name Ready Status Restarts Age [IP] [Node] [Nominated Node] [Readiness Gates]",
  "v1 services": "Name:string:name Type Cluster-IP External-IP Port(s) Age [Selector]",
  "apps/v1 deployments": "Name:string:name Ready Up-to-date Available Age [Containers] [Images] [Selector]",
  "batch/v1 cronjobs":
    "Name:string:name Schedule Timezone Suspend:boolean: Active:integer: Last Schedule Age [Containers] [Images] [Selector]",
  "apiextensions.k8s.io/v1 customresourcedefinitions": "Name:string:name Created At:date:",
  "coordination.k8s.io/v1 leases": "Name:string:name Holder Age",
  "discovery.k8s.io/v1 endpointslices": "Name:string:name AddressType Ports Endpoints Age",
  "events.k8s.io/v1 events": EVENT,
  "sandbox.test/v1 widgets": "Name:string:name Age:date:",
  "flipop.digitalocean.com/v1alpha1 floatingippools":
    "Name:string:name Ready Addresses DNS Nodes Age:date: [Reason] [Provider] [Region] [Error]",
  "flipop.digitalocean.com/v1alpha1 nodednsrecordsets":
    "Name:string:name Ready State Addresses DNS IPv6 Age:date: [Record] [Zone] [Type] [Reason] [Error]",
  "flipop.digitalocean.com/v1alpha1 routedipissuers": "Name:string:name Provider Region Reclaim Firewall Age:date:",
  "flipop.digitalocean.com/v1alpha1 routedips":
    "Name:string:name Address Node DNS Ready Age:date: [Service] [Issuer] [Reason] [Error]",
};

function prefixOf(version: string): string {
  return version.includes("/") ? "/apis" : "/api";
}

async function read<T>(send: Send, path: string, accept = "application/json"): Promise<T> {
  const { status, body } = await send({
    method: "GET",
    path,
    body: undefined,
    contentType: "application/json",
    accept,
  });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body as T;
}
