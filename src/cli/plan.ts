import { refKey } from "../model/action.ts";
import type { GrantFacts } from "../model/grants.ts";
import { announcedActions, type Plan } from "../model/plan.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { providerBudgets } from "../plan/budget.ts";
import { withStandIns } from "../rehearse/announce.ts";
import { standInsOf } from "../rehearse/edited-world.ts";
import { EXIT, exitCodeOfPlan } from "../report/exit-code.ts";
import { planDocument } from "../report/json/plan.ts";
import { planMarkdown } from "../report/markdown/plan.ts";
import { narrowPlan } from "../report/narrow-plan.ts";
import { renderPlan } from "../report/text/plan.ts";
import { leaseOfFlags, resolveConfig } from "./config.ts";
import { restraintOf } from "./confirm.ts";
import { given } from "./environment.ts";
import { addressesOf, checkExistence } from "./existence.ts";
import type { PlanFlags } from "./flags.ts";
import { hostNotices } from "./host-notices.ts";
import { type Imagined, readImagined, warnOfIgnored } from "./imagined.ts";
import { writeLine, writeResult } from "./output.ts";
import { unusableTokens } from "./providers.ts";
import { refuseUnsavable, type Savable, writeSaved } from "./saved-plan.ts";
import { nothingOfShard, nothingSelected, othersOfShard, resolveSelection, whatThereIs } from "./selection.ts";
import type { Session } from "./session.ts";
import { isObjectTarget, parseTarget, type Target } from "./target.ts";
import type { Planner } from "./wiring.ts";

/** Runs `plan`: reads, plans, prints. Never writes. Returns the exit code. */
export async function runPlan(session: Session, names: readonly string[], flags: PlanFlags): Promise<number> {
  const targets = names.map(parseTarget);
  await refuseUnsavable(flags, targets);
  const imagined = await readImagined(flags, session.signal);
  const { withPlanner } = await session.loadWiring();
  const config = resolveConfig(flags, session.env, session);
  const { plan, none, others, grants, savable, notices } = await withPlanner(
    config,
    (planner) => untilInterrupted(planned(planner, targets, flags, imagined), session.signal),
    imagined?.objects,
  );
  tellPremises(session, imagined, grants, flags);
  for (const notice of notices) writeLine(session, "warn", notice);
  if (savable !== undefined && !(await writeSaved(session, savable, flags))) return EXIT.unexpected;
  const focus = targets.filter((target) => !isObjectTarget(target)).map(({ name }) => name);
  const layout = {
    ...session.layout,
    all: flags.all ?? false,
    isNamed: names.length > 0,
    ...(focus.length === 0 ? {} : { focus: new Set(focus) }),
    ...(none === undefined ? {} : { none }),
    ...(imagined === undefined ? {} : { edits: imagined.told }),
    ...given({ hint: pairHint(targets) ?? others }),
  };
  await writeResult(session, session.output, {
    document: () => planDocument(plan, imagined?.told),
    names: () => announcedActions(plan).map(({ object }) => refKey(object)),
    text: () => renderPlan(plan, layout),
    markdown: () => planMarkdown(plan, layout),
    none,
  });
  const isText = session.output === "table" || session.output === "wide";
  if (
    isText &&
    imagined === undefined &&
    savable === undefined &&
    plan.actions.length > 0 &&
    session.streams.stdout.isTTY
  )
    writeLine(session, "info", "to make these changes, run flipop reconcile");
  return exitCodeOfPlan(plan, { detailed: flags.detailedExitcode ?? false, unusableTokens: unusableTokens(config) });
}

/** Says what of the files does not count, and whether grants do. */
function tellPremises(
  session: Session,
  imagined: Imagined | undefined,
  grants: GrantFacts | undefined,
  flags: PlanFlags,
): void {
  warnOfIgnored(session, imagined);
  if (session.verbosity > 0 && grants === undefined && flags.grants === undefined) {
    const { namespace, name } = leaseOfFlags(flags);
    writeLine(session, "info", `grants do not count: the Lease ${namespace}/${name} notes no run with --grants`);
  }
}

/** Plans what the targets mean. `none` says that this is nothing, `others` what is left to other shards. */
async function planned(
  { cluster, plan }: Planner,
  targets: readonly Target[],
  flags: PlanFlags,
  imagined: Imagined | undefined,
): Promise<{
  readonly plan: Plan;
  readonly none: string | undefined;
  readonly others: string | undefined;
  readonly grants: GrantFacts | undefined;
  readonly notices: readonly string[];
  readonly savable?: Savable;
}> {
  const selection = await resolveSelection(targets, flags, cluster);
  const none = await nothingSelected(selection, cluster);
  const restraint = restraintOf(flags);
  const world = await plan(selection, {
    ...given({ restraint }),
    ...(imagined === undefined ? {} : { edited: imagined.edited }),
  });
  const { observation, plan: whole } = world;
  checkExistence(targets, observation);
  const nodes = namesOf(targets, "node");
  const nodeAddresses = addressesOf(new Set(nodes), observation);
  const narrowed = narrowPlan(whole, { nodes, ips: namesOf(targets, "ip"), nodeAddresses });
  // What was read for the plan tells whose the objects are: no list more is asked for.
  const objects = [...observation.pools, ...observation.recordSets.map(({ meta }) => ({ kind: "dns" as const, meta }))];
  const budget = narrowed === whole ? whole.budget : providerBudgets(observation, announcedActions(narrowed));
  return {
    plan: withStandIns({ ...narrowed, budget }, standInsOf(observation)),
    none: none ?? nothingOfShard(selection, objects) ?? nothingConcerned(targets, whole, narrowed),
    others: othersOfShard(selection, objects),
    grants: observation.grants,
    notices: await hostNotices(cluster, observation.nodes),
    ...(flags.save === undefined
      ? {}
      : { savable: { planned: world, selection, clusterUID: await cluster.clusterUID() } }),
  };
}

/** Who names an address and a node seldom wants what has to do with either of them. */
function pairHint(targets: readonly Target[]): string | undefined {
  const [ip, node] = [namesOf(targets, "ip"), namesOf(targets, "node")];
  if (targets.length !== 2 || ip.length !== 1 || node.length !== 1) return undefined;
  return `flipop explain ip/${ip[0]} node/${node[0]} says why the address is on the node, or is not.`;
}

function nothingConcerned(targets: readonly Target[], whole: Plan, narrowed: Plan): string | undefined {
  const there = [...whole.pools, ...whole.recordSets].map(({ object }) => object);
  const isConcerned = narrowed.pools.length + narrowed.recordSets.length > 0;
  if (isConcerned || there.length === 0) return undefined;
  const meant = targets.filter((target) => !isObjectTarget(target)).map(({ text }) => text);
  return `No object has to do with ${meant.join(" or ")}. ${whatThereIs(there)}`;
}

function namesOf(targets: readonly Target[], kind: "node" | "ip"): readonly string[] {
  return targets.filter((target) => target.kind === kind).map(({ name }) => name);
}
