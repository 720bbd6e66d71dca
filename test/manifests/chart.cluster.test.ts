// The chart as helm takes it: what it renders is what `flipop manifests` prints, and what it installs outlives upgrades.
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { CHART } from "../../bin/chart.ts";
import { chartArchive } from "../../bin/release.ts";
import type { WatchRequest } from "../../src/cli/wiring.ts";
import { invoke } from "../cli/invoke.ts";
import { API } from "../cluster/api.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { describeCluster } from "../cluster/context.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { documents, type PodSpecOnWire, shippedText } from "./shipped.ts";

const helm = await toolOrSkip("helm");
const chart = fileURLToPath(new URL(`../../${CHART}`, import.meta.url));

const home = mkdtempSync(join(tmpdir(), "flipop-helm-"));
afterAll(() => rmSync(home, { recursive: true }));
const env = { PATH: process.env["PATH"], HOME: home };

/** Runs helm where nobody has used it before. */
function run(...args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(helm ?? "", args, { encoding: "utf8", env });
}

/** Flags that mean something for a CronJob only, and those for the Deployment only. */
const FOR_CRONJOB = [
  "settle",
  "pushgateway",
  "push-job",
  "push-grouping",
  "confirm",
  "max-voluntary-moves",
  "max-purchases",
  "max-removals",
];
const FOR_WATCH = ["interval"];

/** What can be chosen, as values.yaml has it. */
type Values = Readonly<Record<string, unknown>>;
type Object = Readonly<Record<string, unknown>>;

let count = 0;
function fileOf(values: Values): string {
  count += 1;
  const path = join(home, `values-${count}.yaml`);
  writeFileSync(path, stringify(values));
  return path;
}

/** The text that the chart renders. */
function rendered(values: Values, namespace = "ops"): string {
  const { stdout, stderr, status } = run("template", "flipop", chart, "-n", namespace, "-f", fileOf(values));
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout;
}

/** Objects by kind and name, without the one annotation that only a chart needs. */
function byName(text: string): Readonly<Record<string, Object>> {
  const all = documents(text).filter((object) => object !== null);
  return Object.fromEntries(
    all.map((object) => {
      const { annotations, ...metadata } = object["metadata"] as {
        readonly name: string;
        readonly annotations?: object;
      };
      const kept = Object.entries(annotations ?? {}).filter(([name]) => name !== "helm.sh/resource-policy");
      const more = kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) };
      return [`${object["kind"]}/${metadata.name}`, { ...object, metadata: { ...metadata, ...more } }];
    }),
  );
}

const printed = async (...flags: readonly string[]): Promise<string> => {
  const { stdout, stderr, exitCode } = await invoke(["manifests", "-n", "ops", ...flags]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
};

const DIGEST = `sha256:${"0a".repeat(32)}`;
const WEBHOOK_IMAGE = "registry.k8s.io/external-dns/external-dns:v0.22.0";
const NONE = { crds: false, rbac: false, networkpolicy: false };
const [EXAMPLE] = documents(shippedText("configmap.yaml"));

describe.skipIf(helm === undefined)("the chart, by helm,", () => {
  test("has nothing that helm lint finds wrong, in either mode", () => {
    for (const mode of ["cronjob", "watch"]) {
      const { stdout, status } = run("lint", "--strict", "--set", `mode=${mode}`, chart);
      expect([stdout, status]).toEqual([expect.stringContaining("0 chart(s) failed"), 0]);
    }
  });

  test.for<[values: Values, flags: readonly string[]]>([
    [{}, ["--only", "crds,rbac,cronjob,networkpolicy"]],
    [{ mode: "watch" }, ["--only", "crds,rbac,watcher,networkpolicy"]],
    [
      { mode: "watch", parts: { policy: true, alerts: true, servicemonitor: true, dashboard: true } },
      ["--only", "crds,rbac,watcher,networkpolicy,policy,alerts,servicemonitor,dashboard"],
    ],
    [{ parts: NONE }, ["--only", "cronjob"]],
    [
      {
        parts: { ...NONE, alerts: true },
        image: { repository: "ghcr.io/acme/flipop", digest: DIGEST },
        schedule: "*/5 8-18 * * mon-fri",
        pod: { priorityClass: "system-cluster-critical" },
        runbooks: "https://wiki.example.com/flipop",
      },
      [
        "--only=cronjob,alerts",
        `--image=ghcr.io/acme/flipop@${DIGEST}`,
        "--schedule=*/5 8-18 * * mon-fri",
        "--priority-class=system-cluster-critical",
        "--runbooks=https://wiki.example.com/flipop",
      ],
    ],
    [
      { mode: "watch", parts: NONE, image: { repository: "localhost:5000/flipop", tag: "1.2.3" } },
      ["--only=watcher", "--image=localhost:5000/flipop:1.2.3"],
    ],
    [{ parts: NONE, environment: EXAMPLE?.["data"] }, ["--only=cronjob,configmap"]],
    [{ parts: NONE, dnsWebhook: { image: WEBHOOK_IMAGE } }, ["--only=cronjob", `--dns-webhook-image=${WEBHOOK_IMAGE}`]],
    [
      { mode: "watch", parts: NONE, dnsWebhook: { image: `acme/dns@${DIGEST}` }, pod: { priorityClass: "high" } },
      ["--only=watcher", `--dns-webhook-image=acme/dns@${DIGEST}`, "--priority-class=high"],
    ],
    [{ parts: NONE, notify: { secret: "hooks" } }, ["--only=cronjob", "--notify-secret-name=hooks"]],
    [
      { mode: "watch", parts: NONE, notify: { secret: "hooks" }, dnsWebhook: { image: WEBHOOK_IMAGE } },
      ["--only=watcher", "--notify-secret-name=hooks", `--dns-webhook-image=${WEBHOOK_IMAGE}`],
    ],
    ...(["cronjob", "watch"] as const).map((mode): [Values, readonly string[]] => [
      { mode, parts: NONE, notify: { secret: "1234", fileKey: "on-call.txt", secretFileKey: "0123" } },
      [
        `--only=${mode === "watch" ? "watcher" : mode}`,
        "--notify-secret-name=1234",
        "--notify-file-key=on-call.txt",
        "--notify-secret-file-key=0123",
      ],
    ]),
    [
      { shards: ["1/3", "2/3", "3/3", "vip"], parts: { alerts: true } },
      [
        "--only=crds,rbac,cronjob,networkpolicy,alerts",
        ...["1/3", "2/3", "3/3", "vip"].map((shard) => `--shard=${shard}`),
      ],
    ],
    [
      {
        mode: "watch",
        shards: ["1/2", "2/4", "4/4"],
        notify: { secret: "hooks" },
        dnsWebhook: { image: WEBHOOK_IMAGE },
      },
      [
        "--only=crds,rbac,watcher,networkpolicy",
        ...["1/2", "2/4", "4/4"].map((shard) => `--shard=${shard}`),
        "--notify-secret-name=hooks",
        `--dns-webhook-image=${WEBHOOK_IMAGE}`,
      ],
    ],
  ])("renders %j as flipop manifests prints it, object by object", async ([values, flags]) => {
    const objects = byName(rendered(values));
    const wanted = byName(await printed(...flags));
    expect(Object.keys(objects).sort()).toEqual(Object.keys(wanted).sort());
    expect(objects).toEqual(wanted);
  });

  test("keeps the CRDs, and nothing else, when a release ends", () => {
    const kept = documents(rendered({ mode: "watch", parts: { policy: true } })).filter(({ metadata }) =>
      JSON.stringify(metadata).includes('"helm.sh/resource-policy":"keep"'),
    );
    expect(kept.map(({ kind }) => kind)).toEqual(Array(4).fill("CustomResourceDefinition"));
  });

  /** The pod of the CronJob or the Deployment, with what stands beside its spec. */
  function podOf(values: Values): { readonly metadata: Object; readonly spec: PodSpecOnWire } {
    const found = documents(rendered({ parts: NONE, ...values })).find(({ kind }) =>
      /CronJob|Deployment/.test(`${kind}`),
    );
    const spec = found?.["spec"] as {
      readonly jobTemplate?: { readonly spec: { readonly template: never } };
      readonly template: never;
    };
    return spec.jobTemplate?.spec.template ?? spec.template;
  }

  test("flags go before those of the manifest, and false takes one away", () => {
    const flags = {
      timeout: "40s",
      settle: false,
      "max-purchases": 1_000_000,
      confirm: true,
      "push-grouping": ["a=b", "c=d"],
    };
    expect(podOf({ flags: { ...flags, grants: false } }).spec.containers[0]?.args.join(" ")).toBe(
      "reconcile --timeout 40s --partial ok --on-locked skip --log-format json --confirm --max-purchases 1000000 --push-grouping a=b --push-grouping c=d",
    );
  });

  /** A value of each flag that the chart takes. */
  function allFlags(mode: string): Readonly<Record<string, unknown>> {
    const { properties } = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")).properties.flags;
    const samples: Readonly<Record<string, unknown>> = {
      namespace: "shop",
      selector: "app=web",
      grants: "warn",
      "lease-duration": "20s",
      "retry-period": "1s",
      pushgateway: "http://push.example.com:9091",
      "push-grouping": ["cluster=a"],
      notify: ["https://hooks.example.com/flipop"],
      "dns-webhook": ["webhook-route53=http://127.0.0.1:8889"],
      "dns-token-file": ["webhook-route53=/run/token"],
    };
    const entries = Object.entries(properties as Record<string, Record<string, unknown>>).map(([name, schema]) => {
      const [choice] = (schema["enum"] ?? []) as readonly string[];
      const value = samples[name] ?? choice ?? { boolean: true, integer: 3 }[`${schema["type"]}`] ?? "11s";
      return [name, value] as const;
    });
    const others = mode === "watch" ? FOR_CRONJOB : FOR_WATCH;
    return Object.fromEntries(entries.filter(([name]) => !others.includes(name)));
  }

  test("flipop understands every flag that the chart takes for a CronJob", async () => {
    const scene = { observation: steady(), answer: async () => ({ kind: "done" as const, value: aQuietRun() }) };
    const flags = allFlags("cronjob");
    const { args } = podOf({ flags }).spec.containers[0] ?? { args: [] };
    const { exitCode, stderr, requests } = await invoke(args, scene);
    expect([exitCode, requests.length], stderr).toEqual([0, 1]);
    expect(args).toEqual(expect.arrayContaining(Object.keys(flags).map((name) => `--${name}`)));
  });

  test("flipop understands every flag that the chart takes for the Deployment", async () => {
    const requests: WatchRequest[] = [];
    const watch = async (request: WatchRequest): Promise<{ readonly kind: "stopped" }> => {
      requests.push(request);
      return { kind: "stopped" };
    };
    const flags = allFlags("watch");
    const { args } = podOf({ mode: "watch", flags }).spec.containers[0] ?? { args: [] };
    const local = args.map((arg) => (arg === ":8080" ? "127.0.0.1:0" : arg));
    const { exitCode, stderr } = await invoke(local, { observation: steady(), watch });
    expect([exitCode, requests.length], stderr).toEqual([0, 1]);
    expect(args).toEqual(expect.arrayContaining(Object.keys(flags).map((name) => `--${name}`)));
  });

  test.for(["cronjob", "watch"])("puts everything about the pod of mode %s where it belongs", (mode) => {
    const toleration = { key: "edge", operator: "Exists" };
    const resources = { requests: { memory: "256Mi" }, limits: { memory: "512Mi" } };
    const pod = {
      labels: { team: "net" },
      annotations: { a: "1" },
      nodeSelector: { pool: "x" },
      tolerations: [toleration],
      resources,
    };
    const dnsWebhook = { image: WEBHOOK_IMAGE };
    const before = podOf({ mode, dnsWebhook });
    const after = podOf({ mode, dnsWebhook, pod, secret: "tokens", image: { pullSecrets: [{ name: "registry" }] } });
    const { tolerations = [] } = before.spec as { readonly tolerations?: readonly object[] };
    expect(after.metadata).toEqual({
      labels: { ...(before.metadata["labels"] as object), team: "net" },
      annotations: { a: "1" },
    });
    expect(after.spec).toEqual({
      ...before.spec,
      imagePullSecrets: [{ name: "registry" }],
      nodeSelector: { pool: "x" },
      tolerations: [toleration, ...tolerations],
      containers: before.spec.containers.map((container) => ({ ...container, resources })),
      volumes: before.spec.volumes.map((volume) =>
        volume.secret === undefined ? volume : { ...volume, secret: { ...volume.secret, secretName: "tokens" } },
      ),
    });
  });

  test("names every process in what helm says after an installation", () => {
    const values = fileOf({ shards: ["1/2", "2/2"] });
    const { stdout, stderr } = run("install", "flipop", chart, "-n", "ops", "--dry-run=client", "-f", values);
    expect(stdout, stderr).toContain("as CronJob ops/flipop-1-of-2, ops/flipop-2-of-2.");
  });

  test("restarts what watches when its variables change, and nothing that starts each minute anyway", () => {
    const annotationsOf = (mode: string, value: string): unknown =>
      podOf({ mode, environment: { HTTPS_PROXY: value } }).metadata["annotations"];
    expect(annotationsOf("watch", "http://a:3128")).not.toEqual(annotationsOf("watch", "http://b:3128"));
    expect(annotationsOf("cronjob", "http://a:3128")).toBeUndefined();
  });

  test("adds rules of egress, labels for Prometheus and Grafana, and the policy's actions", () => {
    const objects = byName(
      rendered({
        mode: "watch",
        parts: { policy: true, alerts: true, servicemonitor: true, dashboard: true },
        extraEgress: [{ ports: [{ port: 3128 }] }],
        monitoringLabels: { release: "prometheus" },
        grantsPolicy: { actions: ["Warn", "Audit"] },
      }),
    );
    for (const name of ["PrometheusRule/flipop", "ServiceMonitor/flipop", "ConfigMap/flipop-dashboard"])
      expect(objects[name], name).toMatchObject({ metadata: { labels: { release: "prometheus" } } });
    const { spec } = objects["NetworkPolicy/flipop"] as { readonly spec: { readonly egress: readonly object[] } };
    expect(spec.egress[0]).toEqual({ ports: [{ port: 3128 }] });
    expect(spec.egress.length).toBeGreaterThan(1);
    expect(objects["ValidatingAdmissionPolicyBinding/flipop-grants"]).toMatchObject({
      spec: { validationActions: ["Warn", "Audit"] },
    });
  });

  test.for<[values: Values, why: string]>([
    [{ mode: "daemonset" }, "at '/mode'"],
    [{ part: {} }, "additional properties 'part' not allowed"],
    [{ parts: { secrets: true } }, "additional properties 'secrets' not allowed"],
    [{ image: { tag: "latest" } }, "at '/image/tag'"],
    [{ image: { digest: "0a" } }, "at '/image/digest'"],
    [{ schedule: "* * * *" }, "at '/schedule'"],
    [{ schedule: '* * * * "' }, "at '/schedule'"],
    [{ secret: "" }, "at '/secret'"],
    [{ flags: { timeout: "soon" } }, "at '/flags/timeout'"],
    [{ flags: { "max-purchases": -1 } }, "at '/flags/max-purchases'"],
    [{ flags: { kubeconfig: "x" } }, "additional properties 'kubeconfig' not allowed"],
    ...FOR_WATCH.map((name): [Values, string] => [
      { flags: { [name]: "60s" } },
      `flags.${name} means nothing with mode cronjob. Leave it out.`,
    ]),
    [{ mode: "watch", flags: { settle: true } }, "flags.settle means nothing with mode watch. Leave it out."],
    [{ mode: "watch", flags: { "max-removals": 0 } }, "flags.max-removals means nothing with mode watch."],
    [{ environment: { CLOUDFLARE_TOKEN: "x" } }, "CLOUDFLARE_TOKEN_FILE: /var/run/secrets/flipop/CLOUDFLARE_TOKEN"],
    [{ environment: { PUSHGATEWAY_PASSWORD: "x" } }, "environment.PUSHGATEWAY_PASSWORD would be readable"],
    [{ environment: { "a b": "x" } }, "invalid propertyName 'a b'"],
    [{ environment: { FLIPOP_MAX_REMOVALS: 3 } }, "at '/environment/FLIPOP_MAX_REMOVALS'"],
    [{ pod: { labels: { "app.kubernetes.io/name": "x" } } }, "invalid propertyName 'app.kubernetes.io/name'"],
    [{ grantsPolicy: { actions: [] } }, "at '/grantsPolicy/actions'"],
    [{ runbooks: "https://wiki.example.com/{{ $x }}" }, "at '/runbooks'"],
    [{ notify: { secret: "Hooks" } }, "at '/notify/secret'"],
    [{ notify: { secret: "hooks", key: "urls" } }, "additional properties 'key' not allowed"],
    [{ notify: { secret: "hooks", fileKey: "a/b" } }, "at '/notify/fileKey'"],
    [{ notify: { secret: "hooks", fileKey: "..urls" } }, "at '/notify/fileKey'"],
    [{ notify: { secret: "hooks", secretFileKey: "." } }, "at '/notify/secretFileKey'"],
    [{ notify: { fileKey: "urls" } }, "are keys of a Secret. Name it in notify.secret."],
    [{ mode: "watch", notify: { secretFileKey: "secret" } }, "are keys of a Secret. Name it in notify.secret."],
    [
      { notify: { secret: "hooks" }, flags: { "notify-file": "/x" } },
      "flags.notify-file and notify.secret both say where the URLs are.",
    ],
    [
      { mode: "watch", notify: { secret: "hooks", secretFileKey: "s" }, flags: { "notify-secret-file": "/x" } },
      "flags.notify-secret-file and notify.secretFileKey both say what signs.",
    ],
    [{ parts: { servicemonitor: true } }, "parts.servicemonitor needs mode watch"],
    [{ shards: ["1/3", "1/2"] }, "shards has 1/3 and 1/2, which share objects. Name shards that share none."],
    [{ mode: "watch", shards: ["2/6", "vip", "4/4"] }, "shards has 2/6 and 4/4, which share objects."],
    [{ shards: ["4/3"] }, "shards has 4/3, which is no part of 3."],
    [{ shards: ["1/101"] }, "at '/shards/0'"],
    [{ shards: ["vip", "vip"] }, "at '/shards'"],
    [{ shards: ["2-of-3"] }, "at '/shards/0'"],
    [{ shards: ["Web"] }, "at '/shards/0'"],
    [{ shards: [7] }, "at '/shards/0'"],
    [
      { shards: ["vip"], pod: { labels: { "app.kubernetes.io/instance": "x" } } },
      "which tells the pods of shards apart",
    ],
  ])("refuses %j and says why", ([values, why]) => {
    const { stderr, status } = run("template", "flipop", chart, "-f", fileOf(values));
    expect([stderr, status]).toEqual([expect.stringContaining(why), 1]);
  });

  test("is taken as the archive of a release, with the image of that release", () => {
    const archive = join(home, "flipop-chart.tgz");
    writeFileSync(archive, chartArchive("ghcr.io/acme"));
    const { stdout, stderr } = run("template", "flipop", archive, "-n", "ops");
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^ +image: ghcr\.io\/acme\/flipop:\d+\.\d+\.\d+$/m);
    expect(byName(stdout)).toHaveProperty(["CustomResourceDefinition/routedips.flipop.digitalocean.com"]);
  });

  test("may be a part of another chart", () => {
    const parent = join(home, "parent");
    cpSync(chart, join(parent, "charts/flipop"), { recursive: true });
    writeFileSync(
      join(parent, "Chart.yaml"),
      "apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies: [{ name: flipop, version: x.x.x, condition: flipop.enabled }]\n",
    );
    writeFileSync(join(parent, "values.yaml"), "flipop: { enabled: true }\nglobal: { region: nyc3 }\n");
    const { stdout, stderr } = run("template", "p", parent, "-n", "ops", "--set", "flipop.mode=watch");
    expect(stderr).toBe("");
    expect(byName(stdout)).toHaveProperty(["Deployment/flipop"]);
  });
});

describeCluster("a release of the chart", (cluster) => {
  const api = new API({ ...cluster, token: cluster.adminToken });
  const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/floatingippools.flipop.digitalocean.com";
  const ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/flipop";
  let namespace: string;
  let pool: string;

  /** Runs helm on the cluster, and returns what it says when it fails; empty when it does not. */
  const release = (...args: readonly string[]): string => {
    const { stderr, status } = run(...args, "-n", namespace, "--kubeconfig", cluster.kubeconfig);
    return status === 0 ? "" : stderr;
  };

  /** The chart as an earlier release had it, whose pools knew no status.acquired. */
  function earlierChart(): string {
    const folder = join(home, "earlier");
    cpSync(chart, folder, { recursive: true });
    const edit = (path: string, change: (text: string) => string): void => {
      const text = readFileSync(join(folder, path), "utf8");
      expect(change(text)).not.toBe(text);
      writeFileSync(join(folder, path), change(text));
    };
    edit("Chart.yaml", (text) => text.replace(/^version: .*/m, "version: 0.0.9"));
    edit("templates/crds.yaml", (text) => text.replace(/^( +)acquired:\n(?:\1 .*\n)+/m, ""));
    return folder;
  }

  const acquired = [{ ip: "203.0.113.7", acquiredAt: "2026-01-02T03:04:05Z" }];
  interface Pool {
    readonly metadata: { readonly uid: string };
    readonly status?: { readonly acquired?: unknown };
  }
  const readPool = async (): Promise<readonly unknown[]> => {
    const { metadata, status } = await api.call<Pool>("GET", pool);
    return [metadata.uid, status?.acquired];
  };
  /** Writes into the pool's status what flipop remembers by, and returns what is still there of it. */
  const remember = async (): Promise<unknown> => {
    await api.call("PATCH", `${pool}/status`, { status: { acquired } }, "application/merge-patch+json");
    return (await readPool())[1];
  };
  /** Which of these are there: the CronJob, the Deployment, a role, a CRD. */
  const there = async (): Promise<readonly number[]> => {
    const job = `/apis/batch/v1/namespaces/${namespace}/cronjobs/flipop`;
    const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/flipop`;
    const answers = [job, deployment, ROLE, CRD].map(async (path) => (await api.request("GET", path)).status);
    return await Promise.all(answers);
  };

  beforeAll(async () => {
    namespace = await api.createNamespace("chart");
    pool = `/apis/flipop.digitalocean.com/v1alpha1/namespaces/${namespace}/floatingippools/web`;
  });
  afterAll(async () => {
    if (helm !== undefined) release("uninstall", "flipop");
    api.close();
  });

  test.skipIf(helm === undefined).for(["cronjob", "watch"])(
    "is applied in mode %s with every field known",
    async (mode) => {
      const parts = { policy: true, dashboard: true };
      const notify = { secret: "hooks", secretFileKey: "secret" };
      const values = { mode, parts, notify, environment: { HTTPS_PROXY: "http://proxy:3128" } };
      const own = await api.createNamespace("strict");
      const text = rendered({ ...values, grantsPolicy: { actions: ["Warn", "Audit"] } }, own);
      const kinds = (await api.applyManifests(text)).map(({ kind }) => kind);
      expect(kinds).toEqual(
        expect.arrayContaining([mode === "watch" ? "Deployment" : "CronJob", "ValidatingAdmissionPolicy", "ConfigMap"]),
      );
    },
  );

  test.skipIf(helm === undefined)(
    "takes over what was applied, and its objects outlive an upgrade from the chart before, and its end",
    async () => {
      // What another test applied for the watcher belongs to no release, and would be in the way of one.
      for (const plural of ["clusterroles", "clusterrolebindings"])
        await api.request("DELETE", `/apis/rbac.authorization.k8s.io/v1/${plural}/flipop-watcher`);
      await api.applyManifests((await invoke(["manifests", "-n", namespace])).stdout);
      expect(release("install", "flipop", earlierChart())).toContain("invalid ownership metadata");
      expect(release("install", "flipop", earlierChart(), "--take-ownership", "--force-conflicts")).toBe("");
      const spec = { provider: "digitalocean", region: "nyc3", ips: ["203.0.113.10"], match: { nodeLabel: "a=b" } };
      const body = {
        apiVersion: "flipop.digitalocean.com/v1alpha1",
        kind: "FloatingIPPool",
        metadata: { name: "web" },
      };
      await api.call("POST", pool.replace(/\/web$/, ""), { ...body, spec });
      const [uid] = await readPool();
      // An old CRD drops what it does not know.
      await expect.poll(remember).toBeUndefined();
      expect(await there()).toEqual([200, 404, 200, 200]);

      expect(release("upgrade", "flipop", chart, "--set", "mode=watch")).toBe("");
      await expect.poll(remember).toEqual(acquired);
      expect(await there()).toEqual([404, 200, 200, 200]);

      // Back again, as the manual says, without the CRDs of then.
      const back = [join(home, "earlier"), "--reset-then-reuse-values", "--set", "parts.crds=false"];
      expect(release("upgrade", "flipop", ...back)).toBe("");
      expect([await there(), await remember(), await readPool()]).toEqual([
        [404, 200, 200, 200],
        acquired,
        [uid, acquired],
      ]);

      expect(release("uninstall", "flipop")).toBe("");
      expect([await there(), await readPool()]).toEqual([
        [404, 404, 404, 200],
        [uid, acquired],
      ]);
      expect(release("install", "flipop", chart)).toBe("");
      expect([await there(), await readPool()]).toEqual([
        [200, 404, 200, 200],
        [uid, acquired],
      ]);
    },
  );
});
