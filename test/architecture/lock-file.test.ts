import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
type LockFile = Readonly<Record<string, Locked>>;

/** Packages that a locked package asks for and that are not locked themselves, as `who -> what`. */
function unlocked(lock: LockFile): readonly string[] {
  return Object.entries(lock).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !(`node_modules/${name}` in lock || `${path}/node_modules/${name}` in lock))
      .map((name) => `${path} -> ${name}`),
  );
}

describe("package-lock.json", () => {
  // npm drops the packages of platforms that its registry does not offer; "npm ci" then refuses the file as out of step.
  test("names every package, also those of other platforms", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: LockFile };
    expect(Object.keys(packages).length).toBeGreaterThan(50);
    expect(unlocked(packages)).toEqual([]);
  });

  test("is found incomplete when a platform's package is missing", () => {
    const lock = { "node_modules/linter": { optionalDependencies: { "linter-darwin": "1.0.0" } } };
    expect(unlocked(lock)).toEqual(["node_modules/linter -> linter-darwin"]);
  });
});
