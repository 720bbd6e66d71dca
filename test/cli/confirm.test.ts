import { describe, expect, test } from "vitest";
import type { ReconcileAnswer, ReconcileRequest } from "../../src/cli/wiring.ts";
import { plan } from "../../src/plan/plan.ts";
import { applied, aRun } from "../report/runs.ts";
import { aNode, anObservation, aPool } from "../report/world.ts";
import { invoke, type Scene, type Transcript } from "./invoke.ts";

const IP = "203.0.113.10";

/** A pool that is being deleted with `Delete`, and acquired an address on worker-1. Other objects have nothing to do. */
const web = aPool("web", [], {
  spec: { desiredIPs: 1, reclaimPolicy: "Delete" },
  status: { acquired: [{ ip: IP, acquiredAt: "2026-08-01T10:00:00Z" }] },
});
const meta = { ...web.meta, isDeleting: true, finalizers: ["flipop.digitalocean.com/cleanup"] };
const observation = anObservation([{ ...web, meta }], [aNode(1)], { [IP]: "1" });

/** Answers as a run does that carries out whatever it may. */
async function answer({ restraint, selection }: ReconcileRequest): Promise<ReconcileAnswer> {
  const world = restraint === undefined ? observation : { ...observation, restraint: restraint.current };
  const held = plan(world, selection);
  const done = aRun(world, { ...world, pools: [] }, applied);
  return { kind: "done", value: held.toConfirm === undefined ? done : { ...done, remaining: held } };
}

async function reconcile(
  argv: readonly string[],
  answers?: readonly boolean[],
  more: Partial<Scene> = {},
): Promise<Transcript & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const left = [...(answers ?? [])];
  const ask = async (question: string): Promise<boolean> => {
    asked.push(question);
    return left.shift() ?? false;
  };
  const transcript = await invoke(["reconcile", ...argv], {
    observation,
    answer,
    ...(answers === undefined ? {} : { ask }),
    ...more,
  });
  return { ...transcript, asked };
}

describe("the question before what cannot be undone", () => {
  test("names what, where and the context, after a run that did everything else; no means exit 4", async () => {
    const { exitCode, asked, requests, stdout } = await reconcile([], [false]);
    expect(asked).toEqual([
      "This cannot be undone, in context prod (https://kubernetes.example:6443):\n" +
        `  pool/ingress/web: delete ${IP} (given back to digitalocean for good)\n` +
        "Go on? [y/N] ",
    ]);
    expect({ exitCode, runs: requests.length }).toEqual({ exitCode: 4, runs: 1 });
    expect(stdout).toContain(`${IP}: not deleted`);
    expect(stdout).toContain("It cannot be undone, and nobody has confirmed it. The question below asks for it.\n");
    expect(stdout).not.toContain("on a terminal");
  });

  test("yes runs again with what was confirmed", async () => {
    const { exitCode, asked, requests } = await reconcile([], [true]);
    expect({ exitCode, asked: asked.length, runs: requests.length }).toEqual({ exitCode: 0, asked: 1, runs: 2 });
    expect([...(requests[1]?.restraint?.current.confirmed ?? [])]).toEqual([IP]);
  });

  test("is not asked with --yes, and not without a terminal: the run goes on as ever", async () => {
    for (const { exitCode, asked, requests } of [await reconcile(["--yes"], [false]), await reconcile([])]) {
      expect({ exitCode, asked }).toEqual({ exitCode: 0, asked: [] });
      expect(requests.map(({ restraint }) => restraint)).toEqual([undefined]);
    }
  });

  test("without a terminal --confirm leaves it, lists it, and exits 4, also with --partial ok", async () => {
    for (const argv of [["--confirm"], ["--confirm", "--partial", "ok"]]) {
      const { exitCode, stdout, requests } = await reconcile(argv);
      expect({ exitCode, runs: requests.length }).toEqual({ exitCode: 4, runs: 1 });
      expect(stdout).toContain("It cannot be undone, and nobody has confirmed it.");
    }
  });

  test("-o json prints one document, after the answer", async () => {
    const { stdout, exitCode } = await reconcile(["-o", "json"], [true]);
    const document = JSON.parse(stdout);
    expect({ exitCode, inDocument: document.exitCode }).toEqual({ exitCode: 0, inDocument: 0 });
    expect(document.outcomes.map(({ kind }: { readonly kind: string }) => kind)).toContain("delete-ip");
  });

  test("nothing is asked where nothing cannot be undone", async () => {
    const quiet = anObservation([aPool("web", ["203.0.113.1"])], [], { "203.0.113.1": undefined });
    const { asked, exitCode } = await reconcile([], [true], {
      answer: async ({ selection }) => ({
        kind: "done",
        value: { ...aRun(quiet, quiet, applied), remaining: plan(quiet, selection) },
      }),
    });
    expect({ asked, exitCode }).toEqual({ asked: [], exitCode: 0 });
  });
});

describe("the flags of limits", () => {
  test.for([
    ["--max-removals -1", "Write a whole number from 0 to 1000000."],
    ["--max-removals 1.5", "Write a whole number from 0 to 1000000."],
    ["--max-purchases many", "Write a whole number from 0 to 1000000."],
    ["--max-voluntary-moves 1000001", "Write a whole number from 0 to 1000000."],
    ["--max-voluntary-moves=", "Write a whole number from 0 to 1000000."],
    ["--yes --confirm", "--yes and --confirm contradict each other: leave one of them out."],
    ["--watch --confirm", "--confirm is for a single run: with --watch nobody is asked."],
    ["--watch --max-removals 1", "are for a single run: --watch does not end."],
  ])("%s is wrong usage", async ([line = "", text = ""]) => {
    const { stderr, exitCode, requests } = await reconcile(line.split(" "));
    expect({ exitCode, requests }).toEqual({ exitCode: 64, requests: [] });
    expect(stderr).toContain(text);
  });

  test("reach the run, from the command line or the environment", async () => {
    const { requests } = await reconcile(["--max-removals", "0", "--max-purchases", "2"], undefined, {
      env: { FLIPOP_MAX_VOLUNTARY_MOVES: "3" },
    });
    expect(requests[0]?.restraint?.current.limits).toEqual({ voluntaryMoves: 3, purchases: 2, removals: 0 });
  });
});
