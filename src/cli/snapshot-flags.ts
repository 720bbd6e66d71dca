import type { PodSelector } from "../model/node.ts";
import { addToList, podSelectors } from "./flag-values.ts";
import {
  CLUSTER,
  type ClusterFlags,
  type FlagTable,
  flag,
  type GlobalFlags,
  GRANTS,
  type GrantsFlag,
  NOTED_GRANTS,
} from "./flags.ts";

/** Flags of `snapshot`. */
export interface SnapshotFlags extends ClusterFlags {
  readonly grants?: GrantsFlag;
  /** False with `--no-events`. */
  readonly events: boolean;
  readonly anonymize?: boolean;
  readonly force?: boolean;
  /** Held though no object asks for them. */
  readonly pods: readonly PodSelector[];
  /** Keys of labels, the same. */
  readonly nodeLabels: readonly string[];
}

/** The flags of `snapshot`. */
export const SNAPSHOT: FlagTable<Omit<SnapshotFlags, keyof GlobalFlags>> = {
  ...CLUSTER,
  grants: flag("--grants <MODE>", `whether to hold what namespaces grant; ${NOTED_GRANTS}`, GRANTS),
  events: flag("--no-events", "leave out the Events that flipop wrote"),
  pods: flag(
    "--pods <NAMESPACE/LABELS>",
    "also hold how many of these pods are on each node, for an edit of a selector later; repeatable",
    podSelectors,
  ),
  nodeLabels: flag("--node-labels <KEY>", "also hold this label of nodes, the same; repeatable", addToList),
  anonymize: flag("--anonymize", "put other names in the place of all names and addresses; the plan stays the same"),
  force: flag("--force", "replace a file that exists"),
};
