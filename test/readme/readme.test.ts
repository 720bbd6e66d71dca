import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { importsOf, readSources } from "../architecture/sources.ts";
import { freshPage, MANUAL, manualTables, processTable, readPage } from "./tables.ts";

const ROOT = new URL("../../", import.meta.url);

/** The longest that whoever stands at the door reads, lines. */
const MOST_LINES = 250;

/** Where a heading of GitHub's pages is linked to. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

test.for(MANUAL)("the tables of %s are those of the code (npm run docs makes them)", async (path) => {
  const more = { "process-metrics": await processTable() };
  expect(freshPage(readPage(path), more) === readPage(path)).toBe(true);
});

test("every table has its place on one page of the manual", () => {
  for (const name of Object.keys(manualTables()))
    expect(MANUAL.filter((path) => readPage(path).includes(`<!-- generated: ${name} -->`))).toHaveLength(1);
});

test("the door is no longer than somebody reads", () => {
  expect(readPage("README.md").split("\n").length - 1).toBeLessThanOrEqual(MOST_LINES);
});

test.for(MANUAL)("every link of %s leads to a page and a heading that are there", (path) => {
  const links = [...readPage(path).matchAll(/\]\(([^)]+)\)/g)].flatMap(([, link]) => link ?? []);
  const broken = links.filter((link) => {
    if (link.startsWith("https://")) return false;
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? new URL(path, ROOT) : new URL(file, new URL(path, ROOT));
    if (!existsSync(target)) return true;
    const page = readPage(target.href.slice(ROOT.href.length));
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
    return anchor !== undefined && !headings.includes(anchor);
  });
  expect(broken).toEqual([]);
});

/** A file of a walk, by its path from the root, with the file that calls it; undefined for the first of a walk. */
interface Step {
  readonly file: string;
  readonly caller: string | undefined;
}

function stepsOf(page: string): readonly Step[] {
  const callers: string[] = [];
  return [...page.matchAll(/^( *)- `([^`]+)`/gm)].map(([, indent = "", path = ""]) => {
    const depth = indent.length / 2;
    callers.length = depth;
    callers[depth] = `src/${path}`;
    return { file: `src/${path}`, caller: callers[depth - 1] };
  });
}

test("the walks of src/README.md go through the sources as they are", () => {
  const steps = stepsOf(readPage("src/README.md"));
  expect(steps.length).toBeGreaterThan(30);
  const sources = new Map(readSources("src").map((source) => [source.path, source]));
  const wrong = steps.filter(({ file, caller }) => {
    const source = sources.get(caller ?? file);
    if (source === undefined || !sources.has(file)) return true;
    return caller !== undefined && !importsOf(source).some(({ target }) => target === file);
  });
  expect(wrong).toEqual([]);
});

test("every file that a table of src/README.md names is there", () => {
  const named = [...readPage("src/README.md").matchAll(/^\|.*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path]) => `src/${path}`),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
});
