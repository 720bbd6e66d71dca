import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { realCommand } from "../cli/real-command.ts";
import { schemaErrors } from "../report/schemas.ts";

const FOLDER = new URL("../snapshots/", import.meta.url);
const FILES = readdirSync(FOLDER);
const SNAPSHOTS = FILES.filter((name) => name.endsWith(".yaml"));

/** What a command says of a snapshot, on a machine without a cluster and tokens. */
async function said(...argv: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await realCommand(argv, { identity: "fixture", wallMs: () => 0 });
  return `${stdout}${stderr}exit code: ${exitCode}\n`;
}

// A bug becomes a test by copying the reporter's snapshot into the folder. `vitest -u` writes the plan of today beside it, to be corrected to what it should be.
describe("a snapshot in test/snapshots", () => {
  test.for(SNAPSHOTS)("%s has the plan that stands beside it", async (name) => {
    const { pathname } = new URL(name, FOLDER);
    expect(schemaErrors(parse(await said("plan", "--from", pathname, "-o", "yaml").then(withoutExit)), "Plan")).toEqual(
      [],
    );
    const plan = await said("plan", "--from", pathname, "-o", "wide");
    await expect(plan.replace(/\b[0-9a-f]{14}\b/, "PLANID")).toMatchFileSnapshot(
      `../snapshots/${name.replace(/\.yaml$/, ".plan.txt")}`,
    );
  });

  test("is there for every plan", () => {
    const plans = FILES.filter((name) => name.endsWith(".plan.txt"));
    expect(plans).toEqual(SNAPSHOTS.map((name) => name.replace(/\.yaml$/, ".plan.txt")));
    expect(FILES.length).toBe(2 * SNAPSHOTS.length);
    expect(SNAPSHOTS.length).toBeGreaterThan(3);
  });
});

function withoutExit(text: string): string {
  return text.replace(/exit code: \d+\n$/, "");
}
