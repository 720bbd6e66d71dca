import { createHmac } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CloudflareSandbox, cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { scriptedGateway } from "../adapters/pushgateway/scripted-gateway.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { CLOUDFLARE_SECRET, HOOK_PATH, SECRET_TOKEN, SIGNING_SECRET } from "../fake/fake-tokens.ts";
import { shippedText } from "../manifests/shipped.ts";
import { debianProgram } from "../programs/debian-program.ts";
import { IN_IMAGE } from "../programs/entry.ts";
import { startPrometheus, startPushgateway } from "../pushgateway/server-program.ts";
import { type EmulatedAccount, type ProgramRun, runProgram, startAccount } from "./cluster-run.ts";
import { runCronJob } from "./cronjob-run.ts";

const [A, B] = ["203.0.113.10", "203.0.113.11"] as const;
const CUSTOM = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const SECRET = "/api/v1/namespaces/ops/secrets/flipop";
const RESERVED = "flipop.digitalocean.com/ipv4-reserved-ip";

/** An answer of Prometheus' API, as far as it is looked at. */
interface Answer {
  readonly status: string;
  readonly data: {
    readonly result: readonly unknown[];
    readonly groups: readonly { readonly rules: readonly { readonly health: string }[] }[];
  };
}

type Line = Readonly<Record<string, unknown>>;

describeCluster("the shipped CronJob, installed with flipop manifests", (cluster) => {
  void cluster;
  let own: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let cloudflare: CloudflareSandbox;
  const cloudflareFaults = new FaultList();
  let clouds: Readonly<Record<string, string>>;
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    own = await startCluster();
    api = new API({ ...own, token: own.adminToken });
    // A namespace that is not the default one: the Lease must follow the CronJob.
    await api.applyManifests((await runProgram(["manifests", "--namespace", "ops"], {})).stdout);
    const secret = shippedText("secret.yaml")
      .replace("namespace: flipop", "namespace: ops")
      .replace('ACCESS_TOKEN: ""', `ACCESS_TOKEN: ${SECRET_TOKEN}`)
      .replace('CLOUDFLARE_TOKEN: ""', `CLOUDFLARE_TOKEN: ${CLOUDFLARE_SECRET}`);
    await api.applyManifests(secret);
    account = await startAccount([101, 102, 103], [A, B]);
    account.sandbox.setDomain({ name: "example.com" });
    cloudflare = cloudflareSandbox({ faults: cloudflareFaults, now: Date.now });
    cloudflare.addZone({ name: "example.net" });
    const server = await cloudflare.serve();
    closing.push(
      () => account.close(),
      () => server.close(),
    );
    clouds = { DIGITALOCEAN_API_URL: account.url, CLOUDFLARE_API_URL: `${server.url}/client/v4` };
    for (const n of [1, 2, 3]) {
      await api.createNode({ name: `n${n}`, providerID: `digitalocean://${100 + n}`, region: "nyc3", ready: true });
    }
    const create = (resource: string, kind: string, spec: object): Promise<unknown> =>
      api.call("POST", `${CUSTOM}/${resource}`, {
        apiVersion: "flipop.digitalocean.com/v1alpha1",
        kind,
        metadata: { name: "web" },
        spec,
      });
    await create("floatingippools", "FloatingIPPool", {
      provider: "digitalocean",
      ips: [A, B],
      dnsRecordSet: { zone: "example.com", recordName: "www" },
    });
    const dnsRecordSet = { zone: "example.net", recordName: "nodes" };
    await create("nodednsrecordsets", "NodeDNSRecordSet", {
      provider: "cloudflare",
      addressType: RESERVED,
      dnsRecordSet,
    });
  });

  afterAll(async () => {
    for (const close of closing) await close();
    api?.close();
    await own?.stop();
  });

  /** Runs what the CronJob's pod would; `more` arguments come last. */
  const runPod = (...more: readonly string[]): Promise<ProgramRun> =>
    runCronJob(api, own, { namespace: "ops", app: IN_IMAGE, env: clouds, more });
  const linesOf = ({ stderr }: ProgramRun): readonly Line[] =>
    stderr
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line);
  const published = (): readonly string[] => [
    ...account.sandbox
      .cloud()
      .state.domains.flatMap(({ records }) =>
        records.filter(({ type }) => type === "A").map(({ name, data }) => `${name} ${data}`),
      ),
    ...cloudflare
      .account()
      .state.zones.flatMap(({ dns_records }) => dns_records.map(({ name, content }) => `${name} ${content}`)),
  ];
  const patchSecret = (data: object): Promise<unknown> =>
    api.call("PATCH", SECRET, { stringData: data }, "application/merge-patch+json");

  /** Everything in the cluster that flipop writes, as JSON. */
  const written = async (): Promise<string> => {
    const paths = [
      "/apis/events.k8s.io/v1/events",
      "/apis/flipop.digitalocean.com/v1alpha1/floatingippools",
      "/apis/flipop.digitalocean.com/v1alpha1/nodednsrecordsets",
      "/apis/coordination.k8s.io/v1/namespaces/ops/leases",
      "/api/v1/nodes",
    ];
    const lists = await Promise.all(paths.map((path) => api.list<object>(path)));
    expect(lists.map(({ length }) => length > 0)).toEqual(paths.map(() => true));
    return JSON.stringify(lists);
  };

  describe("in order", { shuffle: false }, () => {
    test("does its work, ends with 0, and prints JSON lines on stderr alone", async () => {
      const first = await runPod();
      expect(first).toMatchObject({ code: 0, stdout: "" });
      const lines = linesOf(first);
      for (const line of lines) {
        expect(line).toMatchObject({
          time: expect.any(String),
          level: "info",
          msg: expect.any(String),
          runID: lines[0]?.["runID"],
        });
        expect(line).toHaveProperty("planID");
      }
      expect(lines.filter((line) => line["object"] !== undefined).every((line) => line["reason"] !== undefined)).toBe(
        true,
      );
      expect([...published()].sort()).toEqual([
        `nodes.example.net ${A}`,
        `nodes.example.net ${B}`,
        `www ${A}`,
        `www ${B}`,
      ]);
      const lease = await api.call("GET", "/apis/coordination.k8s.io/v1/namespaces/ops/leases/flipop");
      expect(lease.metadata.annotations).toMatchObject({
        "flipop.digitalocean.com/last-result": expect.stringContaining("0"),
      });

      const second = await runPod();
      expect(second).toMatchObject({ code: 0, stdout: "" });
      expect(linesOf(second)).toMatchObject([
        { msg: "Nothing to do: 1 pool, 2 of 2 addresses active, 1 record set as desired." },
      ]);

      await api.setNodeReady("n1", false);
      expect((await runPod()).code).toBe(0);
      expect(account.sandbox.cloud().state.reserved_ips.find(({ ip }) => ip === A)?.droplet_id).toBe(103);

      await patchSecret({ DIGITALOCEAN_ACCESS_TOKEN: `${SECRET_TOKEN}\n` });
      expect((await runPod()).code).toBe(0);
    });

    test("ends with 0 while another run holds the Lease, and says who", async () => {
      const path = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/flipop";
      const hold = (holderIdentity: string): Promise<unknown> => {
        const spec = {
          holderIdentity,
          leaseDurationSeconds: 15,
          renewTime: new Date().toISOString().replace("Z", "000Z"),
        };
        return api.call("PATCH", path, { spec }, "application/merge-patch+json");
      };
      expect((await runPod()).code).toBe(0);
      await hold("a-person");
      const run = await runPod();
      await hold("");
      expect(run).toMatchObject({ code: 0, stdout: "" });
      expect(linesOf(run)).toMatchObject([
        { level: "info", reason: "Locked", msg: expect.stringContaining("a-person") },
      ]);
    });

    test("without a key of the Secret serves what needs the other, and the log names the file", async () => {
      await runPod();
      await patchSecret({ CLOUDFLARE_TOKEN: null });
      const { data } = await api.call<{ data: object }>("GET", SECRET);
      await api.call("PATCH", SECRET, { data: { ...data, CLOUDFLARE_TOKEN: null } }, "application/merge-patch+json");
      try {
        const run = await runPod("-v");
        expect(run).toMatchObject({ code: 0, stdout: "" });
        expect(run.stderr).toMatch(/\/CLOUDFLARE_TOKEN that CLOUDFLARE_TOKEN_FILE names/);
      } finally {
        await patchSecret({ CLOUDFLARE_TOKEN: CLOUDFLARE_SECRET });
      }
    });

    test("shows its metrics in a real Prometheus once the ConfigMap names a Pushgateway, and the dashboard's queries and the alerts are answered", async ({
      skip,
    }) => {
      const gatewayProgram = await debianProgram("prometheus-pushgateway", "prometheus-pushgateway");
      const prometheusProgram = await debianProgram("prometheus", "prometheus");
      if (gatewayProgram === undefined || prometheusProgram === undefined)
        return skip("needs Pushgateway and Prometheus");
      const directory = mkdtempSync(join(tmpdir(), "flipop-monitoring-"));
      const gateway = await startPushgateway(gatewayProgram, directory);
      closing.push(() => gateway.stop());
      const rules = fileURLToPath(new URL("../../cronjob/monitoring/rules.yaml", import.meta.url));
      const prometheus = await startPrometheus(prometheusProgram, directory, gateway, [rules]);
      closing.push(() => prometheus.stop());
      closing.push(() => rm(directory, { recursive: true }));
      await api.applyManifests(
        shippedText("configmap.yaml")
          .replace("namespace: flipop", "namespace: ops")
          .replace("http://pushgateway.monitoring:9091", gateway.url),
      );
      const run = await runPod();
      expect(run).toMatchObject({ code: 0, stdout: "" });
      expect(run.stderr).not.toContain("PushFailed");
      const ask = async (path: string): Promise<Answer> =>
        (await (await fetch(`${prometheus.url}/api/v1/${path}`)).json()) as Answer;
      const query = (expr: string): Promise<Answer> => ask(`query?query=${encodeURIComponent(expr)}`);
      const active =
        'flipop_floatingippoolcontroller_ip_state{cluster="production",namespace="default",name="web",state="active"}';
      await expect.poll(async () => (await query(active)).data.result.length).toBe(2);

      const dashboard = JSON.parse(shippedText("monitoring/dashboard.json")) as {
        panels: readonly { targets?: readonly { expr: string }[] }[];
      };
      const exprs = dashboard.panels
        .flatMap(({ targets }) => targets ?? [])
        .map(({ expr }) => expr.replaceAll("$cluster", ".*"));
      const answers = await Promise.all(exprs.map(async (expr) => [(await query(expr)).status, expr]));
      expect(answers.filter(([status]) => status !== "success")).toEqual([]);
      await expect
        .poll(async () => (await ask("rules")).data.groups.flatMap((group) => group.rules.map(({ health }) => health)))
        .toEqual([...shippedText("monitoring/rules.yaml").matchAll(/- alert:/g)].map(() => "ok"));
      expect((await query('ALERTS{alertstate="firing"}')).data.result).toEqual([]);
    });

    test("notifies, signed, whom a Secret of its own names, and works while that Secret is missing", async () => {
      const receiver = await scriptedGateway();
      closing.push(() => receiver.close());
      const install = async (...flags: readonly string[]): Promise<void> => {
        const { stdout } = await runProgram(["manifests", "--namespace=ops", "--only=cronjob", ...flags], {});
        await api.applyManifests(stdout);
      };
      const keys = ["--notify-file-key=on-call", "--notify-secret-file-key=hmac"];
      await install("--notify-secret-name=hooks", ...keys);
      const holderOf = (ip: string): unknown =>
        account.sandbox.cloud().state.reserved_ips.find((one) => one.ip === ip)?.droplet_id;

      await api.setNodeReady("n1", true);
      await api.setNodeReady("n3", false);
      const unheard = await runPod();
      expect(unheard.code).toBe(0);
      expect(holderOf(A)).toBe(101);
      expect(unheard.stderr).toContain("/var/run/secrets/flipop-notify/urls of --notify-file (ENOENT)");

      const stringData = { "on-call": `${receiver.url}${HOOK_PATH}\n`, hmac: SIGNING_SECRET, other: "x" };
      await api.call("POST", "/api/v1/namespaces/ops/secrets", { metadata: { name: "hooks" }, stringData });
      await api.setNodeReady("n3", true);
      await api.setNodeReady("n1", false);
      const heard = await runPod();
      expect(heard.code).toBe(0);
      expect(heard.stderr).not.toContain("Could not notify");
      expect(holderOf(A)).toBe(103);
      expect(receiver.requests.length).toBeGreaterThan(0);
      for (const { path, body, headers } of receiver.requests) {
        const digest = createHmac("sha256", SIGNING_SECRET).update(body).digest("hex");
        expect([path, headers["x-flipop-signature"]]).toEqual([HOOK_PATH, `sha256=${digest}`]);
      }
      await install();
    });

    test("no token is in a log, an Event, a status, an annotation or a Lease, whatever fails", async () => {
      // Each server knows only the token that it was sent.
      const echo = { body: { id: "unauthorized", message: `bad token ${SECRET_TOKEN}` } };
      const cloudflareEcho = { body: { errors: [{ code: 9109, message: `bad token ${CLOUDFLARE_SECRET}` }] } };
      const outputs: string[] = [];
      for (const status of [400, 401, 403, 422, 500]) {
        await api.setNodeReady("n2", status % 2 === 0);
        account.faults.add({ server: "digitalocean", path: "actions|records", status, times: 0, ...echo });
        cloudflareFaults.add({ server: "cloudflare", path: "dns_records", status, times: 0, ...cloudflareEcho });
        outputs.push((await runPod("-vv", "--timeout", "6s")).stderr);
        account.faults.clear();
        cloudflareFaults.clear();
      }
      expect(outputs.join("")).toMatch(/DigitalOcean .*bad token \[redacted\]/);
      expect(outputs.join("")).toMatch(/Cloudflare .*bad token \[redacted\]/);
      const text = `${await written()}${outputs.join("")}`;
      expect(text).not.toContain(SECRET_TOKEN);
      expect(text).not.toContain(CLOUDFLARE_SECRET);
    });
  });
});
