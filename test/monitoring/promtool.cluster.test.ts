import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { manifestText } from "../../src/cli/manifests.ts";
import { parseShard } from "../../src/model/shard.ts";
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

  test("of named shards tell of the one that never ran, and of no other", async ({ skip, onTestFinished }) => {
    if (promtool === undefined) return skip("needs promtool");
    const folder = mkdtempSync(join(tmpdir(), "flipop-alerts-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const shard = ["1/2", "2/2"].flatMap((text) => parseShard(text) ?? []);
    writeFileSync(join(folder, "rules.yaml"), stringify(parse(manifestText(["alerts"], { shard })).spec));
    const series = 'flipop_build_info{cluster="c1",shard="1/2"}';
    const expr = 'count by (alertname, shard) (ALERTS{alertname="FlipopAbsent",alertstate="firing"})';
    const sample = { labels: '{alertname="FlipopAbsent",shard="2/2"}', value: 1 };
    const tests = [
      {
        interval: "1m",
        input_series: [{ series, values: "1x30" }],
        promql_expr_test: [{ expr, eval_time: "20m", exp_samples: [sample] }],
      },
    ];
    writeFileSync(
      join(folder, "test.yaml"),
      stringify({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }),
    );
    const { stdout } = await run(promtool, ["test", "rules", join(folder, "test.yaml")]);
    expect(stdout).toContain("SUCCESS");
  });
});
