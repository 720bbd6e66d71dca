// The commands of README.md that lead from a cluster and a token to a running CronJob, typed.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { FLIPOP, IN_IMAGE } from "../programs/entry.ts";
import { commandsOf } from "../readme/commands.ts";
import { type EmulatedAccount, type ProgramRun, runCommand, startAccount } from "./cluster-run.ts";
import { runCronJob } from "./cronjob-run.ts";

const kubectl = await toolOrSkip("kubectl");

const IMAGE = "registry.example/flipop:0.1.0";
const ADDRESS = "203.0.113.10";

describeCluster("three commands", (shared) => {
  void shared;
  const folder = mkdtempSync(join(tmpdir(), "flipop-install-"));
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    account = await startAccount([101], [ADDRESS]);
    for (const name of ["bin", "programs"]) mkdirSync(join(folder, name));
    symlinkSync(FLIPOP, join(folder, "bin", "flipop"));
    symlinkSync(kubectl ?? "", join(folder, "programs", "kubectl"));
    writeFileSync(join(folder, "DIGITALOCEAN_ACCESS_TOKEN"), SECRET_TOKEN);
    writeFileSync(join(folder, "CLOUDFLARE_TOKEN"), "");
  });
  afterAll(async () => {
    await account.close();
    api.close();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Types a command where the checkout and the tokens are. */
  async function type(command: string): Promise<ProgramRun> {
    const PATH = [join(folder, "programs"), process.env["PATH"]].join(delimiter);
    const line = `cd ${folder} && ${command.replaceAll("REGISTRY/flipop:0.1.0", IMAGE)}`;
    return await runCommand(["/bin/sh", "-c", line], { PATH, HOME: folder, KUBECONFIG: cluster.kubeconfig });
  }

  test.skipIf(kubectl === undefined)(
    "lead from a cluster and a token to a CronJob whose pod puts an address on a node",
    async () => {
      const commands = commandsOf("README.md", "In the cluster", 0);
      expect(commandsOf("cronjob/README.md", "As a CronJob", 0).slice(0, 3)).toEqual(commands);
      const [image = "", manifests = "", secret = ""] = commands;
      expect(commands).toHaveLength(3);
      // The first one makes the image, whose tests are elsewhere; the pod below runs what it holds.
      expect(image).toContain("cronjob/Dockerfile");

      expect(await type(manifests)).toMatchObject({ code: 0, stderr: "" });
      expect(await type(secret)).toMatchObject({ code: 0, stdout: "secret/flipop created\n", stderr: "" });
      const path = "/apis/batch/v1/namespaces/flipop/cronjobs/flipop";
      expect(JSON.stringify(await api.call("GET", path))).toContain(`"image":"${IMAGE}"`);

      await api.createNode({ name: "n1", providerID: "digitalocean://101", region: "nyc3" });
      await api.call("POST", "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools", {
        apiVersion: "flipop.digitalocean.com/v1alpha1",
        kind: "FloatingIPPool",
        metadata: { name: "web" },
        spec: { provider: "digitalocean", ips: [ADDRESS] },
      });
      const run = await runCronJob(api, cluster, {
        namespace: "flipop",
        app: IN_IMAGE,
        env: { DIGITALOCEAN_API_URL: account.url },
      });
      expect(run).toMatchObject({ code: 0, stdout: "" });
      expect(account.sandbox.cloud().state.reserved_ips).toMatchObject([{ ip: ADDRESS, droplet_id: 101 }]);

      const again = await type(manifests);
      expect([again.code, again.stderr]).toEqual([0, ""]);
      expect(again.stdout).toContain("cronjob.batch/flipop serverside-applied");
    },
  );

  test.skipIf(kubectl === undefined)("say what is wrong where the token's file is missing", async () => {
    const [, , secret = ""] = commandsOf("README.md", "In the cluster", 0);
    const { code, stderr } = await type(
      `mkdir -p empty && cd empty && ${secret.replace("generic flipop", "generic other")}`,
    );
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("DIGITALOCEAN_ACCESS_TOKEN: no such file or directory"),
    ]);
  });
});
