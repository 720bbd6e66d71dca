import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** A package of which the bundle holds a part. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** SPDX expression, as the package says. */
  readonly licence: string;
  /** Its licence file; where an Apache-2.0 package has none a word on ours, else empty. */
  readonly text: string;
  /** Where it is installed, from the root of the checkout. */
  readonly folder: string;
}

/** Licences under which code may be part of a work that is distributed under Apache-2.0, texts and notices kept. */
const COMPATIBLE: readonly string[] = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "Unlicense",
];

/** Returns the packages of which a bundle holds a part, sorted by name. Reads their folders. */
export function thirdParties({ outputs }: Metafile): readonly ThirdParty[] {
  const used = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [folderOf(file)] : [])),
  );
  const folders = [...new Set(used)].filter((folder) => folder !== undefined);
  return folders.map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns what is wrong with the licences of a bundle's parts, one sentence each. Pure. */
export function licenceFaults(parties: readonly ThirdParty[]): readonly string[] {
  return parties.flatMap(({ name, version, licence, text }) => {
    const who = `${name} ${version}`;
    if (!licence.split(" OR ").some((one) => COMPATIBLE.includes(one.replace(/[()]/g, ""))))
      return [`${who} has the licence "${licence}", which is not known to fit Apache-2.0.`];
    return text === "" ? [`${who} has no licence file.`] : [];
  });
}

/** Returns the text that accompanies a bundle: each part with its version, licence and the licence's text. Pure. */
export function licencesText(parties: readonly ThirdParty[]): string {
  const head = "flipop contains parts of the following packages, each under its own licence.\n";
  const rule = "-".repeat(80);
  return [head, ...parties.map((it) => `${rule}\n${it.name} ${it.version} (${it.licence})\n\n${it.text}\n`)].join("\n");
}

/** Returns the README's table of what a bundle holds: licences with their packages. Pure. */
export function licenceTable(parties: readonly ThirdParty[]): string {
  const rows = [...Map.groupBy(parties, ({ licence }) => licence)].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = rows.map(([licence, of]) => `| ${licence} | ${of.map(({ name }) => `\`${name}\``).join(", ")} |`);
  return ["| licence | packages in the bundle |", "|---|---|", ...lines].join("\n");
}

/** The folder of the package that a bundled file is of; undefined for our own. */
function folderOf(file: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}

function describe(folder: string): ThirdParty {
  const path = join(ROOT, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const files = readdirSync(path).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const text = files.sort().map((file) => readFileSync(join(path, file), "utf8").trim());
  const own = license === "Apache-2.0" && text.length === 0 ? ["It has no licence file of its own: see LICENSE."] : [];
  return { name, version, licence: String(license), text: [...text, ...own].join("\n\n"), folder };
}
