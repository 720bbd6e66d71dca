import { type Source, withoutComments } from "./sources.ts";

/** Files with more lines than `most`, one sentence each. */
export function longFiles(sources: readonly Source[], most: number): readonly string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split("\n").length;
    return lines > most ? [`${path} has ${lines} lines, more than ${most}`] : [];
  });
}

/** Exports without a docstring right before them, one sentence each. */
export function undocumentedExports(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.split("\n");
    return lines.flatMap((line, at) => {
      const name =
        /^export (?:default |abstract |async |declare )*(?:function\*?|const|class|interface|type|let) (\w+)/.exec(
          line,
        )?.[1];
      const before = lines.slice(0, at).findLast((earlier) => !earlier.startsWith("//"));
      return name === undefined || before?.trimEnd().endsWith("*/") ? [] : [`${path}: ${name} has no docstring`];
    });
  });
}

/** Files that write a time in a way that throws for what is none, one sentence each. */
export function throwingTimes(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) =>
    path !== "src/model/time.ts" && text.includes(".toISOString(") ? [`${path} writes a time without formatTime`] : [],
  );
}

/**
 * Tables that are plain objects although their keys are any text, and lookups in `status.ips` by other ways than `entryOf`, one
 * sentence each. A text such as `constructor` finds something in every plain object, and `__proto__` cannot be written into one.
 */
export function textKeyedObjects(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) => {
    const code = withoutComments(text);
    const tables = [...code.matchAll(/\bconst (\w+): (?:Readonly<)?(?:Partial<)?Record<string,[^=]*> = \{/g)];
    const lookups = path === "src/model/address.ts" ? [] : [...code.matchAll(/\bips\??\.?\[[a-z]/g)];
    return [
      ...tables.map(([, name]) => `${path}: ${name} is a plain object whose keys are texts: make it a Map`),
      ...lookups.map(() => `${path} looks an address up in status.ips: use entryOf`),
    ];
  });
}

/**
 * Planner files beside `guards.ts` that take an action out of a plan, or let it wait for others, one sentence each. A name's own writes are the exception: a withdrawal
 * and the write after it are made together.
 */
export function strayGuards(sources: readonly Source[]): readonly string[] {
  const allowed = ["src/plan/guards.ts", "src/plan/names/withdrawals.ts"];
  return sources
    .filter(({ path }) => path.startsWith("src/plan/") && !allowed.includes(path))
    .flatMap(({ path, text }) => {
      const code = withoutComments(text);
      const waits = /(?:requires|follows): \[[^\]]*\.\.\.(?:action|write|one)\.(?:requires|follows)/.test(code);
      const drops = /\bactions\.filter\(\(\{ id\b|\brequires\.(?:some|includes)\(/.test(code);
      return waits || drops ? [`${path} drops or delays actions: make it a guard of src/plan/guards.ts`] : [];
    });
}
