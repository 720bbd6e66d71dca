import { expect, test } from "vitest";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { ACQUIRED_ANNOTATION } from "../../src/model/resource.ts";
import { ip } from "../scenario/scenario-names.ts";
import { type Watcher, WatchWorld } from "./watch-world.ts";

const MINUTE_MS = 60_000;
/** How soon another controller answers, milliseconds. */
const ANSWERS_MS = 100;

/** What another controller changes back as soon as it sees it; true where there was something. */
type ChangesBack = (world: WatchWorld) => Promise<boolean>;

const removesAnnotation: ChangesBack = async (world) => {
  const { n1 } = await world.nodes.annotations();
  if (n1 !== "ip1") return false;
  await world.nodes.patch("n1", { metadata: { annotations: { [ADDRESS_ANNOTATION]: null } } });
  return true;
};

const emptiesStatus: ChangesBack = async (world) => {
  const stored = (await world.pools.read("web"))?.status;
  if (Object.keys(stored ?? {}).length === 0) return false;
  await world.pools.writeStatus("web", null);
  return true;
};

const removesFinalizer: ChangesBack = async (world) => {
  if ((await world.pools.finalizers("web")).length === 0) return false;
  await world.pools.removeFinalizers("web");
  return true;
};

const removesPurchases: ChangesBack = async (world) => {
  const pool = await world.pools.read("web");
  if (pool?.metadata?.annotations?.[ACQUIRED_ANNOTATION] === undefined) return false;
  await world.pools.annotate("web", ACQUIRED_ANNOTATION, null);
  return true;
};

/** Pool `web` with ip1 on n1, of which another controller changes something back for so long; returns how often. */
async function fought(
  spec: Readonly<Record<string, unknown>>,
  changesBack: ChangesBack,
  ms: number,
): Promise<{ readonly world: WatchWorld; readonly watcher: Watcher; readonly times: number }> {
  const world = new WatchWorld();
  await world.setUp("n1", "n2");
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)], ...spec });
  const watcher = world.watch();
  await world.clock.advance(5000);
  let times = 0;
  for (let atMs = 0; atMs < ms; atMs += ANSWERS_MS) {
    times += Number(await changesBack(world));
    await world.clock.advance(ANSWERS_MS);
  }
  return { world, watcher, times };
}

function writes({ cluster }: Watcher): number {
  return cluster.writes.filter(({ operation }) => !operation.includes("leases")).length;
}

test.for([
  ["the annotation of a node", {}, removesAnnotation],
  ["the status of an object", {}, emptiesStatus],
  ["the copy of what an object acquired", { desiredIPs: 2 }, removesPurchases],
  ["the finalizer of an object", { desiredIPs: 2, reclaimPolicy: "Delete" }, removesFinalizer],
] as const)(
  "somebody changes %s back each time: it is written ever less often, and again once he stops",
  async ([, spec, changesBack]) => {
    const { world, watcher, times } = await fought(spec, changesBack, 2 * MINUTE_MS);
    expect(times).toBeGreaterThan(2);
    expect(times).toBeLessThanOrEqual(12);
    await world.clock.advance(5 * MINUTE_MS);
    expect(await changesBack(world), "it is there again").toBe(true);
    await world.clock.advance(5 * MINUTE_MS);
    const before = writes(watcher);
    await world.clock.advance(5 * MINUTE_MS);
    expect(writes(watcher)).toBe(before);
    watcher.stop();
  },
);

test("while somebody removes the annotation of a node, what is wanted anew is written at once", async () => {
  const { world, watcher } = await fought({}, removesAnnotation, MINUTE_MS);
  await world.nodes.setReady("n1", false);
  await world.clock.advance(1000);
  expect(world.cloud.addresses()).toMatchObject({ ip1: "n2" });
  expect(await world.nodes.annotations()).toMatchObject({ n2: "ip1" });
  await world.nodes.setReady("n1", true);
  await world.nodes.setReady("n2", false);
  await world.clock.advance(1000);
  expect(await world.nodes.annotations()).toMatchObject({ n1: "ip1" });
  watcher.stop();
});
