import { describe, expect, test } from "vitest";
import { Reflector } from "../../../../src/adapters/kube/watch/reflector.ts";
import { Readings, UsedLists } from "../../../../src/adapters/kube/watch/warm-lists.ts";
import { FakeClock } from "../../../fake/fake-clock.ts";
import { ModelList, THING_RULES, type Thing } from "./model-list.ts";

const MINUTE_MS = 60_000;

/** Lists of things by name, each a real reflector of a model of its own. */
function someLists() {
  const clock = new FakeClock();
  const ending = new AbortController();
  const models = new Map<string, ModelList>();
  const heard: string[] = [];
  const lists = new UsedLists<Thing>(clock, new Readings(), ending.signal);
  const follow = (key: string) => (): Reflector<Thing> => {
    const model = new ModelList(clock);
    models.set(key, model);
    const onChange = (): void => {
      heard.push(key);
    };
    const reflector = new Reflector({ source: model, rules: THING_RULES, clock, random: () => 0, onChange });
    reflector.start();
    return reflector;
  };
  return {
    clock,
    heard,
    models,
    read: async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await clock.settle(lists.values(key, follow(key)));
    },
    /** Something happens to a list's objects: the names of the lists that told of it. */
    tellers: async (...keys: readonly string[]): Promise<readonly string[]> => {
      heard.length = 0;
      for (const key of keys) models.get(key)?.put("thing", { spec: `s${clock.monotonicMs()}` });
      await clock.advance(0);
      return [...heard];
    },
    followed: (): number => lists.all().length,
    end: async (): Promise<void> => {
      ending.abort();
      for (const reflector of lists.all()) reflector.close();
      await clock.advance(1);
    },
  };
}

describe("the list of a selector", () => {
  test.for([11, 25, 59, 600])(
    "tells of changes after %i quiet minutes in which nobody read the cluster",
    async (minutes) => {
      const { clock, read, tellers } = someLists();
      await read("a", "b");
      await clock.advance(minutes * MINUTE_MS);
      expect(await tellers("a", "b")).toEqual(["a", "b"]);
    },
  );

  test("is followed for ever by readings that are half an hour apart and ask for it", async () => {
    const { clock, read, tellers, models } = someLists();
    for (let reading = 0; reading < 10; reading += 1) {
      await read("a", "b");
      const [a] = models.values();
      await clock.advance(29 * MINUTE_MS);
      expect(await tellers("a", "b")).toEqual(["a", "b"]);
      expect([...models.values()][0]).toBe(a);
      await clock.advance(MINUTE_MS);
    }
  });

  test.for([1, 5, 30, 180])("is closed once readings, %i minutes apart, went on without it", async (apart) => {
    const { clock, read, tellers, followed } = someLists();
    await read("a", "b");
    for (let reading = 0; reading < 12; reading += 1) {
      await clock.advance(apart * MINUTE_MS);
      await read("a");
    }
    expect(followed()).toBe(1);
    expect(await tellers("a", "b")).toEqual(["a"]);
  });

  test("stays until a whole reading has gone by without it, and for ten minutes", async () => {
    const { clock, read, followed } = someLists();
    await read("a", "b");
    await clock.advance(30 * MINUTE_MS);
    await read("a");
    await clock.advance(30 * MINUTE_MS);
    expect(followed()).toBe(2);
    await read("a", "b");
    for (let second = 0; second < 540; second += 10) {
      await clock.advance(10_000);
      await read("a");
    }
    expect(followed()).toBe(2);
    await clock.advance(2 * MINUTE_MS);
    expect(followed()).toBe(1);
  });

  test("is read anew when it is asked for again after that", async () => {
    const { clock, read, tellers } = someLists();
    await read("a", "b");
    for (let minute = 0; minute < 15; minute += 1) {
      await clock.advance(MINUTE_MS);
      await read("a");
    }
    await read("a", "b");
    expect(await tellers("a", "b")).toEqual(["a", "b"]);
  });

  test("leaves nothing behind in the end", async () => {
    const { clock, read, end } = someLists();
    await read("a", "b");
    await clock.advance(90 * MINUTE_MS);
    await end();
    expect(clock.sleeping()).toBe(0);
  });
});

describe("a reading of the cluster", () => {
  const FIRST = ["nodes", "pools", "record sets", "routed IPs"];

  test("is one when all of its first lists are answered, and none when any of them fails, whichever that is", () => {
    const readings = new Readings();
    const failing = [[], [], ["nodes"], ["nodes"], ["record sets"], ["nodes", "routed IPs"], [], ["pools"], []];
    const counts = failing.map((lists) => {
      const begun = FIRST.map((list) => ({ list, attempt: readings.begin(list) }));
      for (const { list, attempt } of begun) if (!lists.includes(list)) readings.answered(attempt);
      return readings.count;
    });
    expect(counts).toEqual([0, 1, 1, 1, 1, 1, 2, 2, 3]);
  });

  test("that is answered once the next one has begun is none", () => {
    const readings = new Readings();
    const [late] = [FIRST.map((list) => readings.begin(list)), FIRST.map((list) => readings.begin(list))];
    for (const attempt of late) readings.answered(attempt);
    for (const list of FIRST) readings.answered(readings.begin(list));
    expect(readings.count).toBe(0);
    for (const list of FIRST) readings.answered(readings.begin(list));
    expect(readings.count).toBe(1);
  });
});
