// `npm run docs` makes the Helm chart anew from what cronjob/ and the flags of `flipop reconcile` are: templates, the schema of the values and the
// version. Written by hand are only chart/values.yaml, chart/templates/_helpers.tpl and NOTES.txt.
//
//   flipop manifests --only PART, with a mark in the place of each value  ->  the marks become templates  ->  chart/templates/PART.yaml
//
// So a template holds what `flipop manifests` prints, and what helm renders for the same choices is the same, object by object.
import { readFileSync } from "node:fs";
import { duration, lookInterval, wholeNumber } from "../src/cli/flag-values.ts";
import type { FlagRow } from "../src/cli/flags.ts";
import {
  MANIFEST_MODES,
  MANIFEST_PARTS,
  type ManifestMode,
  type ManifestPart,
  manifestText,
} from "../src/cli/manifests.ts";
import { RECONCILE } from "../src/cli/reconcile-flags.ts";

/** Where the chart lies, from the root of the project. */
export const CHART = "cronjob/chart";

/** Returns every file of the chart that is made, with its path below {@link CHART}. Reads cronjob/ and package.json. */
export function chartFiles(): ReadonlyMap<string, string> {
  const parts = MANIFEST_PARTS.filter((part) => CONDITIONS[part] !== undefined);
  return new Map([
    ["Chart.yaml", chartText()],
    ["values.schema.json", jsonText(valuesSchema())],
    ...parts.map((part) => [`templates/${part}.yaml`, template(part)] as const),
  ]);
}

function chartText(): string {
  const url = new URL("../package.json", import.meta.url);
  const { version, description, homepage } = JSON.parse(readFileSync(url, "utf8"));
  return `# ${MADE}
apiVersion: v2
name: flipop
description: ${description}
type: application
version: ${version}
appVersion: ${version}
# Earlier API servers do not know the rules of the CRDs that let stored objects be.
kubeVersion: ">=1.30.0-0"
home: ${homepage}
sources: [${homepage}]
keywords: [digitalocean, reserved-ip, dns, failover]
`;
}

const MADE = "Made by npm run docs; change what it is made from (bin/chart.ts says what that is).";

/** When the chart renders a part; undefined = never: Helm makes the namespace, and tokens do not belong into a release. */
const CONDITIONS: Readonly<Record<ManifestPart, string | undefined>> = {
  namespace: undefined,
  crds: ".Values.parts.crds",
  rbac: ".Values.parts.rbac",
  cronjob: 'eq .Values.mode "cronjob"',
  watcher: 'eq .Values.mode "watch"',
  networkpolicy: ".Values.parts.networkpolicy",
  host: ".Values.parts.host",
  policy: ".Values.parts.policy",
  secret: undefined,
  configmap: ".Values.environment",
  alerts: ".Values.parts.alerts",
  servicemonitor: ".Values.parts.servicemonitor",
  dashboard: ".Values.parts.dashboard",
};

function template(part: ManifestPart): string {
  const marked = manifestText([part], {
    namespace: "@namespace@",
    image: "@image@",
    schedule: "@schedule@",
    priorityClass: "@priorityClass@",
    dnsWebhookImage: "@dnsWebhook@",
    notifySecretName: "@notifySecret@",
    notifyFileKey: "@notifyFileKey@",
    notifySecretFileKey: "@notifySecretFileKey@",
    runbooks: "@runbooks@",
    shard: [{ kind: "named", name: "@shard@" }],
  });
  // What alerts and the dashboard have in double braces is for Prometheus and Grafana.
  const text = ofEachShard(
    edited(marked.replaceAll("{{", '{{ "{{" }}'), [...VALUES, ...(EDITS[part]?.() ?? [])], part),
  );
  return `{{- /* ${MADE} */ -}}\n{{- if ${CONDITIONS[part]} }}\n${text}{{- end }}\n`;
}

/** A place in the text of a part, and what stands there in the template; an optional one need not be there. */
interface Edit {
  readonly place: RegExp;
  readonly by: string;
  readonly isOptional?: boolean;
}

/** @throws Error for a place that is not there, so that no choice is lost when a manifest changes */
function edited(text: string, edits: readonly Edit[], part: ManifestPart): string {
  return edits.reduce((result, { place, by, isOptional }) => {
    if (isOptional !== true && result.search(place) < 0) throw new Error(`${part} has no ${place}`);
    return result.replace(place, by);
  }, text);
}

/** Repeats each object that has the name of a shard for every shard of the values; without shards it is there once, and has no shard. */
function ofEachShard(text: string): string {
  const objects = text.split(/^---\n/m).map((object) => {
    if (!object.includes(`  name: ${NAME}\n`)) return object;
    return `{{- range $at, $shard := fromJsonArray (include "flipop.shards" .) }}\n{{- $name := include "flipop.name" $shard }}\n{{- with $ }}\n{{- if $at }}\n---\n{{- end }}\n${object}{{- end }}\n{{- end }}\n`;
  });
  return objects.join("---\n");
}

/** The name of what there is once for each shard. */
const NAME = "{{ $name }}";

const OF_SHARD: readonly Edit[] = [
  {
    place: /^( +)- name: FLIPOP_SHARD\n\1 .*\n/m,
    by: whenText("$shard", "$1- name: FLIPOP_SHARD\n$1  value: {{ $shard | quote }}\n"),
  },
  { place: /^ +app\.kubernetes\.io\/instance: .*\n/gm, by: whenText("$shard", "$&") },
];

const VALUES: readonly Edit[] = [
  { place: /(?<=resourceNames: )\[flipop, flipop-@shard@\]/g, by: '{{ include "flipop.leases" . }}', isOptional: true },
  ...OF_SHARD.map((edit) => ({ ...edit, isOptional: true })),
  { place: /flipop-@shard@/g, by: NAME, isOptional: true },
  { place: /@namespace@/g, by: "{{ .Release.Namespace }}", isOptional: true },
  { place: /@image@/g, by: '{{ include "flipop.image" . }}', isOptional: true },
  { place: /@schedule@/g, by: "{{ .Values.schedule }}", isOptional: true },
  { place: /@runbooks@/g, by: "{{ .Values.runbooks }}", isOptional: true },
];

/** Returns an edit that puts a value, if there is one, as YAML below the line that `place` ends with. */
function below(place: RegExp, value: string, indent: number): Edit {
  return { place, by: `$&{{- with ${value} }}\n{{ toYaml . | indent ${indent} }}\n{{- end }}\n` };
}

/** Returns an edit that leaves lines out unless something is chosen. */
function when(condition: string, place: RegExp): Edit {
  return { place, by: whenText(condition, "$&") };
}

function whenText(condition: string, lines: string): string {
  return `{{- if ${condition} }}\n${lines}{{- end }}\n`;
}

const MONITORING: Edit = below(/^ {2}labels:\n/m, ".Values.monitoringLabels", 4);

const EDITS: Readonly<Partial<Record<ManifestPart, () => readonly Edit[]>>> = {
  crds: () => [{ place: /^metadata:\n/gm, by: "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n" }],
  cronjob: () => podEdits("cronjob"),
  watcher: () => podEdits("watch"),
  host: () => [
    {
      place: /^(?= {6}serviceAccountName: )/m,
      by: "{{- with .Values.image.pullSecrets }}\n      imagePullSecrets:\n{{ toYaml . | indent 8 }}\n{{- end }}\n",
    },
  ],
  networkpolicy: () => [below(/^ {2}egress:\n/m, ".Values.extraEgress", 4)],
  policy: () => [{ place: /(?<=^ +validationActions: )\[Deny\]$/m, by: "{{ toJson .Values.grantsPolicy.actions }}" }],
  configmap: () => [
    { place: /^#.*\n/gm, by: "" },
    {
      place: /^data:\n[\s\S]+/m,
      by: `data:\n{{- range $name, $value := .Values.environment }}\n${REFUSE_SECRETS}  {{ $name }}: {{ $value | quote }}\n{{- end }}\n`,
    },
  ],
  alerts: () => [
    MONITORING,
    {
      place: /^( +)absent\(flipop_build_info\{shard="@shard@"\}\)$/m,
      by: '{{- range $at, $shard := fromJsonArray (include "flipop.shards" .) }}\n$1{{ if $at }}or {{ end }}absent(flipop_build_info{{ if $shard }}{shard={{ $shard | quote }}}{{ end }})\n{{- end }}',
    },
  ],
  servicemonitor: () => [
    {
      place: /^/,
      by: '{{- if ne .Values.mode "watch" }}\n{{- fail "parts.servicemonitor needs mode watch: a CronJob serves no metrics, it pushes them (environment.PUSHGATEWAY_URL)." }}\n{{- end }}\n',
    },
    MONITORING,
  ],
  dashboard: () => [MONITORING],
};

const REFUSE_SECRETS = `{{- if regexMatch "(TOKEN|PASSWORD)$" $name }}
{{- fail (printf "environment.%s would be readable in the release. Put it into the Secret and name its file: %s_FILE: /var/run/secrets/flipop/%s" $name $name $name) }}
{{- end }}
`;

/** The edits of the part that holds the pod: a CronJob's, or the Deployment's. */
function podEdits(mode: ManifestMode): readonly Edit[] {
  const indent = mode === "cronjob" ? 10 : 6;
  const blanks = " ".repeat(indent);
  const optional = (field: string, value: string): string =>
    `{{- with ${value} }}\n${blanks}${field}:\n{{ toYaml . | indent ${indent + 2} }}\n{{- end }}\n`;
  const restart =
    mode === "watch"
      ? `{{- with .Values.environment }}\n${blanks}  checksum/environment: {{ toJson . | sha256sum }}\n{{- end }}\n`
      : "";
  const isAnnotated = mode === "watch" ? "or .Values.pod.annotations .Values.environment" : ".Values.pod.annotations";
  const annotations = `{{- if ${isAnnotated} }}\n${blanks}annotations:\n${restart}{{- with .Values.pod.annotations }}\n{{ toYaml . | indent ${indent + 2} }}\n{{- end }}\n{{- end }}\n`;
  return [
    {
      place: new RegExp(`(?<=^ {${indent - 2}}metadata:\n)( {${indent}}labels:\n)`, "m"),
      by: `${annotations}$1{{- with .Values.pod.labels }}\n{{ toYaml . | indent ${indent + 2} }}\n{{- end }}\n`,
    },
    {
      place: new RegExp(`^(?= {${indent}}serviceAccountName: )`, "m"),
      by: [
        optional("imagePullSecrets", ".Values.image.pullSecrets"),
        optional("nodeSelector", ".Values.pod.nodeSelector"),
        mode === "cronjob" ? optional("tolerations", ".Values.pod.tolerations") : "",
      ].join(""),
    },
    ...(mode === "watch" ? [below(/^ {6}tolerations:\n/m, ".Values.pod.tolerations", 8)] : []),
    {
      place: /^( +)priorityClassName: @priorityClass@\n/m,
      by: "{{- with .Values.pod.priorityClass }}\n$1priorityClassName: {{ . }}\n{{- end }}\n",
    },
    ...dnsWebhookEdits(),
    ...notifyEdits(),
    { place: /(?<=^ +secretName: )flipop$/m, by: "{{ .Values.secret }}" },
    {
      // Those of flipop, not those of a sidecar before it.
      place: /(?<=- name: NODE_OPTIONS\n(?:.*\n)*)^( +)resources:\n(?:\1 .*\n)+/m,
      by: `{{- with .Values.pod.resources }}\n$1resources:\n{{ toYaml . | indent ${indent + 6} }}\n{{- else }}\n$&{{- end }}\n`,
    },
    { place: /(?<=^ +args: )\[reconcile, (.+)\]$/m, by: argsOf(mode) },
  ];
}

function dnsWebhookEdits(): readonly Edit[] {
  const isChosen = ".Values.dnsWebhook.image";
  return [
    when(isChosen, /^( +)# The DNS provider that .*\n\1#.*\n\1initContainers:\n(?:\1 .*\n)+/m),
    { place: /@dnsWebhook@/, by: "{{ .Values.dnsWebhook.image }}" },
    { place: /(?<=^ +name: )flipop-dns-webhook$/m, by: "{{ .Values.dnsWebhook.secret }}" },
    when(isChosen, /^( +)- name: FLIPOP_DNS_WEBHOOK\n\1 .*\n/m),
    when(isChosen, /^( +)#.*\n\1- name: no-token\n\1 .*\n/m),
  ];
}

function notifyEdits(): readonly Edit[] {
  const isChosen = 'include "flipop.notifySecret" .';
  const isSigned = ".Values.notify.secretFileKey";
  return [
    // Each place is found by its marks, so the inner ones come first.
    when(isSigned, /^( +)- name: FLIPOP_NOTIFY_SECRET_FILE\n\1 .*\n/m),
    when(isSigned, /^( +)- key: "@notifySecretFileKey@"\n\1 .*\n/m),
    when(isChosen, /^( +)- name: FLIPOP_NOTIFY_FILE\n\1 .*\n\{\{- if .*\n(?:\1.*\n)+\{\{- end \}\}\n/m),
    when(isChosen, /^( +)- name: notify\n\1 +mountPath: .*\n\1 .*\n/m),
    when(isChosen, /^( +)#.*\n\1- name: notify\n\1 +secret:\n(?:\1 .*\n|\{\{.*\n)+/m),
    { place: /"@notifySecret@"/, by: `{{ ${isChosen} | quote }}` },
    { place: /"@notifyFileKey@"/, by: '{{ .Values.notify.fileKey | default "urls" | quote }}' },
    { place: /"@notifySecretFileKey@"/, by: `{{ ${isSigned} | quote }}` },
  ];
}

/** What makes the command line: the flags of the manifest, and which others mean nothing in this mode. */
function argsOf(mode: ManifestMode): string {
  const part = mode === "cronjob" ? "cronjob" : "watcher";
  const [, line = ""] = /^ +args: \[reconcile, (.+)\]$/m.exec(manifestText([part])) ?? [];
  const words = line.split(", ").map((word) => word.replace(/^"(.*)"$/, "$1"));
  const pairs = words.flatMap((word, at) => {
    if (!word.startsWith("--")) return [];
    const next = words[at + 1];
    const value = next === undefined || next.startsWith("--") ? "true" : JSON.stringify(next);
    return [`(dict "name" ${JSON.stringify(word.slice(2))} "value" ${value})`];
  });
  const others = chartFlags().filter(([, , modes]) => !modes.includes(mode));
  const names = others.map(([name]) => JSON.stringify(name)).join(" ");
  return `{{ include "flipop.args" (dict "shipped" (list ${pairs.join(" ")}) "flags" .Values.flags "others" (list ${names}) "mode" .Values.mode) }}`;
}

/** In which modes the chart takes a flag of `reconcile`; none for what is the manifest's own, or means nothing where nobody sits at a terminal. */
const FLAG_MODES: Readonly<Record<keyof typeof RECONCILE, readonly ManifestMode[]>> = {
  kubeconfig: [],
  context: [],
  namespace: MANIFEST_MODES,
  allNamespaces: [],
  selector: MANIFEST_MODES,
  // Names of what is installed, and the Role of the Lease, depend on it: the value shards says it.
  shard: [],
  requestTimeout: MANIFEST_MODES,
  as: [],
  asGroup: [],
  dnsWebhook: MANIFEST_MODES,
  dnsTokenFile: MANIFEST_MODES,
  // The Role of the Lease names both.
  leaseNamespace: [],
  leaseName: [],
  output: [],
  quiet: MANIFEST_MODES,
  verbose: MANIFEST_MODES,
  color: [],
  logFormat: MANIFEST_MODES,
  grants: MANIFEST_MODES,
  onLocked: MANIFEST_MODES,
  leaseDuration: MANIFEST_MODES,
  renewDeadline: MANIFEST_MODES,
  retryPeriod: MANIFEST_MODES,
  lock: [],
  watch: [],
  interval: ["watch"],
  // Service, NetworkPolicy and probes name the port.
  metricsAddr: [],
  pushgateway: ["cronjob"],
  pushJob: ["cronjob"],
  pushGrouping: ["cronjob"],
  notify: MANIFEST_MODES,
  notifyFile: MANIFEST_MODES,
  notifySource: MANIFEST_MODES,
  notifySecretFile: MANIFEST_MODES,
  settle: ["cronjob"],
  timeout: MANIFEST_MODES,
  partial: MANIFEST_MODES,
  yes: [],
  confirm: ["cronjob"],
  maxVoluntaryMoves: ["cronjob"],
  maxPurchases: ["cronjob"],
  maxRemovals: ["cronjob"],
  plan: [],
  allOrNothing: [],
  maxAge: [],
};

/** The flags that the chart takes: name without dashes, row, modes. */
function chartFlags(): readonly (readonly [name: string, row: FlagRow, modes: readonly ManifestMode[]])[] {
  return Object.entries(RECONCILE).flatMap(([field, row]) => {
    const modes = FLAG_MODES[field as keyof typeof RECONCILE];
    const [, name = ""] = /--([\w-]+)/.exec(row.spelling) ?? [];
    return modes.length === 0 ? [] : [[name, row, modes] as const];
  });
}

/** A JSON Schema, of draft 7, which Helm 3 and 4 read. */
type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
const anyOf = (description: string, type: string, more: Schema = {}): Schema => ({ type, description, ...more });
const fields = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...more,
});

const DNS_LABEL = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/**
 * As `--shard` takes it: one part of at most 100, such as `2/3`, or the value of the label.
 * A template refuses what is wrong beyond that: a part such as `4/3`, and two shards that share objects.
 */
const SHARD = "^(([1-9]\\d?|100)/([1-9]\\d?|100)|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$";
/** A key of a Secret, or none. */
const SECRET_KEY: Schema = { pattern: "^(\\.?[-\\w][-\\w.]*)?$", maxLength: 253 };
const TEXTS: Schema = { additionalProperties: { type: "string" } };

/** The labels by which the manifests select pods are theirs. */
const OWN_LABELS: Schema = {
  ...TEXTS,
  propertyNames: { not: { enum: ["name", "component", "part-of"].map((name) => `app.kubernetes.io/${name}`) } },
};

function valuesSchema(): Schema {
  const optional = MANIFEST_PARTS.filter((part) => CONDITIONS[part] === `.Values.parts.${part}`);
  const properties = {
    mode: { enum: MANIFEST_MODES, description: "a CronJob, or a Deployment that watches" },
    parts: fields(Object.fromEntries(optional.map((part) => [part, { type: "boolean" }]))),
    image: fields({
      repository: text("the name that the image was pushed under", { pattern: "^[\\w.:/-]+$" }),
      tag: text("the chart's appVersion unless given", { pattern: "^(\\w[\\w.-]{0,127})?$", not: { const: "latest" } }),
      digest: text("goes before the tag", { pattern: "^(sha256:[0-9a-f]{64})?$" }),
      pullSecrets: anyOf("log in to the registry", "array", { items: fields({ name: { type: "string" } }) }),
    }),
    schedule: text("of the CronJob, in UTC", { pattern: '^(@\\w+|[^\\s"\\\\]+( [^\\s"\\\\]+){4})$' }),
    shards: anyOf("a process for each of these shards, each with objects of its own; none = one process", "array", {
      uniqueItems: true,
      items: { type: "string", maxLength: 40, pattern: SHARD, not: { pattern: "^\\d+-of-\\d+$" } },
    }),
    secret: text("an existing Secret with the tokens", { pattern: DNS_LABEL }),
    dnsWebhook: fields({
      image: text("image of a DNS webhook that runs beside flipop, by tag or digest", {
        pattern: "^$|[:@]",
        not: { pattern: ":latest$" },
      }),
      secret: text("an existing Secret with the variables that configure it", { pattern: DNS_LABEL }),
    }),
    notify: fields({
      secret: text("an existing Secret with the URLs to notify, mounted as files", { pattern: `^$|${DNS_LABEL}` }),
      fileKey: text("its key with the URLs, for flags.notify-file; urls unless given", SECRET_KEY),
      secretFileKey: text("its key with the secret that signs, for flags.notify-secret-file", SECRET_KEY),
    }),
    flags: fields(Object.fromEntries(chartFlags().map(([name, row]) => [name, flagSchema(row)]))),
    environment: anyOf("variables, which a ConfigMap holds", "object", {
      propertyNames: { pattern: "^[A-Za-z_]\\w*$" },
      ...TEXTS,
    }),
    pod: fields({
      priorityClass: text("a PriorityClass", { pattern: `^$|${DNS_LABEL}` }),
      labels: anyOf("further labels of the pods", "object", OWN_LABELS),
      annotations: anyOf("annotations of the pods", "object", TEXTS),
      nodeSelector: anyOf("labels of the nodes to run on", "object", TEXTS),
      tolerations: anyOf("further tolerations", "array", { items: { type: "object" } }),
      resources: anyOf("in place of the manifest's", "object"),
    }),
    extraEgress: anyOf("further rules of the NetworkPolicy", "array", { items: { type: "object" } }),
    grantsPolicy: fields({
      actions: { type: "array", minItems: 1, items: { enum: ["Deny", "Warn", "Audit"] } },
    }),
    runbooks: text("page with the sections on alerts", { pattern: "^https?://[^\\s#\"'{}<>\\\\]+$" }),
    monitoringLabels: anyOf("labels of what is for Prometheus and Grafana", "object", OWN_LABELS),
    // Helm's own, for a chart that has this one as its part.
    global: { type: "object" },
    enabled: { type: "boolean" },
  };
  return { $schema: "http://json-schema.org/draft-07/schema#", ...fields(properties) };
}

/** JSON as the formatter has it: a list of texts on one line. */
function jsonText(value: unknown): string {
  const lists = /\[\n +([^[\]{}]*)\n +\]/g;
  const oneLine = (items: string): string => `[${items.replaceAll(/,\n +/g, ", ")}]`;
  return `${JSON.stringify(value, null, 2).replace(lists, (_, items: string) => oneLine(items))}\n`;
}

function flagSchema({ help, value, spelling }: FlagRow): Schema {
  // YAML 1.1, which Helm reads, takes an off without quotation marks for false; a flag that is false is left out, which means off as well.
  if (typeof value !== "function")
    return { enum: value.includes("off") ? [...value, false] : value, description: help };
  if (!spelling.includes("<")) return anyOf(help, "boolean");
  if (value === duration || value === lookInterval) return text(help, { pattern: "^(\\d+(\\.\\d+)?(ms|s|m|h|d))+$" });
  if (value === wholeNumber) return anyOf(help, "integer", { minimum: 0, maximum: 1_000_000 });
  if (value === RECONCILE.pushGrouping.value) return anyOf(help, "array", { items: { type: "string" } });
  return text(help, { minLength: 1 });
}
