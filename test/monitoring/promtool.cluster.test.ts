import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { shippedText } from "../manifests/shipped.ts";
import { debianProgram } from "../programs/debian-program.ts";

const run = promisify(execFile);
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

describe("the alerts, by promtool", () => {
  let promtool: string | undefined;

  beforeAll(async () => {
    promtool = await debianProgram("prometheus", "promtool");
  });

  test("are valid rules", async ({ skip }) => {
    if (promtool === undefined) return skip("needs promtool");
    const { stdout } = await run(promtool, ["check", "rules", path("../../cronjob/monitoring/rules.yaml")]);
    expect(stdout).toContain(
      `SUCCESS: ${[...shippedText("monitoring/rules.yaml").matchAll(/- alert:/g)].length} rules found`,
    );
  });

  test("fire when they should and do not when they should not", async ({ skip }) => {
    if (promtool === undefined) return skip("needs promtool");
    const { stdout } = await run(promtool, ["test", "rules", path("alerts.promtool.yaml")]);
    expect(stdout).toContain("SUCCESS");
  });
});
