import { expect } from "vitest";
import { APPROVED_ANNOTATION, approvalText } from "../../src/model/approval.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Condition } from "../../src/model/resource.ts";
import { NOT_BEGUN, type RunLimits, RunRestraint } from "../../src/model/restraint.ts";
import { SUSPEND_ANNOTATION } from "../../src/model/suspension.ts";
import { WWW, www } from "./dns-scene.ts";
import { PLAYS_ALL } from "./plays-all.ts";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const THEIRS = "198.51.100.99";
const MARK = "heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/api";
const CORDON = {
  spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
};
const GRANTED = { addresses: "0.0.0.0/0", names: "*.example.com", purchases: "9" };

/** One world is led through every guardrail in turn. What one of them leaves behind meets the next; after each step a second pass writes nothing. */
export function guardTourScenarios(scenario: Register): void {
  for (const dieBeforeWrite of PLAYS_ALL ? [0, 1, 2, 3, 5] : [0, 2])
    scenario(
      `a tour through all guardrails: each holds, says so, and lets go${dieBeforeWrite === 0 ? "" : `; a run dies before write ${dieBeforeWrite} in each step`}`,
      async (world) => {
        const rest = resting(world, dieBeforeWrite);
        for (const step of STEPS) await step(world, rest);
      },
      {
        onlySingleRuns: "flags change between its runs",
        ...(dieBeforeWrite === 0 ? {} : { worlds: ["memory"] as const }),
      },
    );
}

/** Passes until a step of the tour has come to rest, and expects that the pass after it writes nothing. Returns the writes to providers. */
type Rest = (limits?: RunLimits) => Promise<readonly string[]>;

function resting(world: World, dieBeforeWrite: number): Rest {
  const written = (): readonly string[] => [...world.cloudWrites(), ...world.dnsWrites()];
  return async (limits) => {
    const options = (): { readonly restraint?: RunRestraint } =>
      limits === undefined ? {} : { restraint: new RunRestraint({ limits, begun: NOT_BEGUN }) };
    const writes: string[] = [];
    if (dieBeforeWrite > 0) {
      await world.crash(dieBeforeWrite, options());
      writes.push(...written());
      // What the dead run has begun is looked at once more.
      await world.pass(options());
      writes.push(...written());
      world.advance(SECOND);
    }
    await world.pass(options());
    writes.push(...written());
    await world.pass(options());
    expect(world.writes(), "the second pass writes nothing").toEqual([]);
    return writes;
  };
}

/** A part of the tour. */
type Step = (world: World, rest: Rest) => Promise<void>;

function shown(world: World, name = WWW): readonly string[] {
  return world.dns.addresses("digitalocean", name);
}

async function condition(world: World, type: string, pool = "web"): Promise<string> {
  return conditionText((await world.pools.status(pool)).conditions, type);
}

function conditionText(conditions: readonly Condition[], type: string): string {
  const found = conditions.find((one) => one.type === type);
  return found === undefined ? "absent" : `${found.status} ${found.reason}: ${found.message}`;
}

function heldFor({ holds }: Plan): readonly string[] {
  return holds.map(({ reason, subject }) => `${reason} ${subject}`);
}

/** Without grants a foreign record is replaced; warn only tells; require takes nothing away. */
async function grantsBegin(world: World, rest: Rest): Promise<void> {
  await world.machines("n1", "n2", "n3", "n4");
  for (const number of [1, 2, 3]) world.cloud.address(ip(number));
  world.dns.zone("digitalocean");
  world.dns.add("digitalocean", WWW, THEIRS);
  await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www("digitalocean") });
  await rest();
  expect(shown(world)).toEqual([ip(1), ip(2)]);
  world.grants = "warn";
  expect(await rest()).toEqual([]);
  expect(await condition(world, "Granted")).toContain("False");
  await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
  await rest();
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3)]);
  world.grants = "require";
  expect(await rest()).toEqual([]);
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3)]);
}

/** Without any grant a lost node is a recovery all the same, and nothing new comes. */
async function grantIsWithdrawn(world: World, rest: Rest): Promise<void> {
  world.cloud.address(ip(4));
  await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3), ip(4)] });
  expect(await rest()).toEqual([]);
  expect(await condition(world, "Stalled")).toContain(`is not granted the address ${ip(4)}`);
  await world.nodes.setReady("n1", false);
  expect(await rest()).toContain("assign ip1 to n4");
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3)]);
  await world.nodes.setReady("n1", true);
  await rest();
}

/** What cannot be read grants nothing, the rest counts; a list of a fifth of a megabyte is no harm. */
async function badAnnotations(world: World, rest: Rest): Promise<void> {
  const junk = Array.from({ length: 20_000 }, (_, index) => `Bad_${index}!`).join(",");
  await world.grant({
    addresses: `300.1.1.1, 203.0.113.0/33, 10.0.0.1/24, ${ip(4)}`,
    names: `WWW.example.com, *.*.example.com, login, ${junk}`,
    purchases: "-1",
    "take-over": "yes",
    everything: "true",
  });
  const { grants } = await world.plan();
  expect(grants?.problems.length).toBeGreaterThan(0);
  expect(await rest()).toContain("assign ip4 to n1");
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  await world.pools.edit("web", { dnsRecordSet: { recordName: "login" } });
  expect(await rest()).toEqual([]);
  expect(world.dns.addresses("digitalocean", "login.example.com")).toEqual([]);
  await world.pools.edit("web", { dnsRecordSet: { recordName: "www" } });
  await world.grant({});
  expect(await rest()).toEqual([]);
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  await world.grant({ ...GRANTED, everything: "true" });
  await rest();
  expect(await condition(world, "Granted")).toBe("absent");
}

/** Hold leaves a foreign record alone and stays out of the name; Share stands beside it; Adopt, written out, replaces it. */
async function foreignRecords(world: World, rest: Rest): Promise<void> {
  const name = "nodes.example.com";
  world.dns.add("digitalocean", name, THEIRS);
  const record = (foreignRecords: string): object => www("digitalocean", { recordName: "nodes", foreignRecords });
  await world.recordSets.create("nodes", { dnsRecordSet: record("Hold"), match: { nodeLabel: "" } });
  expect(await rest()).toEqual([]);
  expect(shown(world, name)).toEqual([THEIRS]);
  const own = [1, 2, 3, 4].map(externalIP);
  await world.recordSets.edit("nodes", { dnsRecordSet: record("Share") });
  await rest();
  expect(shown(world, name)).toEqual([...own, THEIRS].toSorted());
  await world.nodes.setReady("n2", false);
  await rest();
  expect(shown(world, name)).toEqual([externalIP(1), externalIP(3), externalIP(4), THEIRS].toSorted());
  await world.nodes.setReady("n2", true);
  await world.recordSets.edit("nodes", { dnsRecordSet: record("Adopt") });
  await rest();
  expect(shown(world, name)).toEqual(own);
}

/** A name of external-dns is left to it until its mark goes. */
async function ownerOfAnother(world: World, rest: Rest): Promise<void> {
  const name = "api.example.com";
  world.dns.add("digitalocean", name, THEIRS);
  world.dns.add("digitalocean", `a-${name}`, MARK, { type: "TXT" });
  await world.recordSets.create("api", { dnsRecordSet: www("digitalocean", { recordName: "api" }) });
  expect(await rest()).toEqual([]);
  const { conditions } = await world.recordSets.status("api");
  expect(conditionText(conditions, "Stalled")).toMatch(/^True OwnedByOther: .*owner id "prod"/);
  world.dns.remove("digitalocean", { fqdn: `a-${name}`, type: "TXT" });
  await rest();
  expect(shown(world, name)).toHaveLength(4);
}

/** The fourth repair within ten minutes waits; a lost node does not; peace ends it. */
async function fight(world: World, rest: Rest): Promise<void> {
  const rewrite = (): void => {
    world.dns.remove("digitalocean", { fqdn: WWW });
    world.dns.add("digitalocean", WWW, THEIRS);
  };
  let repairs = 0;
  for (; repairs <= 3; repairs += 1) {
    rewrite();
    await rest();
    if (shown(world).includes(THEIRS)) break;
    expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  }
  // A repair that a run died in counts as well.
  expect(repairs).toBeLessThanOrEqual(3);
  expect(repairs).toBeGreaterThan(0);
  expect(await condition(world, "Stalled")).toContain("True Contested");
  await world.machines("n5");
  await world.nodes.setReady("n2", false);
  await rest();
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  expect(world.cloud.addresses()["ip2"]).toBe("n5");
  await world.nodes.setReady("n2", true);
  await rest();
  world.advance(21 * MINUTE);
  await rest();
  expect(await condition(world, "Stalled")).toContain("False");
}

/** A selector that selects nothing takes nothing; a node that is lost meanwhile is no reason to. */
async function emptyTarget(world: World, rest: Rest): Promise<void> {
  await world.pools.edit("web", { match: { nodeLabel: "role=typo" } });
  expect(await rest()).toEqual([]);
  expect(await condition(world, "Stalled")).toContain("True EmptyTarget");
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  await world.pools.edit("web", { match: { nodeLabel: "" } });
  expect(await rest()).toEqual([]);
  expect(await condition(world, "Stalled")).toContain("False");
}

/** Every holder is cordoned: one goes after the other, each drained first; one that fails in the middle goes at once; a run dies in between. */
async function upgradeWithALoss(world: World, rest: Rest): Promise<void> {
  await world.machines("n11", "n12", "n13", "n14");
  const old = Object.values(world.cloud.addresses()).filter((node) => node.startsWith("n"));
  expect(old).toHaveLength(4);
  for (const node of ["n1", "n2", "n3", "n4", "n5"]) await world.nodes.patch(node, CORDON);
  const seen = new Set<string>();
  const step = async (least: number): Promise<void> => {
    for (const held of heldFor(await world.plan())) seen.add(held.split(" ")[0] ?? "");
    await world.pass();
    const addresses = shown(world);
    expect(addresses.length - world.dnsSafety.wrong(addresses).length).toBeGreaterThanOrEqual(least);
  };
  await step(3);
  const drained = [1, 2, 3, 4].map(ip).filter((address) => !shown(world).includes(address));
  expect(drained, "one leaves the name").toHaveLength(1);
  expect(onNewNodes(world), "and stays where it is until the TTL is over").toEqual([]);
  const lost = Object.entries(world.cloud.addresses()).find(([address]) => !drained.map(shortIP).includes(address));
  await world.nodes.setReady(lost?.[1] ?? "", false);
  await step(2);
  expect(onNewNodes(world), "what is lost goes at once").toEqual([lost?.[0]]);
  await world.crash(1);
  for (let at = 0; at < 10; at += 1) {
    world.advance(61 * SECOND);
    await step(3);
  }
  expect([...seen].toSorted()).toEqual(expect.arrayContaining(["DisruptionBudget", "Draining"]));
  expect(onNewNodes(world)).toEqual(["ip1", "ip2", "ip3", "ip4"]);
  expect(await rest()).toEqual([]);
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
}

function onNewNodes(world: World): readonly string[] {
  return Object.entries(world.cloud.addresses())
    .filter(([, node]) => /^n1\d/.test(node))
    .map(([address]) => address)
    .toSorted();
}

function shortIP(address: string): string {
  return `ip${address.split(".").at(-1)}`;
}

/** What is suspended stands still, also while a node fails; it ends by itself. */
async function suspension(world: World, rest: Rest): Promise<void> {
  await world.machines("n15");
  const at = (ms: number): string => new Date(world.nowMs() + ms).toISOString();
  const text = { by: "ana", reason: "maintenance", since: at(0), until: at(10 * MINUTE) };
  await world.pools.annotate("web", SUSPEND_ANNOTATION, JSON.stringify(text));
  const holder = world.cloud.addresses()["ip1"] ?? "";
  await world.nodes.setReady(holder, false);
  await rest();
  expect(world.cloud.addresses()["ip1"]).toBe(holder);
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  world.advance(10 * MINUTE + SECOND);
  await rest();
  expect(world.cloud.addresses()["ip1"]).toBe("n15");
  await world.pools.annotate("web", SUSPEND_ANNOTATION, null);
  await rest();
}

/** Passes until a pool has so many acquired addresses: where a run died in a purchase the account is watched first. */
async function bought(world: World, pool: string, count: number): Promise<void> {
  for (let at = 0; at < 4; at += 1) {
    if ((await world.pools.status(pool)).acquired.length === count) return;
    world.advance(31 * SECOND);
    await world.pass();
  }
  expect((await world.pools.status(pool)).acquired, `acquired by ${pool}`).toHaveLength(count);
}

/** An approval counts once, for these things, of this object, in time; a lost node waits for none. */
async function approvals(world: World, rest: Rest): Promise<void> {
  await world.machines("n21", "n22", "n23", "n24");
  for (const node of ["n21", "n22", "n23", "n24"])
    await world.nodes.patch(node, { metadata: { labels: { role: "k" } } });
  const spec = { region: "nyc3", reclaimPolicy: "Delete", approval: "Voluntary", match: { nodeLabel: "role=k" } };
  for (const pool of ["buys", "twin"]) await world.pools.create(pool, { ...spec, desiredIPs: 2 });
  await rest();
  const held = async (pool: string): Promise<number> => (await world.pools.status(pool)).acquired.length;
  expect([await held("buys"), await held("twin")]).toEqual([2, 2]);
  for (const pool of ["buys", "twin"]) await world.pools.edit(pool, { desiredIPs: 1 });
  await rest();
  const approval = async (pool: string, forMs: number): Promise<string> => {
    const waiting = (await world.plan()).toApprove?.find(({ object }) => object.name === pool);
    return approvalText(waiting?.plan ?? [], "ana", world.nowMs() + forMs);
  };
  const inTime = await approval("buys", 15 * MINUTE);
  for (const [pool, text] of [
    ["buys", await approval("buys", -SECOND)],
    ["twin", inTime],
  ] as const) {
    await world.pools.annotate(pool, APPROVED_ANNOTATION, text);
    await rest();
    expect([await held("buys"), await held("twin")], `nothing is given back for ${pool}`).toEqual([2, 2]);
    expect(await condition(world, "Stalled", pool)).toContain("True AwaitsApproval");
  }
  await world.pools.annotate("buys", APPROVED_ANNOTATION, inTime);
  await world.crash(2);
  for (let at = 0; at < 4; at += 1) {
    await world.pass({ settle: true });
    world.advance(61 * SECOND);
  }
  expect([await held("buys"), await held("twin")]).toEqual([1, 2]);
  await world.pools.edit("buys", { desiredIPs: 2 });
  await rest();
  await bought(world, "buys", 2);
  await world.pools.edit("buys", { desiredIPs: 1 });
  await rest();
  expect(await held("buys"), "an approval is not used twice").toBe(2);
  const holder = Object.entries(world.cloud.addresses()).find(([, node]) => node === "n21")?.[0];
  await world.pools.edit("buys", { desiredIPs: 2 });
  await world.nodes.setReady("n21", false);
  await world.machines("n25");
  await world.nodes.patch("n25", { metadata: { labels: { role: "k" } } });
  await rest();
  expect(world.cloud.addresses()[holder ?? ""], "a lost node waits for no approval").toBe("n25");
}

/** What a run may take is counted; what serves no more is not. */
async function limits(world: World, rest: Rest): Promise<void> {
  await world.pools.edit("buys", { approval: "None" });
  await world.pools.edit("twin", { approval: "None" });
  await rest({ removals: 0 });
  const all = async (): Promise<number> =>
    (await world.pools.status("buys")).acquired.length + (await world.pools.status("twin")).acquired.length;
  expect(await all()).toBe(4);
  await world.pools.edit("buys", { desiredIPs: 3 });
  expect(await rest({ purchases: 0, removals: 0, voluntaryMoves: 0 })).toEqual([]);
  const lost = "n25";
  const [address] = Object.entries(world.cloud.addresses()).find(([, node]) => node === lost) ?? [];
  await world.nodes.setReady("n21", true);
  await world.nodes.setReady(lost, false);
  await rest({ purchases: 0, removals: 0, voluntaryMoves: 0 });
  expect(world.cloud.addresses()[address ?? ""], "a recovery is not counted").toBe("n21");
  for (let at = 0; at < 4; at += 1) {
    await world.pass({ settle: true });
    world.advance(61 * SECOND);
  }
  expect((await world.pools.status("twin")).acquired).toHaveLength(1);
}

/** The last free address of the account goes to the pool that has none. */
async function fairPurchases(world: World, rest: Rest): Promise<void> {
  const { account, reserved_ips: all } = world.cloud.state;
  account.reserved_ip_limit = all.length + 1;
  await world.pools.edit("buys", { desiredIPs: 9 });
  await world.pools.create("none", { desiredIPs: 1, region: "nyc3", match: { nodeLabel: "" } });
  await rest();
  await bought(world, "none", 1);
  expect(await condition(world, "Stalled", "buys")).toContain("QuotaExceeded");
}

/** Without grants everything is as it was; what was served all the time still is. */
async function grantsEnd(world: World, rest: Rest): Promise<void> {
  world.grants = "off";
  await world.grant({});
  await rest();
  expect(shown(world)).toEqual([ip(1), ip(2), ip(3), ip(4)]);
  expect(await condition(world, "Granted")).toBe("absent");
}

const STEPS: readonly Step[] = [
  grantsBegin,
  grantIsWithdrawn,
  badAnnotations,
  foreignRecords,
  ownerOfAnother,
  fight,
  emptyTarget,
  upgradeWithALoss,
  suspension,
  approvals,
  limits,
  fairPurchases,
  grantsEnd,
];
