import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { MAXIMAL_SPEC, MAXIMAL_STATUS } from "./maximal-pool.ts";
import { MAXIMAL_RECORD_SET_SPEC, MAXIMAL_RECORD_SET_STATUS } from "./maximal-record-set.ts";
import { documents, shippedFiles, shippedText } from "./shipped.ts";
import { shownTable } from "./shown-table.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";
const GO = readFileSync(new URL("fixtures/go-operator.yaml", import.meta.url), "utf8");
/** Manifests that the Go operator stored and then refused, whole or that entry, with what flipop says of them. */
const NEVER_WORKED: Readonly<Record<string, string>> = {
  "ipv6-entries": '"2001:db8::1" is an IPv6 address: spec.ipFamily would have to be IPv6',
  "zero-values-written-back": "ips or desiredIPs must be provided",
  "empty-record-set": 'unknown provider ""',
  "any-address-type": 'invalid addressType "Hostname"',
};
const PLURALS: Readonly<Record<string, string>> = {
  FloatingIPPool: "floatingippools",
  NodeDNSRecordSet: "nodednsrecordsets",
  RoutedIP: "routedips",
  RoutedIPIssuer: "routedipissuers",
};

describeCluster("the shipped CRDs on a real API server", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });
  const collection = (namespace: string, kind = "FloatingIPPool"): string =>
    `${GROUP}/namespaces/${namespace}/${PLURALS[kind] ?? kind}`;
  const create = (namespace: string, object: Readonly<Record<string, unknown>>) =>
    api.request("POST", `${collection(namespace, String(object["kind"]))}?fieldValidation=Strict`, object);
  const aPool = (name: string, spec: Readonly<Record<string, unknown>>) => ({
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "FloatingIPPool",
    metadata: { name },
    spec,
  });

  beforeAll(async () => {
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  });

  test.for(shippedFiles("crds"))("%s applies under strict validation, and again without a change", async (file) => {
    const [crd] = documents(shippedText(file));
    const { name } = (crd?.["metadata"] ?? {}) as { name?: string };
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}?fieldManager=test&force=true&fieldValidation=Strict`;
    const first = await api.call("PATCH", path, crd, "application/apply-patch+yaml");
    const second = await api.call("PATCH", path, crd, "application/apply-patch+yaml");
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const conditions = second.status?.["conditions"] as { type: string; status: string }[];
    const isTrue = (type: string): boolean => conditions.some((one) => one.type === type && one.status === "True");
    expect([isTrue("Established"), isTrue("NamesAccepted"), isTrue("NonStructuralSchema")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("every manifest of the Go operator's kind and every example is stored as written, unless it never did anything: then it is refused in flipop's words", async () => {
    const namespace = await api.createNamespace("manifests");
    const texts = [GO, ...shippedFiles("examples").map(shippedText)];
    for (const document of texts.flatMap(documents)) {
      const { name } = document["metadata"] as { name: string };
      const reply = await create(namespace, { ...document, metadata: { name } });
      const why = NEVER_WORKED[name];
      const said = why === undefined ? undefined : expect.stringContaining(why);
      expect([name, reply.status, reply.body.message]).toEqual([name, why === undefined ? 201 : 422, said]);
      if (why === undefined) expect(reply.body.spec).toEqual(document["spec"]);
    }
  });

  test.for([
    ["spec.reclaimPolicy", { reclaimPolicy: "Remove" }],
    ["spec.foreignHolder", { foreignHolder: "Steal" }],
    ["spec.gracePeriodSeconds", { gracePeriodSeconds: -1 }],
    ["spec.suspend", { suspend: "yes" }],
    ["spec.desiredIPs", { desiredIPs: -1 }],
    ["spec.assignmentCoolOffSeconds", { assignmentCoolOffSeconds: -0.5 }],
    ["spec.match.tolerations[0].tolerationSeconds", { match: { tolerations: [{ tolerationSeconds: "60" }] } }],
    ["spec.provider", { provider: undefined }],
  ] as const)("a pool with a bad %s is refused with the field named", async ([field, change]) => {
    const namespace = await api.createNamespace("refused");
    const reply = await create(namespace, aPool("bad", { provider: "digitalocean", ...change }));
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain(field);
  });

  test("an unknown field is refused under strict validation", async () => {
    const namespace = await api.createNamespace("unknown");
    const reply = await create(namespace, aPool("typo", { provider: "digitalocean", gracePeriod: 3 }));
    expect([reply.status, reply.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.gracePeriod"'),
    ]);
  });

  test("a status with every field of the model is stored whole, and a spec is left as written", async () => {
    const namespace = await api.createNamespace("status");
    const path = `${collection(namespace)}/full`;
    expect((await create(namespace, aPool("full", MAXIMAL_SPEC))).body.spec).toEqual(MAXIMAL_SPEC);
    await api.call("PATCH", `${path}/status`, { status: MAXIMAL_STATUS }, "application/merge-patch+json");
    const stored = await api.call("GET", path);
    expect([stored.status, stored.spec, stored.metadata.generation]).toEqual([MAXIMAL_STATUS, MAXIMAL_SPEC, 1]);
  });

  test("a status sent to the object itself is ignored", async () => {
    const namespace = await api.createNamespace("ignored");
    await create(namespace, aPool("plain", { provider: "digitalocean", desiredIPs: 1 }));
    const body = { status: { error: "planted" } };
    const stored = await api.call("PATCH", `${collection(namespace)}/plain`, body, "application/merge-patch+json");
    expect(stored.status).toBeUndefined();
  });

  test("kubectl get shows how many addresses of a pool are active, its name and its nodes within 80 columns, and the rest in wide", async () => {
    const namespace = await api.createNamespace("table");
    await create(namespace, aPool("ingress-frankfurt", { provider: "digitalocean", region: "fra1", desiredIPs: 3 }));
    const status = {
      ...MAXIMAL_STATUS,
      conditions: [{ ...MAXIMAL_STATUS.conditions[0], reason: "WaitingForAssignment" }],
    };
    await api.call(
      "PATCH",
      `${collection(namespace)}/ingress-frankfurt/status`,
      { status },
      "application/merge-patch+json",
    );
    const { shown, wide, width } = await shownTable(cluster, collection(namespace));
    expect(shown).toEqual({
      Name: "ingress-frankfurt",
      Ready: "False",
      Addresses: "2/3",
      DNS: "www.example.com",
      Nodes: "worker-1 +1",
      Age: expect.stringMatching(/^\d+s$/),
    });
    expect(wide).toEqual(["Reason", "Provider", "Region", "Error"]);
    expect(width).toBeLessThanOrEqual(80);
  });

  test("every kind is found by short name and by category", async () => {
    const { resources } = await api.call<{
      resources: { name: string; shortNames?: string[]; categories?: string[] }[];
    }>("GET", GROUP);
    const names = resources.filter((resource) => !resource.name.includes("/"));
    expect(Object.fromEntries(names.map((one) => [one.name, [one.shortNames, one.categories]]))).toMatchObject({
      floatingippools: [["fip"], ["flipop"]],
      nodednsrecordsets: [["nodedns"], ["flipop"]],
      routedips: [["rip"], ["flipop"]],
      routedipissuers: [["ripissuer"], ["flipop"]],
    });
  });

  test("a record set with every field of the model is stored whole, and one with a bad spec.whenEmpty is refused", async () => {
    const namespace = await api.createNamespace("records");
    const object = {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "NodeDNSRecordSet",
      metadata: { name: "nodes" },
    };
    const spec = MAXIMAL_RECORD_SET_SPEC;
    expect((await create(namespace, { ...object, spec })).body.spec).toEqual(spec);
    const status = MAXIMAL_RECORD_SET_STATUS;
    const path = `${collection(namespace, "NodeDNSRecordSet")}/nodes`;
    await api.call("PATCH", `${path}/status`, { status }, "application/merge-patch+json");
    const stored = await api.call("GET", path);
    expect([stored.status, stored.spec, stored.metadata.generation]).toEqual([status, spec, 1]);
    const { shown, wide, width } = await shownTable(cluster, collection(namespace, "NodeDNSRecordSet"));
    expect(shown).toEqual({
      Name: "nodes",
      Ready: "False",
      State: "error",
      Addresses: "2/3",
      DNS: "www.example.com",
      IPv6: "www.example.com AAAA",
      Age: expect.stringMatching(/^\d+s$/),
    });
    expect(wide).toEqual(["Record", "Zone", "Type", "Reason", "Error"]);
    // The name of the second family takes the rest.
    expect(width - "www.example.com AAAA".length).toBeLessThanOrEqual(80);
    const bad = await create(namespace, { ...object, metadata: { name: "bad" }, spec: { whenEmpty: "Drop" } });
    expect([bad.status, bad.body.message]).toEqual([422, expect.stringContaining("spec.whenEmpty")]);
  });

  test("kubectl get shows the name of a record set that publishes IPv6 addresses alone", async () => {
    const namespace = await api.createNamespace("aaaa");
    const spec = { dnsRecordSet: { zone: "example.com", recordName: "nodes" }, ipFamilies: ["IPv6"] };
    const kind = "NodeDNSRecordSet";
    await create(namespace, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind,
      metadata: { name: "nodes" },
      spec,
    });
    const name = { provider: "digitalocean", zone: "example.com", name: "nodes.example.com AAAA", addresses: [] };
    const status = { ipv6: { publishedDNS: name } };
    const path = `${collection(namespace, kind)}/nodes/status`;
    await api.call("PATCH", path, { status }, "application/merge-patch+json");
    const { shown, width } = await shownTable(cluster, collection(namespace, kind));
    expect(shown).toMatchObject({ Name: "nodes", DNS: null, IPv6: "nodes.example.com AAAA" });
    expect(width).toBeLessThanOrEqual(80);
  });
});
