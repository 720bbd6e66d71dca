import { subjectOf } from "../../src/model/action.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { PassResult } from "../../src/model/run.ts";
import { familyOf } from "../../src/sandbox/digitalocean/actions.ts";
import type { Monitor } from "./monitor.ts";
import type { Process } from "./process.ts";

/** What a run says that came of its actions, held against what really did. */
export function checkOutcomes(monitor: Monitor, process: Process, { outcomes }: PassResult): void {
  // A run may make several passes: the newest word about an address counts.
  const newest = new Map(outcomes.map((outcome) => [subjectOf(outcome.action), outcome]));
  for (const outcome of newest.values()) {
    const { action } = outcome;
    if (action.kind !== "assign-ip" && action.kind !== "move-ip") continue;
    // A run of several passes tells at its end what came of the first.
    const knownMs = Math.min(process.passStartMs, outcome.endedAtMs ?? process.passStartMs);
    const isNew = (monitor.records.machineChangedMs.get(Number(action.after.machineID)) ?? 0) >= knownMs;
    // A later pass of the run may have taken off the machine what was in the way before.
    const isFreed = outcomes.some(
      (other) => other.action.kind === "unassign-ip" && other.action.before.machineID === action.after.machineID,
    );
    const untruth = isNew || isFreed ? undefined : untrue(monitor, action.ip, action.after.machineID, outcome, knownMs);
    if (untruth !== undefined)
      monitor.violated(
        "outcome",
        `${process.identity}: ${action.kind} ${action.ip} to ${action.after.machineID}: ${untruth}`,
      );
  }
}

function untrue(
  { simulation, records }: Monitor,
  ip: string,
  machine: string,
  outcome: Outcome,
  knownMs: number,
): string | undefined {
  const { world } = simulation;
  const { actions, droplets } = world.cloud.state;
  if (outcome.outcome === "failed" && outcome.acceptedAtMs !== undefined) {
    // What another process began after it had ended is not what it tells of.
    const endedMs = outcome.endedAtMs ?? Number.POSITIVE_INFINITY;
    const isUnderWay = actions.some(
      (action) => action.ip === ip && action.status === "in-progress" && Date.parse(action.started_at) <= endedMs,
    );
    if (isUnderWay && !records.handMoved.has(ip)) return "said to have failed while it is under way";
  }
  if (outcome.outcome !== "skipped") return undefined;
  if (outcome.reason === "MachineNotFound" && droplets.some(({ id }) => String(id) === machine))
    return "said to have no such machine, which exists";
  const isEmpty = !world.addressesOf(familyOf(ip)).some(({ droplet_id }) => String(droplet_id) === machine);
  const isMoved = [...records.handMoved.values()].some((ms) => ms >= knownMs);
  return outcome.reason === "NodeHasForeignIP" && isEmpty && !isMoved
    ? "said to carry an address, and carries none"
    : undefined;
}
