// `npm run release` makes everything that a release consists of, in dist/release/, and publishes nothing. With `-- --publish` it goes on and runs the
// commands that it names otherwise; .github/workflows/release.yaml does that for a tag.
//
//   sources -> the package -> npm's archive of it -> krew's manifest (it names the archive's digest)
//              the package as one file, Node, libraries -> the image, for each architecture, and what is in it
//   cronjob/ -> install-*.yaml with the digest of the image, chart, crds.yaml
//   all of it -> checksums.txt
//
// The same commit makes the same files: no time, no user and no order of a folder is in them.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { manifestText } from "../src/cli/manifests.ts";
import { CHART } from "./chart.ts";
import { ARCHITECTURES } from "./debian.ts";
import { imageArchive, levelOf, PINS, readPins } from "./image.ts";
import { digestOf, file, gzip, tar } from "./oci-archive.ts";
import { makeOneFile } from "./one-file.ts";
import { buildPackage, type Manifest, manifest } from "./package.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Where a release is made, and how. */
export interface ReleaseOptions {
  /** Where images and charts are published, such as `ghcr.io/digitalocean`. */
  readonly registry: string;
  /** How hard gzip tries on the image, 1 to 9. */
  readonly level: number;
  /** The file of Debian's packages that the image is made of. */
  readonly pins: string;
}

/** Makes every file of a release in a folder, which is emptied before. Runs npm and, where there is one, git. */
export async function makeRelease(folder: string, { registry, level, pins }: ReleaseOptions): Promise<void> {
  const project = manifest();
  const { version } = project;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder, name), content);
  const built = mkdtempSync(join(tmpdir(), "flipop-release-"));
  try {
    const components = await buildPackage(built);
    const inImage = join(folder, "image");
    cpSync(built, inImage, { recursive: true, verbatimSymlinks: true });
    await makeOneFile(inImage);
    const options = { architectures: ARCHITECTURES, level, pins: readPins(pins) };
    const { content, digest, sboms } = await imageArchive(inImage, components, options);
    rmSync(inImage, { recursive: true });
    const image = `${registry}/flipop:${version}@${digest}`;
    write(imageName(version), content);
    for (const { architecture, text } of sboms) write(`flipop-${version}-${architecture}.spdx.json`, text);
    write(`flipop-${version}.spdx.json`, readFileSync(join(built, "sbom.spdx.json")));
    write("flipop.yaml", krewManifest(project, sha256(readFileSync(pack(built, folder, project)))));
    write(`flipop-chart-${version}.tgz`, chartArchive(registry));
    write("install-cronjob.yaml", manifestText("cronjob", { image }));
    write("install-watch.yaml", manifestText("watch", { image }));
  } finally {
    rmSync(built, { recursive: true });
  }
  write("crds.yaml", manifestText(["crds"]));
  write("CHANGES.md", changesText(version));
  const sums = filesOf(folder).map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  write("checksums.txt", sums.join(""));
}

function imageName(version: string): string {
  return `flipop-${version}.oci.tar`;
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder).sort();
}

function sha256(bytes: Uint8Array): string {
  return digestOf(bytes).replace("sha256:", "");
}

/**
 * Packs what was built and returns the archive's path. What is built is private, so that nobody publishes it by mistake; here it gets what npm needs
 * to publish it: `provenance` refuses that anywhere but in a workflow that npm can vouch for.
 */
function pack(built: string, folder: string, { homepage }: Manifest): string {
  const path = join(built, "package.json");
  const { private: _, ...fields } = JSON.parse(readFileSync(path, "utf8"));
  const more = {
    repository: { type: "git", url: `git+${homepage}.git` },
    bugs: `${homepage}/issues`,
    keywords: ["digitalocean", "reserved-ip", "floating-ip", "kubernetes", "dns", "failover"],
    publishConfig: { access: "public", provenance: true },
  };
  writeFileSync(path, `${JSON.stringify({ ...fields, ...more }, null, 2)}\n`);
  const args = ["pack", built, "--pack-destination", folder, "--json", "--ignore-scripts", "--offline"];
  const [packed] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
  return join(folder, packed.filename);
}

/** Returns the chart as `helm package` would make it, with the image of a registry; the same bytes each time. Reads the chart's folder. */
export function chartArchive(registry: string): Uint8Array {
  const names = readdirSync(join(ROOT, CHART), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(ROOT, CHART).length + 1));
  const files = names.map((name) => {
    const text = readFileSync(join(ROOT, CHART, name), "utf8");
    return file(
      `flipop/${name}`,
      name === "values.yaml" ? text.replace(/^( +repository: )flipop$/m, `$1${registry}/flipop`) : text,
    );
  });
  return gzip(tar(files), 9);
}

/** Where the files of a release can be had. */
function downloadURL({ homepage, version }: Manifest, name: string): string {
  return `${homepage}/releases/download/v${version}/${name}`;
}

/** Returns the manifest by which `kubectl krew install flipop` installs the package. The file has to be named after the plugin. */
function krewManifest(project: Manifest, digest: string): string {
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
      bin: ${project.bin["kubectl-flipop"]}
`;
}

/** What git prints; undefined where the sources are no checkout, or have none of it. */
function git(...args: readonly string[]): string | undefined {
  const { stdout, status } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
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
  const { version } = manifest();
  const at = (name: string): string => join(folder, name);
  const signature = at("checksums.txt.sigstore.json");
  const files = [...filesOf(folder).map(at), signature].filter((name, place, all) => all.indexOf(name) === place);
  return [
    ["cosign", "sign-blob", "--yes", "--bundle", signature, at("checksums.txt")],
    [
      "skopeo",
      "copy",
      "--all",
      `oci-archive:${at(imageName(version))}:${version}`,
      `docker://${registry}/flipop:${version}`,
    ],
    ["cosign", "sign", "--yes", "--recursive", `${registry}/flipop:${version}`],
    ["helm", "push", at(`flipop-chart-${version}.tgz`), `oci://${registry}/charts`],
    ["cosign", "sign", "--yes", `${registry}/charts/flipop:${version}`],
    ["npm", "publish", at(`flipop-${version}.tgz`)],
    ["gh", "release", "create", `v${version}`, "--verify-tag", "--notes-file", at("CHANGES.md"), ...files],
  ];
}

/** Where images and charts are published: beside the repository that the homepage names. */
function homeRegistry(): string {
  return `ghcr.io/${new URL(manifest().homepage).pathname.split("/")[1]}`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      registry: { type: "string" },
      level: { type: "string", default: "9" },
      pins: { type: "string", default: PINS },
      publish: { type: "boolean" },
      tag: { type: "string" },
    },
    allowPositionals: true,
  });
  const { registry = homeRegistry(), publish = false, tag } = values;
  const folder = resolve(positionals[0] ?? join(ROOT, "dist/release"));
  const wanted = `v${manifest().version}`;
  if (tag !== undefined && tag !== wanted) throw new Error(`the tag is ${tag}, and package.json says ${wanted}`);
  await makeRelease(folder, { registry, level: levelOf(values.level), pins: values.pins });
  process.stdout.write(`${filesOf(folder).join("\n")}\n`);
  const commands = publishing(folder, registry);
  if (!publish) process.stdout.write(`\nTo publish: npm run release -- --publish\n`);
  for (const [program = "", ...args] of commands) {
    process.stdout.write(`  ${[program, ...args].join(" ")}\n`);
    if (publish) execFileSync(program, args, { stdio: "inherit" });
  }
}

if (import.meta.main) await main();
