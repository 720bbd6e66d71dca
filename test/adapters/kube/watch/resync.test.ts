import { describe, expect, test } from "vitest";
import { aReflectorOfOpaqueVersions, aVitalReflector, following } from "./follow.ts";
import { failing } from "./model-list.ts";

const RESYNC_MS = 540_000;

describe("the list read anew every ten minutes", () => {
  test("shows what the watch has lost, announced, while the watch goes on", async () => {
    const { model, clock, heard, list } = await following("a", "b");
    model.isDeaf = true;
    model.put("a", { spec: "s1" });
    model.delete("b");
    model.isDeaf = false;
    await clock.advance(RESYNC_MS - 1);
    expect(heard).toEqual([]);
    await clock.advance(1);
    expect(await list()).toEqual(["a s1"]);
    expect(heard).toEqual(["a", "b"]);
    expect(model.watches).toHaveLength(1);
  });

  test("does not undo what the watch brings meanwhile", async () => {
    const { model, clock, heard, list } = await following("a", "b", "c");
    model.listMs = 5_000;
    await clock.advance(RESYNC_MS);
    expect(model.lists).toBe(2);
    model.put("a", { spec: "s1" });
    model.delete("b");
    model.put("d", {});
    model.bookmark();
    await clock.advance(4_999);
    expect(await list()).toEqual(["a s1", "c s0", "d"]);
    await clock.advance(1);
    expect(await list()).toEqual(["a s1", "c s0", "d"]);
    expect(heard).toEqual(["a", "b", "d"]);
  });

  test("is believed, once another one says the same, if it is older than what the watch has told", async () => {
    const { model, clock, list } = await following("a");
    const [thing] = [...model.things.values()];
    model.version = 50;
    model.compact();
    model.things.clear();
    model.things.set("b", { key: "\0b", version: "40", facts: { name: "b", spec: "", own: "", heartbeat: 0 } });
    expect(thing?.version).toBe("101");
    await clock.advance(RESYNC_MS + 1_000);
    expect(await list()).toEqual(["b"]);
  });

  test("is tried again later when it fails, and nobody notices", async () => {
    const { model, clock, reflector, list } = await following("a");
    model.refusal = failing("unavailable");
    await clock.advance(RESYNC_MS);
    model.refusal = undefined;
    expect(model.lists).toBe(2);
    expect(reflector.staleness()).toBeUndefined();
    expect(await list()).toEqual(["a s0"]);
    await clock.advance(RESYNC_MS);
    expect(model.lists).toBe(3);
  });
});

describe("a short list by which addresses move", () => {
  test("is read beside a watch that has told nothing for 20 s, bookmarks aside", async () => {
    const { model, clock, heard, list, reflector } = aVitalReflector("a");
    reflector.start();
    await list();
    model.isDeaf = true;
    model.put("a", { spec: "s1" });
    model.bookmark();
    await clock.advance(20_000);
    expect(heard).toEqual(["a"]);
    expect(model.lists).toBe(2);
    model.isDeaf = false;
    model.put("a", { spec: "s2" });
    await clock.advance(19_000);
    expect(model.lists).toBe(2);
  });

  test("that is long is read every ten minutes alone", async () => {
    const { model, clock, list, reflector } = aVitalReflector(...Array.from({ length: 501 }, (_, at) => `a${at}`));
    reflector.start();
    await list();
    await clock.advance(RESYNC_MS - 1);
    expect(model.lists).toBe(1);
  });
});

/** A followed list whose resync was asked for while it still had `b`, and is answered a minute later. */
async function resyncInFlight(...names: readonly string[]) {
  const one = await following(...names);
  one.model.listMs = 60_000;
  await one.clock.advance(RESYNC_MS);
  expect(one.model.lists).toBe(2);
  one.model.listMs = 0;
  return one;
}

describe("a resync in flight", () => {
  test("that is overtaken by lost history and a new list brings nothing back", async () => {
    const { model, clock, heard, list } = await resyncInFlight("a", "b");
    model.isDeaf = true;
    model.delete("b");
    model.compact();
    model.isDeaf = false;
    model.end(failing("gone"));
    await clock.advance(1_000);
    expect(model.lists).toBe(3);
    expect(await list()).toEqual(["a s0"]);
    await clock.advance(120_000);
    expect(await list()).toEqual(["a s0"]);
    expect(heard).toEqual(["b"]);
  });

  test("that is overtaken by an end and a bookmark brings nothing back, on the watch of then or a new one", async () => {
    const { model, clock, heard, list } = await resyncInFlight("a", "b", "c");
    model.delete("b");
    model.bookmark();
    await clock.advance(20_000);
    model.end();
    await clock.advance(1_000);
    model.put("d", {});
    model.delete("c");
    model.bookmark();
    await clock.advance(120_000);
    expect(model.watches).toHaveLength(2);
    expect(await list()).toEqual(["a s0", "d"]);
    expect(heard).toEqual(["b", "d", "c"]);
  });

  test("that comes from a history which was set back meanwhile brings nothing back", async () => {
    const { model, clock, list } = await resyncInFlight("a", "b");
    model.setBack(50, [{ key: "\0old", version: "40", facts: { name: "old", spec: "", own: "", heartbeat: 0 } }]);
    await clock.advance(58_000);
    expect(await list()).toEqual(["old"]);
    await clock.advance(5_000);
    expect(await list()).toEqual(["old"]);
  });

  test.for<[string, (one: Awaited<ReturnType<typeof following>>) => void]>([
    ["by an end", ({ model }) => model.delete("b")],
    [
      "by an end and a bookmark",
      ({ model }) => {
        model.delete("b");
        model.bookmark();
      },
    ],
  ])("that is overtaken %s brings nothing back where versions cannot be compared", async ([, overtake]) => {
    const one = await resyncInFlightWithOpaqueVersions();
    overtake(one);
    await one.clock.advance(120_000);
    expect(await one.list()).toEqual(["a s0"]);
  });

  test("shows what the watch has lost where versions cannot be compared, once nothing overtakes it", async () => {
    const { model, clock, list } = await resyncInFlightWithOpaqueVersions();
    model.isDeaf = true;
    model.delete("b");
    model.isDeaf = false;
    await clock.advance(RESYNC_MS + 60_000);
    expect(await list()).toEqual(["a s0"]);
  });
});

async function resyncInFlightWithOpaqueVersions() {
  const one = aReflectorOfOpaqueVersions("a", "b");
  one.reflector.start();
  await one.list();
  one.model.listMs = 60_000;
  await one.clock.advance(RESYNC_MS);
  one.model.listMs = 0;
  return one;
}

describe("an own write", () => {
  const annotate = (one: Awaited<ReturnType<typeof following>>, own: string, answerMs: number): Promise<unknown> =>
    one.reflector.write(
      "\0a",
      async () => {
        const stored = one.model.put("a", { own });
        await one.clock.sleep(answerMs);
        return stored;
      },
      (stored) => stored,
    );

  test.for([0, 50])("is in the list when its answer has come after %i ms, and not announced", async (answerMs) => {
    const one = await following("a");
    const written = annotate(one, "mine", answerMs);
    await one.clock.settle(written);
    expect(await one.list()).toEqual(["a s0 mine"]);
    await one.clock.advance(1_000);
    expect(one.heard).toEqual([]);
  });

  test("is in the list although the watch is slow, and its echo is no change", async () => {
    const one = await following("a");
    one.model.isDeaf = true;
    await annotate(one, "mine", 0);
    expect(await one.list()).toEqual(["a s0 mine"]);
    one.model.isDeaf = false;
    one.model.repeat(([event]) => event ?? missing());
    await one.clock.advance(0);
    expect(one.heard).toEqual([]);
  });

  test("that brings along what somebody else has changed is announced", async () => {
    const one = await following("a");
    one.model.isDeaf = true;
    one.model.put("a", { spec: "theirs" });
    await annotate(one, "mine", 0);
    expect(await one.list()).toEqual(["a theirs mine"]);
    expect(one.heard).toEqual(["a"]);
  });

  test("is announced when its answer is lost, for then nobody knows", async () => {
    const one = await following("a");
    const write = async (): Promise<never> => {
      one.model.put("a", { own: "mine" });
      await one.clock.sleep(50);
      throw failing("timeout");
    };
    const written = expect(one.reflector.write("\0a", write, (stored) => stored)).rejects.toThrow("timeout");
    await one.clock.advance(49);
    expect(one.heard).toEqual([]);
    await one.clock.advance(1);
    await written;
    expect(one.heard).toEqual(["a"]);
  });

  test("does not hide what somebody else does while it is under way", async () => {
    const one = await following("a");
    const written = annotate(one, "mine", 50);
    await one.clock.advance(10);
    one.model.put("a", { spec: "theirs" });
    await one.clock.advance(10);
    expect(one.heard).toEqual(["a"]);
    await one.clock.settle(written);
    expect(await one.list()).toEqual(["a theirs mine"]);
  });

  test("that somebody else overwrites while it is under way is announced", async () => {
    const one = await following("a");
    const written = annotate(one, "mine", 50);
    await one.clock.advance(10);
    one.model.put("a", { own: "theirs" });
    await one.clock.settle(written);
    expect(await one.list()).toEqual(["a s0 theirs"]);
    expect(one.heard).toEqual(["a"]);
  });
});

function missing(): never {
  throw new Error("the model has no such event");
}
