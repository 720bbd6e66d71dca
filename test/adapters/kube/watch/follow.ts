import { Reflector, type WatchSource } from "../../../../src/adapters/kube/watch/reflector.ts";
import { failureOf } from "../../../../src/adapters/kube/watch/sync-state.ts";
import { FakeClock } from "../../../fake/fake-clock.ts";
import { ModelList, THING_RULES, type Thing, withOpaqueVersions } from "./model-list.ts";

/** A model's list, followed. */
export interface Following {
  readonly model: ModelList;
  readonly clock: FakeClock;
  readonly reflector: Reflector<Thing>;
  /** Names of the things that were announced. */
  readonly heard: string[];
  /** The list as `name spec own`, now. */
  readonly list: () => Promise<readonly string[]>;
}

/** A reflector of a model with these things, not started. Nothing is left to chance: the random number is always 0. */
export function aReflector(...names: readonly string[]): Following {
  return reflectorOf(names, { sourceOf: (model) => model });
}

/** The same of a list by which addresses move. */
export function aVitalReflector(...names: readonly string[]): Following {
  return reflectorOf(names, { sourceOf: (model) => model, isVital: true });
}

/** The same of a list in one namespace, in which the permission may be missing. */
export function aNamespacedReflector(...names: readonly string[]): Following {
  return reflectorOf(names, { sourceOf: (model) => model, isNamespaced: true });
}

/** The same of a server whose versions are no numbers. */
export function aReflectorOfOpaqueVersions(...names: readonly string[]): Following {
  return reflectorOf(names, { sourceOf: withOpaqueVersions });
}

/** {@link aReflector}, started and read once. */
export async function following(...names: readonly string[]): Promise<Following> {
  const one = aReflector(...names);
  one.reflector.start();
  await one.list();
  return one;
}

function reflectorOf(
  names: readonly string[],
  {
    sourceOf,
    isVital = false,
    isNamespaced = false,
  }: {
    readonly sourceOf: (model: ModelList) => WatchSource<Thing>;
    readonly isVital?: boolean;
    readonly isNamespaced?: boolean;
  },
): Following {
  const clock = new FakeClock();
  const model = new ModelList(clock);
  for (const name of names) model.put(name, { spec: "s0" });
  const heard: string[] = [];
  const reflector = new Reflector({
    source: sourceOf(model),
    rules: THING_RULES,
    clock,
    random: () => 0,
    isVital,
    isRefused: (error) => failureOf(error) === "invalid" || (isNamespaced && failureOf(error) === "forbidden"),
    onChange: (keys) => heard.push(...keys.map((key) => key.slice(1))),
  });
  const list = async (): Promise<readonly string[]> => {
    const things = await clock.settle(reflector.values());
    return things.map(({ name, spec, own }) => `${name} ${spec} ${own}`.trimEnd());
  };
  return { model, clock, reflector, heard, list };
}
