import { execFileSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { licenceTable } from "../../bin/third-party.ts";
import { shippedText } from "../manifests/shipped.ts";
import { freshPage, readPage } from "../readme/tables.ts";
import { PACKAGE as built } from "./entry.ts";
import { npmNode } from "./npm-node.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What npm tells of a package that it made, as far as the tests look into it. */
interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

const { engines: allowed } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
/** The oldest Node that package.json allows, the one that flipop comes with, and the newest there is. */
const NODES: readonly string[] = [allowed.node.replace(">=", ""), process.versions.node, "26.10.0"];
const nodes = new Map(await Promise.all(NODES.map(async (version) => [version, await nodeOf(version)] as const)));

/** The program `node` of a version; undefined where there is none. */
async function nodeOf(version: string): Promise<string | undefined> {
  if (version === process.versions.node) return process.execPath;
  const folder = await npmNode(version);
  return folder === undefined ? undefined : join(folder, "node");
}

const dir = mkdtempSync(join(tmpdir(), "flipop-package-"));
const home = join(dir, "home");
/** Where the package is installed. */
const project = join(dir, "project");
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
  mkdirSync(home);
  [packed] = JSON.parse(npm(dir, "pack", built, "--json")) as [Packed];
  mkdirSync(project);
  const quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--omit=dev"];
  npm(project, "install", ...quiet, join(dir, packed.filename));
  for (const folder of [dir, home]) chmodSync(folder, 0o755);
});

afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

test("the package holds the program as a bundle, its manifests, licences and README, and nothing else", () => {
  const kinds = [
    /^lib\/[\w-]+\.js(\.map)?$/,
    /^cronjob\/[\w/-]+\.(yaml|json|md)$/,
    /^src\/cli\/completion\/flipop\.(bash|zsh|fish|ps1)$/,
    /^src\/sandbox\/example\/[\w-]+\.yaml$/,
    /^schema\/[\w-]+\.json$/,
    /^(LICENSE|README\.md|THIRD-PARTY-LICENSES\.txt|package\.json|sbom\.spdx\.json|bin\/flipop\.cjs|bin\/start\.js|lib\/main\.js)$/,
  ];
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
  const shipped = readdirSync(join(ROOT, "cronjob"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(yaml|json|md)$/.test(name) && !name.startsWith("chart/"))
    .map((name) => `cronjob/${name}`);
  const schemas = readdirSync(join(ROOT, "src/report/schema")).map((name) => `schema/${name}`);
  const wanted = ["LICENSE", "README.md", "THIRD-PARTY-LICENSES.txt", "bin/flipop.cjs", "bin/start.js", "lib/main.js"];
  expect(paths).toEqual(
    expect.arrayContaining([...shipped, ...schemas, ...wanted, "lib/main.js.map", "src/sandbox/example/nodes.yaml"]),
  );
  expect(packed.files.find(({ path }) => path === "bin/flipop.cjs")?.mode).toBe(0o755);
});

test("the folder that is packed holds the names by which people and kubectl find it", () => {
  for (const name of ["flipop", "kubectl-flipop", "kubectl_complete-flipop"])
    expect(readlinkSync(join(built, "bin", name))).toBe("flipop.cjs");
});

test("no line of the program is so long that it would fill a screen where it is shown", () => {
  const files = readdirSync(join(built, "lib")).filter((name) => name.endsWith(".js"));
  const long = files.flatMap((name) =>
    readFileSync(join(built, "lib", name), "utf8")
      .split("\n")
      .flatMap((line, at) => (line.length > 2000 ? [`${name}:${at + 1} has ${line.length} characters`] : [])),
  );
  expect(long).toEqual([]);
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

describe("installed into an empty folder, without a registry and without scripts, the program", () => {
  /** Somebody who may write nothing but the world, in the home of somebody else. */
  const nobody = process.getuid?.() === 0 ? { uid: 65_532, gid: 65_532 } : {};

  /** Runs it with the Node of a folder. */
  function run(bin: string, ...args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync(join(project, "node_modules/.bin/flipop"), args, {
      cwd: project,
      env: { PATH: `${bin}:/usr/bin:/bin`, HOME: home },
      encoding: "utf8",
      ...nobody,
    });
  }

  test("has nothing beside it, and prints its manifests", () => {
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["flipop"]);
    expect(run(dirname(process.execPath), "manifests", "--only=crds,rbac,policy")).toMatchObject({
      status: 0,
      stderr: "",
      stdout: ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers"]
        .map((name) => `crds/${name}.yaml`)
        .concat("rbac.yaml", "policy/policy.yaml")
        .map(shippedText)
        .join("---\n"),
    });
  });

  test("plans on a sandbox in the folder where it is run", () => {
    const planned = spawnSync(join(project, "node_modules/.bin/flipop"), ["--sandbox", "plan", "-q"], {
      cwd: mkdtempSync(join(dir, "empty-")),
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home },
      encoding: "utf8",
    });
    expect([planned.status, planned.stderr]).toEqual([0, ""]);
    expect(planned.stdout).toContain("pool/ingress/web");
  });

  test.for(NODES)("plans and reconciles with Node %s, and needs no home that it may write", (version, { skip }) => {
    const node = nodes.get(version);
    if (node === undefined) return skip();
    // A copy, because the cache and the checkout may lie where only their owner may look.
    const bin = mkdtempSync(join(dir, "bin-"));
    cpSync(node, join(bin, "node"));
    chmodSync(bin, 0o755);
    const world = mkdtempSync(join(dir, "world-"));
    chmodSync(world, 0o777);
    const sandbox = `--sandbox=${join(world, "w")}`;
    const told = run(bin, "version", "-o", "json");
    expect(told).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(told.stdout).node).toBe(`v${version}`);
    const [planned, reconciled, again] = [
      run(bin, sandbox, "plan", "-q", "--detailed-exitcode"),
      run(bin, sandbox, "reconcile", "-q"),
      run(bin, sandbox, "plan", "-q", "--detailed-exitcode"),
    ];
    expect([planned, reconciled, again].map(({ stderr }) => stderr)).toEqual(["", "", ""]);
    expect([planned, reconciled, again].map(({ status }) => status)).toEqual([2, 0, 0]);
    expect(readdirSync(home)).toEqual([]);
  });
});

/** What stacks of a text name: files of the package or of Node, and files of the repository that the package was built from. */
function named(text: string): readonly string[] {
  return [...text.matchAll(/^ {4}at (?:.*\()?([^()\n]+?):\d+:\d+\)?$/gm)].map(([, place = ""]) => place);
}

describe("the program as people install it", () => {
  const run = (env: Readonly<Record<string, string>>, ...args: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(join(project, "node_modules/.bin/flipop"), args, {
      cwd: project,
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, ...env },
      encoding: "utf8",
    });
  const broken = (code: string): Record<string, string> => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  });

  test.for<[string, () => SpawnSyncReturns<string>, string]>([
    ["of a mistake, with -vv", () => run({}, "plan", "--kubeconfig=/nowhere", "-vv"), "src/adapters/kube/config.ts"],
    ["of a bug", () => run(broken(`Map.groupBy = () => { throw new Error("a bug") }`), "--sandbox", "plan"), "src/"],
    [
      "of an error that nobody awaits",
      () =>
        run(
          broken(
            `const { groupBy } = Map; Map.groupBy = (...all) => { setImmediate(() => { throw new Error("late") }); return groupBy.apply(Map, all) }`,
          ),
          "--sandbox",
          "plan",
        ),
      "",
    ],
  ])("a stack of it names files that its reader can find: %s", ([, fail, wanted]) => {
    const { stderr } = fail();
    const places = named(stderr);
    expect(places.length, stderr).toBeGreaterThan(0);
    const strange = places.filter((place) => {
      if (place.startsWith("node:") || place.startsWith("data:")) return false;
      const [, path = ""] = /^flipop:(.+)$/.exec(place) ?? [];
      return path === "" ? !existsSync(place.replace(/^file:\/\//, "")) : !existsSync(join(ROOT, path));
    });
    expect(strange).toEqual([]);
    expect(places.some((place) => place.startsWith(`flipop:${wanted}`)) || wanted === "", stderr).toBe(true);
    expect(Math.max(...stderr.split("\n").map(({ length }) => length))).toBeLessThan(1000);
  });

  test("its documents are as the schemas beside it say", () => {
    const folder = join(project, "node_modules/flipop/schema");
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    for (const name of readdirSync(folder)) ajv.addSchema(JSON.parse(readFileSync(join(folder, name), "utf8")), name);
    const document = (...args: readonly string[]): unknown => JSON.parse(run({}, ...args, "-o", "json").stdout);
    for (const [name, args] of [
      ["plan.json", ["--sandbox", "plan"]],
      ["run-result.json", ["--sandbox", "reconcile"]],
      ["status.json", ["--sandbox", "status"]],
      ["error.json", ["status", "--kubeconfig=/nowhere"]],
    ] as const) {
      const validate = ajv.getSchema(name);
      expect([name, validate?.(document(...args)), validate?.errors]).toEqual([name, true, null]);
    }
  });
});

test("the checkout itself is not packed, since its sources do not run under node_modules", () => {
  expect(() => npm(ROOT, "pack", "--dry-run")).toThrow(/npm pack \.\/dist/);
});

test("the door's table of licences is that of the bundle (npm run docs makes it)", () => {
  const readme = readPage("README.md");
  const text = readFileSync(join(built, "THIRD-PARTY-LICENSES.txt"), "utf8");
  const parties = [...text.matchAll(/^-{80}\n(\S+) (\S+) \((.+)\)$/gm)].map(
    ([, name = "", version = "", licence = ""]) => ({ name, version, licence, text: "", folder: "" }),
  );
  const licences = licenceTable(parties);
  expect(readme.includes("<!-- generated: licences -->")).toBe(true);
  expect(freshPage(readme, { licences }) === readme).toBe(true);
});
