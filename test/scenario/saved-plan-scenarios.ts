import { expect } from "vitest";
import { subjectOf } from "../../src/model/action.ts";
import { APPROVED_ANNOTATION, approvalText } from "../../src/model/approval.ts";
import type { PassResult } from "../../src/model/run.ts";
import type { SavedPlan } from "../../src/model/saved-plan.ts";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import { SavedApplication } from "../../src/saved/application.ts";
import { publishedPool, WWW, www } from "./dns-scene.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, ip, short } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;

/** Carries out a saved plan as a new process. */
async function carryOut(world: World, plan: SavedPlan, isAllOrNothing = false): Promise<PassResult> {
  return await world.pass({ saved: new SavedApplication(plan, { isAllOrNothing }) });
}

/** What came of each action: `move-ip ip2 applied`, `move-ip ip2 refused (ip/ip2.holder)`; then what had been done, and what is not in the plan. */
function told({ outcomes, saved }: PassResult): readonly string[] {
  const ended = outcomes.map((outcome) => {
    const { action } = outcome;
    const fact = outcome.outcome === "skipped" ? outcome.refusedFor : undefined;
    const how = fact === undefined ? outcome.outcome : `refused (${formOf(fact.path)})`;
    return `${action.kind} ${subject(subjectOf(action))} ${how}`;
  });
  const done = (saved?.done ?? []).map((action) => `${action.kind} ${subject(subjectOf(action))} done`);
  const others = (saved?.others ?? []).map((action) => `${action.kind} ${subject(subjectOf(action))} not in it`);
  return [...ended, ...done, ...others].toSorted();
}

/** The path of a fact without the names of nodes, machines and objects; `needs move-ip` for another action. */
function formOf(path: string): string {
  return short(path)
    .replace(/^action\/(\S+) .*$/, "needs $1")
    .replace(/^(node|machine)\/.*?\./, "$1.")
    .replace(/^(pool|dns|routedip)\/.*\./, "$1.")
    .replace(/\(.*\)$/, "");
}

/** A subject by its short name, without what begins names on a shared cluster. */
function subject(text: string): string {
  return short(text).replace(/^.*-(n\d+)$/, "$1");
}

function codeOf(result: PassResult): number {
  return exitCodeOfRun(result, { partialOk: false });
}

/** ip1 and ip2 are on n1 and n2, which are gone; n3 and n4 wait. */
async function twoLost(world: World): Promise<void> {
  await world.machines("n1", "n2");
  for (const number of [1, 2]) world.cloud.address(ip(number));
  await world.pools.create("web", { ips: [ip(1), ip(2)] });
  await world.pass();
  for (const name of ["n1", "n2"]) await world.nodes.setReady(name, false);
  await world.machines("n3", "n4");
}

/** What `flipop plan --save` and `flipop reconcile --plan` promise: what was read is done, as far as it still holds, and nothing else. */
export function savedPlanScenarios(scenario: Register): void {
  scenario(
    "a saved plan is carried out whole where nothing has changed; the second time all of it is done already",
    async (world) => {
      await world.machines("n1", "n2");
      for (const number of [1, 2]) world.cloud.address(ip(number));
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
      const plan = await world.savePlan();
      const first = await carryOut(world, plan);
      expect(told(first)).toEqual([
        "annotate-node n1 applied",
        "annotate-node n2 applied",
        "assign-ip ip1 applied",
        "assign-ip ip2 applied",
        "update-dns www.example.com applied",
      ]);
      const again = await carryOut(world, plan);
      expect(told(again).map((line) => line.replace(/.* /, ""))).toEqual(["done", "done", "done", "done", "done"]);
      expect([codeOf(first), codeOf(again)]).toEqual([0, 0]);
      expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
    },
  );

  scenario("what a lost node was to get is refused, with what follows of it, and the rest is done", async (world) => {
    await twoLost(world);
    const plan = await world.savePlan();
    await world.nodes.setReady("n4", false);
    const result = await carryOut(world, plan);
    expect(told(result)).toEqual([
      "annotate-node n3 applied",
      "annotate-node n4 refused (needs move-ip)",
      "clear-annotation n1 applied",
      "clear-annotation n2 refused (needs move-ip)",
      "move-ip ip1 applied",
      "move-ip ip2 refused (node.matches)",
    ]);
    expect(codeOf(result)).toBe(4);
    expect(world.cloud.addresses()).toEqual({ ip1: "n3", ip2: "n2" });
    await world.pass();
  });

  scenario("nothing is done with --all-or-nothing where a part is refused", async (world) => {
    await twoLost(world);
    const plan = await world.savePlan();
    await world.nodes.setReady("n4", false);
    const result = await carryOut(world, plan, true);
    expect(told(result).filter((line) => line.endsWith(" applied"))).toEqual([]);
    expect([...world.cloudWrites(), ...world.dnsWrites()]).toEqual([]);
    expect(codeOf(result)).toBe(4);
    await world.pass();
  });

  scenario("a recovery that has become necessary since is told, and not done", async (world) => {
    await publishedPool(world, "digitalocean", ["n1", "n2"]);
    const plan = await world.savePlan();
    expect([...plan.actions, ...plan.followUps]).toEqual([]);
    await world.nodes.setReady("n1", false);
    await world.machines("n3");
    const result = await carryOut(world, plan);
    expect(told(result)).toContain("move-ip ip1 not in it");
    expect([codeOf(result), world.cloudWrites(), world.dnsWrites()]).toEqual([0, [], []]);
    await world.pass();
    expect(world.cloud.addresses()).toEqual({ ip1: "n3", ip2: "n2" });
  });

  scenario("what another run did is done already, and the rest follows", async (world) => {
    await twoLost(world);
    const plan = await world.savePlan();
    world.cloud.put(ip(1), "n3");
    const result = await carryOut(world, plan);
    expect(told(result).filter((line) => line.includes("move-ip"))).toEqual([
      "move-ip ip1 done",
      "move-ip ip2 applied",
    ]);
    expect(codeOf(result)).toBe(0);
    expect(world.cloud.addresses()).toEqual({ ip1: "n3", ip2: "n4" });
  });

  scenario(
    "an address that was moved elsewhere by hand is refused by name, and so is one that moves in the last moment",
    async (world) => {
      await twoLost(world);
      const plan = await world.savePlan();
      world.cloud.droplet(900);
      world.cloud.droplet(901);
      world.cloud.put(ip(1), 900);
      world.before("assign", async () => undefined);
      const early = await carryOut(world, plan, true);
      expect(told(early)).toContain("move-ip ip1 refused (ip/ip1.holder)");
      world.cloud.put(ip(1), "n1");
      world.before("getAddress", async () => world.cloud.put(ip(1), 900));
      const late = await carryOut(world, plan);
      expect(told(late)).toContain("move-ip ip1 skipped");
      expect(told(late)).toContain("move-ip ip2 applied");
      expect([codeOf(early), codeOf(late)]).toEqual([4, 4]);
      world.cloud.put(ip(1), undefined);
      await world.pass();
    },
  );

  scenario("a spec that was edited refuses all of its object, and nothing of others", async (world) => {
    await world.machines("n1", "n2");
    for (const number of [1, 2]) world.cloud.address(ip(number));
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pools.create("mail", { ips: [ip(2)] });
    const plan = await world.savePlan();
    await world.pools.edit("mail", { ips: [ip(2)], assignmentCoolOffSeconds: 1 });
    const result = await carryOut(world, plan);
    const lines = told(result);
    expect(lines).toContain("assign-ip ip2 refused (pool.generation)");
    expect(lines).toContain("assign-ip ip1 applied");
    await world.pass();
  });

  scenario(
    "a reduction whose approval has run out since is refused, and says so",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2", "n3"], { approval: "Voluntary" });
      await world.pools.edit("web", { ips: [ip(1), ip(2)] });
      await world.pass();
      const [waiting] = (await world.plan()).toApprove ?? [];
      const approved = approvalText(waiting?.plan ?? [], "ana", world.nowMs() + MINUTE_MS);
      await world.pools.annotate("web", APPROVED_ANNOTATION, approved);
      const plan = await world.savePlan();
      expect(plan.actions.map(({ action }) => action.kind)).toContain("update-dns");
      world.advance(2 * MINUTE_MS);
      const { outcomes } = await carryOut(world, plan);
      const why = outcomes.flatMap((outcome) =>
        outcome.outcome === "skipped" ? (outcome.refusedFor?.message ?? "") : "",
      );
      expect(why).toContainEqual(expect.stringContaining("the approval by ana is over"));
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2", "ip3"]);
    },
    { checksAnnotations: false },
  );

  scenario("addresses are bought once, and not where one has come since", async (world) => {
    await world.machines("n1", "n2");
    await world.pools.create("web", { desiredIPs: 2 });
    const plan = await world.savePlan();
    const first = await carryOut(world, plan);
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    const again = await carryOut(world, plan);
    expect(world.cloud.boughtNow()).toEqual([bought(1), bought(2)]);
    expect([codeOf(first), codeOf(again)]).toEqual([0, 0]);
    expect(told(again).filter((line) => !line.endsWith(" done"))).toEqual([]);
  });

  for (const [title, before, writes] of KILLED)
    for (let write = 1; write <= writes; write += 1)
      scenario(
        `killed before write ${write}, and run again: ${title}`,
        async (world) => {
          await before(world);
          const plan = await world.savePlan();
          const saved = new SavedApplication(plan, { isAllOrNothing: false });
          const end = await world.run({ saved, dieBeforeWrite: write });
          world.advance(60_000);
          const result = await carryOut(world, plan);
          expect(end.kind === "died" || told(result).every((line) => line.endsWith(" done"))).toBe(true);
          expect(told(result).filter((line) => !/ (applied|done)$/.test(line))).toEqual([]);
          expect(codeOf(result)).toBe(0);
          expect(world.cloud.boughtNow().length).toBeLessThanOrEqual(2);
          const { actions } = await world.plan();
          expect(actions).toEqual([]);
        },
        { worlds: write % 3 === 0 ? ["memory", "sandbox"] : ["memory"] },
      );
}

/** Stories that end halfway, each with the most writes that it makes. */
const KILLED: readonly (readonly [title: string, before: (world: World) => Promise<void>, writes: number])[] = [
  ["two addresses move", twoLost, 8],
  [
    "a swap on one droplet with its name",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1"]);
      world.cloud.address(ip(2));
      await world.pools.edit("web", { ips: [ip(2)] });
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([ip(1)]);
    },
    16,
  ],
  [
    "two addresses are bought",
    async (world) => {
      await world.machines("n1", "n2");
      await world.pools.create("web", { desiredIPs: 2, reclaimPolicy: "Delete" });
    },
    16,
  ],
  [
    "a pool is deleted, and its name with it",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1"], { reclaimPolicy: "Delete" });
      world.dnsSafety.allowEnd(WWW);
      await world.pools.delete("web");
    },
    10,
  ],
  [
    "a RoutedIP gets its address, behind its firewall",
    async (world) => {
      await routedScene(world, ["n1"]);
      await world.routedIPs.create("vip", {});
    },
    14,
  ],
];
