// `npm run build [FOLDER]` makes dist/: what runs where there is no checkout. Program, manifests and licences, with nothing to
// install beside them: `npm pack ./dist` packs it, the image copies it.
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";
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

/** By these names people start flipop, and kubectl finds it as its plugin. `npm pack` leaves links out; an installed package gets them from `bin` of its package.json. */
const NAMES: readonly string[] = ["flipop", "kubectl-flipop", "kubectl_complete-flipop"];

async function buildPackage(target: string): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  const filter = (source: string): boolean => !basename(source).startsWith("Dockerfile");
  for (const name of COPIED) cpSync(join(ROOT, name), join(target, name), { recursive: true, filter });
  for (const name of NAMES) symlinkSync("flipop.cjs", join(target, "bin", name));
  cpSync(join(ROOT, "src/report/schema"), join(target, "schema"), { recursive: true });
  const parties = thirdParties(await bundle("src/cli/main.ts", join(target, "lib")));
  const faults = licenceFaults(parties);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  writeFileSync(join(target, "THIRD-PARTY-LICENSES.txt"), licencesText(parties));
  writeFileSync(join(target, "package.json"), packageText());
}

/** package.json without what only a checkout needs. It stays private: nobody publishes it by mistake. */
function packageText(): string {
  const { name, version, description, homepage, license, type, engines, bin } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const fields = { name, version, description, homepage, license, private: true, type, engines, bin };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

await buildPackage(resolve(process.argv[2] ?? join(ROOT, "dist")));
