// What runs where there is no checkout: program, manifests and licences, with nothing to install beside them.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";
import { bundledComponents, type Component, sbomText } from "./sbom.ts";
import { licenceFaults, licencesText, thirdParties } from "./third-party.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** What is copied as it is and keeps its place, because the program looks for it there. */
const COPIED: readonly string[] = [
  "LICENSE",
  "README.md",
  "bin/flipop.cjs",
  "bin/start.js",
  "cronjob",
  "src/cli/completion",
  "src/sandbox/example",
];

/**
 * The names by which people start flipop, and by which kubectl finds its plugin. They are links, and `npm pack` leaves links out: an installed package gets them from
 * `bin` of its package.json.
 */
const NAMES: readonly string[] = ["flipop", "kubectl-flipop", "kubectl_complete-flipop"];

/** What `npm run image` and the like leave in the same folder. It is no part of the package, and a build leaves it alone. */
const BESIDE: readonly string[] = ["image", "release"];

/**
 * Makes the package in a folder: what was there before is removed, images aside. Returns the packages of which the bundle holds a part.
 * @throws Error when a licence does not fit, or esbuild's when it fails
 */
export async function buildPackage(target: string): Promise<readonly Component[]> {
  const old = existsSync(target) ? readdirSync(target).filter((name) => !BESIDE.includes(name)) : [];
  for (const name of old) rmSync(join(target, name), { recursive: true });
  const filter = (source: string): boolean => !/^(Dockerfile.*|chart)$/.test(basename(source));
  for (const name of COPIED) cpSync(join(ROOT, name), join(target, name), { recursive: true, filter });
  for (const name of NAMES) symlinkSync("flipop.cjs", join(target, "bin", name));
  cpSync(join(ROOT, "src/report/schema"), join(target, "schema"), { recursive: true });
  const parties = thirdParties(await bundle("src/cli/main.ts", join(target, "lib")));
  const faults = licenceFaults(parties);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  const components = bundledComponents(parties);
  const { name, version, license } = manifest();
  writeFileSync(join(target, "THIRD-PARTY-LICENSES.txt"), licencesText(parties));
  writeFileSync(
    join(target, "sbom.spdx.json"),
    sbomText({ name, version, licence: license, purl: `pkg:npm/${name}@${version}` }, components),
  );
  writeFileSync(join(target, "package.json"), packageText(readdirSync(target)));
  return components;
}

/** package.json of the checkout, as far as what is built repeats it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly homepage: string;
  readonly license: string;
  readonly type: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
}

/** Returns package.json of the checkout. Reads it. */
export function manifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
}

/** package.json without what only a checkout needs. It stays private: nobody publishes it by mistake. */
function packageText(names: readonly string[]): string {
  const { name, version, description, homepage, license, type, engines, bin } = manifest();
  const files = names.filter((entry) => !BESIDE.includes(entry)).sort();
  const fields = { name, version, description, homepage, license, private: true, type, engines, bin, files };
  return `${JSON.stringify(fields, null, 2)}\n`;
}
