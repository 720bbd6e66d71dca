import type { Observation } from "../model/observation.ts";
import { bySeniority } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { type Claims, settleClaims } from "./addresses/claims.ts";
import { withFormerOwners } from "./addresses/hand-over.ts";
import { heirsOf, joinedLeft, leftAsSurplus, leftByDeleted } from "./addresses/heirs.ts";
import { viewPool } from "./addresses/view-pool.ts";
import { firewallDeadEnd, firewallObstacle, firewallTarget, madeRules } from "./firewalls/firewall-target.ts";
import type { GrantJudgement } from "./grants.ts";
import { emptyTarget } from "./nodes/empty-target.ts";
import { judgeNodes, machineNodes, nodeByMachine, outsideJudge, servingJudge, upJudge } from "./nodes/judge-nodes.ts";
import type { PoolView } from "./pool-view.ts";
import { isSelected } from "./selection.ts";
import type { Ownership } from "./shards.ts";
import { eachInSteps, type Steps } from "./steps.ts";
import { validatePool } from "./validate.ts";
import type { Withheld } from "./withhold.ts";

/** What objects may not ask of the account, what is not taken from anybody, and whose the objects are. */
export interface Bounds {
  readonly grants: GrantJudgement;
  readonly withheld: Withheld;
  readonly ownership: Ownership;
}

/** Who owns which address, and the view of each pool that follows from it. */
interface SettledPools {
  readonly claims: Claims;
  /** The senior one first. */
  readonly views: readonly PoolView[];
}

/**
 * Gives each address one owner, and views the pools. Only a view tells which addresses of a pool are surplus. Those that another object names become that one's: then claims and
 * views are made again. Ends, since each time pools have fewer addresses.
 */
export function* settlePools(world: Observation, bounds: Bounds, selection: Selection): Steps<SettledPools> {
  const heirs = heirsOf(world, bounds.grants);
  let left = leftByDeleted(world, heirs);
  for (;;) {
    const claims = settleClaims(world, bounds.grants, left);
    const views = yield* viewPools(world, claims, bounds, selection);
    const surplus = leftAsSurplus(views, heirs);
    if (surplus.size === 0) return { claims, views };
    left = joinedLeft(left, surplus);
  }
}

function* viewPools(
  world: Observation,
  claims: Claims,
  { grants, withheld, ownership: { isOwn } }: Bounds,
  selection: Selection,
): Steps<readonly PoolView[]> {
  const { pools, registry, firewalls, observedAtMs: nowMs } = world;
  const providers = new Set(pools.map(({ spec }) => spec.provider));
  const machines = new Map([...providers].map((name) => [name, machineNodes(world, name)]));
  const context = { firewalls, made: madeRules(pools), nowMs, registry };
  const found = new Set<string>();
  const views = yield* eachInSteps(pools.toSorted(bySeniority), (pool) => {
    const validation = validatePool(pool, world);
    const verdicts = judgeNodes(pool, validation, world);
    const empty = emptyTarget(pool, validation, world.nodes);
    const own = machines.get(pool.spec.provider) ?? machineNodes(world, pool.spec.provider);
    const held = grants.heldOf({ kind: pool.kind, ...pool.meta });
    const firewall = firewallTarget(pool, { ...context, held: held.firewall });
    const view = viewPool(pool, {
      observation: world,
      claims,
      held,
      validation,
      verdicts,
      emptyTarget: empty,
      isUp: upJudge(world.nodesReadAtMs),
      isOutside: outsideJudge(validation),
      stillServes: servingJudge(validation, world.nodesReadAtMs, empty !== undefined),
      nodeByMachine: nodeByMachine(own, verdicts.of),
      machineless: own.machineless,
      isSelected: isSelected(selection, pool.kind, pool.meta),
      withheld,
      firewall,
      firewallObstacle: (place, isDown) => firewallObstacle(firewall, place, isDown),
      deadEnd: firewallDeadEnd(firewall),
      found,
    });
    return isOwn(view.object) ? view : { ...view, isOthers: true as const };
  });
  return withFormerOwners(views);
}
