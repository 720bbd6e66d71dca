import { documents } from "./shipped.ts";

/** A rule of a role, as it is sent. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A Role or ClusterRole, as it is sent. */
export interface RoleOnWire {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly Rule[];
}

interface BindingOnWire {
  readonly kind: string;
  readonly roleRef: { readonly kind: string; readonly name: string };
}

/** One verb on one resource that a shipped role grants. `path` is that of the role, `namespace` that of a Role. */
export interface Granted {
  readonly role: string;
  readonly path: string;
  readonly namespace?: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
}

/** Everything that the ServiceAccount flipop may do by a manifest: the roles that its bindings name. */
export function grantedToTheServiceAccount(manifest: string): readonly Granted[] {
  const shipped = documents(manifest);
  const bound = shipped
    .map((document) => document as unknown as BindingOnWire)
    .filter(({ kind }) => kind.endsWith("RoleBinding"))
    .map(({ roleRef }) => `${roleRef.kind} ${roleRef.name}`);
  return shipped
    .map((document) => document as unknown as RoleOnWire)
    .filter(({ kind, metadata }) => bound.includes(`${kind} ${metadata.name}`))
    .flatMap(grantedBy);
}

function grantedBy({ kind, metadata, rules }: RoleOnWire): readonly Granted[] {
  const { name: role, namespace } = metadata;
  const root = "/apis/rbac.authorization.k8s.io/v1";
  const place =
    kind === "Role" && namespace !== undefined
      ? { path: `${root}/namespaces/${namespace}/roles/${role}`, namespace }
      : { path: `${root}/clusterroles/${role}` };
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => ({ role, ...place, verb, group, resource }))),
    ),
  );
}

/** The rules without one permission; the others of a shared rule stay. */
export function without(rules: readonly Rule[], { group, resource, verb }: Granted): readonly Rule[] {
  return rules.flatMap((rule) => {
    if (!rule.apiGroups.includes(group) || !rule.resources.includes(resource) || !rule.verbs.includes(verb))
      return [rule];
    const others = rule.resources.filter((name) => name !== resource);
    const verbs = rule.verbs.filter((name) => name !== verb);
    return [
      ...(others.length > 0 ? [{ ...rule, resources: others }] : []),
      ...(verbs.length > 0 ? [{ ...rule, resources: [resource], verbs }] : []),
    ];
  });
}
