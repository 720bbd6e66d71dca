import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { saidOf, World, wrongOf } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

describe("an API server that tells its version and nothing else is a failure", () => {
  test.for([
    ["answers 503", { status: 503, body: "<html>bad gateway</html>", contentType: "text/html" }, /text\/html/],
    ["breaks off", { cut: "middle" }, /\S/],
    [
      "knows the token no more",
      { status: 401, body: { kind: "Status", code: 401, reason: "Unauthorized" } },
      /credentials/,
    ],
  ] as const)("where it %s", async ([, fault, said]) => {
    world.faults.add({ server: "kubernetes", path: "^/apis?/", times: 0, ...fault });
    const examined = await world.examine("-o", "json");
    expect(wrongOf(examined), examined.stdout).toEqual(["FLP102"]);
    expect(saidOf(examined, "FLP102")).toEqual([expect.stringMatching(/^error Cannot get leases/)]);
    expect(saidOf(examined, "FLP102")).toEqual([expect.stringMatching(said)]);
    expect(examined.exitCode).toBe(6);
  });

  test("where it hangs", async () => {
    world.faults.add({ server: "kubernetes", path: "^/apis?/", times: 0, delayMs: 60_000 });
    const examined = await world.examine("-o", "json");
    expect(saidOf(examined, "FLP102")).toEqual([
      expect.stringMatching(/^error Cannot get leases\S* \S+: no complete answer/),
    ]);
    expect(examined.exitCode).toBe(6);
  });

  test("where it keeps only the nodes to itself, since no run can plan without them", async () => {
    world.faults.add({ server: "kubernetes", path: "^/api/v1/nodes$", times: 0, status: 503, body: "down" });
    const examined = await world.examine("-o", "json");
    expect(saidOf(examined, "FLP102")).toEqual([expect.stringMatching(/^error Cannot list nodes: /)]);
    expect(examined.exitCode).toBe(6);
  });

  test("but not where its list of nodes takes longer than the doctor waits", async () => {
    world.faults.add({ server: "kubernetes", path: "^/api/v1/nodes$", times: 0, delayMs: 60_000 });
    const examined = await world.examine("-o", "json");
    expect(saidOf(examined, "FLP102")).toEqual([expect.stringMatching(/^success /)]);
    expect(saidOf(examined, "FLP148")).toEqual([expect.stringMatching(/^unknown /)]);
    expect(wrongOf(examined)).toEqual([]);
  });

  test("but not where the Lease is not for everybody to see: that is a permission", async () => {
    world.answer("/leases/flipop$", { kind: "Status", code: 403, reason: "Forbidden", message: "no" }, 403);
    expect(saidOf(await world.examine("-o", "json"), "FLP102")).toEqual([expect.stringMatching(/^success /)]);
  });
});
