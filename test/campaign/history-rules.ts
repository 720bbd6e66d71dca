import { annotatedFamily, publishedNames, rememberedNames } from "../../src/model/record-types.ts";

import { type EndState, type Finding, WAITING } from "./end-state.ts";
import type { Spec } from "./spec-value.ts";

/** An object at rest beside a fresh one with the same spec. */
export interface Comparison {
  readonly spec: Spec;
  readonly found: Finding;
  readonly fresh: EndState;
  /** What was written to providers since. */
  readonly providerWrites: readonly string[];
}

/** A reason why an object with a past differs from a fresh one, although nothing is wrong. */
export interface HistoryRule {
  /** The part of product.md that says so. */
  readonly source: string;
  /** What the object should be, where it is not what the fresh one is; undefined where the rule says nothing about it. */
  readonly expect: (comparison: Comparison) => Partial<EndState> | undefined;
}

/** Longer waits are not sat out, seconds. */
const FOR_EVER = 1e9;

/** Every reason there is. Anything else that differs is a bug. */
export const HISTORY_RULES: readonly HistoryRule[] = [
  {
    source: "section 2, suspend: plan and report, change nothing",
    expect: ({ spec, found, providerWrites }) =>
      spec["suspend"] === true && providerWrites.length === 0 ? found.end : undefined,
  },
  {
    source: "section 4: a finalizer is set only while Delete has work",
    expect: ({ spec, found }) => ({ hasFinalizer: spec["reclaimPolicy"] === "Delete" && hasWork(found.status) }),
  },
  {
    source: "section 2: an invalid edit leaves the rest of the status as it was",
    expect: ({ found, fresh, providerWrites }) =>
      fresh.conditions.includes("Ready=False (InvalidSpec)") && providerWrites.length === 0
        ? { ...found.end, conditions: fresh.conditions, error: fresh.error, state: fresh.state }
        : undefined,
  },
  {
    source:
      "cronjob/crds/README.md: an object that acquired an address keeps its family, and an invalid edit leaves all as it was",
    expect: ({ found, providerWrites }) =>
      found.end.error.startsWith("ipFamily cannot be ") && providerWrites.length === 0 ? found.end : undefined,
  },
  {
    source: "section 5: no rebalancing, so which of several nodes have the pools' addresses is a matter of the past",
    expect: ({ spec, found }) =>
      annotatedFamily(String(spec["addressType"])) !== undefined && isEither(found.end.records, "all annotations")
        ? found.end
        : undefined,
  },
  {
    source: "section 6: a name that had values is never emptied by accident",
    expect: ({ spec, found, fresh }) =>
      fresh.records.length === 0 &&
      fresh.holds.includes("update-dns NothingToPublish") &&
      spec["whenEmpty"] !== "Delete"
        ? { records: found.end.records, ttls: found.end.ttls }
        : undefined,
  },
  {
    source: "section 6: with Retain the records of a former name stay and a hold says so",
    expect: ({ spec, found, fresh }) =>
      formerNames(found.status) > 0 && spec["reclaimPolicy"] !== "Delete"
        ? { holds: [...new Set([...fresh.holds, "delete-dns RecordsRetained"])].toSorted() }
        : undefined,
  },
  {
    source: "section 6: with Delete the records of a former name go after the new ones are in place",
    expect: ({ spec, found, fresh }) =>
      formerNames(found.status) > 0 && spec["reclaimPolicy"] === "Delete"
        ? { holds: [...new Set([...fresh.holds, "delete-dns NewNameFirst"])].toSorted() }
        : undefined,
  },
  {
    source: "section 4: an address leaves DNS first, and a name with nothing else that serves keeps it",
    expect: ({ spec, found, fresh }) =>
      spec["reclaimPolicy"] === "Delete" && found.end.holds.includes("update-dns NothingToPublish")
        ? {
            holds: [
              ...new Set([...fresh.holds, ...found.end.holds.filter((hold) => hold === "delete-ip StillPublished")]),
            ].toSorted(),
          }
        : undefined,
  },
  {
    source: "section 5: a cool-off holds later assignments, not what is assigned already",
    expect: ({ spec, found, fresh }) =>
      Number(spec["assignmentCoolOffSeconds"] ?? 0) > FOR_EVER && isHeld(found.end, fresh, "CoolOff")
        ? found.end
        : undefined,
  },
  {
    source:
      "section 5: an address whose node matches no longer and still serves stays in use while no other node can take it",
    expect: ({ found, fresh }) => {
      const staying = stayingOf(found.status);
      const waiting = fresh.open.filter((why) => why.startsWith("waiting ")).slice(0, staying);
      const open = waiting.reduce((left, why) => left.toSpliced(left.indexOf(why), 1), [...fresh.open]);
      return waiting.length === staying && staying > 0 ? { serving: fresh.serving + staying, open } : undefined;
    },
  },
  {
    source: "section 3: a node whose pods are no longer ready keeps counting for gracePeriodSeconds",
    expect: ({ spec, found, fresh }) =>
      Number(spec["gracePeriodSeconds"] ?? 0) > FOR_EVER && isHeld(found.end, fresh, "Grace") ? found.end : undefined,
  },
];

/** How many addresses are active although no node can take them: each says why. */
function stayingOf(status: Finding["status"]): number {
  const ips = "ips" in status ? Object.values(status.ips) : [];
  return ips.filter(({ state, reason = "" }) => state === "active" && WAITING.has(reason)).length;
}

/** True when one of the two waits for a time that never comes. */
function isHeld(found: EndState, fresh: EndState, reason: string): boolean {
  return [...found.holds, ...fresh.holds].some((hold) => hold.endsWith(` ${reason}`));
}

function isEither(records: readonly string[], word: string): boolean {
  return records.length === 0 || records.join() === word;
}

/** How many names of either type it had before whose records still stand. */
function formerNames(status: Finding["status"]): number {
  return rememberedNames(status).length - publishedNames(status).length;
}

function hasWork(status: Finding["status"]): boolean {
  const isPublished = publishedNames(status).some(({ addresses }) => addresses.length > 0) || formerNames(status) > 0;
  return isPublished || ("acquired" in status && status.acquired.some(({ adopted }) => adopted !== true));
}
