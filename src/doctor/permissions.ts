import type { Permission } from "../ports/inspection.ts";
import type { Answers, Facts, Reviewed } from "./facts.ts";
import { allOr, type Checks, check, failing, fine, notApplicable, type Verdict } from "./verdict.ts";

const WATCHES = check(["watching", "own"], ({ watching, own }) => missing(watching, own));

const WATCHES_OF_A_DEPLOYMENT = check(["watching", "workloads", "own"], ({ watching, workloads, own }) =>
  workloads.some(({ kind }) => kind === "Deployment") ? missing(watching, own) : notApplicable("no Deployment watches"),
);

function isWatchAsked({ own }: Answers): boolean {
  return own !== undefined && "value" in own && own.value.isWatchAsked;
}

/** The checks of what flipop may do in the cluster. */
export const PERMISSION_CHECKS: Checks<"FLP121" | "FLP122" | "FLP123" | "FLP124" | "FLP125"> = {
  FLP121: check(["reading", "own"], ({ reading, own }) => missing(reading, own)),
  FLP122: check(["writing", "own"], ({ writing, own }) => missing(writing, own)),
  FLP123: check(["leasing", "own"], ({ leasing, own }) => missing(leasing, own)),
  FLP124: {
    reads: ["watching", "workloads", "own"],
    // Whoever is told that flipop is to watch need not be able to look for Deployments.
    judge: (answers) => (isWatchAsked(answers) ? WATCHES : WATCHES_OF_A_DEPLOYMENT).judge(answers),
  },
  FLP125: check(["installing", "own"], ({ installing, own }) => missing(installing, own)),
};

/** A permission with a consequence of its own is told by itself; the others, of which the check says what follows, together. */
function missing(reviewed: readonly Reviewed[], { asker }: Facts["own"]): readonly Verdict[] {
  const lacking = reviewed.filter(({ isAllowed }) => !isAllowed).map(({ permission }) => permission);
  const alone = lacking.flatMap((permission) => {
    const consequence = consequenceOf(permission);
    const what = `${asker} may not ${permission.verb} ${resourceText(permission)}`;
    return consequence === undefined ? [] : [failing(what, { consequence })];
  });
  const others = lacking.filter((permission) => consequenceOf(permission) === undefined);
  const together = [...Map.groupBy(others, ({ verb }) => verb)].map(([verb, same]) =>
    failing(`${asker} may not ${verb} ${resourcesText(same)}`),
  );
  return allOr([...alone, ...together], fine(`${reviewed.length} permissions`));
}

/** Returns `namespaces, clusterroles; in flipop: roles, cronjobs`. */
function resourcesText(permissions: readonly Permission[]): string {
  const [only, ...others] = permissions;
  if (only !== undefined && others.length === 0) return resourceText(only);
  const places = [...Map.groupBy(permissions, ({ namespace }) => namespace)].map(([namespace, same]) => {
    const names = same.map(({ namespace: _all, ...rest }) => resourceText(rest)).join(", ");
    return namespace === undefined ? names : `in ${namespace}: ${names}`;
  });
  return places.join("; ");
}

function resourceText({ resource, subresource, namespace, name }: Omit<Permission, "verb">): string {
  const part = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${part}${name === undefined ? "" : ` ${name}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

/** What a run leaves undone without a permission, by resource and verb. */
const CONSEQUENCES: ReadonlyMap<string, string> = new Map([
  ["nodes get", "Before an address is moved, its node cannot be looked at again, so it is not moved."],
  ["nodes list", "No run can plan anything."],
  ["pods list", "Objects that ask for pods, by spec.match or by a Service, are left as they are."],
  ["namespaces list", "With --grants require nothing is granted; with --grants warn nothing is told."],
  ["services list", "Routed IPs are not served."],
  ["endpointslices list", "Routed IPs whose Service has no selector are not served."],
  ["floatingippools get", "A status that somebody else changed meanwhile cannot be written."],
  ["floatingippools list", "No run can plan anything."],
  ["nodednsrecordsets get", "A status that somebody else changed meanwhile cannot be written."],
  ["nodednsrecordsets list", "Record sets are not served, and names they own cannot be told."],
  ["routedips get", "A status that somebody else changed meanwhile cannot be written."],
  ["routedips list", "Routed IPs are not served, and addresses they own cannot be told."],
  ["routedipissuers list", "Routed IPs are not served."],
  ["floatingippools/status patch", "Status is flipop's memory: nothing is acquired, and status shows an old state."],
  ["floatingippools patch", "Nothing is acquired, and pools with reclaimPolicy Delete get no finalizer."],
  ["nodednsrecordsets/status patch", "It is not remembered which names flipop wrote, and status shows an old state."],
  ["nodednsrecordsets patch", "Record sets with reclaimPolicy Delete get no finalizer: their records stay behind."],
  ["routedips/status patch", "Nothing is acquired or opened in firewalls, and status shows an old state."],
  ["routedips patch", "Nothing is acquired, and routed IPs with reclaimPolicy Delete get no finalizer."],
  ["nodes patch", "Annotations are not written; record sets of reserved addresses publish nothing."],
  ["events create", "Nobody sees Events of what was done."],
  ["events get", "A failure that repeats is not counted in its Event."],
  ["events patch", "A failure that repeats is not counted in its Event."],
  ["leases create", "Where there is no Lease yet, no run can take one: none changes anything."],
  ["leases get", "No run can take the Lease, so none changes anything."],
  ["leases update", "No run can take the Lease, so none changes anything."],
]);

/** Returns what a run leaves undone without this permission; undefined where the check itself says it. Pure. */
export function consequenceOf({ resource, subresource, verb }: Permission): string | undefined {
  return CONSEQUENCES.get(`${resource}${subresource === undefined ? "" : `/${subresource}`} ${verb}`);
}

/** The permissions that runs need, by what they are for. */
export interface NeededPermissions {
  readonly reading: readonly Permission[];
  readonly writing: readonly Permission[];
  readonly leasing: readonly Permission[];
  readonly watching: readonly Permission[];
}

/** Sorts permissions by what they are for. Pure. */
export function sortPermissions(all: readonly Permission[]): NeededPermissions {
  const groups = Map.groupBy(all, ({ verb, resource }): keyof NeededPermissions => {
    if (verb === "watch") return "watching";
    if (resource === "leases") return "leasing";
    // An Event is read only to count in it.
    return (verb === "get" || verb === "list") && resource !== "events" ? "reading" : "writing";
  });
  const of = (name: keyof NeededPermissions): readonly Permission[] => groups.get(name) ?? [];
  return { reading: of("reading"), writing: of("writing"), leasing: of("leasing"), watching: of("watching") };
}

/** A role or a binding of a manifest, as far as permissions are concerned. */
interface RBACDocument {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string }[];
  readonly rules?: readonly RBACRule[];
}

interface RBACRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Returns everything that documents of a manifest grant to a ServiceAccount: the rules of the roles that a binding with it names. Pure.
 * @param leaseName - what the Lease is named, in the place of the shipped name
 */
export function grantedPermissions(
  documents: readonly unknown[],
  account: string,
  leaseName: string,
): readonly Permission[] {
  const all = documents as readonly RBACDocument[];
  return all
    .filter(({ subjects }) => subjects?.some(({ kind, name }) => kind === "ServiceAccount" && name === account))
    .flatMap(({ kind, metadata, roleRef }) => {
      const role = all.find((one) => one.kind === roleRef?.kind && one.metadata?.name === roleRef?.name);
      const namespace = kind === "RoleBinding" ? metadata?.namespace : undefined;
      return (role?.rules ?? []).flatMap((rule) => permissionsOf(rule, namespace, leaseName));
    });
}

function permissionsOf(
  { apiGroups, resources, resourceNames = [], verbs }: RBACRule,
  namespace: string | undefined,
  leaseName: string,
): readonly Permission[] {
  const place = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(resourceNames.length === 0 ? {} : { name: leaseName }),
  };
  return apiGroups.flatMap((group) =>
    resources.flatMap((part) => {
      const [resource = "", subresource] = part.split("/");
      const what = { group, resource, ...(subresource === undefined ? {} : { subresource }), ...place };
      return verbs.map((verb) => ({ verb, ...what }));
    }),
  );
}

/** Returns what somebody must be permitted who applies these documents: to create each kind of them. Pure. */
export function installPermissions(documents: readonly unknown[]): readonly Permission[] {
  const all = documents as readonly (RBACDocument & { readonly apiVersion?: string })[];
  const byKind = new Map(
    all.map(({ apiVersion = "", kind = "", metadata }) => {
      const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
      const lower = kind.toLowerCase();
      const resource = lower.endsWith("y") ? `${lower.slice(0, -1)}ies` : `${lower}s`;
      const { namespace } = metadata ?? {};
      const place = namespace === undefined ? {} : { namespace };
      return [`${group}/${version}/${kind}`, { verb: "create", group: group ?? "", resource, ...place }] as const;
    }),
  );
  return [...byKind.values()];
}
