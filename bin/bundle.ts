import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

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

/** Where the bundle is taken to lie while it is made: the names of its parts are made of paths, and must be the same wherever it is written to. */
const PLACE = join(ROOT, "lib");

const COMMON = {
  absWorkingDir: ROOT,
  write: false,
  bundle: true,
  // Names of parts may not tell where packages really lie.
  preserveSymlinks: true,
  // The Dockerfile copies no tsconfig.json.
  tsconfigRaw: { compilerOptions: { strict: true } },
  platform: "node",
  target: "node22.18",
  sourcemap: "linked",
  sourcesContent: false,
  metafile: true,
  plugins: [ownPlaces, withoutUndici],
  logLevel: "warning",
} as const satisfies BuildOptions;

/**
 * Bundles a program of the checkout into a folder that has to lie beside `src/` or where `src/` would be: readable modules and
 * their source maps, split so that what is loaded late stays apart. Returns what went into it, paths relative to the checkout.
 * @throws Error when a file loads a CommonJS package late, or esbuild's when it fails
 */
export async function bundle(entry: string, folder: string): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    ...COMMON,
    entryPoints: [entry],
    outdir: PLACE,
    splitting: true,
    format: "esm",
    banner: { js: BANNER },
  });
  refuseLateCommonJS(metafile);
  for (const { path, text, contents } of outputFiles) {
    const file = join(folder, relative(PLACE, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, path.endsWith(".map") ? placedSources(path, text) : contents);
  }
  return metafile;
}

/**
 * Bundles a program of the checkout into one small file, and writes its source map beside it. The file has to lie where a {@link bundle} would.
 * It is one function of `require` and of its own path, which `bin/compiled.js` calls. It is ASCII.
 * @throws Error of esbuild when it fails, as for a file that waits while it is loaded
 */
export async function bundleOneFile(entry: string, file: string): Promise<void> {
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: [entry],
    outfile: join(PLACE, basename(file)),
    format: "cjs",
    minify: true,
    banner: {
      js: `(function(require,__filename){const ${OWN_URL}=require("node:url").pathToFileURL(__filename).href;`,
    },
    footer: { js: "})" },
    define: { "import.meta.url": OWN_URL },
  });
  for (const { path, text, contents } of outputFiles)
    writeFileSync(join(dirname(file), basename(path)), path.endsWith(".map") ? placedSources(path, text) : contents);
}

/** What stands for `import.meta.url` in one file. */
const OWN_URL = "flipopURL";

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
function placedSources(path: string, text: string): string {
  const map = JSON.parse(text) as { sources: string[] };
  const sources = map.sources.map((source) =>
    // What was left out is no file.
    source.startsWith("left-out:") ? source : `flipop:${relative(ROOT, join(dirname(path), source))}`,
  );
  return JSON.stringify({ ...map, sources });
}
