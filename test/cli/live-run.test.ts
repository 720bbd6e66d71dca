import { describe, expect, test } from "vitest";
import { applied, aRun, failed } from "../report/runs.ts";
import { afterFailure, aNode, anObservation, aPool, reconciled } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

/** A run that tells of each outcome as it happens; `seen` gets what was printed by then. */
function scene(terminal: number | undefined, seen: string[], printed: () => string): Scene {
  return {
    observation: afterFailure(),
    ...(terminal === undefined ? {} : { terminal }),
    env: { NO_COLOR: "1" },
    answer: async ({ onEnd }) => {
      const value = aRun(afterFailure(), reconciled(), (action) =>
        action.kind === "clear-annotation" ? failed(action) : applied(action),
      );
      for (const outcome of value.outcomes) {
        onEnd?.(outcome, value.plan);
        seen.push(printed());
      }
      return { kind: "done", value };
    },
  };
}

describe("reconcile", () => {
  test("prints each line as it happens on a terminal, and then only what was not told", async () => {
    let stdout = "";
    const seen: string[] = [];
    const onWrite = (name: string, text: string): void => {
      if (name === "stdout") stdout += text;
    };
    const run = await invoke(["reconcile"], { ...scene(80, seen, () => stdout), onWrite });
    expect(seen[0]).toBe(
      "pool/ingress/web\n" +
        "  > moved 203.0.113.10 from worker-1 to worker-3 (1.2 s)\n" +
        "      worker-1 no longer matches (not ready), and worker-3 waits for an address.\n",
    );
    expect(seen).toHaveLength(3);
    for (const [at, text] of seen.entries()) expect(run.stdout.startsWith(text), `line ${at}`).toBe(true);
    expect(run.stdout.split("moved 203.0.113.10")).toHaveLength(2);
    expect(run.stdout.slice(seen.at(-1)?.length)).toBe(
      "\n" +
        "pool/ingress/broken\n" +
        "  ! nothing is changed\n" +
        '      The object\'s spec is invalid: unknown provider "Ferengi". Correct the\n' +
        "      object's spec.\n" +
        "\n" +
        "pool/ingress/mail\n" +
        "  ! 203.0.113.20: not taken\n" +
        "      The address is on a machine that never was a node of this cluster: machine\n" +
        "      777. Take it off that machine, or set spec.foreignHolder: TakeOver.\n" +
        "\n" +
        "1 moved, 1 annotated, 1 failed, 2 blocked; 3 pools, 2 of 3 addresses active.\n",
    );
  });

  test.for([
    ["to a pipe", undefined, ["reconcile"]],
    ["as a document", 80, ["reconcile", "-o", "json"]],
    ["as names", 80, ["reconcile", "-o", "name"]],
    ["as JSON lines", 80, ["reconcile", "--log-format", "json"]],
  ] as const)("prints nothing before its end %s", async ([, terminal, argv]) => {
    const seen: string[] = [];
    let written = "";
    const onWrite = (_: string, text: string): void => {
      written += text;
    };
    await invoke([...argv], { ...scene(terminal, seen, () => written), onWrite });
    expect(seen).not.toEqual([]);
    expect(seen.join("")).toBe("");
  });

  test("prints on a terminal three of many changes that come to nothing for one cause, and counts the others at its end", async () => {
    const ips = Array.from({ length: 9 }, (_, at) => `203.0.113.${at + 21}`);
    const world = anObservation(
      [aPool("web", ips)],
      ips.map((_, at) => aNode(at + 21)),
      Object.fromEntries(ips.map((ip) => [ip, undefined])),
    );
    const answer: Scene["answer"] = async ({ onEnd }) => {
      const value = aRun(world, world, (action) => failed(action));
      for (const outcome of value.outcomes) if (outcome.action.kind === "assign-ip") onEnd?.(outcome, value.plan);
      return { kind: "done", value };
    };
    const { stdout } = await invoke(["reconcile"], {
      observation: world,
      terminal: 120,
      env: { NO_COLOR: "1" },
      answer,
    });
    expect(stdout.match(/^ {2}! could not assign .*$/gm)).toEqual([
      "  ! could not assign 203.0.113.21 to worker-21 (0.3 s)",
      "  ! could not assign 203.0.113.22 to worker-22 (0.3 s)",
      "  ! could not assign 203.0.113.23 to worker-23 (0.3 s)",
      "  ! could not assign 203.0.113.24 to worker-24, and 5 more",
    ]);
  });
});
