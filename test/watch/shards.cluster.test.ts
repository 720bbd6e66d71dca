// Three shards of one account on a real API server, as the Role of `flipop manifests --shard` lets them, and as nothing more does.
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import type { GateCall } from "./gate.ts";
import { lateWrites } from "./late-writes.ts";
import {
  foreignWrites,
  type Gates,
  NODES,
  OWNED,
  type Owned,
  PATIENT,
  type Shardly,
  ShardWorld,
} from "./shard-world.ts";
import type { WatchProcess } from "./watch-process.ts";

const WAIT = { interval: 50 };
/** By then every process has seen a change, milliseconds. */
const SEEN_MS = 3000;
const SHARDS = OWNED.map(({ shard }) => shard);
const [WEB, CART, LOGIN] = OWNED as readonly [Owned, Owned, Owned];
const BASE = /\/leases\/flipop$/;

describeCluster("shards on a real API server", () => {
  let world: ShardWorld;

  beforeAll(async () => {
    world = await ShardWorld.open();
  });

  afterAll(() => world?.close());

  /** Every object is served: its address is on a node, its name shows it, and status says so. */
  const atRest = async (owned: readonly Owned[]): Promise<void> => {
    await expect
      .poll(async () => {
        const nodes = owned.map((one) => world.holder(one));
        const told = await Promise.all(owned.map((one) => world.status(one)));
        const isTold = told.every((text, at) => text === `active ${nodes[at]}`);
        const shown = await Promise.all(NODES.map((node) => world.annotated(node)));
        const wanted = NODES.map((node) =>
          owned.flatMap((one) => (world.holder(one) === node ? `${one.ip} of ${one.namespace}/${one.name}` : [])).at(0),
        );
        return {
          isTold,
          isAnnotated: isDeepStrictEqual(shown, wanted),
          nodes: new Set(nodes).size,
          names: owned.map((one) => world.published(one)),
          ended: world.ended(),
        };
      }, WAIT)
      .toEqual({ isTold: true, isAnnotated: true, nodes: owned.length, names: owned.map(({ ip }) => [ip]), ended: [] });
  };

  /** A pass of each shard, one after the other. */
  const passOfEach = async (): Promise<readonly string[]> => {
    const all: string[] = [];
    for (const shard of SHARDS) {
      const { process, cluster, cloud } = await world.run(shard);
      expect(process.code, process.stderr).toBe(0);
      all.push(...[...cluster.writes, ...cloud.writes].map(({ method, path }) => `${shard}: ${method} ${path}`));
    }
    return all;
  };

  describe("in order", { shuffle: false }, () => {
    test("single runs at the same time each fill their own object, and touch no other; then nothing is written", async () => {
      const runs = await Promise.all(SHARDS.map((shard) => world.run(shard)));
      for (const [at, run] of runs.entries()) {
        const own = OWNED.slice(at, at + 1);
        expect([run.process.code, foreignWrites(run, own)], run.process.stderr).toEqual([0, []]);
      }
      // They may have seen the nodes at different moments.
      await passOfEach();
      await atRest(OWNED);
      expect(await passOfEach()).toEqual([]);
      expect((await world.lease()).annotations["flipop.digitalocean.com/shards"]).toBe("1/2,2/4,vip");
    });

    test("a shard whose Lease the Role does not name ends with 77, and says how to print a Role that does", async () => {
      const { process, cluster, cloud } = await world.run("1/3");
      expect(process).toMatchObject({
        code: 77,
        stderr: expect.stringMatching(/flipop\/flipop-1-of-3: .*flipop manifests --only rbac .*1\/3 among them\./s),
      });
      expect([...cluster.writes, ...cloud.writes]).toEqual([]);
    });

    test.for([undefined, "1/2"])(
      "after shards whose Leases the Role names no longer %s says how to let them be forgotten, and runs then",
      async (shard) => {
        await world.annotateBase({ "flipop.digitalocean.com/shards": "1/3,2/3,3/3,vip" });
        const { process } = await world.run(shard);
        expect(process.code).toBe(77);
        const [, command] =
          /kubectl -n flipop annotate lease flipop (\S+ )?flipop\.digitalocean\.com\/shards=(\S+)/.exec(
            process.stderr,
          ) ?? [];
        expect([command, process.stderr]).toEqual(["--overwrite ", expect.stringContaining("/shards=vip")]);
        await world.annotateBase({ "flipop.digitalocean.com/shards": "vip" });
        expect((await world.run(shard)).process.code).toBe(0);
      },
    );

    test.for([true, false])(
      "of two that overlap and start at the same moment one writes the Lease flipop, which is there: %s, and the other ends with 5",
      async (hasBase) => {
        // Once, so that their own Leases are there.
        for (const shard of ["2/2", "2/4"]) expect((await world.run(shard)).process.code).toBe(0);
        if (hasBase) await world.annotateBase({ "flipop.digitalocean.com/shards": "vip" });
        else await world.deleteLease();
        const write = hasBase ? { method: "PUT", path: BASE } : { method: "POST", path: /\/leases$/ };
        const [first, second] = [await world.gates(), await world.gates()];
        const held = [first, second].map(({ cluster }) => cluster.holdAt(write));
        const leader = await world.watch("2/4", { gates: first, args: PATIENT });
        const running = world.run("2/2", { gates: second, args: PATIENT });
        const [goFirst, goSecond] = await Promise.all(held);
        goFirst?.();
        await expect.poll(leader.process.isLeading, WAIT).toBe(true);
        goSecond?.();
        const { process } = await running;
        expect(process).toMatchObject({
          code: 5,
          stderr: expect.stringContaining(
            "holds the Lease flipop/flipop-2-of-4: a run with --shard 2/4 works for some of",
          ),
        });
        expect(second.cluster.leaseAnswers).toContainEqual(
          expect.objectContaining({ method: write.method, status: 409 }),
        );
        expect(changes(second)).toEqual([]);
        await world.endAll();
      },
    );

    test("of two that do not overlap and write the Lease flipop at the same moment the second one writes it once more", async () => {
      await world.annotateBase({ "flipop.digitalocean.com/shards": null });
      const gates = [await world.gates(), await world.gates()] as const;
      const held = gates.map(({ cluster }) => cluster.holdAt({ method: "PUT", path: BASE }));
      const running = [
        world.run("2/4", { gates: gates[0], args: PATIENT }),
        world.run("vip", { gates: gates[1], args: PATIENT }),
      ];
      for (const goOn of await Promise.all(held)) goOn();
      for (const { process } of await Promise.all(running)) expect(process.code, process.stderr).toBe(0);
      const answers = gates.flatMap(({ cluster }) => cluster.leaseAnswers).filter(({ path }) => BASE.test(path));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409]);
      expect((await world.lease()).annotations["flipop.digitalocean.com/shards"]).toBe("2/4,vip");
    });

    test("who overlaps a process at work is refused with 5, and who does not works beside it", async () => {
      const leader = await world.watch("2/4");
      await expect.poll(leader.process.isLeading, WAIT).toBe(true);
      for (const shard of [undefined, "2/2"]) {
        const { process, ...gates } = await world.run(shard);
        expect([process.code, changes(gates)], process.stderr).toEqual([5, []]);
      }
      const standing = await world.watch("2/2");
      expect(await standing.process.end).toBe(5);
      for (const shard of ["1/2", "vip"]) expect((await world.run(shard)).process.code).toBe(0);
      await world.endAll();

      const base = await world.watch(undefined);
      await expect.poll(base.process.isLeading, WAIT).toBe(true);
      const { process } = await world.run("1/2");
      expect(process).toMatchObject({
        code: 5,
        stderr: expect.stringContaining("holds the Lease flipop/flipop: a run without --shard works for some of"),
      });
      expect((await world.run("vip")).process.code).toBe(0);
      await world.endAll();
    });

    describe("that watch", { shuffle: false }, () => {
      let watchers: readonly Shardly<WatchProcess>[];
      const moved: Owned = { ...WEB, shard: "2/4", namespace: "shop", name: "web" };

      test("begin side by side", async () => {
        watchers = await Promise.all(SHARDS.map((shard) => world.watch(shard)));
        for (const { process } of watchers) await expect.poll(process.isLeading, WAIT).toBe(true);
        await atRest(OWNED);
      });

      test("a killed leader's standby takes over its Lease alone, while the others go on", async () => {
        const [killed] = watchers;
        const standby = await world.watch("1/2");
        await expect.poll(standby.process.stderr, WAIT).toContain("waiting for the Lease");
        const before = await Promise.all(SHARDS.map((shard) => world.lease(shard)));
        const assigns = world.assigns();

        const reached = killed?.cloud.stopAt({ method: "POST", path: /\/actions$/, moment: "after" });
        const lost = world.holder(WEB) ?? "";
        await world.api.setNodeReady(lost, false);
        await reached;
        killed?.process.child.kill("SIGKILL");
        // Another shard's address moves meanwhile: the killed one's Lease is nothing to it.
        const left = world.holder(CART) ?? "";
        await world.api.setNodeReady(left, false);
        await expect.poll(() => world.holder(CART), WAIT).not.toBe(left);
        expect(standby.process.isLeading()).toBe(false);

        await expect.poll(standby.process.isLeading, WAIT).toBe(true);
        await atRest(OWNED);
        expect(world.assigns(), "each moved once").toBe(assigns + 2);
        const after = await Promise.all(SHARDS.map((shard) => world.lease(shard)));
        expect(
          after.map(({ holder, transitions }, at) => [
            holder === before[at]?.holder,
            transitions - (before[at]?.transitions ?? 0),
          ]),
        ).toEqual([
          [false, 1],
          [true, 0],
          [true, 0],
        ]);
        for (const node of [lost, left]) await world.api.setNodeReady(node, true);
        watchers = [standby, ...watchers.slice(1)];
        expect(watchers.map((watcher, at) => foreignWrites(watcher, OWNED.slice(at, at + 1)))).toEqual([[], [], []]);
      });

      test("an object whose label changes is its new shard's at once: it stays where it is, and moves when its node fails", async () => {
        const [, cart, vip] = watchers;
        const [node, assigns] = [world.holder(CART) ?? "", world.assigns()];
        await world.label(CART, "vip");
        // Nobody writes anything for that, and changes of pools and of nodes arrive by two watches.
        await setTimeout(SEEN_MS);
        await world.api.setNodeReady(node, false);
        await expect.poll(() => world.holder(CART), WAIT).not.toBe(node);
        await atRest(OWNED);
        expect(world.assigns(), "moved once").toBe(assigns + 1);
        expect(vip?.cloud.writes.map(({ path }) => path)).toContain(`/v2/reserved_ips/${CART.ip}/actions`);
        expect(foreignWrites(cart as Shardly<WatchProcess>, [CART])).toEqual([]);
        await world.api.setNodeReady(node, true);
        await world.label(CART, null);
      });

      test("an object that is deleted and made in another namespace is another shard's, and its address and name stay", async () => {
        const [node, assigns] = [world.holder(WEB), world.assigns()];
        await world.remove(WEB);
        await world.create(moved);
        await atRest([moved, CART, LOGIN]);
        expect([world.holder(moved), world.assigns()]).toEqual([node, assigns]);
      });

      test("at rest nobody writes, nor does a pass of anybody afterwards; no name was empty and no address without a machine", async () => {
        await atRest([moved, CART, LOGIN]);
        expect(await lateWrites(...watchers.flatMap(({ cluster, cloud }) => [cluster, cloud]))).toEqual([]);
        await world.endAll();
        expect(await passOfEach()).toEqual([]);
        expect(world.noticed).toEqual([]);
      });
    });
  });
});

/** All that changes something but Leases. */
function changes({ cluster, cloud }: Gates): readonly GateCall[] {
  return [...cluster.writes, ...cloud.writes].filter(({ path }) => !path.endsWith("/leases"));
}
