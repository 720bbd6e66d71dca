import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { TOPIC_NAMES } from "../../src/cli/help-topics.ts";
import { FINDING_CODES } from "../../src/model/finding.ts";
import { REASONS } from "../../src/model/reason.ts";
import { parseShard, SHARD_RULE } from "../../src/model/shard.ts";
import { EDIT_FORMS } from "../../src/rehearse/edit.ts";
import { EXIT } from "../../src/report/exit-code.ts";
import { schemaErrors } from "../report/schemas.ts";
import { invoke } from "./invoke.ts";

async function help(...words: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode, configs } = await invoke(["help", ...words]);
  expect({ stderr, exitCode, configs }).toEqual({ stderr: "", exitCode: 0, configs: [] });
  return stdout;
}

describe("flipop help", () => {
  test("without a word is the help of the program, and names every topic", async () => {
    const text = await help();
    expect(text).toBe((await invoke(["--help"])).stdout);
    for (const topic of TOPIC_NAMES) expect(text.replace(/\s+/g, " ")).toContain(topic);
  });

  test("of a command is what --help of it prints", async () => {
    expect(await help("status")).toBe((await invoke(["status", "--help"])).stdout);
  });

  test("of exit codes, reasons and edits has every one of them", async () => {
    const codes = await help("exit-codes");
    for (const code of Object.values(EXIT)) expect(codes).toMatch(new RegExp(`^${code} +\\S`, "m"));
    const reasons = await help("reasons");
    for (const reason of Object.keys(REASONS)) expect(reasons).toMatch(new RegExp(`^${reason} `, "m"));
    const findings = await help("findings");
    for (const code of FINDING_CODES) expect(findings).toMatch(new RegExp(`^${code} `, "m"));
    const edits = await help("edits");
    for (const form of EDIT_FORMS) expect(edits).toContain(`  ${form}\n`);
  });

  test("of shards has every form of --shard, each of which is one, and how shards are installed", async () => {
    const text = await help("shards");
    for (const form of ["2/3", "vip"]) {
      expect(text).toMatch(new RegExp(`^--shard ${form} +what `, "m"));
      expect(parseShard(form)).toBeDefined();
    }
    expect(text.replace(/\s+/g, " ")).toContain(SHARD_RULE);
    const [, line = ""] = /^ {2}flipop (manifests .*?) {3}/m.exec(text) ?? [];
    const { stdout } = await invoke(line.split(" "));
    expect(stdout).toContain("name: flipop-2-of-2");
  });

  test("of a reason says what it means, what a person can do and what ends it, however it is spelled", async () => {
    expect(await help("quotaexceeded")).toBe(
      "QuotaExceeded: The account's limit of reserved addresses is reached, or what is\n" +
        "left is kept for objects that have none.\n" +
        "  Ask the provider for a higher limit, or lower desiredIPs.\n" +
        "  flipop goes on by itself once that has changed.\n" +
        '  flipop_blocked{reason="QuotaExceeded"} counts what it holds until a person\n' +
        "  acts, flipop_deferred what ends by itself.\n",
    );
  });

  test.for(["FLP144", "flp144", "FLP201", "FLP217", "Unreadable"])(
    "of the code or reason %s is what explain says of it, without a cluster",
    async (word) => {
      const { stdout, stderr, exitCode, configs } = await invoke(["explain", word]);
      expect({ stderr, exitCode, configs }).toEqual({ stderr: "", exitCode: 0, configs: [] });
      expect(stdout).toBe(await help(word));
      const document = JSON.parse((await invoke(["explain", word, "-o", "json"])).stdout);
      expect(schemaErrors(document, "Explanation")).toEqual([]);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(document.message);
    },
  );

  test.for(["exit-codes", "reasons", "findings", "shards"])(
    "of %s fits into 80 columns behind its first lines",
    async (topic) => {
      const [, , , ...lines] = (await help(topic)).split("\n");
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    },
  );
});

test("the version can be read by a program", async () => {
  const { stdout } = await invoke(["version", "-o", "json"]);
  expect(JSON.parse(stdout)).toEqual(parse((await invoke(["version", "-o", "yaml"])).stdout));
  expect(JSON.parse(stdout)).toMatchObject({ kind: "Version", node: process.version });
  expect(schemaErrors(JSON.parse(stdout), "Version")).toEqual([]);
});

describe("as a plugin of kubectl", () => {
  const plugin = { program: "kubectl flipop" } as const;

  test("help, its examples and the hint behind a mistake say kubectl flipop", async () => {
    const { stdout } = await invoke(["status", "--help"], plugin);
    expect(stdout).toMatch(/^Usage: kubectl flipop status \[options\] \[TARGET\.\.\.\]\n/);
    expect(stdout).toContain("\n  kubectl flipop status -o wide\n");
    expect((await invoke(["help"], plugin)).stdout).toMatch(/^Usage: kubectl flipop \[options\] \[command\]\n/);
    expect((await invoke(["status", "--nonsense"], plugin)).stderr).toContain("See kubectl flipop status --help.");
    expect((await invoke(["--version"], plugin)).stdout).toMatch(/^flipop \d/);
  });

  test.for([
    ["plan --help", "\nkubectl flipop help edits lists what --if can say."],
    ["validate --help", "  kustomize build . | kubectl flipop validate -\n"],
    ["sandbox --help", "It holds what kubectl flipop --sandbox=world works on"],
    ["help FLP122", "\n  kubectl flipop manifests --only rbac | kubectl apply "],
    ["completion --help", "  source <(flipop completion bash) "],
  ])("%s says how to go on behind kubectl: %s", async ([line, wanted]) => {
    const argv = (line ?? "").split(" ");
    const { stdout } = await invoke(argv, plugin);
    expect(stdout).toContain(wanted);
    expect(stdout.replaceAll(/(?<!\()kubectl flipop /g, "flipop ")).toBe((await invoke(argv)).stdout);
  });

  test("the same words are completed", async () => {
    const words = ["__complete", "--", "pl"];
    expect((await invoke(words, plugin)).stdout).toBe((await invoke(words)).stdout);
  });
});
