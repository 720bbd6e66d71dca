import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/program.ts";
import { invoke } from "./invoke.ts";

/** The help of a command in its parts, by their headings. */
async function partsOf(command: string): Promise<ReadonlyMap<string, string>> {
  const { stdout, exitCode } = await invoke([command, "--help"]);
  expect(exitCode).toBe(0);
  const parts = stdout.split(/^(?=[A-Z][A-Za-z ]*:)/m);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf(":")), part]));
}

const SHARED = ["Objects", "Cluster", "Lock", "Output", "Global Options"];

describe.for(COMMANDS)("the help of %s", (command) => {
  test("has the command's own flags first, then those of several commands in groups", async () => {
    const parts = await partsOf(command);
    const headings = [...parts.keys()];
    expect(headings.slice(0, 2)).toContain("Usage");
    expect(parts.get("Options")).toContain("--help");
    for (const flag of ["--kubeconfig", "--namespace", "--quiet", "--output", "--lease-name"])
      if (!(command === "manifests" || command === "validate") || flag !== "--namespace")
        expect(parts.get("Options"), flag).not.toContain(`${flag} `);
    const shared = headings.filter((heading) => SHARED.includes(heading));
    expect(shared).toEqual(SHARED.filter((heading) => shared.includes(heading)));
    const own = parts.get("Options")?.match(/^ {2}-/gm)?.length ?? 0;
    if (own > 1) expect(headings.indexOf("Options")).toBeLessThan(headings.indexOf(shared[0] ?? ""));
  });

  test("has examples that begin with the command, and no line that a terminal of 80 columns breaks", async () => {
    const { stdout } = await invoke([command, "--help"]);
    expect(stdout).toMatch(new RegExp(`\nExamples:\n  (source <\\()?flipop ${command}\\b`));
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});

test("groups hold what they say", async () => {
  const parts = await partsOf("reconcile");
  const flags = (heading: string): readonly string[] =>
    parts.get(heading)?.match(/(?<=^ {2}(?:-\w, )?)--[\w-]+/gm) ?? [];
  expect(
    Object.fromEntries(["Saved plan", "Limits", "Watch", "Metrics", ...SHARED].map((one) => [one, flags(one)])),
  ).toEqual({
    "Saved plan": ["--plan", "--all-or-nothing", "--max-age"],
    Limits: ["--max-voluntary-moves", "--max-purchases", "--max-removals"],
    Watch: ["--watch", "--interval", "--metrics-addr"],
    Metrics: ["--pushgateway", "--push-job", "--push-grouping"],
    Objects: ["--namespace", "--all-namespaces", "--selector", "--shard"],
    Cluster: ["--kubeconfig", "--context", "--request-timeout", "--as", "--as-group"],
    Lock: [
      "--lease-namespace",
      "--lease-name",
      "--on-locked",
      "--lease-duration",
      "--renew-deadline",
      "--retry-period",
      "--no-lock",
    ],
    Output: ["--output", "--quiet", "--verbose", "--color", "--log-format"],
    "Global Options": ["--version", "--sandbox"],
  });
});
