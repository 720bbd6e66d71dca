// `npm run release` makes everything that a release consists of, in dist/release/, and publishes nothing. With `-- --publish` it goes on and runs the
// commands that it names otherwise; .github/workflows/release.yaml does that for a tag.
//
//   sources -> bin/build.ts -> npm package -> krew's manifest (it names the package's digest)
//   cronjob/ -> install-*.yaml, crds.yaml, chart, all with the name that the image is published under
//   all of it -> checksums.txt
//
// The same commit makes the same files: no time, no user and no order of a folder is in them.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { manifestText } from "../src/cli/manifests.ts";
import { bundle } from "./bundle.ts";
import { CHART } from "./chart.ts";
import { type ThirdParty, thirdParties } from "./third-party.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** What package.json says of the project. */
interface Project {
  readonly version: string;
  readonly description: string;
  readonly homepage: string;
}

/** Makes every file of a release in a folder, which is emptied before. Runs npm and, where there is one, git. */
export async function makeRelease(folder: string, registry: string): Promise<void> {
  const project = readProject();
  const { version } = project;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
  const image = `${registry}/flipop:${version}`;
  // The archives of the image are to be made here; with its digest `image` names it by that.
  const archive = makePackage(folder, project);
  write(`flipop-chart-${version}.tgz`, chartArchive(registry));
  write("install-cronjob.yaml", manifestText("cronjob", { image }));
  write("install-watch.yaml", manifestText("watch", { image }));
  write("crds.yaml", manifestText(["crds"]));
  write("flipop.yaml", krewManifest(project, sha256(readFileSync(archive))));
  write(`flipop-${version}.spdx.json`, spdxText(project, await partsOfBundle()));
  write("CHANGES.md", changesText(version));
  const sums = filesOf(folder).map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  write("checksums.txt", sums.join(""));
}

function readProject(): Project {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder).sort();
}

function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function withFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "flipop-release-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Packs what `npm run build` makes and returns the archive's path. What is built is private, so that nobody publishes it by mistake; here it gets what npm needs
 * to publish it: `provenance` refuses that anywhere but in a workflow that npm can vouch for.
 */
function makePackage(folder: string, { homepage }: Project): string {
  return withFolder((built) => {
    execFileSync(process.execPath, [join(ROOT, "bin/build.ts"), built], { stdio: ["ignore", "ignore", "inherit"] });
    const file = join(built, "package.json");
    const { private: _, ...fields } = JSON.parse(readFileSync(file, "utf8"));
    const more = {
      repository: { type: "git", url: `git+${homepage}.git` },
      bugs: `${homepage}/issues`,
      keywords: ["digitalocean", "reserved-ip", "floating-ip", "kubernetes", "dns", "failover"],
      files: filesOf(built).filter((name) => name !== "package.json"),
      publishConfig: { access: "public", provenance: true },
    };
    writeFileSync(file, `${JSON.stringify({ ...fields, ...more }, null, 2)}\n`);
    const args = ["pack", built, "--pack-destination", folder, "--json", "--ignore-scripts", "--offline"];
    const [packed] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
    return join(folder, packed.filename);
  });
}

/** Returns the chart as `helm package` would make it, with the image of a registry; the same bytes each time. Reads the chart's folder. */
export function chartArchive(registry: string): Buffer {
  const names = readdirSync(join(ROOT, CHART), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(ROOT, CHART).length + 1));
  const files = names.sort().map((name) => {
    const text = readFileSync(join(ROOT, CHART, name), "utf8");
    const content = name === "values.yaml" ? text.replace(/^( +repository: )flipop$/m, `$1${registry}/flipop`) : text;
    return tarFile(`flipop/${name}`, Buffer.from(content));
  });
  const archive = gzipSync(Buffer.concat([...files, Buffer.alloc(1024)]), { level: 9 });
  // The system that made it.
  archive[9] = 0xff;
  return archive;
}

/** When every file of an archive was changed, as npm has it: seconds since 1970. */
const CHANGED_AT = 499_162_500;

/** A file as a tar archive has it (POSIX ustar), of nobody in particular. The path is at most 100 bytes long. */
function tarFile(path: string, content: Buffer): Buffer {
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  const header = Buffer.alloc(512);
  const fields: readonly (readonly [at: number, text: string])[] = [
    [0, path],
    [100, octal(0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(content.length, 11)],
    [136, octal(CHANGED_AT, 11)],
    [148, " ".repeat(8)],
    [156, "0"],
    [257, "ustar\x0000"],
  ];
  for (const [at, text] of fields) header.write(text, at, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148, "latin1");
  return Buffer.concat([header, content, Buffer.alloc(-content.length & 511)]);
}

/** Where the files of a release can be had. */
function downloadURL({ homepage, version }: Project, name: string): string {
  return `${homepage}/releases/download/v${version}/${name}`;
}

/** Returns the manifest by which `kubectl krew install flipop` installs the package. The file has to be named after the plugin. */
function krewManifest(project: Project, digest: string): string {
  const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: flipop
spec:
  version: v${project.version}
  homepage: ${project.homepage}
  shortDescription: Keep reserved IPs on nodes that can serve
  description: |
    Plans, applies and explains where DigitalOcean reserved IPs, DNS names and
    cloud firewalls point: at the Kubernetes nodes that can serve right now.
  caveats: |
    It needs Node.js 24 or newer on the PATH.
    For completion at TAB make a link named kubectl_complete-flipop on the PATH
    that leads to the file kubectl-flipop in $HOME/.krew/bin.
  platforms:
    - selector:
        matchExpressions:
          - { key: os, operator: In, values: [linux, darwin] }
      uri: ${downloadURL(project, `flipop-${project.version}.tgz`)}
      sha256: ${digest}
      files:
        - { from: package/*, to: . }
      bin: ${bin["kubectl-flipop"]}
`;
}

async function partsOfBundle(): Promise<readonly ThirdParty[]> {
  const folder = mkdtempSync(join(tmpdir(), "flipop-parts-"));
  try {
    return thirdParties(await bundle("src/cli/main.ts", folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the list of what is really in the package, as SPDX 2.3: what the bundle holds a part of, not all that the lock file names. */
function spdxText({ version, homepage, description }: Project, parts: readonly ThirdParty[]): string {
  const describe = (name: string, of: string, licence: string): object => ({
    SPDXID: idOf(name),
    name,
    versionInfo: of,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: licence,
    copyrightText: "NOASSERTION",
    externalRefs: [
      {
        referenceCategory: "PACKAGE-MANAGER",
        referenceType: "purl",
        referenceLocator: `pkg:npm/${name.replace(/^@/, "%40")}@${of}`,
      },
    ],
  });
  const packages = parts.map((part) => describe(part.name, part.version, part.licence));
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `flipop-${version}`,
    documentNamespace: `${homepage}/spdx/${version}/${sha256(JSON.stringify(packages))}`,
    creationInfo: { created: committedAt(), creators: ["Tool: flipop-release"] },
    packages: [{ ...describe("flipop", version, "Apache-2.0"), summary: description, homepage }, ...packages],
    relationships: [
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", idOf("flipop")),
      ...parts.map(({ name }) => relationship(idOf("flipop"), "CONTAINS", idOf(name))),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function idOf(name: string): string {
  return `SPDXRef-${name.replace(/[^A-Za-z0-9.]+/g, "-").replace(/^-/, "")}`;
}

function relationship(from: string, relationshipType: string, to: string): object {
  return { spdxElementId: from, relationshipType, relatedSpdxElement: to };
}

/** What git prints; undefined where the sources are no checkout, or have none of it. */
function git(...args: readonly string[]): string | undefined {
  const { stdout, status } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function committedAt(): string {
  const seconds = Number(git("log", "-1", "--format=%ct") ?? CHANGED_AT);
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/** The subjects of what was changed since the last tag, newest first. */
function changesText(version: string): string {
  const last = git("describe", "--tags", "--abbrev=0", "--match", "v*", "--exclude", `v${version}`);
  const log = last && git("log", "--no-merges", "--format=* %s", `${last}..HEAD`);
  const since = last === undefined ? "This is the first release." : `Since ${last}:\n\n${log}`;
  return `# flipop ${version}\n\n${since}\n`;
}

/** Returns the commands that publish a folder, in their order: what can be done again first. */
export function publishing(folder: string, registry: string): readonly (readonly string[])[] {
  const { version } = readProject();
  const file = (name: string): string => join(folder, name);
  const signature = file("checksums.txt.sigstore.json");
  const files = [...filesOf(folder).map(file), signature].filter((name, at, all) => all.indexOf(name) === at);
  return [
    ["cosign", "sign-blob", "--yes", "--bundle", signature, file("checksums.txt")],
    ["helm", "push", file(`flipop-chart-${version}.tgz`), `oci://${registry}/charts`],
    ["cosign", "sign", "--yes", `${registry}/charts/flipop:${version}`],
    ["npm", "publish", file(`flipop-${version}.tgz`)],
    ["gh", "release", "create", `v${version}`, "--verify-tag", "--notes-file", file("CHANGES.md"), ...files],
  ];
}

/** Where images and charts are published: beside the repository that the homepage names. */
function homeRegistry(): string {
  return `ghcr.io/${new URL(readProject().homepage).pathname.split("/")[1]}`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { registry: { type: "string" }, publish: { type: "boolean" }, tag: { type: "string" } },
    allowPositionals: true,
  });
  const { registry = homeRegistry(), publish = false, tag } = values;
  const folder = resolve(positionals[0] ?? join(ROOT, "dist/release"));
  const wanted = `v${readProject().version}`;
  if (tag !== undefined && tag !== wanted) throw new Error(`the tag is ${tag}, and package.json says ${wanted}`);
  await makeRelease(folder, registry);
  process.stdout.write(`${filesOf(folder).join("\n")}\n`);
  const commands = publishing(folder, registry);
  if (!publish) process.stdout.write(`\nTo publish: npm run release -- --publish\n`);
  for (const [program = "", ...args] of commands) {
    process.stdout.write(`  ${[program, ...args].join(" ")}\n`);
    if (publish) execFileSync(program, args, { stdio: "inherit" });
  }
}

if (import.meta.main) await main();
