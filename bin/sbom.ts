// The list of what an artefact really holds, for scanners, which find no packages in a bundle.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ThirdParty } from "./third-party.ts";

/** Something that an artefact holds, whole or in part. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; undefined where only a text says it. */
  readonly licence?: string | undefined;
  /** Its package URL. */
  readonly purl: string;
  /** Digest of the package that it was taken from, as the lock file or the archive it came from states it. */
  readonly checksum?: { readonly algorithm: "SHA256" | "SHA512"; readonly hex: string } | undefined;
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
}

/** Returns the packages of a bundle as components, in the order given, each with the digest that the lock file holds it to. Reads the lock file. */
export function bundledComponents(parties: readonly ThirdParty[]): readonly Component[] {
  const locked = lockedPackages();
  return parties.map(({ name, version, licence, folder }) => ({
    name,
    version,
    licence,
    purl: npmURL(name, version),
    checksum: checksumOf(locked[folder.replace(/^.*?(?=node_modules\/)/, "")]?.integrity),
  }));
}

/** Returns the package URL of an npm package. Pure. */
export function npmURL(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Returns what the lock file says of every package, by its folder. Reads it. */
export function lockedPackages(): Readonly<Record<string, Locked>> {
  const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
  return (JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Locked> }).packages;
}

/** Returns a digest of the lock file as a checksum; undefined where there is none. Pure. */
export function checksumOf(integrity: string | undefined): Component["checksum"] {
  const [, base64] = /^sha512-(\S+)$/.exec(integrity ?? "") ?? [];
  return base64 === undefined ? undefined : { algorithm: "SHA512", hex: Buffer.from(base64, "base64").toString("hex") };
}

/**
 * Returns an SPDX 2.3 document that says what `whole` contains. The same content gives the same text: it carries no time but the
 * beginning of all, and its name in the world is a digest of what it says. Pure.
 */
export function sbomText(whole: Component, parts: readonly Component[]): string {
  const packages = [whole, ...parts].map((it, index) => packageOf(it, `SPDXRef-Package-${index}`));
  const relationships = packages.map(({ SPDXID }, index) =>
    index === 0
      ? { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: SPDXID }
      : { spdxElementId: "SPDXRef-Package-0", relationshipType: "CONTAINS", relatedSpdxElement: SPDXID },
  );
  const said = createHash("sha256").update(JSON.stringify(packages)).digest("hex");
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${whole.name}@${whole.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/${whole.name}-${whole.version}-${said}`,
    creationInfo: { created: "1970-01-01T00:00:00Z", creators: [`Tool: ${whole.name} build`] },
    packages,
    relationships,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

interface SPDXPackage {
  readonly SPDXID: string;
  readonly [field: string]: unknown;
}

function packageOf({ name, version, licence, purl, checksum }: Component, SPDXID: string): SPDXPackage {
  return {
    name,
    SPDXID,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: licence ?? "NOASSERTION",
    copyrightText: "NOASSERTION",
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
    ...(checksum === undefined ? {} : { checksums: [{ algorithm: checksum.algorithm, checksumValue: checksum.hex }] }),
  };
}
