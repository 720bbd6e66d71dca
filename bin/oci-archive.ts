// An image as a file, by the OCI image specification: layers as tar archives, a configuration and a manifest for each architecture, an
// index over them, and all of it by digest in one tar archive. The same entries give the same bytes: nothing tells of the time, the
// user or the machine of the build.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** What one path of a layer or an archive is. Paths are relative, without a dot in front. Folders above an entry need not be listed. */
export type Entry =
  | { readonly kind: "file"; readonly path: string; readonly content: Uint8Array; readonly mode: 0o644 | 0o755 }
  | { readonly kind: "folder"; readonly path: string; readonly mode: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/** One image of an archive. */
export interface Image {
  readonly architecture: "amd64" | "arm64";
  /** From the bottom to the top, each with a word on what it holds. */
  readonly layers: readonly { readonly what: string; readonly entries: readonly Entry[] }[];
  /** How its containers run, as `config` of the image specification. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** How an archive is made. */
export interface ArchiveOptions {
  /** The tag under which tools find the index in the archive. Each image has one, too: the tag, a hyphen and its architecture. */
  readonly tag: string;
  /** How hard gzip tries, 1 to 9. */
  readonly level: number;
}

/** An archive, and the digest of the index in it, `sha256:…`: under it a registry has the image. */
export interface Archive {
  readonly content: Uint8Array;
  readonly digest: string;
}

const TYPE = "application/vnd.oci.image";

/** The specification wants a time, and has to get the same one every time. */
const NO_TIME = "1970-01-01T00:00:00Z";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly [field: string]: unknown;
}

/** Puts images into one archive, which `skopeo copy --all oci-archive:…`, `docker load`, `podman load` and `ctr images import` read. Pure. */
export function ociArchive(images: readonly Image[], { tag, level }: ArchiveOptions): Archive {
  const blobs = new Map<string, Uint8Array>();
  const store = (mediaType: string, content: Uint8Array, more: object = {}): Descriptor => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length, ...more };
  };
  const named = (name: string): object => ({ annotations: { "org.opencontainers.image.ref.name": name } });
  const manifests = images.map(({ architecture, layers, config, annotations }) => {
    const tars = layers.map(({ entries }) => tar(entries));
    const configuration = {
      created: NO_TIME,
      architecture,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: tars.map(digestOf) },
      history: layers.map(({ what }) => ({ created: NO_TIME, created_by: what })),
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: store(`${TYPE}.config.v1+json`, json(configuration)),
      layers: tars.map((content) => store(`${TYPE}.layer.v1.tar+gzip`, gzip(content, level))),
      annotations,
    };
    return store(manifest.mediaType, json(manifest), { platform: { os: "linux", architecture } });
  });
  const index = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests };
  const whole = store(index.mediaType, json(index));
  const single = manifests.map((it, at) => ({ ...it, ...named(`${tag}-${images[at]?.architecture}`) }));
  const entries = [
    file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
    file("index.json", json({ ...index, manifests: [{ ...whole, ...named(tag) }, ...single] })),
    ...[...blobs].map(([digest, content]) => file(`blobs/${digest.replace(":", "/")}`, content)),
  ];
  return { content: tar(entries), digest: whole.digest };
}

/** Returns an entry for a file that everybody may read, and also run if `mode` says so. Pure. */
export function file(path: string, content: Uint8Array | string, mode: 0o644 | 0o755 = 0o644): Entry {
  return { kind: "file", path, content: typeof content === "string" ? Buffer.from(content) : content, mode };
}

/** Returns the digest of bytes as registries write it, `sha256:…`. Pure. */
export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Returns bytes as gzip packs them at a level from 1 to 9; the same ones each time. Pure. */
export function gzip(content: Uint8Array, level: number): Uint8Array {
  const packed = gzipSync(content, { level });
  // The tenth byte names the operating system (RFC 1952); 255 is none.
  packed[9] = 255;
  return packed;
}

const BLOCK = 512;

/**
 * Returns a tar archive (POSIX.1-1988, "ustar") of entries in the order of their paths, each folder before what is in it; everything
 * belongs to root and was changed at the beginning of 1970. Pure.
 * @throws Error when a path does not fit, or two entries have the same one
 */
export function tar(entries: readonly Entry[]): Uint8Array {
  const all = withFolders(entries);
  const blocks = all.flatMap((entry) => {
    const content = entry.kind === "file" ? entry.content : new Uint8Array();
    return [header(entry, content.length), content, new Uint8Array((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]);
}

function withFolders(entries: readonly Entry[]): readonly Entry[] {
  const byPath = new Map<string, Entry>();
  for (const entry of entries) {
    if (byPath.has(entry.path)) throw new Error(`${entry.path} is in the archive twice`);
    byPath.set(entry.path, entry);
  }
  for (const { path } of entries) {
    const parts = path.split("/").slice(0, -1);
    for (const [index] of parts.entries()) {
      const folder = parts.slice(0, index + 1).join("/");
      if (!byPath.has(folder)) byPath.set(folder, { kind: "folder", path: folder, mode: 0o755 });
    }
  }
  // By bytes, not by the language of the machine: a folder's name begins what is in it, so it comes first.
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

const TYPE_FLAGS = { file: "0", link: "2", folder: "5" } as const satisfies Record<Entry["kind"], string>;

function header(entry: Entry, size: number): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  const [prefix, name] = splitPath(entry.kind === "folder" ? `${entry.path}/` : entry.path);
  const octal = (value: number, length: number): string => value.toString(8).padStart(length - 1, "0");
  const link = entry.kind === "link" ? entry.target : "";
  if (Buffer.byteLength(link) > 100)
    throw new Error(`${entry.path} leads to a path that is too long for a tar archive`);
  block.write(name, 0);
  block.write(octal(entry.kind === "link" ? 0o777 : entry.mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(TYPE_FLAGS[entry.kind], 156);
  block.write(link, 157);
  block.write("ustar\u000000", 257);
  block.write(prefix, 345);
  // The checksum counts itself as blanks.
  block.fill(" ", 148, 156);
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    )}\u0000 `,
    148,
  );
  return block;
}

/** A path as the two fields that a header has for it: at most 155 and 100 bytes, joined by a slash. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ["", path];
  for (let at = path.indexOf("/"); at >= 0 && at < path.length - 1; at = path.indexOf("/", at + 1)) {
    const parts = [path.slice(0, at), path.slice(at + 1)] as const;
    if (Buffer.byteLength(parts[0]) <= 155 && Buffer.byteLength(parts[1]) <= 100) return parts;
  }
  throw new Error(`${path} is too long for a tar archive`);
}
