import { ConfigError } from "../model/errors.ts";
import { parseLabelSelector } from "../model/label-selector.ts";
import { objectKey, type Pool } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { listText } from "../report/count-text.ts";
import type { Target } from "./target.ts";

/** What the command line says about which objects are meant. */
export interface SelectionFlags {
  readonly targets: readonly Target[];
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/**
 * Returns the selection that the flags mean. Pools are read only when one is named, and each must exist.
 * @throws ConfigError `usage` for an unreadable `-l`, `invalid` for a pool that does not exist or a name that several have.
 */
export async function resolveSelection(
  flags: SelectionFlags,
  listPools: () => Promise<readonly Pool[]>,
): Promise<Selection> {
  const { namespace, labelSelector } = flags;
  if (labelSelector !== undefined) checkSelector(labelSelector);
  const named = flags.targets.filter((target) => target.kind === "pool");
  const pools = named.length === 0 ? [] : await listPools();
  const objects = named.map((target) => findPool(target, namespace, pools));
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(named.length === 0 ? {} : { objects: [...new Set(objects)].sort() }),
  };
}

function checkSelector(text: string): void {
  const parsed = parseLabelSelector(text);
  if ("selector" in parsed) return;
  throw new ConfigError("usage", `Cannot read the label selector '${text}' of -l: ${parsed.error}.`);
}

function findPool(
  target: Extract<Target, { kind: "pool" }>,
  namespace: string | undefined,
  pools: readonly Pool[],
): string {
  const wanted = target.namespace ?? namespace;
  if (target.namespace !== undefined && namespace !== undefined && target.namespace !== namespace) {
    throw new ConfigError("usage", `The target '${target.text}' is not in the namespace ${namespace} of -n.`);
  }
  const found = pools
    .filter(({ meta }) => meta.name === target.name && (wanted === undefined || meta.namespace === wanted))
    .map(({ meta }) => objectKey(meta));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) {
    throw new ConfigError("usage", `The target '${target.text}' is ambiguous: ${listText(found)} have that name.`);
  }
  const known = pools.map(({ meta }) => objectKey(meta));
  const hint = known.length === 0 ? "There are no pools." : `There is ${listText(known, 5)}.`;
  const where = wanted === undefined ? "in any namespace" : `in the namespace ${wanted}`;
  throw new ConfigError(
    "invalid",
    `There is no FloatingIPPool named ${target.name} ${where} ('${target.text}'). ${hint}`,
  );
}
