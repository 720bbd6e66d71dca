import { expect, test } from "vitest";
import type { IPFamily } from "../../src/model/address-source.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { NotedAcquisition } from "../../src/model/lease-notes.ts";
import { parseShard } from "../../src/model/shard.ts";
import type { LeaseRecord } from "../../src/ports/cluster.ts";
import type { LockState } from "../../src/ports/system.ts";
import type { LeaseStore } from "../../src/watch/lease-record.ts";
import { type ShardAnswer, type ShardLeaseOptions, withShardLease } from "../../src/watch/shard-lock.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { LeaseConnection, LeaseMemory } from "./lease-memory.ts";

/** The Leases of a namespace. Each is made when it is first asked for. */
class Leases {
  readonly clock: FakeClock = new FakeClock();
  readonly calls: string[] = [];
  /** Runs before a write of the base, once. */
  beforeWrite: (() => void) | undefined;
  readonly #memories = new Map<string, LeaseMemory>();

  of(name: string): LeaseMemory {
    const memory = this.#memories.get(name) ?? new LeaseMemory(this.clock);
    this.#memories.set(name, memory);
    return memory;
  }

  /** What one process calls. */
  store(by: string): LeaseStore {
    const connection = (name: string): LeaseConnection => new LeaseConnection(this.of(name), this.clock, by);
    const write = (lease: Pick<LeaseRecord, "name">): void => {
      this.calls.push(`write ${lease.name}`);
      const first = lease.name === "flipop" ? this.beforeWrite : undefined;
      if (first === undefined) return;
      this.beforeWrite = undefined;
      first();
    };
    return {
      now: () => this.clock.wallMs(),
      readLease: async (_namespace, name) => {
        this.calls.push(`read ${name}`);
        return await connection(name).readLease();
      },
      createLease: async (lease) => {
        write(lease);
        return withName(await connection(lease.name).createLease(lease), lease.name);
      },
      replaceLease: async (lease) => {
        write(lease);
        return withName(await connection(lease.name).replaceLease(lease), lease.name);
      },
    };
  }

  shards(): string | undefined {
    return this.of("flipop").record?.annotations["flipop.digitalocean.com/shards"];
  }
}

const withName = (record: LeaseRecord, name: string): LeaseRecord => ({ ...record, name });

function options(
  leases: Leases,
  shard: string | undefined,
  changes: Partial<ShardLeaseOptions> = {},
): ShardLeaseOptions {
  const { clock } = leases;
  const identity = `run ${shard ?? "without"}`;
  return {
    cluster: leases.store(identity),
    clock,
    namespace: "flipop",
    name: "flipop",
    identity,
    durationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryMs: 2000,
    onLocked: "fail",
    deadline: clock.monotonicMs() + 50_000,
    signal: new AbortController().signal,
    ...(shard === undefined ? {} : { shard: parseShard(shard) }),
    ...changes,
  };
}

interface Running {
  readonly lock: LockState;
  readonly answer: Promise<ShardAnswer<string>>;
  readonly end: () => void;
}

async function begin(leases: Leases, shard: string | undefined): Promise<Running> {
  const ending = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<LockState>();
  const answer = withShardLease(options(leases, shard), (lock) => {
    begun.resolve(lock);
    return ending.promise;
  });
  answer.then((one) => begun.reject(new Error(JSON.stringify(one))), begun.reject);
  return { lock: await leases.clock.settle(begun.promise), answer, end: () => ending.resolve("worked") };
}

async function run(
  leases: Leases,
  shard: string | undefined,
  changes: Partial<ShardLeaseOptions> = {},
): Promise<ShardAnswer<string>> {
  return await leases.clock.settle(withShardLease(options(leases, shard, changes), async () => "worked"));
}

test("three numbered shards and a named one work at the same time, each under its own Lease", async () => {
  const leases = new Leases();
  const running = [];
  for (const shard of ["1/3", "2/3", "3/3", "web"]) running.push(await begin(leases, shard));
  expect(running.map(({ lock }) => lock.isHeld())).toEqual([true, true, true, true]);
  expect(leases.of("flipop-2-of-3").record?.holder).toBe("run 2/3");
  expect(leases.of("flipop-web").record?.holder).toBe("run web");
  expect(leases.shards()).toBe("1/3,2/3,3/3,web");
  for (const { end } of running) end();
  const answers = await leases.clock.settle(Promise.all(running.map(({ answer }) => answer)));
  expect(answers.every(({ kind }) => kind === "done")).toBe(true);
});

test.for<[string | undefined, string | undefined]>([
  [undefined, "1/3"],
  ["1/3", undefined],
  ["1/3", "1/2"],
  ["2/4", "4/6"],
])("while a run with --shard %s works, one with %s is refused, and changes nothing", async ([first, second]) => {
  const leases = new Leases();
  const running = await begin(leases, first);
  const before = leases.shards();
  const answer = await run(leases, second);
  expect(answer).toMatchObject({
    kind: "locked",
    holder: `run ${first ?? "without"}`,
    overlap: { lease: leaseOf(first), ...(first === undefined ? {} : { shard: first }) },
  });
  expect(leases.shards()).toBe(before);
  // Its own Lease is free again.
  expect(leases.of(leaseOf(second).slice(7)).record?.holder ?? "").toBe("");
  expect(running.lock.isHeld()).toBe(true);
  running.end();
  await leases.clock.settle(running.answer);
  expect(await run(leases, second)).toEqual({ kind: "done", value: "worked" });
});

function leaseOf(shard: string | undefined): string {
  return shard === undefined ? "flipop/flipop" : `flipop/flipop-${shard.replace("/", "-of-")}`;
}

test.for<[string | undefined, string | undefined]>([
  ["web", undefined],
  [undefined, "web"],
  ["web", "db"],
  ["web", "1/3"],
  ["1/2", "2/4"],
])("a run with --shard %s and one with %s share no object, and both work", async ([first, second]) => {
  const leases = new Leases();
  const running = await begin(leases, first);
  // A named shard enters itself beside a process without: that holds the base, and is asked nothing.
  expect((await run(leases, second)).kind).toBe("done");
  expect(running.lock.isHeld()).toBe(true);
  running.end();
  await leases.clock.settle(running.answer);
});

test("a run without --shard makes no call more where no shard ever ran", async () => {
  const leases = new Leases();
  await run(leases, undefined);
  await run(leases, undefined);
  expect(leases.calls).toEqual([
    "read flipop",
    "write flipop",
    "write flipop",
    "read flipop",
    "write flipop",
    "write flipop",
  ]);
});

test("a shard that was killed keeps nobody away once its Lease has expired; who waits waits for that, who does not is refused", async () => {
  const leases = new Leases();
  await run(leases, "1/3");
  leases.of("flipop-1-of-3").edit({ holder: "killed", durationSeconds: 15, renewTimeMs: leases.clock.wallMs() });
  expect((await run(leases, undefined)).kind).toBe("locked");
  const startedMs = leases.clock.monotonicMs();
  expect(await run(leases, undefined, { onLocked: "wait" })).toEqual({ kind: "done", value: "worked" });
  const waitedMs = leases.clock.monotonicMs() - startedMs;
  expect(waitedMs).toBeGreaterThan(12_000);
  expect(waitedMs).toBeLessThan(18_000);
});

test("who waits is told of a living process after it has renewed its Lease once", async () => {
  const leases = new Leases();
  const running = await begin(leases, "1/3");
  const startedMs = leases.clock.monotonicMs();
  expect((await run(leases, undefined, { onLocked: "wait" })).kind).toBe("locked");
  expect(leases.clock.monotonicMs() - startedMs).toBeLessThan(8000);
  running.end();
  await leases.clock.settle(running.answer);
});

test("of two that overlap and begin in the same moment, the API server lets one enter first, and the other one is refused", async () => {
  const leases = new Leases();
  // While 1/3 is about to enter itself, a run without --shard takes the base.
  leases.beforeWrite = () => {
    leases.of("flipop").edit({ holder: "someone", renewTimeMs: leases.clock.wallMs() });
  };
  expect(await run(leases, "1/3")).toMatchObject({ kind: "locked", overlap: { lease: "flipop/flipop" } });
  expect(leases.shards()).toBeUndefined();
});

test("shards that overlap and do not run are taken off the base by one that does", async () => {
  const leases = new Leases();
  for (const shard of ["1/2", "2/2", "web"]) await run(leases, shard);
  expect(leases.shards()).toBe("1/2,2/2,web");
  await run(leases, "1/3");
  expect(leases.shards()).toBe("1/3,web");
});

test("where the base may not be read nothing is done", async () => {
  const leases = new Leases();
  const store = leases.store("run 1/3");
  const forbidden = new KubeError({
    failure: "forbidden",
    operation: "get leases",
    subject: "flipop/flipop",
    status: 403,
    message: "no",
  });
  const cluster: LeaseStore = {
    ...store,
    readLease: (namespace, name) => (name === "flipop" ? Promise.reject(forbidden) : store.readLease(namespace, name)),
  };
  const answer = withShardLease(options(leases, "1/3", { cluster }), async () => "worked");
  await expect(leases.clock.settle(answer)).rejects.toBe(forbidden);
  expect(leases.of("flipop-1-of-3").record?.holder).toBe("");
});

test("what providers asked for and when addresses were acquired is shared, everything else is a shard's own", async () => {
  const leases = new Leases();
  const [one, two] = [await begin(leases, "1/2"), await begin(leases, "2/2")];
  const nowMs = leases.clock.wallMs();
  const until = (seconds: number): string => new Date(nowMs + seconds * 1000).toISOString();
  const key = "flipop.digitalocean.com/not-before-digitalocean";
  await leases.clock.settle(one.lock.annotate({ [key]: until(60), "flipop.digitalocean.com/totals": "1" }));
  // Its note is older, and stays away.
  await leases.clock.settle(two.lock.annotate({ [key]: until(30), "flipop.digitalocean.com/totals": "2" }));
  expect(leases.of("flipop").record?.annotations).toMatchObject({ [key]: until(60) });
  expect(leases.of("flipop-1-of-2").record?.annotations).toEqual({ "flipop.digitalocean.com/totals": "1" });
  expect(two.lock.annotations()).toMatchObject({ [key]: until(60), "flipop.digitalocean.com/totals": "2" });
  for (const { end } of [one, two]) end();
  await leases.clock.settle(Promise.all([one.answer, two.answer]));
});

test.for([
  ["an earlier time", 30],
  ["no time any more", undefined],
] as const)(
  "a process without --shard that notes %s does not overwrite what a shard has just noted",
  async ([, seconds]) => {
    const leases = new Leases();
    const [base, vip] = [await begin(leases, undefined), await begin(leases, "vip")];
    const until = (inSeconds: number): string => new Date(leases.clock.wallMs() + inSeconds * 1000).toISOString();
    const key = "flipop.digitalocean.com/not-before-digitalocean";
    await leases.clock.settle(base.lock.annotate({ [key]: until(20) }));
    const later = until(60);
    await leases.clock.settle(vip.lock.annotate({ [key]: later }));
    // It has not read yet what the shard wrote.
    const own = { [key]: seconds === undefined ? null : until(seconds), "flipop.digitalocean.com/totals": "1" };
    await leases.clock.settle(base.lock.annotate(own));
    expect(leases.of("flipop").record?.annotations).toMatchObject({
      [key]: later,
      "flipop.digitalocean.com/totals": "1",
    });
    // What it has read since it may change.
    await leases.clock.settle(base.lock.annotate({ [key]: null }));
    expect(leases.of("flipop").record?.annotations).not.toHaveProperty([key]);
    for (const { end } of [base, vip]) end();
    await leases.clock.settle(Promise.all([base.answer, vip.answer]));
  },
);

test("all shards together acquire as many addresses a minute as the provider allows", async () => {
  const leases = new Leases();
  const all = [await begin(leases, "1/3"), await begin(leases, "2/3"), await begin(leases, "3/3")];
  const at12 = (at: number, family: IPFamily = "IPv4"): NotedAcquisition => ({
    ms: leases.clock.wallMs() + at,
    family,
    perMinute: 12,
  });
  const noted = await leases.clock.settle(
    Promise.all(Array.from({ length: 18 }, (_, at) => all[at % 3]?.lock.noteAcquisition(at12(at)))),
  );
  expect(noted.filter((one) => one === true)).toHaveLength(12);
  expect(noted.filter((one) => one === false)).toHaveLength(6);
  const other = all[0]?.lock.noteAcquisition(at12(0, "IPv6")) ?? Promise.resolve(false);
  expect(await leases.clock.settle(other)).toBe(true);
  await leases.clock.settle(leases.clock.sleep(66_000));
  const later = all[1]?.lock.noteAcquisition(at12(0)) ?? Promise.resolve(false);
  expect(await leases.clock.settle(later)).toBe(true);
  for (const { end } of all) end();
  await leases.clock.settle(Promise.all(all.map(({ answer }) => answer)));
});

/** A store that the Role lets read and write these Leases alone. */
function limited(leases: Leases, by: string, names: readonly string[]): LeaseStore {
  const store = leases.store(by);
  const check = (verb: string, name: string): void => {
    if (!names.includes(name))
      throw new KubeError({
        failure: "forbidden",
        operation: `${verb} leases.coordination.k8s.io`,
        subject: `flipop/${name}`,
        status: 403,
        message: `Could not ${verb} Lease flipop/${name}.`,
      });
  };
  return {
    ...store,
    readLease: async (namespace, name) => {
      check("get", name);
      return await store.readLease(namespace, name);
    },
    replaceLease: async (lease) => {
      check("update", lease.name);
      return await store.replaceLease(lease);
    },
  };
}

test("a shard whose Lease the Role does not name says how to print a Role that does", async () => {
  const leases = new Leases();
  const cluster = limited(leases, "run 1/3", ["flipop", "flipop-1-of-2", "flipop-2-of-2"]);
  await expect(run(leases, "1/3", { cluster })).rejects.toThrow(
    "Could not get Lease flipop/flipop-1-of-3. The Role names the Lease of each shard: print it with flipop manifests --only rbac and the --shard of every process, 1/3 among them.",
  );
});

test("what the work itself may not do is told as it is", async () => {
  const leases = new Leases();
  const error = new KubeError({
    failure: "forbidden",
    operation: "patch nodes",
    subject: "n1",
    status: 403,
    message: "Could not patch Node n1.",
  });
  const working = withShardLease(options(leases, "1/3"), () => Promise.reject(error));
  await expect(leases.clock.settle(working)).rejects.toBe(error);
});

test.for([
  ["1/3", ["flipop", "flipop-1-of-3"], "annotate lease flipop --overwrite flipop.digitalocean.com/shards=vip"],
  [undefined, ["flipop"], "annotate lease flipop --overwrite flipop.digitalocean.com/shards=vip"],
] as const)(
  "%s, whose Role names no Lease of the shards before, says how to let them be forgotten, and begins once they are",
  async ([shard, names, command]) => {
    const leases = new Leases();
    for (const before of ["1/2", "2/2", "vip"]) await run(leases, before);
    const cluster = limited(leases, "later", names);
    const later = (): Promise<ShardAnswer<string>> => run(leases, shard, { cluster, identity: "later" });
    await expect(later()).rejects.toThrow("Could not get Lease flipop/flipop-1-of-2. So nobody can tell");
    await expect(later()).rejects.toThrow("with --shard 1/2 or --shard 2/2 works for the same objects");
    await expect(later()).rejects.toThrow(command);
    const base = leases.of("flipop").record;
    if (base === undefined) throw new Error("nobody has run");
    leases.of("flipop").record = { ...base, annotations: { "flipop.digitalocean.com/shards": "vip" } };
    expect(await later()).toEqual({ kind: "done", value: "worked" });
  },
);

test("a shard at work is told first, also where another one's Lease may not be read", async () => {
  const leases = new Leases();
  await run(leases, "1/2");
  const other = await begin(leases, "2/2");
  const cluster = limited(leases, "later", ["flipop", "flipop-1-of-3", "flipop-2-of-2"]);
  expect(await run(leases, "1/3", { cluster, identity: "later" })).toMatchObject({
    kind: "locked",
    overlap: { lease: "flipop/flipop-2-of-2" },
  });
  other.end();
  await leases.clock.settle(other.answer);
});

test("a shard whose base is deleted by hand enters itself again, and keeps a later process without --shard away", async () => {
  const leases = new Leases();
  const [one, two] = [await begin(leases, "1/2"), await begin(leases, "2/2")];
  leases.of("flipop").record = undefined;
  await leases.clock.settle(leases.clock.sleep(20_000));
  expect(leases.shards()).toBe("1/2,2/2");
  expect(await run(leases, undefined)).toMatchObject({ kind: "locked", overlap: { shard: "1/2" } });
  expect([one.lock.isHeld(), two.lock.isHeld()]).toEqual([true, true]);
  for (const { end } of [one, two]) end();
  await leases.clock.settle(Promise.all([one.answer, two.answer]));
});

test.for<[string, string | undefined]>([
  ["1/2", undefined],
  ["1/2", "1/3"],
])("a shard %s gives up for one with --shard %s that began while the base did not name it", async ([first, second]) => {
  const leases = new Leases();
  const early = await begin(leases, first);
  leases.of("flipop").record = undefined;
  const later = await begin(leases, second);
  await leases.clock.settle(leases.clock.sleep(20_000));
  expect(later.lock.isHeld()).toBe(true);
  expect(early.lock.isHeld()).toBe(false);
  expect(early.lock.lost.aborted).toBe(true);
  expect(String(early.lock.lost.reason)).toContain(
    `run ${second ?? "without"} holds Lease ${leaseOf(second)} now, and works for some of the same objects`,
  );
  for (const { end } of [early, later]) end();
  await leases.clock.settle(Promise.all([early.answer, later.answer]));
  // Its own Lease is free again, so nobody waits for it.
  expect(leases.of("flipop-1-of-2").record?.holder).toBe("");
});

test("a base that cannot be read for a while costs a shard nothing", async () => {
  const leases = new Leases();
  const store = leases.store("run 1/2");
  let isAway = false;
  const away = (): Promise<never> =>
    Promise.reject(
      new KubeError({
        failure: "unavailable",
        operation: "get leases",
        subject: "flipop/flipop",
        status: 503,
        message: "no",
      }),
    );
  const cluster: LeaseStore = {
    ...store,
    readLease: (namespace, name) => (isAway && name === "flipop" ? away() : store.readLease(namespace, name)),
  };
  const answer = withShardLease(options(leases, "1/2", { cluster }), async (lock) => {
    isAway = true;
    leases.of("flipop").record = undefined;
    await leases.clock.sleep(40_000);
    expect([lock.isHeld(), leases.shards()]).toEqual([true, undefined]);
    isAway = false;
    await leases.clock.sleep(20_000);
    expect([lock.isHeld(), leases.shards()]).toEqual([true, "1/2"]);
    return "worked";
  });
  expect(await leases.clock.settle(answer)).toEqual({ kind: "done", value: "worked" });
});
