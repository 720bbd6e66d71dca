import { afterAll, describe, expect, test } from "vitest";
import { refKey } from "../../src/model/action.ts";
import type { ChangeTold, Explanation, Section } from "../../src/model/explanation.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Pool } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { parseEdit } from "../../src/rehearse/edit.ts";
import { editWorld } from "../../src/rehearse/edited-world.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { forward } from "../../src/rehearse/forward.ts";
import { random, randomWorld } from "../plan/random-world.ts";

const HORIZON_MS = 15 * 60_000;

/** What a person does who makes the printed edits, by another way than the search: their text is read, and a field of a spec is set. */
function edited(world: Observation, { edit = "" }: ChangeTold): Observation {
  const object = /^pool\/([^/]+)\/([^.]+)\.([^=]+)=(.*)$/.exec(edit);
  if (object === null) {
    const parsed = parseEdit(edit, { duration: (text) => Number(text.replace("s", "")) * 1000, yaml: () => undefined });
    if (parsed.kind === "object") throw new Error(edit);
    const after = editWorld(world, [parsed]);
    // The provider refuses a second address on a machine.
    return edit.includes("=on:node/") && machinesTwice(after) ? world : after;
  }
  const [, namespace, name, field = "", value = ""] = object;
  const isJSON = /^[[{\d]|^(true|false)$/.test(value);
  const set = (pool: Pool): Pool => {
    if (pool.meta.namespace !== namespace || pool.meta.name !== name) return pool;
    const [first = "", second] = field.split(".");
    const parsed: unknown = isJSON ? JSON.parse(value) : value;
    const whole = second === undefined ? parsed : { ...pool.spec.match, [second]: parsed };
    return { ...pool, spec: { ...pool.spec, [first]: whole } };
  };
  return { ...world, pools: world.pools.map(set) };
}

function machinesTwice({ providers }: Observation): boolean {
  const facts = [...providers.values()].flatMap(({ addresses }) => [...addresses.values()]);
  const holders = facts.flatMap((fact) => (fact.kind === "known" ? (fact.address.holderID ?? []) : []));
  return new Set(holders).size < holders.length;
}

function afterwards(world: Observation, changes: readonly ChangeTold[]): Plan {
  return forward(changes.reduce(edited, world), {}, { horizonMs: HORIZON_MS }).remaining;
}

interface Asked {
  readonly explanation: Explanation;
  readonly section: Section;
  readonly comesTrue: (planned: Plan) => boolean;
}

function poolIn(planned: Plan, { object }: Section): Plan["pools"][number] | undefined {
  return planned.pools.find((one) => refKey(one.object) === refKey(object));
}

/** A question about a world that the seed chooses, with what its answer speaks of. */
function ask(world: Observation, seed: number): readonly Asked[] {
  const next = random(seed * 7919);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const ip = pick([...world.pools.flatMap(({ spec }) => spec.ips), "203.0.113.1"]);
  const node = pick(world.nodes).name;
  const subject = pick([
    { kind: "pair", ip, node } as const,
    { kind: "ip", ip } as const,
    { kind: "node", node } as const,
    { kind: "object" } as const,
  ]);
  const explanation = explain(world, { subject, isMeant: () => true, horizonMs: HORIZON_MS });
  return explanation.sections.map((section) => ({
    explanation,
    section,
    comesTrue: (planned) => {
      const pool = poolIn(planned, section);
      const entry = pool?.status.ips[ip];
      const serves = (one: typeof entry): boolean =>
        one?.state === "active" && pool?.matching.includes(one.nodeName ?? "") === true;
      switch (subject.kind) {
        case "pair":
          return serves(entry) && entry?.nodeName === node;
        case "ip":
          return serves(entry);
        case "node":
          return pool?.matching.includes(node) === true;
        case "object":
          return (
            pool !== undefined &&
            pool.blocked === undefined &&
            Object.values(pool.status.ips).filter(serves).length >= pool.desired
          );
      }
    },
  }));
}

function checkTold(world: Observation, { section, comesTrue }: Asked): void {
  const { counterfactual, holds, isComing } = section;
  expect(comesTrue(plan(world, {})), "it says how it stands").toBe(holds);
  if (!holds) expect(comesTrue(afterwards(world, [])), "it says what comes by itself").toBe(isComing);
  const { changes = [], alternatives = [] } = counterfactual ?? {};
  if (changes.length === 0) return;
  const isTrueWith = (edits: readonly ChangeTold[]): boolean => comesTrue(afterwards(world, edits));
  expect(isTrueWith(changes), changes.map(({ edit }) => edit).join(" ")).toBe(true);
  for (const [at, one] of changes.entries()) {
    expect(isTrueWith(changes.filter((other) => other !== one)), `without ${one.edit}`).toBe(false);
    for (const other of alternatives[at] ?? [])
      expect(isTrueWith(changes.toSpliced(at, 1, other)), `${other.edit} for ${one.edit}`).toBe(true);
  }
}

/** Declares a test for each of these seeded worlds. */
export function describeSmallestChanges(seeds: readonly number[]): void {
  describe("the smallest change", () => {
    let played = 0;
    let found = 0;
    let several = 0;

    // A change that is never found would make every world pass.
    afterAll(() => {
      if (played < seeds.length) return;
      expect(found, "worlds with a change").toBeGreaterThan(seeds.length / 5);
      expect(several, "worlds with several").toBeGreaterThan(seeds.length / 25);
    });

    test.for(seeds)("of world %d makes it true, and leaving out any one edit makes it false", (seed) => {
      played += 1;
      const world = randomWorld(seed);
      const asked = ask(world, seed);
      expect(asked.length).toBeLessThanOrEqual(world.pools.length);
      for (const one of asked) checkTold(world, one);
      const numbers = asked.map(({ section }) => section.counterfactual?.changes.length ?? 0);
      found += numbers.filter((number) => number > 0).length;
      several += numbers.filter((number) => number > 1).length;
    });
  });
}
