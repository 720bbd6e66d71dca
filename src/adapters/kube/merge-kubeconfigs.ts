import type { Kubeconfig, KubeconfigEntry } from "./kubeconfig-file.ts";

/**
 * Merges kubeconfigs as kubectl merges the files of `$KUBECONFIG`: for each cluster, user and context the first file that has
 * the name gives the whole entry, and the first file that sets `current-context` wins. Pure.
 * @see https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files (2026-08)
 */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  return {
    source: files.map((file) => file.source).join(", "),
    currentContext: files.map((file) => file.currentContext).find((name) => name !== "") ?? "",
    clusters: firstWins(files.map((file) => file.clusters)),
    users: firstWins(files.map((file) => file.users)),
    contexts: firstWins(files.map((file) => file.contexts)),
  };
}

function firstWins(maps: readonly ReadonlyMap<string, KubeconfigEntry>[]): ReadonlyMap<string, KubeconfigEntry> {
  return new Map(maps.toReversed().flatMap((map) => [...map]));
}
