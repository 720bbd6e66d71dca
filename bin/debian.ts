// The files that the image takes from Debian, because npm has none of them:
//
//   the C and C++ libraries     Node needs them
//   the program ip              flipop host runs it
//   certificates                they prove whom flipop speaks to
//   names of system and users   programs look them up
//
// Debian has them for every architecture, signs them, and mends their security faults. Scanners know its packages.
// `debian.json` has the digest of each package. `npm run image -- --renew` writes it anew.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { digestOf, type Entry, file } from "./oci-archive.ts";
import type { Component } from "./sbom.ts";

const run = promisify(execFile);

/** The architectures that the image is made for, by the names that Debian and OCI have for them. */
export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** One package, exactly. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** Where it lies, from the root of a mirror. */
  readonly path: string;
  readonly sha256: string;
}

/** Which packages the image is made of, and as of when: Debian keeps what it replaced under that time. */
export interface Pins extends Readonly<Record<Architecture, readonly PinnedPackage[]>> {
  readonly asOf: string;
}

/** The release that is taken, as the image of the Dockerfile takes it. */
const SUITE = "trixie";

const PACKAGES = [
  ...["base-files", "gcc-14-base", "libc6", "libgcc-s1", "libstdc++6"],
  // `flipop host` changes addresses by `ip`; the others are its libraries.
  ...["iproute2", "libbpf1", "libcap2", "libelf1t64", "libmnl0", "libpcre2-8-0", "libselinux1", "libzstd1", "zlib1g"],
] as const;

/** The programs that are taken out of the packages. */
const PROGRAMS = ["usr/bin/ip"] as const;

const MIRROR = "http://deb.debian.org";
const KEPT = "http://snapshot.debian.org/archive";

/** What an image gets from Debian. */
export interface FromDebian {
  readonly entries: readonly Entry[];
  readonly components: readonly Component[];
}

/** A package that no archive has any more under its digest. */
export class PackageGoneError extends Error {
  override readonly name = "PackageGoneError";
}

/** Where packages are kept by their digest. */
const STORE = join(homedir(), ".cache/flipop-image");

/**
 * Returns the files of packages, in their order. What is not kept is fetched.
 * @throws PackageGoneError when Debian has replaced a package and does not show the old one, or cannot be reached
 */
export async function packageFiles(pins: readonly PinnedPackage[], asOf: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const pin of pins) files.push(await fetched(pin, asOf));
  return files;
}

/**
 * Returns the files that a program needs to run where there is nothing else: the libraries that it names, and what they name, its loader,
 * the programs that it starts with theirs, the licences of all that, and who is who.
 * @throws PackageGoneError when Debian has replaced a package and does not show the old one
 * @throws Error when apt-get or dpkg-deb is not here, or a library is in none of the packages
 */
export async function fromDebian(
  program: Uint8Array,
  pins: readonly PinnedPackage[],
  asOf: string,
): Promise<FromDebian> {
  const root = await mkdtemp(join(tmpdir(), "flipop-debian-"));
  try {
    const files = await packageFiles(pins, asOf);
    for (const archive of files) await tool("dpkg-deb", ["-x", archive, root]);
    const records = [];
    for (const [at, { name }] of pins.entries()) {
      const { stdout } = await tool("dpkg-deb", ["-f", files[at] ?? ""]);
      records.push(file(`var/lib/dpkg/status.d/${name}`, stdout));
      records.push(
        file(`usr/share/doc/${name}/copyright`, await readFile(join(root, "usr/share/doc", name, "copyright"))),
      );
    }
    const programs = await Promise.all(PROGRAMS.map((path) => readFile(join(root, path))));
    const linked = [program, ...programs];
    const entries = [
      ...programs.map((content, at) => file(PROGRAMS[at] ?? "", content, 0o755)),
      ...(await libraries(linked, root)),
      ...(await commonLicences(root)),
      ...records,
    ];
    const release = await readFile(join(root, "usr/lib/os-release"));
    const names: Entry[] = [
      file("usr/lib/os-release", release),
      { kind: "link", path: "etc/os-release", target: "../usr/lib/os-release" },
    ];
    return { entries: [...entries, ...names], components: pins.map(componentOf) };
  } finally {
    await rm(root, { recursive: true });
  }
}

function componentOf({ name, version, path, sha256 }: PinnedPackage): Component {
  const [, architecture] = /_(\w+)\.deb$/.exec(path) ?? [];
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`;
  return { name, version, purl, checksum: { algorithm: "SHA256", hex: sha256 } };
}

/**
 * Returns the packages that Debian has now, for each architecture. Asks its archive, and apt-get checks the signatures. The package lists of this machine stay as they are.
 */
export async function currentPins(): Promise<Pins> {
  const folder = await mkdtemp(join(tmpdir(), "flipop-apt-"));
  try {
    for (const name of ["lists/partial", "archives/partial"]) await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, "status"), "");
    const signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
    const source = (path: string, suite: string): string => `deb ${signed} ${MIRROR}/${path} ${suite} main\n`;
    await writeFile(
      join(folder, "sources.list"),
      source("debian", SUITE) + source("debian", `${SUITE}-updates`) + source("debian-security", `${SUITE}-security`),
    );
    const settings = {
      "Dir::Etc::sourcelist": join(folder, "sources.list"),
      "Dir::Etc::sourceparts": "-",
      "Dir::State": folder,
      "Dir::State::status": join(folder, "status"),
      "Dir::Cache": folder,
      "Acquire::Languages": "none",
      "APT::Architectures": ARCHITECTURES.join(","),
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    await tool("apt-get", [...options, "update"]);
    const pinsOf = async (architecture: Architecture): Promise<readonly PinnedPackage[]> => {
      const names = PACKAGES.map((name) => `${name}:${architecture}`);
      const { stdout } = await tool("apt-get", [...options, "download", "--print-uris", ...names]);
      return stdout
        .trim()
        .split("\n")
        .map(pinOf)
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    };
    const asOf = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
    return { asOf, amd64: await pinsOf("amd64"), arm64: await pinsOf("arm64") };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads a line of `--print-uris`: 'URL' FILE SIZE SHA256:DIGEST. */
function pinOf(line: string): PinnedPackage {
  const [, url, name, version, sha256] =
    /^'(\S+)' ([^_]+)_([^_]+)_\w+\.deb \d+ SHA256:([0-9a-f]{64})$/.exec(line) ?? [];
  if (url === undefined || name === undefined || version === undefined || sha256 === undefined)
    throw new Error(`apt-get says what is not understood: ${line}`);
  return { name, version: decodeURIComponent(version), path: url.replace(`${MIRROR}/`, ""), sha256 };
}

/** Returns the file of a package in the store, after it was fetched where necessary. */
async function fetched({ name, version, path, sha256 }: PinnedPackage, asOf: string): Promise<string> {
  const kept = join(STORE, `${sha256}.deb`);
  const digest = await readFile(kept).then(digestOf, () => undefined);
  if (digest === `sha256:${sha256}`) return kept;
  await mkdir(STORE, { recursive: true });
  const folder = await mkdtemp(join(STORE, ".fetch-"));
  const fresh = join(folder, "package.deb");
  try {
    const failures: string[] = [];
    for (const url of [`${MIRROR}/${path}`, `${KEPT}/${path.replace("/", `/${asOf}/`)}`]) {
      const failure = await failureOf(
        tool("/usr/lib/apt/apt-helper", ["download-file", url, fresh, `SHA256:${sha256}`]),
      );
      if (failure === undefined) {
        await rename(fresh, kept);
        return kept;
      }
      failures.push(failure);
    }
    throw new PackageGoneError(
      `Debian does not give ${name} ${version} any more, or cannot be reached: ${failures.join("; ")}. ` +
        "npm run image -- --renew takes what it has now, and makes another image.",
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What apt says of a failure, in one line; undefined where there was none. @throws what is no failure of apt itself */
async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const [, line] = /^E: (.+)$/m.exec((error as { stderr?: string }).stderr ?? "") ?? [];
    if (line === undefined) throw error;
    return line;
  }
}

/** Runs a program of Debian. @throws Error that says where it comes from when it is not here */
async function tool(program: string, args: readonly string[]): Promise<{ readonly stdout: string }> {
  return await run(program, args, { maxBuffer: 2 ** 26, timeout: 300_000 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new Error(
      `${basename(program)} is not here. The image is built where apt and dpkg are, as on Debian and Ubuntu.`,
    );
  });
}

/** The loader of programs, and all libraries that they and these name, from a folder into which packages were unpacked. */
async function libraries(programs: readonly Uint8Array[], root: string): Promise<readonly Entry[]> {
  const linkages = programs.map(linkage);
  const [{ interpreter = "" } = { interpreter: "" }] = linkages;
  const needed = linkages.flatMap((one) => one.needed);
  const folders = (await readdir(join(root, "usr/lib"))).filter((name) => name.endsWith("-linux-gnu"));
  const [folder = ""] = folders;
  const entries = new Map<string, Entry>();
  const names = new Set([...needed, basename(interpreter)]);
  // A Set iterates over what is added on the way.
  for (const name of names) {
    const path = `usr/lib/${folder}/${name}`;
    const content = await realpath(join(root, path)).then(
      (real) => readFile(real),
      () => undefined,
    );
    if (content === undefined) throw new Error(`${name} is in none of the Debian packages ${PACKAGES.join(", ")}.`);
    entries.set(name, file(path, content, 0o755));
    for (const more of linkage(content).needed) names.add(more);
  }
  // Programs name their loader by its old place: /lib and /lib64 are links since Debian has but one folder for libraries.
  const [, place = ""] = interpreter.split("/");
  const loader = `usr${interpreter}`;
  return [
    ...entries.values(),
    { kind: "link", path: place, target: `usr/${place}` },
    { kind: "link", path: loader, target: `${place === "lib" ? "" : "../lib/"}${folder}/${basename(interpreter)}` },
  ];
}

async function commonLicences(root: string): Promise<readonly Entry[]> {
  const folder = "usr/share/common-licenses";
  const names = await readdir(join(root, folder));
  return await Promise.all(
    names.sort().map(async (name) => file(`${folder}/${name}`, await readFile(join(root, folder, name)))),
  );
}

/** What a program or library asks the loader for. */
interface Linkage {
  /** The loader; a library has none. */
  readonly interpreter?: string;
  readonly needed: readonly string[];
}

/** Reads the header of a 64-bit little-endian ELF file, as elf(5) has it. @throws Error when it is none */
function linkage(content: Uint8Array): Linkage {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes.toString("latin1", 0, 6) !== "\u007fELF\u0002\u0001") throw new Error("this is no 64-bit ELF file");
  const word = (at: number): number => Number(bytes.readBigUInt64LE(at));
  const text = (at: number): string => bytes.toString("latin1", at, bytes.indexOf(0, at));
  const segments = Array.from({ length: bytes.readUInt16LE(56) }, (_, index) => {
    const at = word(32) + index * bytes.readUInt16LE(54);
    return { type: bytes.readUInt32LE(at), offset: word(at + 8), address: word(at + 16), size: word(at + 32) };
  });
  const [LOAD, DYNAMIC, INTERPRETER] = [1, 2, 3];
  const [NEEDED, STRINGS] = [1, 5];
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  const tags = Array.from({ length: (dynamic?.size ?? 0) / 16 }, (_, index) => {
    const at = (dynamic?.offset ?? 0) + index * 16;
    return { tag: word(at), value: word(at + 8) };
  });
  const address = tags.find(({ tag }) => tag === STRINGS)?.value ?? 0;
  const holder = segments.find((it) => it.type === LOAD && it.address <= address && address < it.address + it.size);
  const strings = address - (holder?.address ?? 0) + (holder?.offset ?? 0);
  const loader = segments.find(({ type }) => type === INTERPRETER);
  return {
    ...(loader === undefined ? {} : { interpreter: text(loader.offset) }),
    needed: tags.filter(({ tag }) => tag === NEEDED).map(({ value }) => text(strings + value)),
  };
}
