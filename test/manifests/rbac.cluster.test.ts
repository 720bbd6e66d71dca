import { beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { shippedText } from "./shipped.ts";

const FLIPOP = "flipop.digitalocean.com";
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const RESOURCES = [
  ["", "nodes"],
  ["", "nodes/status"],
  ["", "pods"],
  ["", "pods/exec"],
  ["", "services"],
  ["", "secrets"],
  ["", "configmaps"],
  ["", "events"],
  ["", "namespaces"],
  [FLIPOP, "floatingippools"],
  [FLIPOP, "floatingippools/status"],
  [FLIPOP, "nodednsrecordsets"],
  [FLIPOP, "nodednsrecordsets/status"],
  [FLIPOP, "routedips"],
  [FLIPOP, "routedips/status"],
  [FLIPOP, "routedipissuers"],
  [FLIPOP, "routedipissuers/status"],
  ["discovery.k8s.io", "endpointslices"],
  ["events.k8s.io", "events"],
  ["coordination.k8s.io", "leases"],
  ["rbac.authorization.k8s.io", "clusterroles"],
  ["apiextensions.k8s.io", "customresourcedefinitions"],
] as const;

/** One rule as the API server reports it for a subject. */
interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** `VERB GROUP/RESOURCE [NAME]`, one line for each permission of a list of rules; sorted. */
function permissions(rules: readonly Rule[]): readonly string[] {
  const lines = rules.flatMap((rule) =>
    rule.verbs.flatMap((verb) =>
      (rule.apiGroups ?? []).flatMap((group) =>
        (rule.resources ?? []).map((resource) => `${verb} ${group}/${resource} ${rule.resourceNames ?? ""}`.trim()),
      ),
    ),
  );
  return [...new Set(lines)].sort();
}

const READING = [
  "get /nodes",
  "list /nodes",
  "list /namespaces",
  "list /pods",
  "list /services",
  "list discovery.k8s.io/endpointslices",
  `get ${FLIPOP}/floatingippools`,
  `list ${FLIPOP}/floatingippools`,
  `get ${FLIPOP}/nodednsrecordsets`,
  `list ${FLIPOP}/nodednsrecordsets`,
  `get ${FLIPOP}/routedips`,
  `list ${FLIPOP}/routedips`,
  `list ${FLIPOP}/routedipissuers`,
];
const WRITING = [
  `patch ${FLIPOP}/floatingippools/status`,
  `patch ${FLIPOP}/floatingippools`,
  `patch ${FLIPOP}/nodednsrecordsets/status`,
  `patch ${FLIPOP}/nodednsrecordsets`,
  `patch ${FLIPOP}/routedips/status`,
  `patch ${FLIPOP}/routedips`,
  "patch /nodes",
  "create events.k8s.io/events",
  "get events.k8s.io/events",
  "patch events.k8s.io/events",
];
const LEASE = [
  "create coordination.k8s.io/leases",
  "get coordination.k8s.io/leases flipop",
  "update coordination.k8s.io/leases flipop",
];

describeCluster("the shipped RBAC on a real API server", (cluster) => {
  const admin = new API({ ...cluster, token: cluster.adminToken });
  const as = async (name: string): Promise<API> =>
    new API({ ...cluster, token: await admin.serviceAccountToken("flipop", name) });
  const account = (name: string): string =>
    JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "flipop" } });

  const rulesOf = async (api: API, namespace: string): Promise<readonly string[]> => {
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    const answer = await api.call<{ status: { resourceRules: Rule[]; incomplete: boolean } }>("POST", path, body);
    expect(answer.status.incomplete).toBe(false);
    return permissions(answer.status.resourceRules);
  };

  const isAllowed = async (api: API, attributes: Readonly<Record<string, string>>): Promise<boolean> => {
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: attributes },
    };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    return (await api.call<{ status: { allowed: boolean } }>("POST", path, body)).status.allowed;
  };

  /** What an account may do beyond what every account may. */
  const grantedTo = async (name: string, namespace: string): Promise<readonly string[]> => {
    const everyone = new Set(await rulesOf(await as("nobody"), namespace));
    return (await rulesOf(await as(name), namespace)).filter((line) => !everyone.has(line));
  };

  beforeAll(async () => {
    await admin.applyManifests(shippedText("namespace.yaml"));
    await admin.applyManifests(shippedText("rbac.yaml"));
    await admin.applyManifests(`${account("nobody")}\n---\n${account("viewer")}`);
    await admin.applyManifests(
      JSON.stringify({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: "test-flipop-viewer" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "flipop-viewer" },
        subjects: [{ kind: "ServiceAccount", name: "viewer", namespace: "flipop" }],
      }),
    );
  });

  test("the account flipop has in its own namespace what reading, writing and the Lease need, and nothing else", async () => {
    await expect.poll(() => grantedTo("flipop", "flipop")).toEqual([...READING, ...WRITING, ...LEASE].sort());
  });

  test("the account flipop has in other namespaces what reading and writing need, and nothing else", async () => {
    await expect.poll(() => grantedTo("flipop", "default")).toEqual([...READING, ...WRITING].sort());
  });

  test("a viewer may read what plan, status and history read, and nothing else", async () => {
    const wanted = [
      ...READING,
      "get /namespaces",
      "get coordination.k8s.io/leases flipop",
      "list events.k8s.io/events",
    ].sort();
    await expect.poll(() => grantedTo("viewer", "default")).toEqual(wanted);
  });

  test("whoever may view a namespace is to see its objects of flipop, and gets nothing else from flipop", async () => {
    const root = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    interface View {
      readonly aggregationRule: { readonly clusterRoleSelectors: readonly { matchLabels: Record<string, string> }[] };
    }
    const view = await admin.call<View>("GET", `${root}/view`);
    const selectors = view.aggregationRule.clusterRoleSelectors.map(({ matchLabels }) =>
      Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    );
    const parts = await admin.list<{ metadata: { name: string }; rules: Rule[] }>(
      `${root}?labelSelector=${encodeURIComponent([...selectors.flat(), "app.kubernetes.io/name=flipop"].join(","))}`,
    );
    expect(parts.map(({ metadata }) => metadata.name)).toEqual(["flipop-view"]);
    expect(permissions(parts.flatMap(({ rules }) => rules))).toEqual(
      ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"]
        .flatMap((name) => ["get", "list", "watch"].map((verb) => `${verb} ${FLIPOP}/${name}`))
        .sort(),
    );
  });

  test("whoever may edit a namespace gets nothing of flipop until flipop-edit is labelled; then its objects, and no status", async () => {
    const root = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const role = await admin.call<{ metadata: { labels: Record<string, string> }; rules: Rule[] }>(
      "GET",
      `${root}/flipop-edit`,
    );
    expect(Object.keys(role.metadata.labels).filter((label) => label.includes("aggregate"))).toEqual([]);
    const kinds = ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"];
    const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
    expect(permissions(role.rules)).toEqual(
      kinds.flatMap((name) => verbs.map((verb) => `${verb} ${FLIPOP}/${name}`)).sort(),
    );
    interface Aggregating {
      readonly aggregationRule: { readonly clusterRoleSelectors: readonly { matchLabels: Record<string, string> }[] };
    }
    const edit = await admin.call<Aggregating>("GET", `${root}/edit`);
    const selectors = edit.aggregationRule.clusterRoleSelectors.map(({ matchLabels }) => matchLabels);
    const documented = /rbac\.authorization\.k8s\.io\/aggregate-to-edit=true/;
    expect(shippedText("rbac.yaml")).toMatch(documented);
    expect(selectors).toContainEqual({ "rbac.authorization.k8s.io/aggregate-to-edit": "true" });
  });

  test.for(["flipop", "default"])(
    "every verb on every resource in namespace %s is allowed or denied as the rules say",
    async (namespace) => {
      const api = await as("flipop");
      const inNamespace = namespace === "flipop" ? [...READING, ...WRITING, LEASE[0]] : [...READING, ...WRITING];
      const allowed = RESOURCES.flatMap(([group, resource]) =>
        VERBS.map(async (verb) => {
          const [name, subresource = ""] = resource.split("/");
          const attributes = { namespace, group, verb, resource: name ?? "", subresource };
          return (await isAllowed(api, attributes)) ? [`${verb} ${group}/${resource}`] : [];
        }),
      );
      expect((await Promise.all(allowed)).flat().sort()).toEqual([...inNamespace].sort());
    },
  );

  test("the Lease flipop may be read and replaced in namespace flipop, another one or elsewhere not", async () => {
    const api = await as("flipop");
    const lease = { group: "coordination.k8s.io", resource: "leases" };
    const ask = (verb: string, namespace: string, name: string): Promise<boolean> =>
      isAllowed(api, { ...lease, verb, namespace, name });
    expect(await Promise.all([ask("get", "flipop", "flipop"), ask("update", "flipop", "flipop")])).toEqual([
      true,
      true,
    ]);
    expect(await Promise.all([ask("patch", "flipop", "flipop"), ask("delete", "flipop", "flipop")])).toEqual([
      false,
      false,
    ]);
    expect(await Promise.all([ask("get", "flipop", "other"), ask("update", "default", "flipop")])).toEqual([
      false,
      false,
    ]);
  });

  test("patching nodes can be taken away by removing its one rule, and the rest stays", async () => {
    const role = await admin.call<{ rules: Rule[] }>(
      "GET",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/flipop-writer",
    );
    const events = WRITING.filter((line) => line.includes("events"));
    const others = WRITING.filter((line) => !events.includes(line));
    expect(role.rules.map((rule) => permissions([rule]))).toEqual([...others.map((line) => [line]), events]);
  });
});
