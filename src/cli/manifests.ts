import { readFileSync } from "node:fs";
import { ConfigError } from "../model/errors.ts";
import type { Shard } from "../model/shard.ts";
import { EXIT } from "../report/exit-code.ts";
import { type Streams, writeText } from "./output.ts";
import { withShards } from "./shard-manifests.ts";

/** Runs `manifests`: prints the shipped manifests with what the flags change. Needs no cluster. Returns the exit code. @throws ConfigError `usage` for flags that do not go together */
export function runManifests(streams: Streams, { only, mode, ...changes }: ManifestFlags): number {
  if (mode === "watch" && changes.schedule !== undefined)
    throw new ConfigError(
      "usage",
      "--schedule is for the CronJob: with --mode watch nothing is scheduled. Leave it out.",
    );
  if (changes.notifySecretName === undefined && (changes.notifyFileKey ?? changes.notifySecretFileKey) !== undefined)
    throw new ConfigError(
      "usage",
      "--notify-file-key and --notify-secret-file-key are keys of a Secret. Name it with --notify-secret-name.",
    );
  writeText(streams, manifestText(only ?? mode, changes, mode));
  return EXIT.done;
}

/** Parts of the shipped manifests, in the order to apply them, with their files below `cronjob/`. */
const FILES: Readonly<Record<ManifestPart, readonly string[]>> = {
  namespace: ["namespace.yaml"],
  crds: [
    "crds/floatingippools.yaml",
    "crds/nodednsrecordsets.yaml",
    "crds/routedips.yaml",
    "crds/routedipissuers.yaml",
  ],
  rbac: ["rbac.yaml"],
  cronjob: ["cronjob.yaml"],
  watcher: [
    "watch/rbac.yaml",
    "watch/deployment.yaml",
    "watch/poddisruptionbudget.yaml",
    "watch/networkpolicy.yaml",
    "watch/service.yaml",
  ],
  networkpolicy: ["networkpolicy.yaml"],
  host: ["host/namespace.yaml", "host/rbac.yaml", "host/daemonset.yaml"],
  policy: ["policy/policy.yaml"],
  secret: ["secret.yaml"],
  configmap: ["configmap.yaml"],
  alerts: ["monitoring/prometheusrule.yaml"],
  servicemonitor: ["watch/servicemonitor.yaml"],
  dashboard: ["monitoring/dashboard.json"],
};

/** Name of a part, as `--only` takes it. */
export type ManifestPart =
  | "namespace"
  | "crds"
  | "rbac"
  | "cronjob"
  | "watcher"
  | "networkpolicy"
  | "host"
  | "policy"
  | "secret"
  | "configmap"
  | "alerts"
  | "servicemonitor"
  | "dashboard";

/** All parts, in the order to apply them. */
export const MANIFEST_PARTS: readonly ManifestPart[] = Object.keys(FILES) as ManifestPart[];

/** flipop is started by a CronJob, or as a Deployment that watches. */
export type ManifestMode = "cronjob" | "watch";

/**
 * The parts that are installed. Secret and ConfigMap are not, since they would overwrite yours; nor are kinds that not every cluster knows; nor is the
 * admission policy, which refuses everything until namespaces have grants; nor is what runs as root on every node. For the CronJob they are those of `cronjob/kustomization.yaml`.
 */
const INSTALLED: Readonly<Record<ManifestMode, readonly ManifestPart[]>> = {
  cronjob: ["namespace", "crds", "rbac", "cronjob", "networkpolicy"],
  watch: ["namespace", "crds", "rbac", "watcher", "networkpolicy"],
};

/** The modes, the usual one first. */
export const MANIFEST_MODES: readonly ManifestMode[] = Object.keys(INSTALLED) as ManifestMode[];

/** The differences from the shipped files, checked already; an absent field stays as shipped. */
export interface ManifestChanges {
  readonly namespace?: string;
  readonly image?: string;
  readonly schedule?: string;
  /** Image of a DNS webhook, which runs beside flipop. */
  readonly dnsWebhookImage?: string;
  /** A Secret, of which keys are mounted as the files of `--notify-file` and `--notify-secret-file`. */
  readonly notifySecretName?: string;
  /** Its key with the URLs; `urls` unless given. */
  readonly notifyFileKey?: string;
  /** Its key with what signs; without it nothing is signed. */
  readonly notifySecretFileKey?: string;
  /** Name of a PriorityClass for the pods; without it they have the cluster's default. */
  readonly priorityClass?: string;
  /** What runs flipop is written once for each. Absent = once, without `--shard`. */
  readonly shard?: readonly Shard[];
  /** URL of a page with the manual's sections on alerts. */
  readonly runbooks?: string;
}

/** Flags of `manifests`. */
export interface ManifestFlags extends ManifestChanges {
  readonly only?: readonly ManifestPart[];
  readonly mode: ManifestMode;
}

/**
 * Returns the shipped manifests as one YAML text, comments included; without changes each file byte for byte, with `---` lines
 * between them. `parts` default to what the mode needs; their order does not matter. Among `rbac` is what only a watcher needs, in that mode.
 * Reads the files beside the program.
 */
export function manifestText(
  parts: readonly ManifestPart[] | ManifestMode = "cronjob",
  changes: ManifestChanges = {},
  mode: ManifestMode = typeof parts === "string" ? parts : "cronjob",
): string {
  const wanted = typeof parts === "string" ? INSTALLED[parts] : parts;
  const files = MANIFEST_PARTS.filter((part) => wanted.includes(part)).flatMap((part) =>
    part === "rbac" && mode === "watch" ? [...FILES.rbac, "watch/rbac.yaml"] : FILES[part],
  );
  return [...new Set(files)]
    .flatMap((file) => withShards(file, shipped(file), changes.shard ?? []).map((text) => changed(file, text, changes)))
    .join("---\n");
}

function shipped(file: string): string {
  const text = readFileSync(new URL(`../../cronjob/${file}`, import.meta.url), "utf8");
  return file.endsWith(".json") ? `${DASHBOARD}${text.replace(/^(?=.)/gm, "    ")}` : text;
}

/** What stands before the dashboard, so that Grafana's sidecar finds it. */
const DASHBOARD = `# Grafana's sidecar loads what carries its label, from any namespace that it looks into.
apiVersion: v1
kind: ConfigMap
metadata:
  name: flipop-dashboard
  namespace: flipop
  labels:
    app.kubernetes.io/name: flipop
    app.kubernetes.io/component: monitoring
    app.kubernetes.io/part-of: flipop
    grafana_dashboard: "1"
data:
  flipop.json: |
`;

function changed(file: string, text: string, changes: ManifestChanges): string {
  const { namespace, image, schedule, priorityClass, runbooks } = changes;
  const edits: readonly (readonly [RegExp, string | undefined])[] = [
    [/(?<=^ +namespace: )flipop(?=$|-host$)/gm, namespace],
    [/(?<=kubectl -n )flipop(?=(?:-host)? )/g, namespace],
    [file.endsWith("namespace.yaml") ? /(?<=^ {2}name: )flipop(?=$|-host$)/gm : /$^/, namespace],
    [/(?<=^ +image: )\S+$/gm, image],
    [/(?<=^ {2}schedule: ).+$/gm, schedule === undefined ? undefined : JSON.stringify(schedule)],
    [
      /(?<=^ +)# priorityClassName: \S+$/gm,
      priorityClass === undefined ? undefined : `priorityClassName: ${priorityClass}`,
    ],
    [/(?<=^ +runbook_url: )\S+(?=#)/gm, runbooks],
  ];
  const edited = edits.reduce(
    (result, [place, value]) => (value === undefined ? result : result.replace(place, () => value)),
    text,
  );
  // Nobody but flipop itself works beside what may change the host.
  return file.startsWith("host/") ? edited : withNotifySecret(withSidecar(edited, changes), changes);
}

/** Puts the DNS webhook beside flipop, if there is one and the text is that of a pod. */
function withSidecar(text: string, { dnsWebhookImage }: ManifestChanges): string {
  if (dnsWebhookImage === undefined) return text;
  const ofPod = text
    .replace(/^( +)containers:\n/m, (line, blanks) => `${indented(sidecar(dnsWebhookImage), blanks)}${line}`)
    .replace(/^( +)volumes:\n/m, (line, blanks) => `${line}${indented(NO_TOKEN, `${blanks}  `)}`);
  return withBelow(ofPod, /^( +)- name: CLOUDFLARE_TOKEN_FILE\n.*\n/m, SIDECAR_URL);
}

/** Puts lines below a place, indented as the place is: its first group. */
function withBelow(text: string, place: RegExp, lines: string): string {
  return text.replace(place, (found, blanks) => `${found}${indented(lines, blanks)}`);
}

function indented(lines: string, blanks: string): string {
  return lines.replace(/^(?=.)/gm, blanks);
}

/** Returns the sidecar as a native one: an init container that goes on. */
function sidecar(image: string): string {
  return `# The DNS provider that objects call webhook. It alone has its provider's credentials: every key of the Secret is a variable of it.
# A sidecar that a Job does not wait for needs Kubernetes 1.29; an older one would wait for its end before flipop starts.
initContainers:
  - name: dns-webhook
    image: ${image}
    imagePullPolicy: IfNotPresent
    restartPolicy: Always
    envFrom:
      - secretRef:
          name: flipop-dns-webhook
    resources:
      requests:
        cpu: 10m
        memory: 64Mi
      limits:
        memory: 256Mi
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
    volumeMounts:
      - name: no-token
        mountPath: /var/run/secrets/kubernetes.io/serviceaccount
        readOnly: true
`;
}

/** Kubernetes puts the token of the ServiceAccount into every container that has nothing in its place. */
const NO_TOKEN = `# Stands where the DNS webhook would else find flipop's token of the cluster.
- name: no-token
  emptyDir: {}
`;

const SIDECAR_URL = `- name: FLIPOP_DNS_WEBHOOK
  value: webhook=http://127.0.0.1:8888
`;

/** Mounts the Secret that notifications need, and tells flipop of its files, if there is one and the text is that of a pod. */
function withNotifySecret(
  text: string,
  { notifySecretName, notifyFileKey = "urls", notifySecretFileKey }: ManifestChanges,
): string {
  if (notifySecretName === undefined) return text;
  const files = [
    { variable: "FLIPOP_NOTIFY_FILE", file: "urls", key: notifyFileKey },
    { variable: "FLIPOP_NOTIFY_SECRET_FILE", file: "secret", key: notifySecretFileKey },
  ].filter(({ key }) => key !== undefined);
  const variables = files.map(({ variable, file }) => `- name: ${variable}\n  value: ${NOTIFY_FOLDER}/${file}\n`);
  // Quoted, since a key of digits alone would be a number.
  const items = files.map(({ file, key }) => `      - key: ${JSON.stringify(key)}\n        path: ${file}\n`);
  const withVariables = withBelow(text, /^( +)- name: NODE_OPTIONS\n.*\n/m, variables.join(""));
  const withMount = withBelow(withVariables, /^( +)- name: tmp\n +mountPath: .*\n/m, NOTIFY_MOUNT);
  const volume = `${notifyVolume(notifySecretName)}${items.join("")}`;
  return withBelow(withMount, /^( +)- name: tmp\n +emptyDir:\n(?:\1 {4}.*\n)+/m, volume);
}

const NOTIFY_FOLDER = "/var/run/secrets/flipop-notify";

const NOTIFY_MOUNT = `- name: notify
  mountPath: ${NOTIFY_FOLDER}
  readOnly: true
`;

/** Returns the volume up to its list of keys. */
function notifyVolume(secret: string): string {
  return `# While the Secret or a key is missing nobody is notified, and all else is done.
- name: notify
  secret:
    secretName: ${JSON.stringify(secret)}
    optional: true
    # 0440: the group is fsGroup.
    defaultMode: 288
    items:
`;
}

const IMAGE =
  /^(?:[\w.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::(?<tag>\w[\w.-]{0,127}))?(?<digest>@sha256:[0-9a-f]{64})?$/;

/** True for an image that stays the same: with a digest, or a tag other than `latest`. */
export function isPinnedImage(text: string): boolean {
  const { tag, digest } = IMAGE.exec(text)?.groups ?? {};
  return digest !== undefined || (tag !== undefined && tag !== "latest");
}

const PRIORITY_CLASS = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** True for a name that a PriorityClass can have. */
export function isPriorityClass(text: string): boolean {
  return text.length <= 253 && PRIORITY_CLASS.test(text);
}

const SECRET_KEY = /^\.?[-\w][-\w.]*$/;

/** True for a key that a Secret can have. Source: `IsConfigMapKey` of k8s.io/apimachinery, read 2026-11. */
export function isSecretKey(text: string): boolean {
  return text.length <= 253 && SECRET_KEY.test(text);
}

/** No space, quotation mark or brace: the text goes into YAML, where Prometheus reads it as a template. */
const RUNBOOKS = /^https?:\/\/[^\s#"'{}<>\\]+$/;

/** True for a URL that can stand in front of the names of alerts. */
export function isRunbooksURL(text: string): boolean {
  return RUNBOOKS.test(text) && URL.canParse(text);
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MACROS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Least and greatest value of each field, and the names that stand for values from the least on. */
const FIELDS: readonly (readonly [least: number, greatest: number, names: readonly string[]])[] = [
  [0, 59, []],
  [0, 23, []],
  [1, 31, []],
  [1, 12, MONTHS],
  [0, 6, DAYS],
];

/**
 * True for a schedule that a CronJob takes: five fields or one of the macros from `@hourly` to `@yearly`. Stricter than the API
 * server, which also takes `@every DURATION` and empty list entries. Source: the grammar of robfig/cron v3, which Kubernetes uses, read 2026-08.
 */
export function isCronSchedule(text: string): boolean {
  if (MACROS.includes(text)) return true;
  const fields = text.split(" ");
  return fields.length === FIELDS.length && FIELDS.every((field, i) => isField(fields[i] ?? "", field));
}

function isField(text: string, field: (typeof FIELDS)[number]): boolean {
  return text.split(",").every((part) => {
    const [range = "", step, ...more] = part.split("/");
    const isStep = step === undefined || /^[1-9]\d{0,3}$/.test(step);
    return more.length === 0 && isStep && isRange(range, field);
  });
}

function isRange(text: string, [least, greatest, names]: (typeof FIELDS)[number]): boolean {
  if (text === "*" || text === "?") return true;
  const ends = text.split("-").map((end) => {
    const named = names.indexOf(end.toLowerCase());
    return named >= 0 ? least + named : /^\d{1,4}$/.test(end) ? Number(end) : Number.NaN;
  });
  const [from = Number.NaN, to = from] = ends;
  return ends.length <= 2 && from >= least && from <= to && to <= greatest;
}
