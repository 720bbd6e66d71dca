import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { kubectlOrSkip } from "../cluster/assets.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { ACCOUNT, playStory } from "./kubectl-story.ts";
import { serveSandbox } from "./served-sandbox.ts";

const kubectl = await kubectlOrSkip();

const parent = mkdtempSync(join(tmpdir(), "flipop-story-"));
const ends: (() => Promise<unknown>)[] = [];

/** Serves a world that holds nothing but the account, and returns what it says to export. */
async function serveAccount(name: string): Promise<Readonly<Record<string, string>>> {
  const folder = join(parent, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "digitalocean.yaml"), ACCOUNT);
  const sandbox = await serveSandbox(folder);
  ends.push(sandbox.end);
  return sandbox.env;
}

describeCluster("kubectl and flipop", () => {
  // One of its own: flipop also tells of what other tests leave on the one that they share.
  let cluster: Cluster;
  let api: API;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  });
  afterAll(async () => {
    for (const end of ends) await end();
    api.close();
    await cluster.stop();
    rmSync(parent, { recursive: true, force: true });
  });

  /** The taint that the node controller gives a cordoned node; it does not run here. */
  async function control(node: string): Promise<void> {
    await api.setNodeTaints(node, [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }]);
  }

  test.skipIf(kubectl === undefined)(
    "tell of a cordoned node and its address the same on the sandbox as on kube-apiserver",
    async () => {
      const folders = ["sandbox", "real"].map((name) => join(parent, `${name}-files`));
      for (const folder of folders) mkdirSync(folder);
      const [ownFolder = "", realFolder = ""] = folders;
      const own = await playStory({ kubectl: kubectl ?? "", env: await serveAccount("own"), folder: ownFolder });
      const account = { ...(await serveAccount("account")), KUBECONFIG: cluster.kubeconfig };
      const real = await playStory({ kubectl: kubectl ?? "", env: account, folder: realFolder, control });
      expect(own).toEqual(real);
      expect(own.filter((text) => text.includes("STORY-b") && text.startsWith("web"))).toHaveLength(1);
      const failed = own.filter((text) => !text.endsWith("exit 0") && text.startsWith("$"));
      expect(failed.map((text) => text.split("\n")[0])).toEqual([
        "$ kubectl apply -f FILE",
        "$ kubectl apply --server-side -f FILE --field-manager=other",
        "$ kubectl create -f FILE --dry-run=server",
        "$ kubectl patch fip web --type=merge -p",
      ]);
      expect(failed[1]).toContain('conflict with "kubectl": .spec.selector');
    },
    240_000,
  );
});
