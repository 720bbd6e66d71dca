import { type Source, withoutComments } from "./sources.ts";

/** Where facts about reasons and kinds of actions are kept. */
const TABLES: readonly string[] = ["src/model/reason.ts", "src/model/action-kinds.ts", "src/model/action.ts"];

/** Files that compare a reason although they neither render it nor own the table, sorted. A reason explains: a `kind` or a typed field steers. */
export function comparedReasons(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) => {
    const mayCompare = path.startsWith("src/report/") || path === "src/model/reason.ts" || !isOurs(path);
    return mayCompare || !COMPARISON.test(withoutComments(text)) ? [] : [path];
  });
}

const COMPARISON =
  /(?<!signal\.)\breason\)?\s*[!=]==(?! undefined)|[!=]== "[A-Z]\w+"\s*[|&]+\s*(?:\w+\.)*reason\b|\bswitch \((?:\w+\??\.)*reason\)|\.(?:has|includes)\((?:\w+\??\.)*reason\)/;

/** Tables, sets and tests that know reasons or kinds of actions beside the two tables of the model, one sentence each. */
export function secondTables(sources: readonly Source[]): readonly string[] {
  return sources
    .filter(({ path }) => isOurs(path) && !TABLES.includes(path))
    .flatMap(({ path, text }) => {
      const code = withoutComments(text);
      return SECOND.flatMap(([what, pattern]) => (pattern.test(code) ? [`${path} ${what}`] : []));
    });
}

const KEY = String.raw`(?:Reason|ActionKind|(?:Action|Hold)\["kind"\])`;

const SECOND: readonly (readonly [string, RegExp])[] = [
  ["has a table of reasons or kinds that need not be complete", new RegExp(String.raw`Partial<Record<${KEY}\b`)],
  ["has a set of reasons or kinds", new RegExp(`Set<${KEY}>`)],
  ["tells a kind by the end of its name", /\.endsWith\("-/],
  ["tells a kind by the fields it has", /"\w+" in action\b(?!\.)/],
  ["casts to a reason or a kind", /\bas (?:Reason|ActionKind)\b/],
  ["casts an action", /\baction as never\b/],
];

/** The rooms where reasons and actions are our own: Kubernetes and HTTP have reasons, too. */
function isOurs(path: string): boolean {
  return !path.startsWith("src/adapters/") && !path.startsWith("src/sandbox/");
}
