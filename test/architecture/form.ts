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
