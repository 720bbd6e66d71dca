import { type Action, type ObjectRef, refKey } from "../model/action.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import type { ObjectMeta } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { planInSteps } from "../plan/plan.ts";
import type { Steps } from "../plan/steps.ts";

/** Returns what suspended objects would do now if they were not suspended, as a plan has it; undefined where none is. Pure. */
export function* suspendedActions(
  { pools, recordSets }: Pick<Plan, "pools" | "recordSets">,
  observation: Observation,
  selection: Selection,
): Steps<readonly Action[] | undefined> {
  const asleep = [...pools, ...recordSets].flatMap(({ object, suspended }) =>
    suspended === undefined ? [] : [object],
  );
  if (asleep.length === 0) return undefined;
  const keys = new Set(asleep.map(refKey));
  const { actions } = yield* planInSteps(resumed(observation, keys), selection);
  return actions.filter(({ object }) => keys.has(refKey(object)));
}

/** The world in which these objects go on, by {@link refKey}, whatever suspends them. */
function resumed(world: Observation, keys: ReadonlySet<string>): Observation {
  const ofAll = withoutSuspensionOfAll(world);
  const awake = <O extends Suspendable>(object: O, ref: ObjectRef): O => {
    if (!keys.has(refKey(ref))) return object;
    return { ...withoutNote(object), spec: { ...object.spec, suspend: false } };
  };
  return {
    ...ofAll,
    pools: ofAll.pools.map((pool) => awake(pool, { kind: pool.kind, ...pool.meta })),
    recordSets: ofAll.recordSets.map((recordSet) => awake(recordSet, { kind: "dns", ...recordSet.meta })),
  };
}

interface Suspendable {
  readonly meta: ObjectMeta;
  readonly spec: { readonly suspend: boolean };
}

/** Returns the world without the suspension of all objects. Pure. */
export function withoutSuspensionOfAll(world: Observation): Observation {
  const { suspension: _, ...lease } = world.lease;
  return { ...world, lease };
}

/** Returns the world without the annotation that suspends an object. Pure. */
export function withoutSuspension(world: Observation, ref: ObjectRef): Observation {
  const resume = <O extends Suspendable>(object: O, kind: ObjectRef["kind"]): O =>
    refKey({ kind, ...object.meta }) === refKey(ref) ? withoutNote(object) : object;
  return {
    ...world,
    pools: world.pools.map((pool) => resume(pool, pool.kind)),
    recordSets: world.recordSets.map((recordSet) => resume(recordSet, "dns")),
  };
}

function withoutNote<O extends Suspendable>(object: O): O {
  const { suspension: _, ...meta } = object.meta;
  return { ...object, meta };
}
