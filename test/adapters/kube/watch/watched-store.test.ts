import { describe, expect, test } from "vitest";
import { type ObservedVersion, WatchedStore } from "../../../../src/adapters/kube/watch/watched-store.ts";

/** A store of texts, and what it holds now. */
function aStore(): { readonly store: WatchedStore<string>; readonly held: () => readonly string[] } {
  const store = new WatchedStore<string>({ visible: (facts) => facts, foreign: (facts) => facts });
  return { store, held: () => store.values() };
}

const at = (key: string, version: string, facts: string | undefined = `${key}${version}`): ObservedVersion<string> => ({
  key,
  version,
  facts,
});

/** A store that has seen `a` and `b`, and the end of `b`; complete to 20. */
function afterAnEnd(complete: "list" | "bookmark"): ReturnType<typeof aStore> {
  const one = aStore();
  one.store.replace([at("a", "5"), at("b", "6")], "10");
  one.store.remove("b", "15");
  if (complete === "list") one.store.replace([at("a", "5")], "20");
  else one.store.completeTo("20");
  return one;
}

describe("a whole list that is older than what the store is complete to", () => {
  test.for(["list", "bookmark"] as const)("is refused after a %s, and brings back nothing that is gone", (complete) => {
    const { store, held } = afterAnEnd(complete);
    expect(store.isBehind("19")).toBe(true);
    expect(store.replace([at("a", "5"), at("b", "6")], "12")).toBeUndefined();
    expect(store.replace([], "19")).toBeUndefined();
    expect(held()).toEqual(["a5"]);
  });

  test("is refused where nothing is left in the store, too", () => {
    const { store, held } = afterAnEnd("bookmark");
    store.remove("a", "25");
    store.completeTo("30");
    expect(store.replace([at("a", "5"), at("b", "6")], "29")).toBeUndefined();
    expect(held()).toEqual([]);
  });

  test("is taken over once the versions are forgotten, for a cluster that was set back", () => {
    const { store, held } = afterAnEnd("bookmark");
    store.forgetVersions();
    expect(store.replace([at("a", "3"), at("b", "4")], "9")).toEqual(["a", "b"]);
    expect(held()).toEqual(["a3", "b4"]);
    expect(store.replace([], "8")).toBeUndefined();
  });

  test("leaves the store as complete as it was", () => {
    const { store, held } = afterAnEnd("list");
    store.replace([at("b", "6")], "12");
    expect(store.see(at("b", "13"))).toBe(false);
    expect(held()).toEqual(["a5"]);
  });
});

describe("a whole list that is as new as what the store is complete to", () => {
  test("counts although it shows an object older than it is here, for its history was set back", () => {
    const { store, held } = aStore();
    store.replace([at("a", "5"), at("b", "6"), at("c", "7")], "10");
    store.see(at("a", "18"));
    store.remove("b", "19");
    store.see(at("c", "25"));
    expect(store.replace([at("a", "5"), at("b", "6"), at("c", "7")], "20")).toEqual(["a", "b"]);
    expect(held()).toEqual(["a5", "b6", "c25"]);
  });

  test("is taken over, and so is one that the watch has overtaken without completing it", () => {
    const { store, held } = afterAnEnd("list");
    store.see(at("c", "22"));
    store.remove("a", "23");
    expect(store.replace([at("a", "5"), at("d", "20")], "20")).toEqual(["d"]);
    expect(held()).toEqual(["c22", "d20"]);
  });

  test("keeps the newest of two entries of one object, wherever it stands", () => {
    for (const entries of [
      [at("a", "7"), at("a", "8")],
      [at("a", "8"), at("a", "7")],
    ]) {
      const { store, held } = aStore();
      store.replace(entries, "10");
      expect(held()).toEqual(["a8"]);
      store.replace([...entries, at("b", "9")], "11");
      expect(held()).toEqual(["a8", "b9"]);
    }
  });
});

describe("a version that says nothing", () => {
  test.for(["", "soon", "-1", "1e3"])("%j makes nothing that is known forgotten", (version) => {
    const { store, held } = afterAnEnd("bookmark");
    store.completeTo(version);
    expect(store.replace([at("b", "6")], "12")).toBeUndefined();
    expect(store.see(at("b", "13"))).toBe(false);
    expect(held()).toEqual(["a5"]);
  });

  test("keeps the ends that are known until a version completes them", () => {
    const { store, held } = aStore();
    store.replace([at("a", "5")], "10");
    store.remove("a", "15");
    store.completeTo("");
    expect(store.replace([at("a", "5")], "12")).toEqual([]);
    expect(held()).toEqual([]);
  });

  test("lets a list be taken over, since nobody can tell that it is older", () => {
    const { store, held } = aStore();
    store.replace([at("a", "x1")], "v9");
    expect(store.replace([at("b", "x0")], "v3")).toEqual(["b", "a"]);
    expect(held()).toEqual(["bx0"]);
  });
});
