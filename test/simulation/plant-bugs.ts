import { registerHooks, stripTypeScriptTypes } from "node:module";
import { createInterface } from "node:readline";
import { importsOf, readSources } from "../architecture/sources.ts";
import { CAUGHT_BY, type Proof } from "./caught-by.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";
import { withBug } from "./plant-bug.ts";
import type { PlayOptions } from "./play.ts";

// Plants bugs one after the other in one process: a line with a bug's name comes in on stdin; what the history that is known to
// catch it tells goes out on stdout, then a line of JSON. The history must break nothing without the bug. What does not depend on the file of a bug is loaded once for all bugs,
// which is most of the time that a process of its own would take.

const ROOT = new URL("../../", import.meta.url).href;
const SOURCES = [...readSources("src"), ...readSources("test")];
const TEXTS = new Map(SOURCES.map(({ path, text }) => [path, text]));
/** What each file loads. */
const LOADED = SOURCES.map((source) => ({
  path: source.path,
  targets: importsOf(source).flatMap(({ target, kind }) => (kind === "type" ? [] : [target])),
}));

/** The bug that is planted now. */
interface Planted {
  readonly bug: Mutation;
  /** Files that are loaded anew: the bug's and all that import it, directly or not. */
  readonly files: ReadonlySet<string>;
  /** The end of their URLs, another for each bug. */
  readonly mark: string;
}

let planted: Planted | undefined;
const javaScript = new Map<string, string>();

registerHooks({
  resolve(specifier, context, nextResolve) {
    const answer = nextResolve(specifier, context);
    return planted?.files.has(pathOf(answer.url)) === true
      ? { ...answer, url: answer.url.replace(/(\?.*)?$/, planted.mark) }
      : answer;
  },
  load(url, context, nextLoad) {
    const path = pathOf(url);
    const text = TEXTS.get(path);
    if (planted === undefined || text === undefined || !url.endsWith(planted.mark)) return nextLoad(url, context);
    const source =
      path === planted.bug.file ? stripTypeScriptTypes(withBug(text, planted.bug)) : plainJavaScript(path, text);
    return { format: "module", source, shortCircuit: true };
  },
});

const sound = new Map<string, Promise<boolean>>();

/** True if a history breaks no promise without a bug. Each history is played once. */
function isSound(proof: Proof): Promise<boolean> {
  const key = JSON.stringify(proof);
  const known = sound.get(key) ?? import("./play.ts").then(({ play }) => play(optionsOf(proof)));
  sound.set(key, known);
  return known;
}

let count = 0;
for await (const name of createInterface({ input: process.stdin })) {
  const bug = MUTATIONS.find((one) => one.name === name);
  const proof = CAUGHT_BY.get(name);
  if (bug === undefined || proof === undefined) throw new Error(`nothing is known of the bug "${name}"`);
  count += 1;
  planted = { bug, files: dependents(bug.file), mark: `?bug=${count}` };
  const { play } = (await import(`./play.ts${planted.mark}`)) as typeof import("./play.ts");
  const isCaught = !(await play(optionsOf(proof)));
  planted = undefined;
  process.stdout.write(`${JSON.stringify({ isCaught, isSound: await isSound(proof) })}\n`);
}

/** From the project's root; of a file elsewhere, nothing. */
function pathOf(url: string): string {
  return url.startsWith(ROOT) ? url.slice(ROOT.length).replace(/\?.*/, "") : "";
}

function plainJavaScript(path: string, text: string): string {
  const source = javaScript.get(path) ?? stripTypeScriptTypes(text);
  javaScript.set(path, source);
  return source;
}

function dependents(file: string): ReadonlySet<string> {
  const found = new Set([file]);
  // A Set iterates over what is added on the way.
  for (const path of found) for (const one of LOADED) if (one.targets.includes(path)) found.add(one.path);
  return found;
}

function optionsOf(proof: Proof): PlayOptions {
  const known = { seed: 0, story: undefined, strike: "{}", ...proof };
  const kinds = { routed: false, lasting: false, shards: false, watch: false, ...proof };
  const brief = { lines: "1", full: false, brief: true, "keep-going": false };
  return {
    ...brief,
    stories: false,
    seeds: "1",
    from: "1",
    seed: `${known.seed}`,
    ipv6: false,
    families: false,
    routed: kinds.routed,
    lasting: kinds.lasting,
    shards: kinds.shards,
    watch: kinds.watch,
    story: known.story,
    strike: known.strike,
  };
}
