import { importsOf, type Source } from "./sources.ts";

/** Which part of src/ may import which package. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  commander: ["src/cli/"],
  chalk: ["src/cli/"],
  "@kubernetes/client-node": ["src/adapters/kube/"],
  "@digitalocean/dots": ["src/adapters/digitalocean/"],
  cloudflare: ["src/adapters/cloudflare/"],
  "@microsoft/kiota-abstractions": ["src/adapters/digitalocean/"],
  "@microsoft/kiota-http-fetchlibrary": ["src/adapters/digitalocean/"],
  "@microsoft/kiota-serialization-json": ["src/adapters/digitalocean/"],
  "socks-proxy-agent": ["src/adapters/http/"],
  "prom-client": ["src/adapters/pushgateway/"],
  yaml: ["src/cli/", "src/sandbox/", "src/adapters/kube/", "src/validate/"],
  ajv: ["src/sandbox/", "src/validate/"],
  valibot: ["src/adapters/", "src/report/metrics/", "src/sandbox/"],
};
/** Packages that take long to load; only a command that needs one may load it. */
const HEAVY: readonly string[] = Object.keys(OWNERS).filter(
  (name) => !["commander", "chalk", "yaml", "valibot"].includes(name),
);

/** Imports of packages by files that are not to know them, one sentence each. */
export function strangePackages(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((one) => one.isPackage && !one.target.startsWith("node:"))
      .filter((one) => !(OWNERS[one.target] ?? []).some((owner) => one.from.startsWith(owner)))
      .map((one) => `${one.from} imports ${one.target}`),
  );
}

/** Ways over which starting the program would load a heavy package, as `a -> b -> package`. */
export function heavyStarts(sources: readonly Source[], entry: string): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const ways = new Map([[entry, entry]]);
  const found: string[] = [];
  // A Map iterates over what is added on the way: this is the breadth-first search.
  for (const [path, way] of ways) {
    const loaded = loadedWith(byPath.get(path));
    found.push(...loaded.packages.map((name) => `${way} -> ${name}`));
    for (const file of loaded.files.filter((name) => !ways.has(name))) ways.set(file, `${way} -> ${file}`);
  }
  return found;
}

/** The files and heavy packages that are loaded together with a file. */
function loadedWith(source: Source | undefined): {
  readonly files: readonly string[];
  readonly packages: readonly string[];
} {
  const loaded = source === undefined ? [] : importsOf(source).filter((one) => one.kind === "static");
  return {
    files: loaded.filter((one) => !one.isPackage).map((one) => one.target),
    packages: loaded.map((one) => one.target).filter((name) => HEAVY.includes(name)),
  };
}
