import { describe, expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { isOfShard, parseShard, SHARD_LABEL } from "../../src/model/shard.ts";
import type { Overlap } from "../../src/watch/shard-lock.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { aLease, aPool, aRecordSet } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const BASE: Overlap = { lease: "flipop/flipop", holder: "pod-1" };
const PART: Overlap = { lease: "flipop/flipop-1-of-2", holder: "pod-2", shard: "1/2" };

const refused = (overlap: Overlap): Scene => {
  const answer = { kind: "locked", holder: overlap.holder, overlap } as const;
  return { observation: steady(), answer: async () => answer, watch: async () => answer };
};

function forbidden(): KubeError {
  return new KubeError({ failure: "forbidden", operation: "get", subject: "", status: 403, message: "no" });
}

describe("a run that overlaps another one", () => {
  test.for([
    [
      ["--shard", "1/3"],
      BASE,
      "pod-1 holds the Lease flipop/flipop: a run without --shard works for some of the objects of this one, which is with --shard 1/3.",
    ],
    [
      [],
      PART,
      "pod-2 holds the Lease flipop/flipop-1-of-2: a run with --shard 1/2 works for some of the objects of this one, which is without --shard.",
    ],
    // What is skipped would be skipped for ever.
    [["--on-locked", "skip"], PART, "pod-2 holds the Lease flipop/flipop-1-of-2"],
    [["--watch", "--shard", "1/3"], BASE, "pod-1 holds the Lease flipop/flipop"],
  ] as const)("with %j says who is in the way, and ends with 5", async ([flags, overlap, text]) => {
    const { stderr, exitCode } = await invoke(["reconcile", ...flags], refused(overlap));
    expect(stderr).toContain(text);
    expect(exitCode).toBe(5);
  });
});

test("a run asks for the objects of its shard, and says whose Lease it waits for", async () => {
  const asked: unknown[] = [];
  const scene: Scene = {
    observation: steady(),
    answer: async ({ selection }) => {
      asked.push(selection);
      return { kind: "locked", holder: "x" };
    },
  };
  const { stderr } = await invoke(["reconcile", "--shard", "2/3"], scene);
  expect(asked).toEqual([{ shard: "2/3" }]);
  expect(stderr).toContain("x holds the Lease flipop/flipop-2-of-3");
  await invoke(["reconcile"], { ...scene, env: { FLIPOP_SHARD: "web" } });
  expect(asked[1]).toEqual({ shard: "web" });
});

test.for(["reconcile", "plan", "status"])("%s takes no value of --shard that names none", async (command) => {
  const { stderr, exitCode } = await invoke([command, "--shard", "4/3"], { observation: steady() });
  expect(exitCode).toBe(64);
  expect(stderr).toContain("Write I/N, as 2/3");
});

test("plan and status show the objects of the shard", async () => {
  const world = steady();
  const { stdout } = await invoke(["status", "--shard", "web", "-o", "name"], { observation: world });
  expect(stdout.trim()).toBe("");
  const whole = await invoke(["status", "-o", "name"], { observation: world });
  expect(whole.stdout.trim()).not.toBe("");
});

describe("a shard that none of the objects is of", () => {
  const of = <T extends ReturnType<typeof aPool>>(shard: string, pool: T): T => ({
    ...pool,
    meta: { ...pool.meta, labels: { ...pool.meta.labels, [SHARD_LABEL]: shard } },
  });
  const labelled = [of("vip", aPool("web", [])), of("vip", aPool("mail", []))];
  const world = (pools: ReturnType<typeof aPool>[], recordSets: ReturnType<typeof aRecordSet>[] = []) => ({
    ...steady(),
    pools,
    recordSets,
  });
  const both = world(labelled, [aRecordSet("nodes")]);
  const NOBODY =
    "No object is of the shard nobody. Use --shard vip for pool/ingress/mail and pool/ingress/web. Use no --shard for dns/ingress/nodes.";

  test.for(["plan", "status"])("is told by %s, with the flags that show the objects", async (command) => {
    const scene: Scene = { observation: both };
    const { stdout, stderr, exitCode } = await invoke([command, "--shard", "nobody"], scene);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: expect.stringContaining(`${NOBODY}\n`),
      stderr: "",
      exitCode: 0,
    });
    expect(stdout).not.toContain("No pools");
    const document = await invoke([command, "--shard", "nobody", "-o", "json"], scene);
    expect(document.stderr).toBe(`flipop: ${NOBODY}\n`);
  });

  test("has parts of its own count when it is numbered", async () => {
    const observation = world([aPool("web", [])]);
    const [other = ""] = ["1/3", "2/3", "3/3"].filter((text) =>
      isOfShard({ namespace: "ingress", labels: {} }, parseShard(text)),
    );
    const [own = ""] = ["1/3", "2/3", "3/3"].filter((text) => text !== other);
    for (const command of ["plan", "status"]) {
      const { stdout } = await invoke([command, "--shard", own], { observation });
      expect(stdout).toContain(`No object is of the shard ${own}. Use --shard ${other} for pool/ingress/web.\n`);
    }
  });

  test("may be the one without a label: plan says so, and status shows the objects of all", async () => {
    const observation = world(labelled);
    const { stdout } = await invoke(["plan"], { observation });
    expect(stdout).toContain(
      `No object is without the label ${SHARD_LABEL}. Use --shard vip for pool/ingress/mail and pool/ingress/web.\n`,
    );
    const { stdout: status } = await invoke(["status", "-o", "name"], { observation });
    expect(status.split("\n").filter((line) => line !== "").length).toBe(2);
  });

  test.for([
    ["", "2 objects are of another shard, and not part of this plan. Use --shard vip for pool/ingress/mail"],
    ["--shard vip", "1 object is of another shard, and not part of this plan. Use no --shard for dns/ingress/nodes.\n"],
    ["dns/ingress/nodes", undefined],
  ] as const)("is told of by a plan of other objects: %s", async ([line, text]) => {
    const { stdout } = await invoke(["plan", ...line.split(" ").filter((one) => one !== "")], { observation: both });
    if (text === undefined) expect(stdout).not.toContain("another shard");
    else expect(stdout).toContain(text);
  });

  test.for([
    ["-n ingress", "No object in namespace ingress is of the shard nobody."],
    ["-l app=web", "No object with the labels app=web is of the shard nobody. Use --shard vip for pool/ingress/web.\n"],
    ["pool/ingress/web", "No object that was named is of the shard nobody. Use --shard vip for pool/ingress/web.\n"],
    // What chooses nothing at all is told before.
    ["-n empty", "No object in namespace empty. There is"],
  ] as const)("is told of %s", async ([line, text]) => {
    const scene: Scene = { observation: both, namespaces: ["ingress", "empty"] };
    for (const command of ["plan", "status"]) {
      const { stdout } = await invoke([command, "--shard", "nobody", ...line.split(" ")], scene);
      expect(stdout).toContain(text);
    }
  });

  test("and that no process has run with is a problem that status tells, and --check ends with", async () => {
    const scene: Scene = { observation: both, lease: aLease(), absentLeases: ["flipop-vip"] };
    const { stdout } = await invoke(["status"], scene);
    const told = `nobody works for these objects: the label ${SHARD_LABEL} names "vip", and no process has run with --shard vip`;
    expect(stdout.replace(/\s+/g, " ")).toContain(`pool/ingress/web and pool/ingress/mail: ${told}`);
    expect(stdout.replace(/\s+/g, " ")).toContain("Correct the label, or run flipop reconcile with that --shard.");
    const checked = await invoke(["status", "--check"], scene);
    expect(checked.stderr).toContain(told);
    expect(checked.exitCode).toBe(6);
    expect((await invoke(["status"], { ...scene, absentLeases: [] })).stdout).not.toContain("nobody works for");
    const unknown = { ...scene, leaseError: forbidden() };
    const ofShard = await invoke(["status", "--check", "--shard", "vip"], {
      ...scene,
      absentLeases: ["flipop-vip-vip"],
    });
    expect(ofShard.stderr).not.toContain("nobody works for");
    expect((await invoke(["status"], unknown)).stdout).not.toContain("nobody works for");
  });

  test("a label that no shard can have is told as that", async () => {
    const { stdout } = await invoke(["plan", "--shard", "nobody"], {
      observation: world([of("2-of-3", aPool("web", []))]),
    });
    expect(stdout).toContain(
      `No object is of the shard nobody. The label ${SHARD_LABEL} of pool/ingress/web names no shard.\n`,
    );
  });

  test("not more than four shards are named", async () => {
    const observation = world(["a", "b", "c", "d", "e", "f"].map((shard) => of(shard, aPool(`p-${shard}`, []))));
    const { stdout } = await invoke(["plan", "--shard", "nobody"], { observation });
    expect(stdout).toContain("Use --shard d for pool/ingress/p-d. 2 more shards have objects.\n");
  });

  describe("in a run", () => {
    const quiet = aQuietRun();
    const nothing = { ...quiet, plan: { ...quiet.plan, pools: [], recordSets: [] } };
    const scene = (lists: string[]): Scene => ({
      observation: both,
      answer: async () => ({ kind: "done", value: nothing }),
      delay: async () => void lists.push("pools"),
    });

    test("costs a process of a CronJob not one list more", async () => {
      const lists: string[] = [];
      const { stderr, exitCode } = await invoke(["reconcile", "--shard", "nobody"], scene(lists));
      expect({ stderr, exitCode, lists }).toEqual({ stderr: "", exitCode: 0, lists: ["pools"] });
    });

    test("is told to a person who names objects", async () => {
      const { stderr, exitCode } = await invoke(["reconcile", "pool/ingress/web", "--shard", "nobody"], scene([]));
      const text = "No object that was named is of the shard nobody. Use --shard vip for pool/ingress/web.";
      expect({ stderr, exitCode }).toEqual({ stderr: `flipop: ${text}\n`, exitCode: 0 });
      const without = await invoke(["reconcile", "pool/ingress/web"], scene([]));
      expect(without.stderr).toContain(`No object that was named is without the label ${SHARD_LABEL}. Use --shard vip`);
    });
  });
});
