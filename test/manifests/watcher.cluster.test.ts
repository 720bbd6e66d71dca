import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { invoke } from "../cli/invoke.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { shippedText } from "./shipped.ts";

const PODS = "/api/v1/namespaces/flipop/pods?dryRun=All&fieldValidation=Strict";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

interface Deployment {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
}

describeCluster("what flipop manifests --mode watch prints, on a real API server", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });

  beforeAll(async () => {
    await api.applyManifests((await invoke(["manifests", "--mode", "watch"])).stdout);
  });

  afterAll(async () => {
    await api.call("DELETE", `${RBAC}/clusterrolebindings/flipop-watcher`);
    await api.call("DELETE", `${RBAC}/clusterroles/flipop-watcher`);
  });

  test("applies as a whole with every field known, and again without a change", async () => {
    const { stdout } = await invoke(["manifests", "--mode", "watch"]);
    const first = await api.applyManifests(stdout);
    expect(first.map(({ kind }) => kind)).toContain("Deployment");
    const versions = (objects: typeof first): readonly unknown[] =>
      objects.map(({ metadata }) => metadata.resourceVersion);
    expect(versions(await api.applyManifests(stdout))).toEqual(versions(first));
  });

  test("the Deployment's pod is admitted in the restricted namespace", async () => {
    const { template } = (parse(shippedText("watch/deployment.yaml")) as Deployment).spec;
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name: "flipop-watcher" } };
    expect((await api.request("POST", PODS, { ...pod, spec: template.spec })).status).toBe(201);
  });

  test("the account may watch what it lists, and nothing else beyond the CronJob's permissions", async () => {
    interface Rule {
      readonly apiGroups: readonly string[];
      readonly resources: readonly string[];
      readonly verbs: readonly string[];
    }
    const { rules } = await api.call<{ readonly rules: readonly Rule[] }>("GET", `${RBAC}/clusterroles/flipop-watcher`);
    const watched = rules.flatMap(({ apiGroups, resources, verbs }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`)),
      ),
    );
    const lists = [
      "/namespaces",
      "/nodes",
      "/pods",
      "/services",
      "discovery.k8s.io/endpointslices",
      "flipop.digitalocean.com/floatingippools",
      "flipop.digitalocean.com/nodednsrecordsets",
      "flipop.digitalocean.com/routedipissuers",
      "flipop.digitalocean.com/routedips",
    ];
    expect(watched.toSorted()).toEqual(lists.map((list) => `watch ${list}`));
    const account = new API({ ...cluster, token: await api.serviceAccountToken("flipop", "flipop") });
    const isAllowed = async (list: string): Promise<boolean> => {
      const [group = "", resource = ""] = list.split("/");
      const spec = { resourceAttributes: { verb: "watch", group, resource } };
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
      const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
      return (await account.call<{ readonly status: { readonly allowed: boolean } }>("POST", path, review)).status
        .allowed;
    };
    await expect.poll(() => Promise.all(lists.map(isAllowed))).toEqual(lists.map(() => true));
    account.close();
  });
});
