import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeOneFile } from "../../bin/one-file.ts";

const BUILD = fileURLToPath(new URL("../../bin/build.ts", import.meta.url));

/** Does what `npm run build` does, in some 2 s, into a new temporary folder that the caller removes, and returns its path. */
export function builtPackage(): string {
  const folder = join(mkdtempSync(join(tmpdir(), "flipop-built-")), "package");
  execFileSync(process.execPath, [BUILD, folder], { stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}

/** Builds the package as the image holds it, in some 5 s, into a new temporary folder that the caller removes, and returns its path. */
export async function builtForImage(): Promise<string> {
  const folder = builtPackage();
  await makeOneFile(folder);
  return folder;
}
