import { type Source, withoutComments } from "./sources.ts";

/** Where providers are known by name: their adapters with the registry, the embedded world, and the settings of the program. */
const HOMES: readonly string[] = ["src/adapters/", "src/sandbox/", "src/cli/"];

/** Words of one provider. The name of flipop's own API group is none. */
const WORDS = /digitalocean|cloudflare|droplet|\bdoks\b|\bk8s-|\[0-9a-f\]\{32\}|\btopology\.kubernetes\.io\//gi;
const API_GROUP = /flipop\.digitalocean\.com/g;

/** Words of a provider in code outside {@link HOMES}, `PATH: WORD`, once per file and word, sorted. Comments may give examples. */
export function providerNames(sources: readonly Source[]): readonly string[] {
  const found = sources
    .filter(({ path }) => !HOMES.some((home) => path.startsWith(home)))
    .flatMap(({ path, text }) =>
      [...withoutComments(text).replaceAll(API_GROUP, "").matchAll(WORDS)].map(
        ([word]) => `${path}: ${word.toLowerCase()}`,
      ),
    );
  return [...new Set(found)].toSorted();
}
