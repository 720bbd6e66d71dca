import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Dependencies made for CommonJS ask for modules of Node with `require`. The name is long because bundled code may not have it. */
const BANNER =
  'import{createRequire as flipopCreateRequire}from"node:module";const require=flipopCreateRequire(import.meta.url);';

/** Lets each of our files go on finding others relative to itself: the bundle lies in a folder beside where `src/` would be. */
const ownPlaces: Plugin = {
  name: "own-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes("node_modules")) return undefined;
      const place = `new URL(${JSON.stringify(`../${relative(ROOT, path)}`)}, import.meta.url).href`;
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", place), loader: "ts" };
    });
  },
};

/**
 * Leaves undici out of the bundle. client-node imports it for requests that flipop never makes (2.0.1, read 2026-11-22). It is large, and four of its lines
 * have 56 to 72 KB: an error in one of them would fill a terminal.
 */
const withoutUndici: Plugin = {
  name: "without-undici",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({
      contents: "export class Agent {}\nexport class ProxyAgent {}\nexport const { fetch } = globalThis;\n",
    }));
  },
};

/**
 * Bundles a program of the checkout into a folder that has to lie beside `src/` or where `src/` would be: readable modules and
 * their source maps, split so that what is loaded late stays apart. Returns what went into it, paths relative to the checkout.
 * @throws Error when a file loads a CommonJS package late, or esbuild's when it fails
 */
export async function bundle(entry: string, folder: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    banner: { js: BANNER },
    sourcemap: "linked",
    sourcesContent: false,
    metafile: true,
    plugins: [ownPlaces, withoutUndici],
    logLevel: "warning",
  });
  refuseLateCommonJS(metafile);
  for (const map of Object.keys(metafile.outputs).filter((name) => name.endsWith(".map")))
    placeSources(join(ROOT, map));
  return metafile;
}

/** `await import("package")` gives a CommonJS package's members in Node, but only `default` in a bundle (esbuild 0.28). */
function refuseLateCommonJS({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs)) {
    const late = imports.find(({ kind, path }) => kind === "dynamic-import" && inputs[path]?.format === "cjs");
    if (late === undefined || file.includes("node_modules/")) continue;
    throw new Error(
      `${file} loads the CommonJS module ${late.path} with import(). Import it with a statement, in a file of its own, and load that.`,
    );
  }
}

/** Makes stacks name the file of the repository, `flipop:src/…`. A path beside the bundle would name a file that is not installed. */
function placeSources(file: string): void {
  const map = JSON.parse(readFileSync(file, "utf8")) as { sources: string[] };
  map.sources = map.sources.map((source) => {
    // What was left out is no file, and its name must not hold the folder that the bundle happens to lie in.
    if (source.startsWith("left-out:")) return source;
    const path = relative(ROOT, join(dirname(file), source));
    // A link may lead to packages in another folder.
    return `flipop:${path.replace(/^.*?(?=node_modules\/)/, "")}`;
  });
  writeFileSync(file, JSON.stringify(map));
}
