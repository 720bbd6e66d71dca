import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** The files of a clone that hold what a person keeps there, and that Biome looks at. */
function checked(files: readonly string[]): readonly string[] {
  const clone = mkdtempSync(join(tmpdir(), "flipop-lint-"));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  for (const name of [".biome.json", ".gitignore"]) copyFileSync(join(ROOT, name), join(clone, name));
  for (const file of files) {
    mkdirSync(join(clone, file, ".."), { recursive: true });
    writeFileSync(join(clone, file), '{"a":1}');
  }
  const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "format", "--reporter=json", "."];
  let report: string;
  try {
    report = execFileSync(process.execPath, args, {
      cwd: clone,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    report = String((error as { readonly stdout: unknown }).stdout);
  }
  return files.filter((file) => report.includes(file));
}

test("lint looks at the sources, and at nothing else that a person keeps in a clone", () => {
  const sources = ["package.json", "src/report/schema/plan.json", "test/simulation/caught-by.json"];
  expect(checked([...sources, "world/.kubernetes.json", "saved.json", "snapshots/prod.json"])).toEqual(sources);
});
