// What `npm run release` makes, looked at with the programs of those who take it: npm, tar, krew and kubectl.
import { execFileSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHART } from "../../bin/chart.ts";
import { publishing } from "../../bin/release.ts";
import { invoke } from "../cli/invoke.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { usablePins } from "./debian-pins.ts";
import { imageSuite } from "./image-suite.ts";
import { PLAYS_ALL } from "./plays-all.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WORKFLOWS = join(ROOT, ".github/workflows");

const kubectl = await toolOrSkip("kubectl");
const krew = await toolOrSkip("krew");
const validator = await toolOrSkip("validate-krew-manifest");
const actionlint = await toolOrSkip("actionlint");

const { version, homepage, bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const PACKAGE = `flipop-${version}.tgz`;
const CHART_ARCHIVE = `flipop-chart-${version}.tgz`;
const IMAGES = `flipop-${version}.oci.tar`;

const parent = mkdtempSync(join(tmpdir(), "flipop-release-"));
const pins = await usablePins(parent);
const folder = join(parent, "first");
const again = join(parent, "second");
const env = {
  ...process.env,
  HOME: parent,
  npm_config_cache: join(parent, "cache"),
  npm_config_update_notifier: "false",
};
const sha256 = (name: string): string =>
  createHash("sha256")
    .update(readFileSync(join(folder, name)))
    .digest("hex");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Programs that publish, which only put down that they were run; npm fails when it is to publish. */
const programs = join(parent, "programs");

/** Makes a release in a folder, where the programs that publish are these. @param image - more flags of Node */
function release(args: readonly string[], ...image: readonly string[]): SpawnSyncReturns<string> {
  const PATH = [programs, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const usual = ["--registry", "ghcr.io/acme", "--level", "1", "--pins", pins];
  const program = [...image, join(ROOT, "bin/release.ts"), ...args, ...usual];
  return spawnSync(process.execPath, program, { cwd: parent, env: { ...process.env, PATH }, encoding: "utf8" });
}

/** Flags of Node that put a few bytes in the place of the images, which take most of the time of a release. */
const WITHOUT_IMAGES = `--import=data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, nextLoad) {
      const answer = nextLoad(url, context);
      const stub = {
        "bin/image.ts": ["imageArchive", "{ content: Buffer.from('images'), digest: 'sha256:0', sboms: [] }"],
        "bin/one-file.ts": ["makeOneFile", "undefined"],
      }[url.slice(url.lastIndexOf("bin/"))];
      if (stub === undefined) return answer;
      const [name, result] = stub;
      const source = String(answer.source).replace("export async function " + name, "async function left");
      return { ...answer, source: source + "export const " + name + " = async () => (" + result + ");" };
    },
  });
`)}`;

/** The digest under which a registry will have the image. */
function digestOfImages(): string {
  const text = execFileSync("tar", ["-xOf", join(folder, IMAGES), "index.json"], { encoding: "utf8" });
  return JSON.parse(text).manifests[0].digest;
}

/** Files in the archive, with their contents. */
function unpacked(name: string): string {
  const target = join(parent, `unpacked-${name}`);
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, name), "-C", target]);
  return target;
}

beforeAll(() => {
  mkdirSync(programs);
  const npm = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  for (const name of ["cosign", "skopeo", "helm", "gh", "npm"]) {
    const own = name === "npm" ? `[ "$1" = publish ] || exec '${npm}' "$@"\n` : "";
    const end = name === "npm" ? "exit 7" : "exit 0";
    writeFileSync(join(programs, name), `#!/bin/sh\n${own}echo "${name} $*" >>'${parent}/ran'\n${end}\n`, {
      mode: 0o755,
    });
  }
  expect(release([folder])).toMatchObject({ status: 0, stderr: "" });
  // Nothing is published that nobody asked for.
  expect(readdirSync(parent)).not.toContain("ran");
});
afterAll(() => rmSync(parent, { recursive: true }));

imageSuite(parent, join(folder, IMAGES), pins);

test("a release has all that is published, and a digest of each file", () => {
  const others = ["CHANGES.md", "crds.yaml", "flipop.yaml", "install-cronjob.yaml", "install-watch.yaml"];
  const lists = ["", "-amd64", "-arm64"].map((of) => `flipop-${version}${of}.spdx.json`);
  const made = [PACKAGE, CHART_ARCHIVE, IMAGES, ...lists, ...others];
  expect(readdirSync(folder).sort()).toEqual([...made, "checksums.txt"].sort());
  expect(read("checksums.txt")).toBe(
    made
      .toSorted()
      .map(
        (name) => `${sha256(name)}  ${name}
`,
      )
      .join(""),
  );
});

test("the same commit makes the same bytes, and a publication stops at the first command that fails", () => {
  const { status } = release([again, "--publish", "--tag", `v${version}`], ...(PLAYS_ALL ? [] : [WITHOUT_IMAGES]));
  // What is of the images is compared where `npm run image` makes them.
  const isOfImages = (name: string): boolean => /\.oci\.tar$|-a\w+64\.|^install-|^checksums/.test(name);
  const compared = readdirSync(folder).filter((name) => PLAYS_ALL || !isOfImages(name));
  expect(compared).toEqual(expect.arrayContaining([PACKAGE, CHART_ARCHIVE, "flipop.yaml", "crds.yaml", "CHANGES.md"]));
  for (const name of compared)
    expect(readFileSync(join(again, name)).equals(readFileSync(join(folder, name))), name).toBe(true);
  const commands = publishing(again, "ghcr.io/acme").map((words) => words.join(" "));
  const ran = readFileSync(join(parent, "ran"), "utf8").trimEnd().split("\n");
  expect([status, ran]).toEqual([1, commands.slice(0, commands.findIndex((line) => line.startsWith("npm")) + 1)]);
});

test("publishing signs, and uploads every file with the signature", () => {
  const commands = publishing(folder, "ghcr.io/acme").map((words) => words.join(" ").replaceAll(`${folder}/`, ""));
  expect(commands).toEqual([
    "cosign sign-blob --yes --bundle checksums.txt.sigstore.json checksums.txt",
    `skopeo copy --all oci-archive:${IMAGES}:${version} docker://ghcr.io/acme/flipop:${version}`,
    `cosign sign --yes --recursive ghcr.io/acme/flipop:${version}`,
    `helm push ${CHART_ARCHIVE} oci://ghcr.io/acme/charts`,
    `cosign sign --yes ghcr.io/acme/charts/flipop:${version}`,
    `npm publish ${PACKAGE}`,
    `gh release create v${version} --verify-tag --notes-file CHANGES.md ${readdirSync(folder).sort().join(" ")} checksums.txt.sigstore.json`,
  ]);
});

test("a tag of another version makes nothing", () => {
  const none = join(parent, "none");
  const { status, stderr } = release([none, "--tag", "v9.9.9"]);
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining(`the tag is v9.9.9, and package.json says v${version}`),
  ]);
  expect(readdirSync(parent)).not.toContain("none");
});

test("a level that gzip does not know makes nothing, and leaves what is there", () => {
  const kept = join(parent, "kept");
  mkdirSync(kept);
  writeFileSync(join(kept, "file"), "");
  const program = [join(ROOT, "bin/release.ts"), kept, "--level", "12"];
  const { status, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining("--level 12: write a number from 1 to 9")]);
  expect(readdirSync(kept)).toEqual(["file"]);
});

test("npm would publish the package, in public, with provenance that only a workflow can give", () => {
  const fields = JSON.parse(readFileSync(join(unpacked(PACKAGE), "package/package.json"), "utf8"));
  expect(fields).toMatchObject({
    name: "flipop",
    version,
    bin,
    repository: { url: `git+${homepage}.git` },
    publishConfig: { access: "public", provenance: true },
  });
  expect([fields.private, fields.dependencies, fields.scripts]).toEqual([undefined, undefined, undefined]);
  const args = ["publish", join(folder, PACKAGE), "--dry-run", "--offline"];
  const { stdout, stderr, status } = spawnSync("npm", args, { cwd: parent, env, encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([0, `+ flipop@${version}\n`, expect.stringContaining("public access")]);
});

test("the chart's archive is the chart, with the image of the release", () => {
  const files = join(unpacked(CHART_ARCHIVE), "flipop");
  const below = (path: string): readonly string[] => readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  expect(below(files)).toEqual(below(join(ROOT, CHART)));
  for (const path of below(files).filter((name) => name !== "templates")) {
    const text = readFileSync(join(ROOT, CHART, path), "utf8");
    const named = text.replace("repository: flipop\n", "repository: ghcr.io/acme/flipop\n");
    const wanted = path === "values.yaml" ? named : text;
    expect(readFileSync(join(files, path), "utf8") === wanted, path).toBe(true);
  }
});

test.for(["cronjob", "watch"])(
  "install-%s.yaml is what flipop manifests prints for that mode and the image",
  async (mode) => {
    const image = `ghcr.io/acme/flipop:${version}@${digestOfImages()}`;
    const { stdout } = await invoke(["manifests", "--mode", mode, "--image", image]);
    expect(read(`install-${mode}.yaml`)).toBe(stdout);
  },
);

test("the archive of the images has one for each architecture, under the tag of the version", () => {
  const index = execFileSync("tar", ["-xOf", join(folder, IMAGES), "index.json"], { encoding: "utf8" });
  const refs = JSON.parse(index).manifests.map(
    ({ annotations }: { annotations: Record<string, string> }) => annotations["org.opencontainers.image.ref.name"],
  );
  expect(refs).toEqual([version, `${version}-amd64`, `${version}-arm64`]);
});

test("crds.yaml is the part that an upgrade needs first", async () => {
  expect(read("crds.yaml")).toBe((await invoke(["manifests", "--only", "crds"])).stdout);
});

test("the list of parts names exactly what the licences of the package are of", () => {
  const licences = readFileSync(join(unpacked(PACKAGE), "package/THIRD-PARTY-LICENSES.txt"), "utf8");
  const wanted = [...licences.matchAll(/^-{80}\n(\S+) (\S+) \((.+)\)$/gm)].map(([, ...of]) => of);
  expect(wanted.length).toBeGreaterThan(10);
  interface Part {
    readonly SPDXID: string;
    readonly name: string;
    readonly versionInfo: string;
    readonly licenseDeclared: string;
  }
  const { packages, relationships, creationInfo } = JSON.parse(read(`flipop-${version}.spdx.json`));
  const [own, ...parts] = packages as readonly [Part, ...Part[]];
  expect([own.name, own.versionInfo]).toEqual(["flipop", version]);
  expect(parts.map(({ name, versionInfo, licenseDeclared }) => [name, versionInfo, licenseDeclared])).toEqual(wanted);
  const ids = packages.map(({ SPDXID }: Part) => SPDXID);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id: string) => /^SPDXRef-[A-Za-z0-9.-]+$/.test(id))).toBe(true);
  expect(relationships.map(({ relatedSpdxElement }: { relatedSpdxElement: string }) => relatedSpdxElement)).toEqual(
    ids,
  );
  expect(creationInfo.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

describe("the manifest for krew", () => {
  const root = join(parent, "krew");
  const run = (program: string | undefined, ...args: readonly string[]): SpawnSyncReturns<string> => {
    const PATH = [join(root, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
    return spawnSync(program ?? "", args, { env: { PATH, HOME: parent, KREW_ROOT: root }, encoding: "utf8" });
  };

  test.skipIf(validator === undefined)("is one that krew's index would take, and a broken one is none", () => {
    expect(run(validator, "-skip-install", "-manifest", join(folder, "flipop.yaml")).status).toBe(0);
    const broken = join(parent, "broken");
    mkdirSync(broken);
    writeFileSync(join(broken, "flipop.yaml"), read("flipop.yaml").replace(/version: v/, "version: "));
    expect(run(validator, "-skip-install", "-manifest", join(broken, "flipop.yaml")).status).not.toBe(0);
  });

  test("names the package as it is and where the release puts it", () => {
    const [{ uri, sha256: digest }] = parse(read("flipop.yaml")).spec.platforms;
    expect([uri, digest]).toEqual([`${homepage}/releases/download/v${version}/${PACKAGE}`, sha256(PACKAGE)]);
  });

  test.skipIf(krew === undefined || kubectl === undefined)(
    "installs a plugin that kubectl runs, with the licence",
    () => {
      const args = ["install", "--manifest", join(folder, "flipop.yaml"), "--archive", join(folder, PACKAGE)];
      expect(run(krew, ...args)).toMatchObject({ status: 0 });
      expect(globSync(join(root, "store/flipop/*/LICENSE"))).toHaveLength(1);
      expect(run(kubectl, "flipop", "version")).toMatchObject({ stdout: `flipop ${version}\n`, status: 0 });
      expect(run(kubectl, "flipop", "plan", "--help").stdout).toMatch(/^Usage: kubectl flipop plan /);
    },
  );
});

describe("the workflow of a release", () => {
  const lint = (file: string): SpawnSyncReturns<string> =>
    spawnSync(actionlint ?? "", ["-no-color", "-shellcheck=", "-pyflakes=", file], { encoding: "utf8" });
  const [file = ""] = globSync(join(WORKFLOWS, "release.yaml"));

  test.skipIf(actionlint === undefined)(
    "has nothing that actionlint finds wrong, and actionlint finds what is planted",
    () => {
      expect(lint(file)).toMatchObject({ stdout: "", stderr: "", status: 0 });
      const planted = join(parent, "planted.yaml");
      writeFileSync(planted, readFileSync(file, "utf8").replace("github.token", "github.tokn"));
      expect(lint(planted)).toMatchObject({
        stdout: expect.stringContaining('property "tokn" is not defined'),
        status: 1,
      });
    },
  );

  test("names every action by its commit, and gives each job only the permissions that it names", () => {
    const { permissions, jobs } = parse(readFileSync(file, "utf8"));
    interface Job {
      readonly permissions: object;
      readonly steps: readonly { readonly uses?: string }[];
    }
    const all = Object.values(jobs as Readonly<Record<string, Job>>);
    const used = all.flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !/^[\w/-]+@[0-9a-f]{40}$/.test(name))).toEqual([]);
    expect([permissions, ...all.map((job) => Object.keys(job.permissions).length > 0)]).toEqual([{}, true, true]);
  });
});
