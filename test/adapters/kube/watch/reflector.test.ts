import { describe, expect, test } from "vitest";
import { InternalError } from "../../../../src/model/errors.ts";
import { aNamespacedReflector, aReflector, following } from "./follow.ts";
import { failing } from "./model-list.ts";

describe("a followed list", () => {
  test("is read once, sorted, and then shows each change, which is announced once it is in", async () => {
    const { model, clock, heard, list } = await following("b", "a");
    expect(await list()).toEqual(["a s0", "b s0"]);
    expect(heard).toEqual([]);
    model.put("c", { spec: "s1" });
    model.delete("a");
    await clock.advance(0);
    expect(heard).toEqual(["c", "a"]);
    expect(await list()).toEqual(["b s0", "c s1"]);
    expect([model.lists, model.watches.length]).toEqual([1, 1]);
  });

  test("is the same array until something changes, and that array never changes", async () => {
    const { model, clock, reflector } = await following("a");
    const before = await reflector.values();
    expect(await reflector.values()).toBe(before);
    model.put("b", {});
    await clock.advance(0);
    expect(before).toHaveLength(1);
    expect(await reflector.values()).toHaveLength(2);
  });

  test("takes a heartbeat in without announcing it", async () => {
    const { model, clock, reflector, heard } = await following("a");
    model.put("a", { heartbeat: 7 });
    await clock.advance(0);
    expect(await reflector.values()).toMatchObject([{ heartbeat: 7 }]);
    expect(heard).toEqual([]);
  });

  test("is not changed by events that come twice, late, or after the end of what they are about", async () => {
    const { model, clock, heard, list } = await following("a");
    const [early] = [model.put("a", { spec: "s1" }), model.put("a", { spec: "s2" })];
    model.delete("a");
    model.put("b", { spec: "s3" });
    await clock.advance(0);
    heard.length = 0;
    model.say({ kind: "changed", observed: early });
    model.repeat((events) => events[1] ?? failure());
    model.repeat((events) => events[3] ?? failure());
    await clock.advance(0);
    expect(await list()).toEqual(["b s3"]);
    expect(heard).toEqual([]);
  });

  test("announces whatever it finds when nobody waits for it any more", async () => {
    const { model, clock, reflector, heard, list } = aReflector("a");
    model.refusal = failing("unavailable");
    reflector.start();
    await expect(list()).rejects.toThrow("unavailable");
    model.refusal = undefined;
    await clock.advance(2_000);
    expect(heard).toEqual(["a"]);
  });

  test("that may be listed and not watched is refused from the first time on, also to who asks before the watch is refused", async () => {
    const { model, clock, reflector, list } = aReflector("a");
    model.watchRefusal = failing("forbidden");
    model.watchMs = 100;
    reflector.start();
    const asking = (async () => {
      await clock.sleep(50);
      return await list();
    })();
    const refused = expect(asking).rejects.toThrow("forbidden");
    await clock.advance(50);
    expect(model.watches).toEqual(["101"]);
    await clock.advance(50);
    await refused;
  });

  test("leaves nothing behind when it is closed, and refuses who waits", async () => {
    const { clock, reflector } = aReflector("a");
    reflector.start();
    const waiting = expect(reflector.values()).rejects.toThrow(InternalError);
    reflector.close();
    await waiting;
    await clock.advance(1);
    expect(clock.sleeping()).toBe(0);
    await expect(reflector.values()).rejects.toThrow(InternalError);
  });
});

describe("a list that is refused for what it asks", () => {
  const refused = failing("invalid");

  test("refuses everybody at once, and is asked for again with growing waits, five minutes at most", async () => {
    const { model, clock, reflector, list } = aReflector("a");
    model.refusal = refused;
    reflector.start();
    const askedAtS: number[] = [];
    let seen = 0;
    for (let ms = 0; ms < 1_200_000; ms += 100) {
      await expect(list()).rejects.toThrow("invalid");
      if (model.lists > seen) askedAtS.push(ms / 1000);
      seen = model.lists;
      await clock.advance(100);
    }
    expect(askedAtS).toEqual([0, 0.8, 2.4, 5.6, 12, 24.8, 50.4, 101.6, 204, 408.8, 708.8, 1008.8]);
    reflector.close();
  });

  test("is not behind, since who asks for it knows that it is refused; once it is read it can be behind as any other", async () => {
    const { model, clock, reflector, list } = aReflector("a");
    model.refusal = refused;
    reflector.start();
    await expect(list()).rejects.toThrow("invalid");
    await clock.advance(700);
    expect(reflector.staleness()).toBeUndefined();
    model.refusal = undefined;
    await clock.advance(100);
    expect(await list()).toEqual(["a s0"]);
    model.refusal = failing("unavailable");
    model.end(failing("unavailable"));
    await clock.advance(5_000);
    expect(reflector.staleness()).toMatchObject({ error: { failure: "unavailable" } });
  });

  test("is asked for again at once when somebody changed what may be the reason", async () => {
    const { model, clock, reflector, list, heard } = aReflector("a");
    model.refusal = refused;
    reflector.start();
    await clock.advance(100_000);
    const { lists } = model;
    model.refusal = undefined;
    reflector.askAgain();
    expect(await list()).toEqual(["a s0"]);
    expect(model.lists).toBe(lists + 1);
    expect(heard).toEqual([]);
  });

  test("is not asked for again because of a change while nothing is refused", async () => {
    const { model, clock, reflector } = await following("a");
    reflector.askAgain();
    model.refusal = failing("unavailable");
    model.end(failing("unavailable"));
    await clock.advance(799);
    reflector.askAgain();
    await clock.advance(0);
    expect([model.lists, model.watches.length]).toEqual([1, 1]);
  });

  test("whose watch is refused is read anew, and refused itself once that fails, too", async () => {
    const { model, clock, reflector, list } = await following("a");
    model.refusal = refused;
    model.end(refused);
    await clock.advance(800);
    expect(model.lists).toBe(2);
    await clock.advance(2_000);
    await expect(list()).rejects.toThrow("invalid");
    expect(reflector.staleness()).toBeUndefined();
  });

  test("for want of a permission is asked for again every 30 s: no object changes when the permission comes", async () => {
    const { model, clock, reflector, list } = aNamespacedReflector("a");
    model.refusal = failing("forbidden");
    reflector.start();
    await expect(list()).rejects.toThrow("forbidden");
    await clock.advance(600_000);
    await expect(list()).rejects.toThrow("forbidden");
    expect(reflector.staleness()).toBeUndefined();
    model.refusal = undefined;
    await clock.advance(46_000);
    expect(await list()).toEqual(["a s0"]);
  });

  test("never counts as refused where nobody says which refusals lie in the request", async () => {
    const { model, clock, reflector, list } = aReflector("a");
    model.refusal = failing("forbidden");
    reflector.start();
    await expect(list()).rejects.toThrow("forbidden");
    expect(reflector.staleness()).toMatchObject({ error: { failure: "forbidden" } });
    const { lists } = model;
    reflector.askAgain();
    await clock.advance(1);
    expect(model.lists).toBe(lists);
  });
});

describe("an interrupted watch", () => {
  test("goes on from the last version, bookmarks included, without reading the list", async () => {
    const { model, clock, list } = await following("a");
    model.put("b", {});
    await clock.advance(20_000);
    model.end();
    await clock.advance(0);
    model.version = 500;
    model.bookmark();
    await clock.advance(20_000);
    model.end(failing("unavailable"));
    model.put("c", { spec: "s1" });
    await clock.advance(800);
    expect(model.watches).toEqual(["101", "102", "500"]);
    expect(model.lists).toBe(1);
    expect(await list()).toEqual(["a s0", "b", "c s1"]);
  });

  test.for(["", "soon", "-7"])(
    "goes on from the last version that says something, whatever an object's version %j says",
    async (version) => {
      const { model, clock, list } = await following("a");
      model.put("b", {});
      const facts = { name: "odd", spec: "", own: "", heartbeat: 0 };
      model.say({ kind: "changed", observed: { key: "\0odd", version, facts } }, { kind: "bookmark", version });
      await clock.advance(20_000);
      model.end();
      model.put("c", {});
      await clock.advance(1_000);
      expect(model.watches).toEqual(["101", "102"]);
      expect(await list()).toEqual(["a s0", "b", "c", "odd"]);
    },
  );

  test("is invisible when it goes on within 2 s", async () => {
    const { model, clock, reflector, list } = await following("a");
    model.end(failing("unavailable"));
    await clock.advance(799);
    expect(reflector.staleness()).toBeUndefined();
    expect(await list()).toEqual(["a s0"]);
    await clock.advance(1);
    expect(model.watches).toHaveLength(2);
  });

  test("makes the list fail with its reason after 2 s, until the server watches again", async () => {
    const { model, clock, reflector } = await following("a");
    model.refusal = failing("timeout");
    model.end(failing("unavailable"));
    await clock.advance(1_999);
    await expect(reflector.values()).resolves.toHaveLength(1);
    await clock.advance(1);
    await expect(reflector.values()).rejects.toThrow("timeout");
    expect(reflector.staleness()).toMatchObject({ sinceMs: 0, error: { failure: "timeout" } });
    model.refusal = undefined;
    await clock.advance(5_000);
    await expect(reflector.values()).resolves.toHaveLength(1);
    expect(reflector.staleness()).toBeUndefined();
  });

  test("is tried again after 0.8 s, then after twice as long each time, 30 s at most", async () => {
    const { model, clock } = await following("a");
    model.refusal = failing("unavailable");
    model.end(failing("unavailable"));
    const tries: number[] = [];
    for (let atMs = 0; atMs < 150_000; atMs += 100) {
      const before = model.watches.length + model.lists;
      await clock.advance(100);
      if (model.watches.length + model.lists > before) tries.push((atMs + 100) / 1000);
    }
    // At 3 s the list is read beside it, which fails as well: then it is left alone.
    expect(tries).toEqual([0.8, 2.4, 3, 5.6, 12, 24.8, 50.4, 80.4, 110.4, 140.4]);
  });

  test("is tried again at once for whoever wants the list, though not within 2 s of the last failure", async () => {
    const { model, clock, reflector, list } = await following("a");
    model.refusal = failing("unavailable");
    model.end(failing("unavailable"));
    await clock.advance(30_000);
    const tries = (): number => model.watches.length + model.lists;
    const before = tries();
    await expect(list()).rejects.toThrow("unavailable");
    expect(tries()).toBe(before + 1);
    await clock.advance(1_999);
    await expect(reflector.values()).rejects.toThrow("unavailable");
    expect(tries()).toBe(before + 1);
    model.refusal = undefined;
    await clock.advance(1);
    expect(await list()).toEqual(["a s0"]);
  });

  test("that begins again after a long absence makes the list current once its backlog has been told", async () => {
    const { model, clock, reflector, list } = await following("a");
    model.isDeaf = true;
    model.refusal = failing("unavailable");
    model.end(failing("unavailable"));
    await clock.advance(4_000);
    model.refusal = undefined;
    await clock.advance(1_600);
    expect(model.watches).toHaveLength(4);
    await clock.advance(499);
    expect(reflector.staleness()).toBeDefined();
    model.isDeaf = false;
    model.put("a", { spec: "s1" });
    await clock.advance(1);
    const before = model.lists;
    expect(await list()).toEqual(["a s1"]);
    expect(model.lists).toBe(before);
    expect(reflector.staleness()).toBeUndefined();
  });

  test("that begins and breaks without a word does not make the list any younger", async () => {
    const { model, clock, reflector } = await following("a");
    await clock.advance(20_000);
    for (let count = 0; count < 30; count++) {
      model.end(failing("malformed"));
      await clock.advance(100);
    }
    expect(reflector.staleness()).toMatchObject({ sinceMs: 20_000 });
  });

  test("that keeps failing reads the list anew, for the version itself may be at fault", async () => {
    const { model, clock, list } = await following("a");
    model.setBack(50, [{ key: "\0old", version: "40", facts: { name: "old", spec: "", own: "", heartbeat: 0 } }]);
    await clock.advance(60_000);
    expect(model.lists).toBe(3);
    expect(await list()).toEqual(["old"]);
  });

  test.for([
    ["breaks", failing("unavailable")],
    ["ends in good order", undefined],
  ] as const)(
    "that %s as the history is set back, and is accepted from the version that is yet to come, does not leave the list as it was",
    async ([, error]) => {
      const { model, clock, heard, list } = await following("a");
      model.acceptsLaterVersions = true;
      await clock.advance(20_000);
      model.end(error);
      model.setBack(50, [{ key: "\0old", version: "40", facts: { name: "old", spec: "", own: "", heartbeat: 0 } }]);
      await clock.advance(3_000);
      expect(heard).toEqual(["old", "a"]);
      expect(await list()).toEqual(["old"]);
      model.put("old", { spec: "s1" });
      await clock.advance(0);
      expect(await list()).toEqual(["old s1"]);
    },
  );

  test("that begins anew asks how far the cluster is, later once more if nobody says so, and then no more", async () => {
    const { model, clock, list } = await following("a");
    model.acceptsLaterVersions = true;
    await clock.advance(20_000);
    model.lookRefusal = failing("unavailable");
    model.setBack(50, [{ key: "\0old", version: "40", facts: { name: "old", spec: "", own: "", heartbeat: 0 } }]);
    await clock.advance(5_000);
    model.lookRefusal = undefined;
    await clock.advance(22_000);
    expect(await list()).toEqual(["old"]);
    const { looks } = model;
    await clock.advance(300_000);
    expect(model.looks).toBe(looks);
  });

  test("does not go back in time for one list that is older than what was seen", async () => {
    const { model, clock, heard, list } = await following("a");
    const [seen] = [...model.things.values()];
    model.end(failing("gone"));
    model.setBack(50, []);
    await clock.advance(0);
    expect(model.lists).toBe(2);
    const told = /^the list is older \(50\) than .* \(101\)\. .* its etcd was set back to a backup/;
    expect(model.refusals).toEqual([expect.stringMatching(told)]);
    expect(await list()).toEqual(["a s0"]);
    model.setBack(101, seen === undefined ? [] : [seen]);
    await clock.advance(2_000);
    expect(model.lists).toBe(3);
    expect(await list()).toEqual(["a s0"]);
    expect(heard).toEqual([]);
  });

  test("that ends in good order at once, again and again, is not asked for in a hot loop", async () => {
    const { model, clock } = await following("a");
    for (let second = 0; second < 60; second += 0.1) {
      model.end();
      await clock.advance(100);
    }
    expect(model.watches.length).toBeLessThan(10);
  });

  test.for([
    [15_000, 5],
    [1_000, 20],
  ] as const)(
    "that breaks after %i ms, %i times, is opened again after 0.8 s each time, as if it was the first to break, without reading the list",
    async ([lastsMs, times]) => {
      const { model, clock } = await following("a");
      for (let count = 0; count < times; count++) {
        await clock.advance(lastsMs);
        model.end(failing("unavailable"));
        await clock.advance(800);
      }
      expect(model.watches).toHaveLength(times + 1);
      expect(model.lists).toBe(1);
    },
  );
});

describe("a list that can be read and never watched", () => {
  test.for(["unavailable", "gone", "malformed", "rate-limited", "timeout"] as const)(
    "is read for whoever asks once the watch is in doubt, and is two seconds old at most (%s)",
    async (failure) => {
      const { model, clock, list } = await following("a");
      model.watchRefusal = failing(failure);
      model.end(failing(failure));
      await clock.advance(4_000);
      for (let count = 1; count <= 5; count++) {
        model.isDeaf = true;
        model.put("a", { spec: `s${count}` });
        await clock.advance(2_000);
        expect(await list()).toEqual([`a s${count}`]);
        await clock.advance(50_000);
      }
      model.watchRefusal = undefined;
      model.isDeaf = false;
      await clock.advance(31_000);
      const before = model.lists;
      expect(await list()).toEqual(["a s5"]);
      expect(model.lists).toBe(before);
    },
  );

  test("is read again and again, so that changes are announced within three seconds", async () => {
    const { model, clock, heard } = await following("a");
    model.watchRefusal = failing("unavailable");
    model.end(failing("unavailable"));
    await clock.advance(60_000);
    model.isDeaf = true;
    model.put("a", { spec: "s1" });
    await clock.advance(3_000);
    expect(heard).toHaveLength(1);
  });

  test("is read no more than a tenth of the time where that takes long", async () => {
    const { model, clock } = await following("a");
    model.watchRefusal = failing("unavailable");
    model.listMs = 2_000;
    model.end(failing("unavailable"));
    await clock.advance(200_000);
    expect(model.lists).toBeLessThanOrEqual(1 + 10 + 5);
  });

  test("is read two seconds after its watch was asked for and nobody answered, and every few seconds then", async () => {
    const { model, clock, heard, list } = await following("a");
    model.watchMs = 30_000;
    model.end();
    model.isDeaf = true;
    model.put("a", { spec: "s1" });
    await clock.advance(1_000);
    const asked = list();
    await clock.advance(2_000);
    expect(await asked).toEqual(["a s0"]);
    expect(await list()).toEqual(["a s1"]);
    model.put("b", { spec: "s2" });
    await clock.advance(3_000);
    expect(heard).toEqual(["a", "b"]);
  });

  test("is read beside watches that each begin well and break at once", async () => {
    const { model, clock, heard } = await following("a");
    model.isDeaf = true;
    for (let ms = 0; ms < 10_000; ms += 300) {
      await clock.advance(300);
      model.end(failing("unavailable"));
      if (ms === 4_500) model.put("a", { spec: "s1" });
    }
    expect(heard).toEqual(["a"]);
  });

  test("is read once for two who ask at the same time", async () => {
    const { model, clock, list } = await following("a");
    model.watchRefusal = failing("unavailable");
    model.end(failing("unavailable"));
    await clock.advance(5_500);
    const before = model.lists;
    await Promise.all([list(), list()]);
    expect(model.lists).toBe(before + 1);
  });
});

describe("lost history", () => {
  test.for(["status", "event"])("as %s makes the list be read anew at once, and differences announced", async (how) => {
    const { model, clock, heard, list } = await following("a", "b");
    await clock.advance(20_000);
    if (how === "event") model.say({ kind: "failed", error: failing("gone") });
    else model.end();
    model.delete("a");
    model.put("b", { heartbeat: 1 });
    model.put("c", {});
    model.compact();
    await clock.advance(0);
    expect(await list()).toEqual(["b s0", "c"]);
    expect(heard.sort()).toEqual(["a", "c"]);
    expect(model.lists).toBe(2);
  });

  test.for(["missing-resource", "unavailable"] as const)(
    "after other failures (%s) makes the list be read anew at once, too",
    async (failure) => {
      const { model, clock, list } = await following("a");
      await clock.advance(20_000);
      model.watchRefusal = failing(failure);
      model.end(failing("unavailable"));
      await clock.advance(1_300);
      model.put("b", {});
      model.put("c", {});
      model.compact();
      model.watchRefusal = undefined;
      const watches = model.watches.length;
      while (model.watches.length === watches) await clock.advance(100);
      await clock.advance(0);
      expect(model.watches).toHaveLength(watches + 2);
      expect(await list()).toEqual(["a s0", "b", "c"]);
    },
  );

  test("twice in a row is not answered in a hot loop", async () => {
    const { model, clock } = await following("a");
    model.refusal = failing("gone");
    model.end();
    await clock.advance(60_000);
    expect(model.lists).toBeLessThan(10);
  });

  test("shows a thing that was replaced under its name as a change, though nobody saw its end", async () => {
    const { model, clock, heard, list } = await following("a");
    model.end();
    model.delete("a");
    model.put("a", { spec: "other" });
    await clock.advance(1_000);
    expect(await list()).toEqual(["a other"]);
    expect(heard).toContain("a");
  });

  test("an event of an unknown type makes the list be read anew", async () => {
    const { model, clock, list } = await following("a");
    model.say({ kind: "unknown", type: "RENAMED" });
    model.put("b", {});
    await clock.advance(2_000);
    expect(model.lists).toBe(2);
    expect(await list()).toEqual(["a s0", "b"]);
  });
});

describe("a refusal", () => {
  test.for(["forbidden", "unauthorized", "missing-resource"] as const)(
    "%s makes the list fail at once, the first time too, and is looked at again after 30 s",
    async (failure) => {
      const { model, clock, reflector, list } = aReflector("a");
      model.refusal = failing(failure);
      reflector.start();
      await expect(list()).rejects.toThrow(failure);
      await clock.advance(29_999);
      expect(model.lists).toBe(1);
      model.refusal = undefined;
      await clock.advance(1);
      expect(await list()).toEqual(["a s0"]);
      await clock.advance(20_000);
      model.refusal = failing(failure);
      model.end();
      await clock.advance(1);
      await expect(list()).rejects.toThrow(failure);
    },
  );

  test.for(["forbidden", "unauthorized", "missing-resource"] as const)(
    "of what was allowed before (%s) is looked at again as a broken watch is: a server that has just started refuses for a moment",
    async (failure) => {
      const { model, clock, heard, list } = await following("a");
      await clock.advance(20_000);
      model.refusal = failing(failure);
      model.end(failing("unavailable"));
      await clock.advance(2_300);
      await expect(list()).rejects.toThrow(failure);
      model.refusal = undefined;
      model.put("a", { spec: "s1" });
      await clock.advance(3_300);
      expect(heard).toEqual(["a"]);
      expect(await list()).toEqual(["a s1"]);
      model.refusal = failing(failure);
      model.end(failing("unavailable"));
      const before = model.watches.length + model.lists;
      await clock.advance(300_000);
      expect(model.watches.length + model.lists - before).toBeLessThan(17);
    },
  );

  test("to watch is the answer to the first call although the list can be read, which is not read again and again", async () => {
    const { model, clock, reflector, list } = aReflector("a");
    model.watchRefusal = failing("forbidden");
    reflector.start();
    await expect(list()).rejects.toThrow("forbidden");
    await clock.advance(95_000);
    expect(model.lists).toBe(1);
    expect(model.watches).toHaveLength(4);
  });
});

function failure(): never {
  throw new Error("the model has no such event");
}
