import type { KubeConfigInputs } from "../adapters/kube/config.ts";
import { ConfigError, type ProviderError } from "../model/errors.ts";
import type { Progress } from "../model/progress.ts";
import { parseShard, type Shard, shardName } from "../model/shard.ts";
import type { Clock, Secrets } from "../ports/system.ts";
import { messageOf } from "../report/text/errors.ts";
import { type DNSWebhook, dnsWebhooksOf } from "./dns-webhooks.ts";
import { type Environment, type EnvironmentSettings, given, resolveEnvironment } from "./environment.ts";
import type { ClusterFlags, GrantsFlag, ShardFlags } from "./flags.ts";
import type { Warn } from "./output.ts";

/** The clock of a run and its bounds; a test may give others. */
export interface Runtime {
  readonly clock: Clock;
  /** Names the machine in Events. Absent = its host name. */
  readonly machine?: string;
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
  /** Is told what the command waits for. Absent = nobody asks. */
  readonly progress?: Progress;
  /** Is told of each read of a provider that failed. Absent = nobody asks. */
  readonly onFailedRead?: (error: ProviderError) => void;
  /** The DNS providers that are reached by a webhook. */
  readonly webhooks: readonly DNSWebhook[];
  /** Run on the embedded world in this directory. */
  readonly sandboxDir?: string;
  /** The world is that of this snapshot, a file; `-` = standard input. Absent = the cluster's and the providers'. */
  readonly from?: string;
  readonly requestTimeoutMs?: number;
  /** The DNS server that is asked for public answers, `ADDRESS:PORT`. Absent = those of the system. */
  readonly resolver?: string;
  /** The Lease of the process without a shard. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Whose objects are the run's own; its Lease is named after it. Absent = those without a label of a shard. */
  readonly shard?: Shard;
  /** How grants count; absent = as the Lease notes. */
  readonly grants?: GrantsFlag;
}

/** The parts of a configuration that belong to the session: where warnings go, and which secrets are known. The last two are told what the command waits for, and which reads failed. */
export interface Outlets {
  readonly warn: Warn;
  readonly secrets: Secrets;
  readonly progress?: Progress;
  readonly onFailedRead?: Config["onFailedRead"];
}

/** Directory of the embedded world when `--sandbox` names none, relative to the working directory. */
export const DEFAULT_SANDBOX_DIR = "sandbox";

/** Returns the configuration of one command. @throws ConfigError `usage` for a snapshot beside a cluster */
export function resolveConfig(
  flags: ClusterFlags & Partial<ShardFlags> & { readonly grants?: GrantsFlag; readonly from?: string },
  env: Environment,
  { warn, secrets, progress, onFailedRead }: Outlets,
): Config {
  const { sandbox, kubeconfig, context, requestTimeout: requestTimeoutMs, as, asGroup: asGroups } = flags;
  const { from } = flags;
  const beside = Object.entries({ sandbox, kubeconfig, context, as }).find(([, value]) => value !== undefined);
  if (from !== undefined && beside !== undefined)
    throw new ConfigError("usage", `--from needs no cluster: leave out --${beside[0]}.`);
  const settings = resolveEnvironment(env);
  return Object.freeze({
    ...settings,
    kube: { ...settings.kube, ...given({ kubeconfig, context, as }), asGroups },
    webhooks: dnsWebhooksOf(flags),
    warn,
    secrets,
    ...given({
      from,
      progress,
      onFailedRead,
      grants: flags.grants,
      requestTimeoutMs,
      shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
      sandboxDir: sandbox === true ? DEFAULT_SANDBOX_DIR : sandbox,
    }),
    lease: { namespace: flags.leaseNamespace, name: flags.leaseName },
  });
}

/** Says that nobody else can work for a while. */
export function warnOfKeptLease(config: Config, error: unknown): void {
  const { namespace, name } = ownLease(config);
  config.warn("LeaseKept", `The Lease ${namespace}/${name} stays taken until it expires. ${messageOf(error)}`);
}

/** Returns the Lease that a run of this configuration holds: its shard's, or the one that is named. Pure. */
export function ownLease({ lease, shard }: Pick<Config, "lease" | "shard">): Config["lease"] {
  return shard === undefined ? lease : { ...lease, name: shardName(lease.name, shard) };
}

/** As {@link ownLease}, of flags. Pure. */
export function leaseOfFlags({
  leaseNamespace: namespace,
  leaseName: name,
  shard,
}: Pick<ClusterFlags, "leaseNamespace" | "leaseName"> & Partial<ShardFlags>): Config["lease"] {
  return ownLease({
    lease: { namespace, name },
    ...given({ shard: shard === undefined ? undefined : parseShard(shard) }),
  });
}
