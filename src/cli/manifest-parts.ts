import { readFileSync } from "node:fs";

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
  secret: ["secret.yaml"],
  configmap: ["configmap.yaml"],
  alerts: ["monitoring/prometheusrule.yaml"],
  servicemonitor: ["watch/servicemonitor.yaml"],
};

/** Name of a part, as `--only` takes it. */
export type ManifestPart =
  | "namespace"
  | "crds"
  | "rbac"
  | "cronjob"
  | "watcher"
  | "networkpolicy"
  | "secret"
  | "configmap"
  | "alerts"
  | "servicemonitor";

/** All parts, in the order to apply them. */
export const MANIFEST_PARTS: readonly ManifestPart[] = Object.keys(FILES) as ManifestPart[];

/** How flipop is started: by a CronJob, or as a Deployment that watches. */
export type ManifestMode = "cronjob" | "watch";

/** What is installed: without Secret and ConfigMap, which would overwrite yours, and without what not every cluster knows. For the CronJob it is what `cronjob/kustomization.yaml` holds. */
const INSTALLED: Readonly<Record<ManifestMode, readonly ManifestPart[]>> = {
  cronjob: ["namespace", "crds", "rbac", "cronjob", "networkpolicy"],
  watch: ["namespace", "crds", "rbac", "watcher", "networkpolicy"],
};

/** The modes, the usual one first. */
export const MANIFEST_MODES: readonly ManifestMode[] = Object.keys(INSTALLED) as ManifestMode[];

/** What differs from the shipped files; what is absent stays as shipped. All of it is checked already. */
export interface ManifestChanges {
  readonly namespace?: string;
  readonly image?: string;
  readonly schedule?: string;
  /** Name of a PriorityClass for the pods; without it they have the cluster's default. */
  readonly priorityClass?: string;
  /** URL of a page with the manual's sections on alerts. */
  readonly runbooks?: string;
}

/**
 * Returns the shipped manifests as one YAML text, comments included; without changes each file byte for byte, with `---` lines
 * between them. `parts` default to what the mode needs; their order does not matter. Reads the files beside the program.
 */
export function manifestText(
  parts: readonly ManifestPart[] | ManifestMode = "cronjob",
  changes: ManifestChanges = {},
): string {
  const wanted = typeof parts === "string" ? INSTALLED[parts] : parts;
  return MANIFEST_PARTS.filter((part) => wanted.includes(part))
    .flatMap((part) => FILES[part])
    .map((file) => changed(file, readFileSync(new URL(`../../cronjob/${file}`, import.meta.url), "utf8"), changes))
    .join("---\n");
}

function changed(
  file: string,
  text: string,
  { namespace, image, schedule, priorityClass, runbooks }: ManifestChanges,
): string {
  const edits: readonly (readonly [RegExp, string | undefined])[] = [
    [/(?<=^ +namespace: )flipop$/gm, namespace],
    [/(?<=kubectl -n )flipop(?= )/g, namespace],
    [file === "namespace.yaml" ? /(?<=^ {2}name: )flipop$/gm : /$^/, namespace],
    [/(?<=^ +image: )\S+$/gm, image],
    [/(?<=^ {2}schedule: ).+$/gm, schedule === undefined ? undefined : JSON.stringify(schedule)],
    [
      /(?<=^ +)# priorityClassName: \S+$/gm,
      priorityClass === undefined ? undefined : `priorityClassName: ${priorityClass}`,
    ],
    [/(?<=^ +runbook_url: )\S+(?=#)/gm, runbooks],
  ];
  return edits.reduce(
    (result, [place, value]) => (value === undefined ? result : result.replace(place, () => value)),
    text,
  );
}
