import { readdirSync, readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";

const ROOT = new URL("../../cronjob/", import.meta.url);

/** A JSON schema node of a CustomResourceDefinition, as far as the tests look into it. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode;
  readonly items?: SchemaNode;
}

/** The shipped CronJob, as far as the tests look into it. */
export interface CronJobOnWire {
  readonly spec: {
    readonly schedule: string;
    readonly concurrencyPolicy: string;
    readonly jobTemplate: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly activeDeadlineSeconds: number;
        readonly backoffLimit: number;
        readonly podFailurePolicy: {
          readonly rules: readonly { readonly action: string; readonly onExitCodes?: unknown }[];
        };
        readonly template: { readonly metadata: object; readonly spec: PodSpecOnWire };
      };
    };
  };
}

/** The pod of the shipped CronJob or Deployment, as far as the tests look into it. */
export interface PodSpecOnWire {
  readonly serviceAccountName: string;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
  readonly containers: readonly {
    readonly name: string;
    readonly image: string;
    readonly args: readonly string[];
    readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
    readonly env: readonly {
      readonly name: string;
      readonly value?: string;
      readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
    }[];
    readonly resources: { readonly limits: { readonly memory: string } };
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: {
      readonly secretName: string;
      readonly items?: readonly { readonly key: string; readonly path: string }[];
    };
    readonly emptyDir?: { readonly sizeLimit: string };
  }[];
}

/** Text of a shipped file, by its path under cronjob/. */
export function shippedText(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** Names of the shipped manifests of a folder of cronjob/, sorted, as paths under cronjob/. */
export function shippedFiles(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, ROOT))
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** Every document of a YAML text. @throws Error when one is not YAML */
export function documents(text: string): readonly Readonly<Record<string, unknown>>[] {
  return [...parseAllDocuments(text)].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as Record<string, unknown>;
  });
}

/** The structural schema of the one version of a shipped CRD. */
export function shippedSchema(file: string): SchemaNode {
  return parse(shippedText(file)).spec.versions[0].schema.openAPIV3Schema as SchemaNode;
}

/** The paths in a value that a structural schema does not know; the API server prunes these. Sorted as met. */
export function unknownPaths(schema: SchemaNode, value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((entry, i) => unknownPaths(schema.items ?? {}, entry, `${path}[${i}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => {
    const inner = schema.properties?.[key] ?? schema.additionalProperties;
    return inner === undefined ? [`${path}.${key}`] : unknownPaths(inner, entry, `${path}.${key}`);
  });
}
