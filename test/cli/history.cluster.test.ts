import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { schemaErrors } from "../report/schemas.ts";
import { type EmulatedAccount, type ProgramRun, runProgram, startAccount } from "./cluster-run.ts";

const IP = "203.0.113.10";
const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const POOL = {
  apiVersion: "flipop.digitalocean.com/v1alpha1",
  kind: "FloatingIPPool",
  namespace: "default",
  name: "web",
};

interface Told {
  readonly changes: readonly {
    readonly kind: string;
    readonly outcome: string;
    readonly message: string;
    readonly count: number;
    readonly sources: readonly string[];
    readonly by?: string;
  }[];
  readonly gaps: readonly string[];
}

/** An Event of flipop about the pool. */
function anEvent(name: string, note: string, fields: object = {}): object {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name, namespace: "default" },
    eventTime: new Date().toISOString().replace("Z", "000Z"),
    reportingController: "flipop.digitalocean.com/flipop",
    reportingInstance: "flipop-1",
    action: "MoveIP",
    reason: "HolderLost",
    type: "Normal",
    note,
    regarding: POOL,
    ...fields,
  };
}

describeCluster("flipop history on a real API server", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let asViewer: (...args: readonly string[]) => Promise<ProgramRun>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds"), "rbac.yaml"])
      await api.applyManifests(shippedText(file));
    account = await startAccount([101, 102], [IP]);
    for (const n of [1, 2])
      await api.createNode({ name: `n${n}`, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
    await api.call("POST", POOLS, {
      ...POOL,
      namespace: undefined,
      name: undefined,
      metadata: { name: "web" },
      spec: { provider: "digitalocean", ips: [IP], match: {} },
    });
    await api.call("POST", "/api/v1/namespaces/flipop/serviceaccounts", { metadata: { name: "viewer" } });
    await api.call("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: "test-viewer" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "flipop-viewer" },
      subjects: [{ kind: "ServiceAccount", name: "viewer", namespace: "flipop" }],
    });
    const env = { DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN, DIGITALOCEAN_API_URL: account.url };
    const run = await runProgram(["reconcile"], { ...env, KUBECONFIG: cluster.kubeconfig });
    expect([run.stderr, run.code]).toEqual(["", 0]);
    await api.setNodeReady("n1", false);
    expect((await runProgram(["reconcile"], { ...env, KUBECONFIG: cluster.kubeconfig })).code).toBe(0);
    const KUBECONFIG = cluster.kubeconfigFor(await api.serviceAccountToken("flipop", "viewer"));
    // Without a token of any provider.
    asViewer = (...args) => runProgram(args, { KUBECONFIG });
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
  });

  const told = async (...args: readonly string[]): Promise<Told> => {
    const { stdout, stderr, code } = await asViewer("history", "-o", "json", ...args);
    expect([stderr, code]).toEqual(["", 0]);
    const document = JSON.parse(stdout);
    expect(schemaErrors(document, "History")).toEqual([]);
    return document;
  };

  test("a viewer is told what runs did, of an address, from the Events that the API server gives back", async () => {
    const { changes, gaps } = await told(`ip/${IP}`);
    // The other tests of this file write Events by hand.
    const own = changes.filter(
      ({ sources, by, kind }) => sources.includes("event") && by !== "flipop-1" && kind !== "other",
    );
    expect(own.map(({ kind }) => kind)).toEqual([
      "clear-annotation",
      "annotate-node",
      "move-ip",
      "annotate-node",
      "assign-ip",
    ]);
    expect(own.find(({ kind }) => kind === "move-ip")?.message).toMatch(
      /^moved 203\.0\.113\.10 from n1 to n2: n1 no longer matches/,
    );
    expect(gaps).toEqual([]);
  });

  test("Events about other things are not read, those of others about a pool are, and a series says how often", async () => {
    await api.call(
      "POST",
      EVENTS,
      anEvent("other", "Somebody else's.", { regarding: { ...POOL, apiVersion: "v1", kind: "Pod" } }),
    );
    await api.call("POST", "/api/v1/namespaces/default/events", {
      metadata: { name: "old-style" },
      involvedObject: POOL,
      message: "moved by the Go operator",
      reason: "Moved",
      type: "Warning",
      source: { component: "go-operator" },
      firstTimestamp: new Date(Date.now() - 60_000).toISOString(),
      lastTimestamp: new Date().toISOString(),
      count: 3,
    });
    const refused = { type: "Warning", reason: "Failed" };
    await api.call("POST", EVENTS, anEvent("again", "Could not move 203.0.113.10 to n9: it was refused.", refused));
    const series = { count: 7, lastObservedTime: new Date().toISOString().replace("Z", "000Z") };
    await api.call("PATCH", `${EVENTS}/again`, { series }, "application/merge-patch+json");
    const { changes } = await told("pool/default/web");
    const messages = changes.map(({ message, count, outcome, by = "-" }) => `${message} ${count} ${outcome} ${by}`);
    expect(messages).toContain("moved by the Go operator 3 failed go-operator");
    expect(messages).toContain("could not move 203.0.113.10 to n9: it was refused. 7 failed flipop-1");
    expect(messages.join()).not.toContain("Somebody");
  });

  test("more Events than a page holds are all told", async () => {
    const notes = Array.from({ length: 520 }, (_, n) => `Moved 203.0.113.10 from m${n} to m${n + 1}: it was due.`);
    for (let at = 0; at < notes.length; at += 40)
      await Promise.all(
        notes.slice(at, at + 40).map((note, n) => api.call("POST", EVENTS, anEvent(`page-${at + n}`, note))),
      );
    const { changes } = await told("pool/default/web");
    expect(changes.filter(({ message }) => message.endsWith("it was due."))).toHaveLength(520);
  });

  test("without the right to list Events, one line says which is missing, and the rest is told, by explain, too", async () => {
    interface Role {
      readonly rules: readonly { readonly apiGroups: readonly string[] }[];
    }
    const path = `${RBAC}/clusterroles/flipop-viewer`;
    const { rules } = await api.call<Role>("GET", path);
    const fewer = rules.filter(({ apiGroups }) => !apiGroups.includes("events.k8s.io"));
    expect(fewer.length).toBe(rules.length - 1);
    await api.call("PATCH", path, { rules: fewer }, "application/merge-patch+json");
    const said = 'Grant the verb "list" on "events.events.k8s.io"';
    try {
      await expect.poll(async () => (await told()).gaps).toEqual([expect.stringMatching(/^Events are not shown\. /)]);
      const { stdout, code } = await asViewer("history", "pool/default/web");
      expect([code, stdout]).toEqual([0, expect.stringContaining(said)]);
      expect(stdout).toContain("is ready");
      const explained = await asViewer("explain", "pool/default/web");
      expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining(said)]);
    } finally {
      await api.call("PATCH", path, { rules }, "application/merge-patch+json");
    }
  });
});
