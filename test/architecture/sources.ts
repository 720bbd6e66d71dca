import { readdirSync, readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);

/** A source file: its path from the project's root, with `/`, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** One import of a file. `static` is loaded with the file, `type` is erased, `dynamic` is loaded when the code gets there. */
export interface Import {
  readonly from: string;
  /** A path from the project's root, a package's name, or `node:…`. */
  readonly target: string;
  readonly isPackage: boolean;
  readonly kind: "static" | "type" | "dynamic";
}

/** Every .ts file of a top-level folder, declarations left out, sorted by path. */
export function readSources(folder: "src" | "test"): readonly Source[] {
  return readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .sort()
    .map((path) => ({ path, text: readFileSync(new URL(path, ROOT), "utf8") }));
}

/** The code without comments; strings stay. */
export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|[\s;,{}()])\/\/.*$/gm, "$1");
}

/** The imports and re-exports of a file, in no order. */
export function importsOf(source: Source): readonly Import[] {
  const code = withoutComments(source.text);
  const found: Import[] = [];
  for (const [, keyword, specifier] of code.matchAll(
    /^\s*(import type|export type|import|export)\b[^;"']*?\bfrom\s*"([^"]+)"/gm,
  )) {
    found.push(anImport(source.path, specifier ?? "", keyword?.endsWith("type") ? "type" : "static"));
  }
  for (const [, specifier] of code.matchAll(/^\s*import\s*"([^"]+)"/gm))
    found.push(anImport(source.path, specifier ?? "", "static"));
  for (const [, specifier] of code.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g))
    found.push(anImport(source.path, specifier ?? "", "dynamic"));
  return found;
}

function anImport(from: string, specifier: string, kind: Import["kind"]): Import {
  if (specifier.startsWith(".")) {
    return { from, target: new URL(specifier, `file:///${from}`).pathname.slice(1), isPackage: false, kind };
  }
  const parts = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1);
  return { from, target: parts.join("/"), isPackage: true, kind };
}
