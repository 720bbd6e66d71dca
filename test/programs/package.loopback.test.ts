import { execFileSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shippedText } from "../manifests/shipped.ts";
import { freshReadme, licencesOfBundle, readReadme } from "../readme/tables.ts";
import { buildPackage } from "./build-package.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What npm tells of a package that it made, as far as the tests look into it. */
interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

const dir = mkdtempSync(join(tmpdir(), "flipop-package-"));
const home = join(dir, "home");
let built: string;
let packed: Packed;

/** Runs npm with an empty cache and no registry, so that nothing can come from anywhere but the package. */
function npm(cwd: string, ...args: readonly string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    npm_config_cache: join(dir, "cache"),
    npm_config_offline: "true",
  };
  return execFileSync("npm", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

beforeAll(() => {
  built = buildPackage();
  [packed] = JSON.parse(npm(dir, "pack", built, "--json")) as [Packed];
});

afterAll(() => {
  rmSync(dirname(built), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

test("the package holds the program as a bundle, its manifests, licences and README, and nothing else", () => {
  const kinds = [
    /^lib\/[\w-]+\.js(\.map)?$/,
    /^cronjob\/[\w/-]+\.(yaml|json)$/,
    /^src\/sandbox\/example\/[\w-]+\.yaml$/,
    /^(LICENSE|README\.md|THIRD-PARTY-LICENSES\.txt|package\.json|bin\/flipop|bin\/start\.js|lib\/main\.js)$/,
  ];
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
  const shipped = readdirSync(join(ROOT, "cronjob"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(yaml|json)$/.test(name))
    .map((name) => `cronjob/${name}`);
  const wanted = ["LICENSE", "README.md", "THIRD-PARTY-LICENSES.txt", "bin/flipop", "bin/start.js", "lib/main.js"];
  expect(paths).toEqual(
    expect.arrayContaining([...shipped, ...wanted, "lib/main.js.map", "src/sandbox/example/nodes.yaml"]),
  );
  expect(packed.files.find(({ path }) => path === "bin/flipop")?.mode).toBe(0o755);
});

test("the package is small: a bundle, not the packages it is made of", () => {
  expect(packed.size).toBeLessThan(3_000_000);
});

test("the package asks for nothing to be installed beside it, runs no script when it is, and is not published by mistake", () => {
  const {
    dependencies,
    scripts,
    private: isPrivate,
    ...rest
  } = JSON.parse(readFileSync(join(built, "package.json"), "utf8"));
  expect({ dependencies, scripts, isPrivate }).toEqual({
    dependencies: undefined,
    scripts: undefined,
    isPrivate: true,
  });
  const { name, version, license, engines, bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(rest).toMatchObject({ name, version, license, engines, bin, type: "module" });
});

test("installed into an empty folder, without a registry, the program plans and prints its manifests", () => {
  const project = mkdtempSync(join(dir, "project-"));
  npm(project, "install", "--no-audit", "--no-fund", "--no-save", join(dir, packed.filename));
  expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["flipop"]);
  const run = (...args: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(join(project, "node_modules/.bin/flipop"), args, {
      cwd: project,
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home },
      encoding: "utf8",
    });
  expect(run("manifests", "--only=crds,rbac")).toMatchObject({
    status: 0,
    stderr: "",
    stdout: ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"]
      .map((name) => `crds/${name}.yaml`)
      .concat("rbac.yaml")
      .map(shippedText)
      .join("---\n"),
  });
  const planned = run("--sandbox", "plan", "--detailed-exitcode");
  expect(planned).toMatchObject({ status: 2, stderr: "" });
  expect(planned.stdout).toContain("pool/ingress/web");
});

test("the checkout itself is not packed, since its sources do not run under node_modules", () => {
  expect(() => npm(ROOT, "pack", "--dry-run")).toThrow(/npm pack \.\/dist/);
});

test("the README's table of licences is that of the bundle (npm run docs makes it)", async () => {
  const readme = readReadme();
  const licences = await licencesOfBundle();
  expect(readme.includes("<!-- generated: licences -->")).toBe(true);
  expect(freshReadme(readme, { licences }) === readme).toBe(true);
});
