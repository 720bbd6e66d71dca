import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { documents, type PodSpecOnWire, shippedText } from "../manifests/shipped.ts";
import { invoke } from "./invoke.ts";

const INSTALLED = parse(shippedText("kustomization.yaml")).resources as readonly string[];
const DIGEST = `sha256:${"0a".repeat(32)}`;

const printed = async (...args: readonly string[]): Promise<string> => {
  const { stdout, stderr, exitCode } = await invoke(["manifests", ...args]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
};

/** Every value of a document with its path, as `a.b[0]: value`. */
function leaves(value: unknown, path = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [`${path}: ${value}`];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

/** Lines of the first text's values that the second has otherwise. */
async function changedValues(...flags: readonly string[]): Promise<readonly string[]> {
  const all = ["--only", "namespace,crds,rbac,cronjob,networkpolicy,secret,configmap,alerts"];
  const [before, after] = [
    leaves(documents(await printed(...all))),
    leaves(documents(await printed(...all, ...flags))),
  ];
  expect(after).toHaveLength(before.length);
  return after.filter((line, i) => line !== before[i]);
}

/** The pod of the CronJob or the Deployment, and every object beside it. */
function podAndOthers(text: string): readonly [PodSpecOnWire, readonly object[]] {
  const isWorkload = ({ kind }: Readonly<Record<string, unknown>>): boolean => /^(CronJob|Deployment)$/.test(`${kind}`);
  const all = documents(text);
  const { spec } = all.find(isWorkload) as unknown as {
    readonly spec: Templated & { jobTemplate?: { spec: Templated } };
  };
  return [(spec.jobTemplate?.spec ?? spec).template.spec, all.filter((object) => !isWorkload(object))];
}

interface Templated {
  readonly template: { readonly spec: PodSpecOnWire };
}

describe("flipop manifests", () => {
  test("prints what kustomization.yaml holds, file by file, byte for byte", async () => {
    expect(await printed()).toBe(INSTALLED.map(shippedText).join("---\n"));
  });

  test.for([
    ["namespace", ["namespace.yaml"]],
    [
      "crds",
      ["crds/floatingippools.yaml", "crds/nodednsrecordsets.yaml", "crds/routedips.yaml", "crds/routedipissuers.yaml"],
    ],
    ["rbac", ["rbac.yaml"]],
    ["cronjob", ["cronjob.yaml"]],
    ["networkpolicy", ["networkpolicy.yaml"]],
    ["policy", ["policy/policy.yaml"]],
    ["secret", ["secret.yaml"]],
    ["configmap", ["configmap.yaml"]],
    ["alerts", ["monitoring/prometheusrule.yaml"]],
  ] as const)("--only %s prints its files byte for byte", async ([part, files]) => {
    expect(await printed("--only", part)).toBe(files.map(shippedText).join("---\n"));
  });

  test("--only takes several parts, in any order and way of writing, and prints them in the order to apply", async () => {
    const wanted = ["namespace.yaml", "rbac.yaml", "cronjob.yaml"].map(shippedText).join("---\n");
    expect(await printed("--only", "cronjob,rbac", "--only=namespace")).toBe(wanted);
    expect(await printed("--only", "cronjob,rbac,namespace,rbac")).toBe(wanted);
  });

  test("Secret and ConfigMap are printed only when asked for, so that applying the rest overwrites none", async () => {
    const kinds = documents(await printed()).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "Secret" || kind === "ConfigMap")).toEqual([]);
  });

  test("--only dashboard prints a ConfigMap that Grafana's sidecar finds, with the dashboard as it is", async () => {
    const [dashboard, ...more] = documents(await printed("--only", "dashboard", "-n", "monitoring"));
    expect([dashboard, more]).toEqual([
      expect.objectContaining({
        kind: "ConfigMap",
        metadata: expect.objectContaining({
          namespace: "monitoring",
          labels: expect.objectContaining({ grafana_dashboard: "1" }),
        }),
        data: { "flipop.json": shippedText("monitoring/dashboard.json") },
      }),
      [],
    ]);
  });

  test("the admission policy is printed only when asked for, since it refuses what nobody has granted", async () => {
    for (const mode of ["cronjob", "watch"]) {
      const kinds = documents(await printed("--mode", mode)).map(({ kind }) => String(kind));
      expect(kinds.filter((kind) => kind.startsWith("ValidatingAdmission"))).toEqual([]);
    }
    const kinds = documents(await printed("--only", "policy", "-n", "ops")).map(({ kind }) => kind);
    expect(kinds).toEqual(["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]);
  });

  test("--namespace changes where every object is, and what names it, and nothing else", async () => {
    const changed = await changedValues("--namespace", "ops");
    expect(
      changed.every((line) => /^\.\d+\.(metadata\.(name|namespace)|subjects\.\d+\.namespace): ops$/.test(line)),
    ).toBe(true);
    const moved = documents(await printed("-n", "ops"));
    const namespaced = moved.filter(({ kind }) => !/^(Namespace|Cluster|CustomResource)/.test(String(kind)));
    expect(namespaced.map(({ metadata }) => (metadata as { namespace: string }).namespace)).toEqual(
      namespaced.map(() => "ops"),
    );
    expect(namespaced.map(({ kind }) => kind).sort()).toEqual([
      "CronJob",
      "NetworkPolicy",
      "Role",
      "RoleBinding",
      "ServiceAccount",
    ]);
    expect(moved.find(({ kind }) => kind === "Namespace")).toMatchObject({ metadata: { name: "ops" } });
    const subjects = moved.flatMap(({ subjects: list }) => (list ?? []) as readonly { namespace: string }[]);
    expect(subjects.map(({ namespace }) => namespace)).toEqual(["ops", "ops", "ops"]);
    expect(await printed("-n", "ops", "--only=cronjob,secret")).not.toContain("-n flipop");
  });

  test("--image and --schedule change their one value", async () => {
    const changed = await changedValues(
      "--image",
      `ghcr.io/acme/flipop@${DIGEST}`,
      "--schedule",
      "*/5 8-18 * * mon-fri",
    );
    expect(changed).toEqual([
      expect.stringMatching(/\.spec\.schedule: \*\/5 8-18 \* \* mon-fri$/),
      expect.stringMatching(new RegExp(`\\.containers\\.0\\.image: ghcr\\.io/acme/flipop@${DIGEST}$`)),
    ]);
  });

  test.for(["cronjob", "watch"])(
    "--priority-class gives the pod of --mode %s a class, and changes nothing else",
    async (mode) => {
      const [before, after] = [
        leaves(documents(await printed("--mode", mode))),
        leaves(documents(await printed("--mode", mode, "--priority-class", "system-cluster-critical"))),
      ];
      const place = mode === "cronjob" ? /\.spec\.jobTemplate\.spec\.template\.spec/ : /\.spec\.template\.spec/;
      const added = after.filter((line) => !before.includes(line));
      expect(added).toEqual([
        expect.stringMatching(new RegExp(`${place.source}\\.priorityClassName: system-cluster-critical$`)),
      ]);
      expect(after.filter((line) => !added.includes(line))).toEqual(before);
    },
  );

  test.for(["cronjob", "watch"])(
    "--notify-secret-name mounts keys of a Secret in the pod of --mode %s, names their files to flipop, and changes nothing else",
    async (mode) => {
      const [before, others] = podAndOthers(await printed("--mode", mode));
      const [container] = before.containers;
      const mount = { name: "notify", mountPath: "/var/run/secrets/flipop-notify", readOnly: true };
      const variable = { name: "FLIPOP_NOTIFY_FILE", value: "/var/run/secrets/flipop-notify/urls" };
      const signing = { name: "FLIPOP_NOTIFY_SECRET_FILE", value: "/var/run/secrets/flipop-notify/secret" };
      const wanted = (env: readonly object[], ...items: readonly object[]): unknown => {
        const volumeMounts = [...(container?.volumeMounts ?? []), mount];
        const secret = { secretName: "hooks", optional: true, defaultMode: 0o440, items };
        return {
          ...before,
          containers: [{ ...container, env: [...(container?.env ?? []), ...env], volumeMounts }],
          volumes: [...before.volumes, { name: "notify", secret }],
        };
      };
      const flags = ["--mode", mode, "--notify-secret-name=hooks"];
      expect(podAndOthers(await printed(...flags))).toEqual([
        wanted([variable], { key: "urls", path: "urls" }),
        others,
      ]);
      const keys = ["--notify-file-key=on-call.txt", "--notify-secret-file-key=0123"];
      const items = [
        { key: "on-call.txt", path: "urls" },
        { key: "0123", path: "secret" },
      ];
      expect(podAndOthers(await printed(...flags, ...keys))).toEqual([wanted([variable, signing], ...items), others]);
    },
  );

  test("--runbooks changes where the alerts lead, each to its own section, and nothing else", async () => {
    const url = "https://wiki.example.com/ops/$&flipop";
    const alerts = [...shippedText("monitoring/rules.yaml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? "");
    const changed = await changedValues("--runbooks", url);
    expect(changed.map((line) => line.replace(/^.*runbook_url: /, ""))).toEqual(
      alerts.map((name) => `${url}#${name.toLowerCase()}`),
    );
  });

  test("a value with characters that a replacement could misread arrives as it is", async () => {
    expect(await changedValues("--schedule", "0 0 1,15 * ?")).toEqual([
      expect.stringMatching(/schedule: 0 0 1,15 \* \?$/),
    ]);
  });

  test.for([
    "flipop:v1",
    "localhost:5000/flipop:1",
    "ghcr.io/acme/flipop:1.2.3",
    `flipop@${DIGEST}`,
    `flipop:latest@${DIGEST}`,
  ])("the image %s is taken", async (image) => {
    expect(await printed("--image", image, "--only=cronjob")).toContain(`image: ${image}\n`);
  });

  test.for([
    ["--image=flipop", "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."],
    ["--image=flipop:latest", "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."],
    ["--image=Flipop:1", "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."],
    ["--image=flipop:1 # x", "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."],
    ["--image=flipop@sha256:abc", "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest."],
    ["--namespace=Ops", "It is no name of a namespace."],
    ["--namespace=a: b", "It is no name of a namespace."],
    ["--namespace=", "It is no name of a namespace."],
    ["--schedule=* * * *", "Write five fields like '*/5 * * * *', or a macro like @hourly."],
    ["--priority-class=", "It is no name of a PriorityClass."],
    ["--priority-class=Critical", "It is no name of a PriorityClass."],
    ["--priority-class=a: b", "It is no name of a PriorityClass."],
    ["--priority-class=a\nb", "It is no name of a PriorityClass."],
    ["--notify-secret-name=", "It is no name of a Secret."],
    ["--notify-secret-name=Hooks", "It is no name of a Secret."],
    ["--notify-secret-name=a\nb", "It is no name of a Secret."],
    ["--notify-file-key=", "It is no key of a Secret."],
    ["--notify-file-key=a/b", "It is no key of a Secret."],
    ["--notify-file-key=a\n", "It is no key of a Secret."],
    ["--notify-file-key=..urls", "It is no key of a Secret."],
    ["--notify-secret-file-key=.", "It is no key of a Secret."],
    [`--notify-secret-file-key=${"k".repeat(254)}`, "It is no key of a Secret."],
    ["--runbooks=", "Write it like https://wiki.example.com/flipop, without a #."],
    ["--runbooks=README.md", "Write it like https://wiki.example.com/flipop, without a #."],
    ["--runbooks=javascript:alert(1)", "Write it like https://wiki.example.com/flipop, without a #."],
    ["--runbooks=https://wiki.example.com/a b", "Write it like https://wiki.example.com/flipop, without a #."],
    ["--runbooks=https://wiki.example.com/a\n- x", "Write it like https://wiki.example.com/flipop, without a #."],
    ["--runbooks=https://wiki.example.com/#a", "Write it like https://wiki.example.com/flipop, without a #."],
    ["--runbooks=https://wiki.example.com/{{ $x }}", "Write it like https://wiki.example.com/flipop, without a #."],
    [
      "--only=",
      "Allowed are namespace, crds, rbac, cronjob, watcher, networkpolicy, host, policy, secret, configmap, alerts, servicemonitor, dashboard.",
    ],
    [
      "--only=rbac,crd",
      "Allowed are namespace, crds, rbac, cronjob, watcher, networkpolicy, host, policy, secret, configmap, alerts, servicemonitor, dashboard.",
    ],
  ])("%s is a usage error that says what is allowed", async ([flag, hint]) => {
    const { stdout, stderr, exitCode } = await invoke(["manifests", flag ?? ""]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 64 });
    expect(stderr).toContain(`${hint} See flipop manifests --help.\n`);
  });

  test.for(["--notify-file-key=urls", "--notify-secret-file-key=secret"])(
    "%s is a usage error without the Secret that it is a key of",
    async (flag) => {
      const { stdout, stderr, exitCode } = await invoke(["manifests", flag]);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 64 });
      expect(stderr).toContain("are keys of a Secret. Name it with --notify-secret-name.");
    },
  );

  test("a flag may come from the environment", async () => {
    const { stdout } = await invoke(["manifests", "--only=rbac"], { env: { FLIPOP_NAMESPACE: "ops" } });
    expect(stdout).toContain("namespace: ops\n");
    expect(stdout).not.toContain("namespace: flipop\n");
  });
});
