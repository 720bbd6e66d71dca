import { parseAllDocuments } from "yaml";
import { createInspector } from "../adapters/kube/inspector.ts";
import { PROVIDERS } from "../adapters/registry.ts";
import type {
  DefinitionPair,
  Facts,
  HostInstallation,
  Objects,
  Reviewed,
  ServerFacts,
  ShardLease,
} from "../doctor/facts.ts";
import { FACT_MS, type Sources } from "../doctor/gather.ts";
import { OPERATOR_LEASE } from "../doctor/others.ts";
import { grantedPermissions, installPermissions, sortPermissions } from "../doctor/permissions.ts";
import { KubeError } from "../model/errors.ts";
import { parseShard, type Shard, shardLabels, shardName, shardsOn } from "../model/shard.ts";
import { readHostPods } from "../observe/host-pods.ts";
import type { ClusterInspector, Permission } from "../ports/inspection.ts";
import { planPass, planSpecs } from "../reconcile.ts";
import type { Config, Runtime } from "./config.ts";
import { readAccounts, readMachines } from "./doctor-accounts.ts";
import { readAnswers, readNames } from "./doctor-names.ts";
import { readPushgateway } from "./doctor-pushgateway.ts";
import { type Environment, readVersion } from "./environment.ts";
import { type ManifestMode, manifestText } from "./manifests.ts";
import { connect, transportOf } from "./open-cluster.ts";
import { openProviderReaders, readMeters } from "./providers.ts";

/** How the doctor is asked to look. */
export interface DoctorTerms {
  /** True before flipop is installed. */
  readonly isBefore: boolean;
  /** True to ask what the ServiceAccount may do in place of whoever asks. */
  readonly asServiceAccount: boolean;
  /** How flipop is to run; absent = as what is found in the cluster. */
  readonly mode?: ManifestMode;
  readonly env: Environment;
  /** The DNS server to ask. Absent = that of the configuration. */
  readonly resolver?: string;
}

/** A call fails a moment before the time for its fact is over: it knows better why. */
const CALL_MS = FACT_MS - 500;

/** Returns how each fact is read, from the cluster and the accounts of the configuration, and how to let go of connections. Nothing is called before a fact is read. */
export function openSources(
  given: Config,
  runtime: Runtime,
  terms: DoctorTerms,
): { readonly sources: Sources; readonly close: () => void } {
  const config: Config = { ...given, requestTimeoutMs: Math.min(given.requestTimeoutMs ?? CALL_MS, CALL_MS) };
  const timed: Runtime = { ...runtime, providerTimeoutMs: Math.min(runtime.providerTimeoutMs ?? CALL_MS, CALL_MS) };
  const opened: { close(): void }[] = [];
  const open = once(async () => {
    const cluster = await openInspector(config, timed);
    opened.push(cluster);
    return cluster;
  });
  const openReviewer = terms.asServiceAccount
    ? once(async () => {
        const as = `system:serviceaccount:${config.lease.namespace}:${ACCOUNT}`;
        const reviewer = await openInspector({ ...config, kube: { ...config.kube, as, asGroups: [] } }, timed);
        opened.push(reviewer);
        return reviewer;
      })
    : open;
  const ofCluster = clusterSources(config, timed, open);
  return {
    sources: { ...ofCluster, ...reviewSources(config, openReviewer), ...otherSources() },
    close: () => {
      for (const one of opened) one.close();
    },
  };

  function otherSources(): Pick<
    Sources,
    "accounts" | "plan" | "specs" | "machines" | "names" | "answers" | "pushgateway" | "own"
  > {
    const { objects, nodes } = ofCluster;
    const planned = once(async () => await planOf(config, timed, await open()));
    const resolver = terms.resolver ?? config.resolver;
    return {
      accounts: { read: () => readAccounts({ config, runtime: timed, terms, objects, nodes }), isLate: true },
      plan: { read: planned, isLate: true },
      specs: { read: async () => await planSpecs({ cluster: await open(), registry: PROVIDERS }) },
      machines: { read: async () => await readMachines(config, timed, await planned()), isLate: true },
      names: { read: async () => await readNames(config, timed, await planned()), isLate: true },
      answers: { read: async () => await readAnswers(await planned(), resolver), isLate: true },
      pushgateway: { read: () => readPushgateway(config, terms.env, CALL_MS) },
      own: { read: async () => ownFacts(config, terms) },
    };
  }
}

/** The ServiceAccount of the shipped manifests. */
const ACCOUNT = "flipop";

/** Of workers of DigitalOcean Kubernetes, where reserved IPs are documented as not supported (verified 2026-08). */
const MANAGED_LABELS = ["doks.digitalocean.com/"];

function ownFacts({ lease, kube }: Config, { asServiceAccount, mode }: DoctorTerms): Facts["own"] {
  const asker = asServiceAccount ? `serviceaccount ${lease.namespace}/${ACCOUNT}` : (kube.as ?? "you");
  return { version: readVersion(), lease, asker, isWatchAsked: mode === "watch", managedLabels: MANAGED_LABELS };
}

async function openInspector(
  config: Config,
  { clock }: Runtime,
): Promise<ClusterInspector & { readonly close: () => void }> {
  const { connection, reload } = await connect(config);
  return createInspector(connection, { ...transportOf(config, clock), reload });
}

type ClusterFact =
  | "connection"
  | "server"
  | "hasNamespace"
  | "definitions"
  | "lease"
  | "shards"
  | "labelled"
  | "namesakes"
  | "operatorLeases"
  | "operatorDeployments"
  | "workloads"
  | "objects"
  | "nodes"
  | "host";

function clusterSources(
  { lease }: Config,
  { clock }: Runtime,
  open: () => Promise<ClusterInspector>,
): Pick<Sources, ClusterFact> {
  const of = <T>(read: (cluster: ClusterInspector) => Promise<T>) => ({
    read: once(async () => await read(await open())),
  });
  return {
    connection: of(async ({ source, server }) => ({ source, server })),
    server: of(async (cluster): Promise<ServerFacts> => {
      const startMs = clock.monotonicMs();
      const version = await cluster.readVersion();
      const roundTripMs = Math.round(clock.monotonicMs() - startMs);
      const nowMs = cluster.now();
      return { version, roundTripMs, nowMs, aheadMs: clock.wallMs() - nowMs };
    }),
    hasNamespace: of(async (cluster) => ({ exists: await cluster.hasNamespace(lease.namespace) })),
    definitions: of(readDefinitions),
    lease: of(async (cluster) => ({ record: await cluster.readLease(lease.namespace, lease.name) })),
    shards: of(async (cluster) => {
      const record = await cluster.readLease(lease.namespace, lease.name);
      return await readShards(cluster, lease, shardsOn(record?.annotations ?? {}));
    }),
    labelled: of(async (cluster) => {
      const { pools, routedIPs, recordSets } = await readObjects(cluster);
      const labels = shardLabels([...pools, ...routedIPs, ...recordSets]);
      return await readShards(
        cluster,
        lease,
        labels.flatMap((label) => parseShard(label) ?? []),
      );
    }),
    namesakes: of((cluster) => cluster.listLeases(lease.name)),
    operatorLeases: of((cluster) => cluster.listLeases(OPERATOR_LEASE)),
    operatorDeployments: of(readOperatorDeployments),
    workloads: of((cluster) => cluster.listWorkloads(lease.namespace)),
    objects: of(readObjects),
    nodes: of((cluster) => cluster.listNodes()),
    host: of(readHost),
  };
}

async function readDefinitions(cluster: ClusterInspector): Promise<readonly DefinitionPair[]> {
  return await Promise.all(
    documentsOf(manifestText(["crds"])).map(async (shipped) => {
      const { name } = (shipped as { readonly metadata: { readonly name: string } }).metadata;
      return { name, shipped, installed: await cluster.readDefinition(name) };
    }),
  );
}

/** Whoever may not list Deployments still sees the operator's Lease. */
async function readOperatorDeployments(cluster: ClusterInspector): Promise<Facts["operatorDeployments"]> {
  try {
    return await cluster.listOperatorDeployments();
  } catch (error) {
    if (error instanceof KubeError && error.failure === "forbidden") return [];
    throw error;
  }
}

/** A person who may not list DaemonSets may still list pods. */
async function readHost(cluster: ClusterInspector): Promise<HostInstallation> {
  const pods = await readHostPods(cluster, await cluster.listNodes());
  if (pods === undefined) return {};
  try {
    return { pods, daemonSets: await cluster.listHostDaemonSets() };
  } catch (error) {
    if (error instanceof KubeError) return { pods };
    throw error;
  }
}

async function readShards(
  cluster: ClusterInspector,
  { namespace, name }: Config["lease"],
  shards: readonly Shard[],
): Promise<readonly ShardLease[]> {
  return await Promise.all(
    shards.map(async (shard) => ({ shard, record: await cluster.readLease(namespace, shardName(name, shard)) })),
  );
}

async function readObjects(cluster: ClusterInspector): Promise<Objects> {
  const [pools, routedIPs, recordSets, issuers] = await Promise.all([
    cluster.listPools(),
    cluster.listRoutedIPs(),
    cluster.listRecordSets(),
    cluster.listRoutedIPIssuers(),
  ]);
  return { pools, routedIPs, recordSets, issuers };
}

function reviewSources(
  { lease }: Config,
  openReviewer: () => Promise<ClusterInspector>,
): Pick<Sources, "reading" | "writing" | "leasing" | "watching" | "installing"> {
  const { namespace } = lease;
  const shipped = once(async () => {
    const documents = documentsOf(manifestText(["rbac", "watcher"], { namespace }));
    return sortPermissions(grantedPermissions(documents, ACCOUNT, lease.name));
  });
  const review = async (permissions: readonly Permission[]): Promise<readonly Reviewed[]> => {
    const reviewer = await openReviewer();
    return await Promise.all(
      permissions.map(async (permission) => ({ permission, isAllowed: await reviewer.mayDo(permission) })),
    );
  };
  return {
    reading: { read: async () => await review((await shipped()).reading) },
    writing: { read: async () => await review((await shipped()).writing) },
    leasing: { read: async () => await review((await shipped()).leasing) },
    watching: { read: async () => await review((await shipped()).watching) },
    installing: {
      read: async () => await review(installPermissions(documentsOf(manifestText("cronjob", { namespace })))),
    },
  };
}

async function planOf(config: Config, runtime: Runtime, cluster: ClusterInspector): Promise<Facts["plan"]> {
  const { meters, ...access } = await openProviderReaders(config, runtime);
  const deps = { cluster, ...access, clock: runtime.clock, leaseName: config.lease, grants: config.grants };
  const { observation, plan } = await planPass(deps, {});
  const calls = readMeters(meters).map(
    ({ provider, calls: counts }) => [provider, counts.reduce((sum, { count }) => sum + count, 0)] as const,
  );
  return { observation, plan, calls: new Map(calls) };
}

function documentsOf(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  return Array.isArray(documents) ? documents.map((one) => one.toJS()) : [];
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= read();
    return result;
  };
}
