import { describe, expect, test } from "vitest";
import type { ACTIONS } from "../../src/model/action-kinds.ts";
import type { Observation } from "../../src/model/observation.ts";
import { announcedActions } from "../../src/model/plan.ts";
import { type SavedAction, savedActions } from "../../src/model/saved-plan.ts";
import { planWorld } from "../../src/reconcile.ts";
import { type Judged, judge, savePlan } from "../../src/saved/saved-plan.ts";
import { readSavedPlan, writeSavedPlan } from "../../src/snapshot/saved-plan-shape.ts";
import { anObservation, aPool, known, nodes } from "../plan/builders.ts";
import { dnsFacts } from "../plan/dns-builders.ts";
import { randomDNSWorld } from "../plan/random-dns-world.ts";
import { randomFirewallWorld } from "../plan/random-firewall-world.ts";
import { random, randomWorld } from "../plan/random-world.ts";
import { type Planned, withFactChanged } from "./change-fact.ts";
import { irrelevantEdit } from "./irrelevant-edit.ts";

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed + 1);
const ABOUT = { clusterUID: "uid", selection: {}, limits: {} };

function planned(world: Observation): Planned {
  return { world, plan: planWorld(world, {}).plan };
}

function worlds(seed: number): readonly Observation[] {
  const random = [randomWorld(seed), randomDNSWorld(seed), randomFirewallWorld(seed)];
  return seed === 1 ? [...random, swap(), swap(true)] : random;
}

/** The address .1 has left the spec and makes room on n1 for .2, whose machine is gone; .3 serves beside it, so that .1 leaves the name first. @param isForeign - somebody else published .1 */
function swap(isForeign = false): Observation {
  const [gone, wanted, other] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
  const active = (number: number) =>
    ({ state: "active", nodeName: `n${number}`, providerID: `digitalocean://${100 + number}` }) as const;
  const name = {
    provider: "digitalocean",
    zone: "example.com",
    name: "www.example.com",
    addresses: isForeign ? [other] : [gone, other],
  };
  const pool = aPool({
    spec: {
      ips: [wanted, other],
      dnsRecordSet: { provider: "digitalocean", zone: "example.com", recordName: "www", ttlSeconds: 60 },
    },
    status: { ips: { [gone]: active(1), [other]: active(2), [wanted]: active(3) }, publishedDNS: name },
  });
  return anObservation({
    pools: [pool],
    nodes: nodes(2),
    addresses: [known(gone, { holderID: "101" }), known(wanted), known(other, { holderID: "102" })],
    dns: [dnsFacts({ "www.example.com": [gone, other] })],
  });
}

/** A verdict as a text: its kind, or the path that it was refused for. */
function told(one: Judged): string {
  return one.kind === "changed" ? `${one.fact.path}: ${one.fact.message}` : one.kind;
}

describe("a saved plan", () => {
  test.for(SEEDS)("of random worlds, seed %i, is carried out whole in the same world, also from its file", (seed) => {
    for (const world of worlds(seed)) {
      const now = planned(world);
      const saved = savePlan(now, ABOUT);
      expect(readSavedPlan(JSON.parse(JSON.stringify(writeSavedPlan(saved))))).toEqual(saved);
      const { judged, others } = judge(saved, now);
      expect(judged.map(told)).toEqual(announcedActions(now.plan).map(() => "same"));
      expect(others).toEqual([]);
    }
  });
});

/** What a path is about, without the names in it. */
function formOf(path: string): string {
  return path
    .replace(/^(pool|dns|routedip)\/[^/]*\/[^/.]*\.(uid|generation|deleting|finalizer|addresses)$/, "object.$2")
    .replace(/^(ip|node|machine)\/.*\.([a-z]+)(\(.*\))?$/, "$1.$2")
    .replace(/^dns\/.*\.([a-z]+)$/, "name.$1")
    .replace(/^clients\/.*$/, "clients")
    .replace(/^firewall\/[^/]*\/\d+$/, "firewall.machine")
    .replace(/^firewall\/.*$/, "firewall.port");
}

/** The forms of the facts that each kind of action depends on, beside those of its object. */
const WANTED: Readonly<Record<keyof typeof ACTIONS, readonly string[]>> = {
  "assign-ip": ["ip.holder", "ip.locked", "node.matches", "node.machine", "machine.addresses"],
  "move-ip": ["ip.holder", "ip.locked", "node.matches", "clients", "node.machine", "machine.addresses"],
  "unassign-ip": ["ip.holder", "ip.locked", "node.matches", "clients"],
  "delete-ip": ["ip.holder", "ip.locked"],
  "acquire-ip": ["object.addresses", "node.matches", "node.machine", "machine.addresses"],
  "annotate-node": ["ip.holder", "node.annotation"],
  "clear-annotation": ["ip.holder", "node.annotation"],
  "update-dns": ["ip.holder", "ip.node", "name.zone", "name.records", "name.foreign", "clients"],
  "withdraw-dns": ["ip.node", "name.zone", "name.records", "name.foreign", "clients"],
  "delete-dns": ["ip.node", "name.zone", "name.records", "name.foreign", "clients"],
  "open-ports": ["firewall.port"],
  "close-ports": ["firewall.port"],
  "add-to-firewall": ["firewall.machine"],
  "remove-from-firewall": ["firewall.machine"],
  "add-finalizer": ["object.finalizer"],
  "remove-finalizer": ["object.finalizer"],
};
const ALWAYS = ["object.uid", "object.generation", "object.deleting"];

describe("a fact that differs", () => {
  test("refuses by its name what depends on it, and nothing else: every fact of every kind of action", () => {
    const covered = new Set(SEEDS.flatMap(worlds).flatMap((world) => tryEveryFact(planned(world))));
    const wanted = Object.entries(WANTED).flatMap(([kind, forms]) =>
      [...ALWAYS, ...forms].map((form) => `${kind} ${form}`),
    );
    expect([...covered].toSorted()).toEqual(wanted.toSorted());
  });
});

/** Changes each fact that a plan depends on, alone. Returns for which kinds of actions. */
function tryEveryFact(now: Planned): readonly string[] {
  const saved = savePlan(now, ABOUT);
  const all = savedActions(saved);
  const paths = new Set(all.flatMap(({ preconditions }) => preconditions.map(({ path }) => path)));
  for (const path of paths) {
    const { judged } = judge(saved, withFactChanged(path, now));
    for (const [at, one] of judged.entries()) check(path, { all, judged, one, at });
  }
  return all.flatMap(({ action, preconditions }) => preconditions.map(({ path }) => `${action.kind} ${formOf(path)}`));
}

interface Case {
  readonly all: readonly SavedAction[];
  readonly judged: readonly Judged[];
  readonly one: Judged;
  readonly at: number;
}

/** An action is refused exactly where it depends on the fact, or on one that changes with it, or needs an action that is refused. */
function check(path: string, { all, judged, one, at }: Case): void {
  const depends = one.saved.preconditions.some((precondition) => precondition.path === path);
  if (depends) expect(one.kind, `${one.saved.text} depends on ${path}`).toBe("changed");
  if (one.kind !== "changed") return;
  const { path: told, message } = one.fact;
  expect(message).toMatch(/^\S.*\.$/);
  if (told.startsWith("action/")) {
    expect(all[at]?.needs.some((need) => judged[need]?.kind === "changed")).toBe(true);
    return;
  }
  expect(one.saved.preconditions.map((precondition) => precondition.path)).toContain(told);
  if (depends && isAlone(path, one.saved)) expect(told, one.saved.text).toBe(path);
}

/** False for a fact that cannot change alone: an address that moves leaves one machine and comes to another, and an object that comes back has a uid. */
function isAlone(path: string, { preconditions }: SavedAction): boolean {
  const isOfNothing = preconditions.some((one) => one.equals === "none" && /\.uid$/.test(one.path));
  return !/^(ip|machine)\//.test(path) && !isOfNothing;
}

describe("what does not matter", () => {
  test.for([1, 2, 3])("refuses nothing after 500 changes, one upon the other: seed %i", (seed) => {
    const next = random(seed + 1000);
    for (const world of worlds(seed)) {
      const now = planned(world);
      let later = world;
      for (let count = 0; count < 500; count += 1) later = irrelevantEdit(later, next);
      const { judged, others } = judge(savePlan(now, ABOUT), planned(later));
      expect(judged.map(told)).toEqual(announcedActions(now.plan).map(() => "same"));
      expect(others).toEqual([]);
    }
  });

  test.for(SEEDS)("refuses nothing, however often it changes: seed %i", (seed) => {
    const next = random(seed);
    for (const world of worlds(seed)) {
      const now = planned(world);
      let later = world;
      for (let count = 0; count < 5; count += 1) later = irrelevantEdit(later, next);
      const { judged, others } = judge(savePlan(now, ABOUT), planned(later));
      expect(judged.map(told)).toEqual(announcedActions(now.plan).map(() => "same"));
      expect(others).toEqual([]);
    }
  });
});
