import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FINDING_CODES } from "../../src/model/finding.ts";
import { invoke } from "../cli/invoke.ts";
import { schemaErrors } from "../report/schemas.ts";
import { SARIF_LOG } from "./sarif-schema.ts";

const ROOT = mkdtempSync(join(tmpdir(), "flipop-validate-"));
const POOL = `apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata: {name: web, namespace: ingress}
spec:
  provider: digitalocean
  ips: [203.0.113.10]
  match:
    podLable: app=web
  assignmentCoolOffSeconds: 90
`;
const GOOD = POOL.replace(/ {2}match:\n.*\n/, "")
  .replace("90", "9")
  .replace(".10]", ".11]")
  .replace("web", "api");
const WARNED = POOL.replace(/ {2}match:\n.*\n/, "")
  .replace(".10]", ".12]")
  .replace("web", "slow");

const at = (...names: readonly string[]): string => join(ROOT, ...names);

function lineOf(text: string): string {
  return text.replaceAll(`${ROOT}/`, "");
}

beforeAll(() => {
  mkdirSync(at("some", "deep", ".hidden"), { recursive: true });
  writeFileSync(at("pool.yaml"), POOL);
  writeFileSync(at("some", "good.yml"), GOOD);
  writeFileSync(at("some", "notes.txt"), "a: [");
  writeFileSync(at("some", "deep", "warned.json"), JSON.stringify(parse(WARNED)));
  writeFileSync(at("some", "deep", ".hidden", "broken.yaml"), "a: [");
  symlinkSync(at("some"), at("some", "deep", "loop"));
  mkdirSync(at("empty"));
});

afterAll(() => rmSync(ROOT, { recursive: true }));

describe("flipop validate", () => {
  test("ends at a signal in the midst of a file, and says nothing", async () => {
    writeFileSync(at("many.yaml"), `${GOOD}---\n`.repeat(5000));
    const ending = new AbortController();
    const running = invoke(["validate", at("many.yaml")], { signal: ending.signal });
    setTimeout(() => ending.abort(), 20);
    const { stdout, stderr, exitCode } = await running;
    rmSync(at("many.yaml"));
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "", stderr: "", exitCode: 130 });
  });

  test("says what is wrong, where, and how much of it, and asks no cluster", async () => {
    const { stdout, stderr, exitCode, configs } = await invoke(["validate", at("pool.yaml"), at("some")]);
    expect(lineOf(stdout)).toBe(
      "pool.yaml:8:5    error     FLP204   spec.match.podLable: unknown field; the API server drops it silently. Did you mean podLabel?\n" +
        "pool.yaml:9:29   warning   FLP224   spec.assignmentCoolOffSeconds: after each assignment the next failover of the pool may wait for 90 s\n" +
        "2 objects in 2 files: 1 error, 1 warning.\n",
    );
    expect({ stderr, exitCode, configs }).toEqual({ stderr: "", exitCode: 6, configs: [] });
  });

  test("wraps messages beside their column on a terminal", async () => {
    const { stdout } = await invoke(["validate", "--color", "never", relative(process.cwd(), at("pool.yaml"))], {
      terminal: 120,
    });
    for (const line of stdout.split("\n").slice(0, -2)) expect(line.length).toBeLessThanOrEqual(120);
    expect(stdout).toMatch(/^ {20,}\S.*podLabel\?$/m);
  });

  test("looks into folders below with -R only, and not into hidden ones", async () => {
    const flat = await invoke(["validate", at("some"), "-o", "json"]);
    expect(JSON.parse(flat.stdout)).toMatchObject({ files: 1, objects: 1, success: true });
    const deep = await invoke(["validate", "-R", at("some"), "-o", "json"]);
    expect(JSON.parse(deep.stdout)).toMatchObject({ files: 2, objects: 2, errors: 0, warnings: 1, success: true });
    expect([flat.exitCode, deep.exitCode]).toEqual([0, 0]);
  });

  test("counts a file once, however often and in whatever way it is given", async () => {
    const { stdout } = await invoke(["validate", at("pool.yaml"), at("pool.yaml"), `${ROOT}/some/../pool.yaml`]);
    expect(stdout).toContain("1 object in 1 file: ");
  });

  test("fails on warnings where asked for, and leaves out what is suppressed", async () => {
    const warned = ["validate", "-R", at("some"), "--fail-on", "warning"];
    expect((await invoke(warned)).exitCode).toBe(6);
    const suppressed = await invoke([...warned, "--suppress", "flp224,FLP217"]);
    expect(suppressed.stdout).toBe("2 objects in 2 files: 1 suppressed.\n");
    expect(suppressed.exitCode).toBe(0);
    const env = { FLIPOP_SUPPRESS: "FLP224", FLIPOP_FAIL_ON: "warning", FLIPOP_RECURSIVE: "true" };
    expect(await invoke(["validate", at("some")], { env })).toMatchObject({ stdout: suppressed.stdout, exitCode: 0 });
  });

  test.for([
    [["validate"], 64, "flipop: Say what to check: files, folders, or - for standard input.\n"],
    [
      ["validate", "x", "--suppress", "FLP299"],
      64,
      "flipop: There is no code 'FLP299' to suppress. Did you mean FLP219? flipop help findings lists them.\n",
    ],
    [
      ["validate", "empty"],
      78,
      "flipop: No file in empty ends with .yaml, .yml or .json. With -R folders below it are looked into, too.\n",
    ],
    [["validate", "nowhere.yaml"], 78, "flipop: There is no file nowhere.yaml.\n"],
  ] as const)("%j ends with %i and says why", async ([argv, code, text]) => {
    const given = argv.map((word) => (word === "empty" || word === "nowhere.yaml" ? at(word) : word));
    const { stdout, stderr, exitCode } = await invoke(given);
    expect({ stdout, stderr: lineOf(stderr), exitCode }).toEqual({ stdout: "", stderr: text, exitCode: code });
  });

  test("checks the other files when one cannot be read, and says so with 78", async () => {
    const { stdout, stderr, exitCode } = await invoke(["validate", at("nowhere.yaml"), at("pool.yaml"), "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, files: 1, errors: 1 });
    expect({ stderr: lineOf(stderr), exitCode }).toEqual({
      stderr: "flipop: There is no file nowhere.yaml.\n",
      exitCode: 78,
    });
  });

  test("a file that is no text in UTF-8 cannot be read", async () => {
    writeFileSync(at("latin.yaml"), Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
    const { stderr, exitCode } = await invoke(["validate", at("latin.yaml")]);
    rmSync(at("latin.yaml"));
    expect([lineOf(stderr), exitCode]).toEqual(["flipop: Cannot read latin.yaml: it is no text in UTF-8.\n", 78]);
  });

  test.for(["json", "yaml"])("-o %s prints one document as its schema says", async (format) => {
    const { stdout } = await invoke(["validate", at("pool.yaml"), "-o", format]);
    const document = parse(stdout);
    expect(schemaErrors(document, "Findings")).toEqual([]);
    expect(document).toMatchObject({
      kind: "Findings",
      success: false,
      errors: 1,
      warnings: 1,
      objects: 1,
      files: 1,
      others: 0,
    });
    expect(document.findings[0]).toEqual({
      code: "FLP204",
      severity: "error",
      file: at("pool.yaml"),
      line: 8,
      column: 5,
      object: "pool/ingress/web",
      path: "spec.match.podLable",
      message: "unknown field; the API server drops it silently. Did you mean podLabel?",
    });
  });

  test("-o sarif prints a log that satisfies its schema, with paths from the working directory", async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const isLog = ajv.compile(SARIF_LOG);
    const { stdout, exitCode } = await invoke(["validate", "-R", ROOT, "-o", "sarif"]);
    const log = JSON.parse(stdout);
    expect([isLog(log), isLog.errors]).toEqual([true, null]);
    const [{ tool, results }] = log.runs;
    expect(tool.driver.rules.map(({ id }: { readonly id: string }) => id)).toEqual(FINDING_CODES);
    expect(results[0]).toMatchObject({
      ruleId: "FLP204",
      level: "error",
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: relative(process.cwd(), at("pool.yaml")) },
            region: { startLine: 8, startColumn: 5 },
          },
        },
      ],
    });
    for (const { ruleId, ruleIndex } of results) expect(FINDING_CODES[ruleIndex]).toBe(ruleId);
    expect(exitCode).toBe(6);
    expect(isLog({ ...log, version: "2.0.0" })).toBe(false);
    expect(isLog({ ...log, runs: [{ ...log.runs[0], extra: 1 }] })).toBe(false);
  });

  test("-o github writes annotations, the worst first, at most ten of a severity, with what would end them early escaped", async () => {
    const many = Array.from({ length: 12 }, (_, n) => POOL.replace("web", `web-${n}`).replace(".10]", `.${n}]`)).join(
      "---\n",
    );
    const odd = at("50%,a:b.yaml");
    writeFileSync(odd, many);
    const { stdout, exitCode } = await invoke(["validate", odd, "-o", "github"]);
    rmSync(odd);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe(
      `::error file=${ROOT}/50%25%2Ca%3Ab.yaml,line=8,col=5,title=FLP204::spec.match.podLable: unknown field; the API server drops it silently. Did you mean podLabel?`,
    );
    expect(lines.map((line) => line.slice(0, 9))).toEqual([
      ...Array.from({ length: 10 }, () => "::error f"),
      "2 more er",
      ...Array.from({ length: 10 }, () => "::warning"),
      "2 more wa",
      "12 object",
      "",
    ]);
    expect(exitCode).toBe(6);
  });

  test("a text in a file can neither forge a line nor steer a terminal", async () => {
    writeFileSync(at("evil.yaml"), POOL.replace("podLable: app=web", '"pod\\n::error::x\\u001b[31m": 1'));
    const { stdout } = await invoke(["validate", at("evil.yaml"), "-o", "github"]);
    rmSync(at("evil.yaml"));
    expect(stdout).not.toMatch(/^::error::x/m);
    expect(stdout).not.toContain("\u001b");
  });
});
