import type { ObjectRef } from "../../model/action.ts";
import type { DNSFacts } from "../../model/dns.ts";
import type { Observation } from "../../model/observation.ts";
import { objectKey, type RecordSet } from "../../model/resource.ts";
import { isWritable } from "../machine-ledger.ts";
import type { PoolView } from "../pool-view.ts";
import type { Validation } from "../validate.ts";
import { poolWish, recordSetWish } from "./dns-wish.ts";
import { nameTarget } from "./name-target.ts";
import type { Publisher } from "./publisher.ts";

/** A pool as DNS sees it. Pure. */
export function poolPublisher(view: PoolView, dns: ReadonlyMap<string, DNSFacts>): Publisher {
  const { meta, spec, status } = view.pool;
  const wish = poolWish(view.pool);
  return {
    ref: view.object,
    meta,
    wish,
    memory: status,
    retries: status.retries,
    reclaimPolicy: spec.reclaimPolicy,
    whenEmpty: "Keep",
    isWritable: isWritable(view),
    mayPublish: view.validation.kind === "valid" && !spec.suspend,
    managed: view.managed.map(({ ip }) => ip),
    givenBack:
      meta.isDeleting && spec.reclaimPolicy === "Delete"
        ? view.managed.flatMap(({ ip, acquired }) => (acquired?.isAdopted === false ? [ip] : []))
        : [],
    target: nameTarget(wish, dns),
  };
}

/** A record set as DNS sees it. Pure. */
export function recordSetPublisher(
  recordSet: RecordSet,
  validation: Validation,
  isSelected: boolean,
  { dns, settling }: Pick<Observation, "dns" | "settling">,
): Publisher {
  const { meta, spec, status } = recordSet;
  const settlesAtMs = settling?.get(objectKey(meta));
  const ref: ObjectRef = { kind: "dns", namespace: meta.namespace, name: meta.name };
  const wish = recordSetWish(recordSet);
  const mayPublish = validation.kind === "valid" && !spec.suspend;
  return {
    ref,
    meta,
    wish,
    memory: status,
    retries: status.retries,
    reclaimPolicy: spec.reclaimPolicy,
    whenEmpty: spec.whenEmpty,
    isWritable: isSelected && mayPublish,
    mayPublish,
    managed: [],
    givenBack: [],
    ...(settlesAtMs === undefined ? {} : { settlesAtMs }),
    target: nameTarget(wish, dns),
  };
}
