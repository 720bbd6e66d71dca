import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importsOf, readSources } from "./sources.ts";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
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

/** Packages whose content the lock file does not hold to a digest, native tools of development for other systems aside. */
function unchecked(lock: LockFile): readonly string[] {
  return Object.entries(lock).flatMap(([path, { integrity, dev, optional }]) =>
    path === "" || integrity !== undefined || (dev === true && optional === true) ? [] : [path],
  );
}

/** Packages that would run a script of their own when they are installed, and are needed to run the program. */
function scripted(lock: LockFile): readonly string[] {
  return Object.entries(lock).flatMap(([path, { hasInstallScript, dev }]) =>
    hasInstallScript === true && dev !== true ? [path] : [],
  );
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const lockFile = (): LockFile => JSON.parse(readFileSync("package-lock.json", "utf8")).packages as LockFile;

describe("package.json", () => {
  test("asks for exactly one version of everything", () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = manifest;
    const wanted = { ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides };
    expect(Object.values(wanted).filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test("asks at run time for exactly what the sources import", () => {
    const imported = readSources("src")
      .flatMap(importsOf)
      .filter(({ isPackage, kind, target }) => isPackage && kind !== "type" && !target.startsWith("node:"))
      .map(({ target }) => target);
    expect(Object.keys(manifest.dependencies).sort()).toEqual([...new Set(imported)].sort());
  });

  test("lets no package run a script, and decides that for each that has one", () => {
    const { allowScripts } = manifest;
    const names = Object.entries(lockFile()).flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript === true ? [path.replace(/^.*node_modules\//, "")] : [],
    );
    expect(Object.keys(allowScripts).sort()).toEqual([...names].sort());
    expect(Object.values(allowScripts)).not.toContain(true);
  });

  test("brings Node for Linux, macOS and Windows, and nothing else that need not be there", () => {
    const systems = Object.keys(manifest.optionalDependencies).map((name) => {
      const { os, cpu, bin } = lockFile()[`node_modules/${name}`] ?? {};
      return `${os} ${cpu} ${bin?.["node"]}`;
    });
    expect(systems.sort()).toEqual([
      "darwin arm64 bin/node",
      "darwin x64 bin/node",
      "linux arm64 bin/node",
      "linux x64 bin/node",
      "win32 x64 bin/node.exe",
    ]);
  });
});

describe("package-lock.json", () => {
  test("holds every package to a digest", () => {
    expect(unchecked(lockFile())).toEqual([]);
    expect(unchecked({ a: { dev: true }, b: { optional: true }, c: {}, d: { integrity: "sha512-x" } })).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  test("names no registry, so that each user's own is asked", () => {
    expect(Object.values(lockFile()).flatMap(({ resolved }) => resolved ?? [])).toEqual([]);
  });

  test("has no package with an install script that the program needs to run", () => {
    expect(scripted(lockFile())).toEqual([]);
    expect(scripted({ a: { hasInstallScript: true, dev: true }, b: { hasInstallScript: true } })).toEqual(["b"]);
  });

  // npm drops the packages of platforms that its registry does not offer; "npm ci" then refuses the file as out of step.
  test("names every package, also those of other platforms", () => {
    const packages = lockFile();
    expect(Object.keys(packages).length).toBeGreaterThan(50);
    expect(unlocked(packages)).toEqual([]);
  });

  test("is found incomplete when a platform's package is missing", () => {
    const lock = { "node_modules/linter": { optionalDependencies: { "linter-darwin": "1.0.0" } } };
    expect(unlocked(lock)).toEqual(["node_modules/linter -> linter-darwin"]);
  });
});
