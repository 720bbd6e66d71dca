import type { Condition } from "../../src/model/resource.ts";
import type { DNSName } from "../fake/dns-account.ts";
import { DNS_PROVIDERS, WWW, www } from "../scenario/dns-scene.ts";
import { memoryWorld } from "../scenario/memory-world.ts";
import { ip } from "../scenario/scenario-names.ts";
import { World } from "../scenario/world.ts";
import { Random } from "./random.ts";

/*
 * Histories of a name that another controller wants, too: it replaces all records by its own, as external-dns does, takes some away, or turns their TTL, before most
 * passes. Nodes fail and come back, specs are edited, runs die at any write, and answers get lost. What must hold:
 *
 *   what flipop writes shows resolvers no address that does not serve, and never an empty name
 *   the same is put right at most five times within ten minutes, while clients get an answer of the other one: then the object is Stalled with the reason Contested
 *   an address whose node is lost is out of the name after the next pass that ends, and what is wanted anew is in it, however long the fight
 *   once the other one stops the name is right within eleven minutes; after a quiet half hour nothing is Stalled, and passes write nothing
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const STEPS = 30;
/** In so many steps at the end nothing happens beside the fight. */
const LAST_STEPS = 8;
const NODES = ["n1", "n2", "n3", "n4"];
const THEIRS = ["192.0.2.201", "192.0.2.202"];
/** Three repairs at once, one after a minute, and one after five more. */
const MOST_REPAIRS = 5;
const WINDOW_MS = 10 * MINUTE;

/** A cluster, and what was seen in it. */
interface Scene {
  readonly world: World;
  readonly provider: DNSName;
  readonly random: Random;
  /** When the name was put right to the same as before, milliseconds; empty again once something else is wanted. */
  repairsMs: number[];
  /** What the name was put right to last. */
  wanted: string;
  /** The addresses that were active after the last pass that ended. */
  active: string;
  /** True while a run may have died, or an answer got lost, since the last pass that ended well. */
  isDisturbed: boolean;
  readonly broken: string[];
}

/** Plays the history of a seed. Returns the promises that were broken, in words; none when all held. */
export async function playContestedName(seed: number): Promise<readonly string[]> {
  const random = new Random(seed);
  const world = new World(memoryWorld());
  const provider = random.pick(DNS_PROVIDERS);
  const scene: Scene = {
    world,
    provider,
    random,
    repairsMs: [],
    wanted: "",
    active: "",
    isDisturbed: false,
    broken: [],
  };
  try {
    await build(scene);
    for (let step = 0; step < STEPS; step += 1) await play(scene, step);
    await comeToRest(scene);
    return [...world.dnsSafety.violations, ...scene.broken];
  } catch (error) {
    return [`failed: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await world.close();
  }
}

async function play(scene: Scene, step: number): Promise<void> {
  const { world, random } = scene;
  const left = STEPS - step;
  if (left === LAST_STEPS) for (const node of NODES) await world.nodes.setReady(node, true);
  if (left > LAST_STEPS && random.chance(0.3)) await random.pick(HAPPENINGS)(scene);
  if (random.chance(0.85)) rewrite(scene);
  await somePass(scene);
  world.advance(random.pick([1, 5, 20, 60, 60]) * SECOND);
}

async function build({ world, provider }: Scene): Promise<void> {
  await world.namespace();
  await world.machines(...NODES);
  for (const number of [1, 2]) world.cloud.address(ip(number));
  world.dns.zone(provider);
  await world.pools.create("web", { ips: [ip(1), ip(2)], dnsRecordSet: www(provider) });
  await world.pass();
}

/** What happens beside the fight. */
const HAPPENINGS: readonly ((scene: Scene) => Promise<void> | void)[] = [
  ({ world, random }) => world.nodes.setReady(random.pick(NODES), false),
  ({ world, random }) => world.nodes.setReady(random.pick(NODES), false),
  ({ world, random }) => world.nodes.setReady(random.pick(NODES), true),
  ({ world, random }) => world.nodes.setReady(random.pick(NODES), true),
  async (scene) => {
    const { world, random } = scene;
    await world.pools.edit("web", { dnsRecordSet: { ttl: random.pick([60, 120]) } });
    scene.repairsMs = [];
  },
  (scene) => {
    const { world, provider, random } = scene;
    scene.isDisturbed = true;
    world.fail({
      side: "dns",
      provider,
      operation: random.pick(["records", "add-record", "remove-record", "write"] as const),
      kind: random.pick(["500", "lost-answer", "cut"] as const),
      times: 1,
      skip: random.between(0, 2),
    });
  },
];

/** The other controller does what it does. */
function rewrite({ world, provider, random }: Scene): void {
  const shown = world.dns.addresses(provider, WWW);
  const content = random.pick(THEIRS);
  const edit = random.pick(["replace", "replace", "replace", "add", "ttl"] as const);
  if (edit === "replace") world.dns.remove(provider, { fqdn: WWW });
  if (edit === "ttl") world.dns.edit(provider, { fqdn: WWW }, { ttlSeconds: 600 });
  else if (edit === "replace" || !shown.includes(content)) world.dns.add(provider, WWW, content);
}

/** A pass that ends, or dies. What it wrote, and what it left, is held against the promises. */
async function somePass(scene: Scene): Promise<void> {
  const { world, provider, random } = scene;
  const before = world.dns.addresses(provider, WWW);
  const ttlBefore = world.dns.ttls(provider, WWW).join();
  const dies = random.chance(0.15) ? { dieBeforeWrite: random.between(1, 6) } : {};
  scene.isDisturbed ||= "dieBeforeWrite" in dies;
  const end = await world.run(dies);
  const after = world.dns.addresses(provider, WWW);
  const isWritten = before.join() !== after.join() || ttlBefore !== world.dns.ttls(provider, WWW).join();
  if (isWritten) noteRepair(scene, before, after);
  if (end.kind !== "done") return;
  await checkPass(scene, after);
  scene.isDisturbed = false;
  world.clearFaults();
}

/** A write in which clients had an answer before it, and which brings what stood there already once, is a repair. */
function noteRepair(scene: Scene, before: readonly string[], after: readonly string[]): void {
  const { world, broken } = scene;
  const wanted = after.filter((address) => !THEIRS.includes(address)).join();
  const isWhole = after.every((address) => !THEIRS.includes(address));
  // After a failover it is wanted anew, also where the addresses are the same.
  if (wanted !== scene.wanted || world.cloudWrites().length > 0) scene.repairsMs = [];
  if (isWhole) scene.wanted = wanted;
  const isAnswered =
    before.length > 0 && before.every((address) => THEIRS.includes(address) || after.includes(address));
  // A repair whose answer is lost, or whose run dies, does not count.
  if (!isWhole || !isAnswered || scene.isDisturbed) return;
  const nowMs = world.nowMs();
  scene.repairsMs = [...scene.repairsMs.filter((ms) => nowMs - ms < WINDOW_MS), nowMs];
  // The first of them may be no repair: what is wanted anew is written at once.
  if (scene.repairsMs.length > MOST_REPAIRS + 1)
    broken.push(`fight: ${wanted} is put right ${scene.repairsMs.length} times within ten minutes`);
}

async function checkPass(scene: Scene, after: readonly string[]): Promise<void> {
  const { world, broken } = scene;
  const wrong = world.dnsSafety.wrong(after).filter((address) => !THEIRS.includes(address));
  const { conditions, ips, fight } = await world.pools.status("web");
  const active = Object.entries(ips)
    .flatMap(([address, { state }]) => (state === "active" ? [address] : []))
    .toSorted()
    .join();
  const isNew = active !== scene.active;
  scene.active = active;
  if (scene.isDisturbed || active === "") return;
  // The same as flipop has put there last is a repair.
  const isSame = fight?.addresses.join() === active;
  if (isNew && !isSame && active !== after.join())
    broken.push(`anew: ${WWW} shows ${after.join(" ")}, and ${active} is active`);
  if (isStalled(conditions)) return;
  if (wrong.length > 0) broken.push(`recovery: ${WWW} shows ${wrong.join(" ")}, which serves nobody`);
  if (after.some((address) => THEIRS.includes(address)))
    broken.push(`unsaid: ${WWW} shows ${after.join(" ")}, and nothing is Stalled`);
}

function isStalled(conditions: readonly Condition[]): boolean {
  return conditions.some(
    ({ type, status, reason }) => type === "Stalled" && status === "True" && reason === "Contested",
  );
}

/** The other one stops. */
async function comeToRest({ world, provider, broken }: Scene): Promise<void> {
  world.clearFaults();
  for (let minute = 0; minute < 11; minute += 1) {
    world.advance(MINUTE);
    await world.pass();
  }
  const shown = world.dns.addresses(provider, WWW);
  if (shown.join() !== [ip(1), ip(2)].join()) broken.push(`at rest: ${WWW} shows ${shown.join(" ")}`);
  world.advance(30 * MINUTE);
  await world.pass();
  const { conditions } = await world.pools.status("web");
  const stalled = conditions.find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled !== undefined) broken.push(`at rest: Stalled ${stalled.reason}: ${stalled.message}`);
  await world.pass();
  if (world.writes().length > 0) broken.push(`restless: ${world.writes().join(", ")}`);
}
