import { ConfigError } from "../model/errors.ts";
import { announcedActions } from "../model/plan.ts";
import type { Selection } from "../model/run.ts";
import type { SavedPlan } from "../model/saved-plan.ts";
import { durationText } from "../model/time.ts";
import type { ClusterReader, IdentityReader } from "../ports/cluster.ts";
import type { PlannedWorld } from "../reconcile.ts";
import { EXIT } from "../report/exit-code.ts";
import { API_VERSION, type JSONObject, refusedDocument } from "../report/json/document.ts";
import { countText } from "../report/text/layout.ts";
import { savePlan } from "../saved/saved-plan.ts";
import { readSavedPlan, writeSavedPlan } from "../snapshot/saved-plan-shape.ts";
import { restraintOf } from "./confirm.ts";
import { digestOf, holdsSecret, readDocumentFile, refuseUnwritable, writeNewFile } from "./document-file.ts";
import { readVersion } from "./environment.ts";
import type { PlanFlags } from "./flags.ts";
import { isDocument, writeDocument, writeLine } from "./output.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import type { Session } from "./session.ts";
import { isObjectTarget, type Target } from "./target.ts";

/** @throws ConfigError `usage` for what no saved plan can be made of: a world that is not the one of now, a part of a plan; and for a file that cannot be written */
export async function refuseUnsavable(flags: PlanFlags, targets: readonly Target[]): Promise<void> {
  const { save, force, from, if: edits, filename } = flags;
  if (save === undefined && force === true)
    throw new ConfigError("usage", "--force needs --save: plan writes no other file.");
  if (save === undefined) return;
  if (save === "-") throw new ConfigError("usage", "--save needs the name of a file: standard output shows the plan.");
  const imagined = [
    ...(from === undefined ? [] : ["--from"]),
    ...(edits.length > 0 ? ["--if"] : []),
    ...(filename.length > 0 ? ["-f"] : []),
  ];
  if (imagined.length > 0)
    throw new ConfigError(
      "usage",
      `A plan is saved for a cluster as it is: leave out ${imagined.join(" and ")}, or --save.`,
    );
  const part = targets.find((target) => !isObjectTarget(target));
  if (part !== undefined)
    throw new ConfigError(
      "usage",
      `A plan is saved for whole objects: '${part.text}' only chooses what is shown. Name objects, or leave out --save.`,
    );
  await refuseUnwritable(save, force ?? false);
}

/** What is saved: the whole plan of a selection, and the world that it was made for. */
export interface Savable {
  readonly planned: PlannedWorld;
  readonly selection: Selection;
  readonly clusterUID: string;
}

/** Writes the file of `plan --save`, which only its owner may read. Returns false, and says so, where the file would hold a secret. */
export async function writeSaved(
  session: Session,
  { planned, selection, clusterUID }: Savable,
  flags: PlanFlags,
): Promise<boolean> {
  const { observation: world, plan } = planned;
  const { save = "", force = false } = flags;
  const limits = restraintOf(flags)?.limits ?? {};
  const content = writeSavedPlan(savePlan({ world, plan }, { clusterUID, selection, limits }));
  const head = { apiVersion: API_VERSION, kind: "SavedPlan", flipopVersion: readVersion(), digest: digestOf(content) };
  const text = `${JSON.stringify({ ...head, ...(content as JSONObject) }, null, 2)}\n`;
  if (holdsSecret(text, session)) {
    writeLine(session, "error", "The saved plan would hold a token, so none was written. Please report it as a bug.");
    return false;
  }
  await writeNewFile(save, text, force);
  const count = countText(announcedActions(plan).length, "action");
  writeLine(session, "info", `saved ${count} to ${save}; to carry them out, run flipop reconcile --plan ${save}`);
  return true;
}

/** Reads the file of `reconcile --plan`. @throws ConfigError `invalid` for what is no saved plan, was edited, or is of a later version */
export function readSaved(path: string): Promise<SavedPlan> {
  return readDocumentFile(path, ["SavedPlan", "saved plan"], ({ document }) => {
    const { apiVersion: _version, kind: _kind, flipopVersion: _by, digest, ...content } = document;
    if (digest !== digestOf(content))
      throw new ConfigError(
        "invalid",
        "It was edited since it was saved: its digest is another one. Make a new one: flipop plan --save FILE.",
      );
    return readSavedPlan(content);
  });
}

/** @throws ConfigError `usage` for flags that a saved plan leaves nothing to say, and for those that mean something beside one only */
export function refuseBesidePlan(flags: ReconcileFlags, names: readonly string[]): void {
  const { plan, allOrNothing, maxAge, watch, settle, confirm, namespace, selector } = flags;
  if (plan === undefined) {
    if (allOrNothing === true)
      throw new ConfigError("usage", "--all-or-nothing needs --plan: without a saved plan nothing is refused.");
    if (maxAge !== undefined)
      throw new ConfigError(
        "usage",
        "--max-age needs --plan: nothing but a saved plan has an age. Add --plan FILE, or leave it out.",
      );
    return;
  }
  const limits = ["maxVoluntaryMoves", "maxPurchases", "maxRemovals"] as const;
  const beside = [
    ...(watch === true ? ["--watch"] : []),
    ...(settle === true ? ["--settle"] : []),
    ...(confirm === true ? ["--confirm"] : []),
    ...(namespace === undefined ? [] : ["-n"]),
    ...(selector === undefined ? [] : ["-l"]),
    ...limits
      .filter((name) => flags[name] !== undefined)
      .map((name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`),
    ...names,
  ];
  if (beside.length > 0)
    throw new ConfigError(
      "usage",
      `A saved plan is carried out once, as it was saved: leave out ${beside.join(" and ")}, or --plan.`,
    );
}

/** @throws ConfigError `usage` where the plan was saved for other objects than those whose Lease the run holds */
export function refuseOtherShard({ selection }: SavedPlan, { shard }: ReconcileFlags): void {
  if (selection.shard === shard) return;
  const how = selection.shard === undefined ? "without --shard" : `with --shard ${selection.shard}`;
  throw new ConfigError("usage", `This plan was saved ${how}: run it ${how}, too.`);
}

/** The oldest saved plan that is carried out by default, milliseconds. */
const OLDEST_MS = 24 * 3_600_000;

/** Returns why a saved plan may not be carried out here and now; undefined where it may. */
export async function whyUnusable(
  { clusterUID, savedAtMs }: SavedPlan,
  cluster: IdentityReader & Pick<ClusterReader, "now" | "server">,
  maxAgeMs: number = OLDEST_MS,
): Promise<string | undefined> {
  const own = await cluster.clusterUID();
  if (own !== clusterUID)
    return (
      `This plan was saved for another cluster than this one, ${cluster.server}: the uid of its namespace kube-system was ${clusterUID}, ` +
      `here it is ${own}. Choose the other context, or make a new plan.`
    );
  const ageMs = cluster.now() - savedAtMs;
  if (ageMs <= maxAgeMs) return undefined;
  return `This plan is ${durationText(ageMs)} old, and --max-age is ${durationText(maxAgeMs)}. Make a new plan.`;
}

/** Says why a saved plan was not carried out; nothing was changed. Returns the exit code. */
export async function reportUnusable(session: Session, why: string): Promise<number> {
  const { output, streams } = session;
  const message = `${why} Nothing was changed.`;
  writeLine(session, "error", message, { reason: "Stale", exitCode: EXIT.refused });
  if (isDocument(output)) await writeDocument(streams, refusedDocument(message, EXIT.refused), output);
  return EXIT.refused;
}
