import type { KubeConfigInputs } from "../adapters/kube/config.ts";
import type { Clock, Secrets } from "../ports/system.ts";
import { type Environment, type EnvironmentSettings, given, resolveEnvironment } from "./environment.ts";
import type { ClusterFlags, GrantsFlag } from "./flags.ts";

/** The clock of a run and its bounds; a test may give others. */
export interface Runtime {
  readonly clock: Clock;
  /** Deadline of one call to a provider; absent = the adapter's own. */
  readonly providerTimeoutMs?: number;
  /** When the run must be over, monotonic: bounds every call to a provider. Absent = never. */
  readonly untilMs?: number;
}

/** Everything a command is built from, resolved once from flags and environment, frozen. */
export interface Config extends EnvironmentSettings {
  readonly kube: KubeConfigInputs;
  /** Warns a person; the run goes on. Says each text once. */
  readonly warn: Warn;
  /** Knows the secrets of the process. Code that reads a secret adds it here. */
  readonly secrets: Secrets;
  /** Run on the embedded world in this directory. */
  readonly sandboxDir?: string;
  readonly requestTimeoutMs?: number;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** How grants count; absent = as the Lease notes. */
  readonly grants?: GrantsFlag;
}

/** Warns a person of something that does not stop the run; `reason` is for machines. */
export type Warn = (reason: string, text: string) => void;

/** The parts of a configuration that belong to the session: where warnings go, and which secrets are known. */
export interface Outlets {
  readonly warn: Warn;
  readonly secrets: Secrets;
}

/** Directory of the embedded world when `--sandbox` names none, relative to the working directory. */
export const DEFAULT_SANDBOX_DIR = "sandbox";

/** Returns the configuration of one command. */
export function resolveConfig(
  flags: ClusterFlags & { readonly grants?: GrantsFlag },
  env: Environment,
  { warn, secrets }: Outlets,
): Config {
  const { sandbox, kubeconfig, context, requestTimeout: requestTimeoutMs, as, asGroup: asGroups } = flags;
  const settings = resolveEnvironment(env);
  return Object.freeze({
    ...settings,
    kube: { ...settings.kube, ...given({ kubeconfig, context, as }), asGroups },
    warn,
    secrets,
    ...given({ grants: flags.grants, requestTimeoutMs, sandboxDir: sandbox === true ? DEFAULT_SANDBOX_DIR : sandbox }),
    lease: { namespace: flags.leaseNamespace, name: flags.leaseName },
  });
}
