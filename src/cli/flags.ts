import type { ManifestChanges, ManifestMode, ManifestPart } from "./manifest-parts.ts";

/** Formats of `-o`. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "name";

/** Flags every command has. */
export interface CommonFlags {
  readonly sandbox?: string | true;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  /** Milliseconds. */
  readonly requestTimeout?: number;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly output: OutputFormat;
  readonly quiet?: boolean;
  /** 0, 1 (`-v`) or 2 (`-vv`). */
  readonly verbose: number;
  readonly color: "auto" | "always" | "never";
  readonly logFormat: "auto" | "text" | "json";
}

/** Which Lease, and how it is kept; durations in milliseconds. */
export interface LeaseFlags {
  readonly leaseNamespace: string;
  readonly leaseName: string;
}

/** Flags of `plan`. */
export interface PlanFlags extends CommonFlags, LeaseFlags {
  readonly all?: boolean;
  readonly detailedExitcode?: boolean;
}

/** Flags of `reconcile`; durations in milliseconds. */
export interface ReconcileFlags extends CommonFlags, LeaseFlags {
  readonly settle?: boolean;
  readonly watch?: boolean;
  /** Absent = a minute, with `--watch`. */
  readonly interval?: number;
  /** `HOST:PORT` or `:PORT`. */
  readonly metricsAddr?: string;
  readonly timeout: number;
  readonly partial: "fail" | "ok";
  /** Absent = `fail`, with `--watch` `wait`. */
  readonly onLocked?: "fail" | "skip" | "wait";
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  /** False with `--no-lock`. */
  readonly lock: boolean;
  readonly pushgateway?: string;
  readonly pushJob: string;
  /** `NAME=VALUE` each. */
  readonly pushGrouping: readonly string[];
}

/** Flags of `status`. */
export interface StatusFlags extends CommonFlags, LeaseFlags {
  readonly check?: boolean;
  /** Milliseconds. */
  readonly maxAge: number;
}

/** Flags of `manifests`. */
export interface ManifestFlags extends ManifestChanges {
  readonly only?: readonly ManifestPart[];
  readonly mode: ManifestMode;
}
