import { registerHooks } from "node:module";
import type { Mutation } from "./mutations.ts";

/** Whatever is imported from now on has the bug: its piece of the sources is replaced as the file is loaded. @throws Error when its place is gone */
export function plantBug(bug: Mutation): void {
  const url = new URL(`../../${bug.file}`, import.meta.url).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const answer = nextLoad(loaded, context);
      return loaded === url ? { ...answer, source: withBug(String(answer.source), bug) } : answer;
    },
  });
}

/** The text of the bug's file, with the bug. @throws Error when its place is gone */
export function withBug(text: string, { file, find, replace }: Mutation): string {
  if (text.split(find).length !== 2) throw new Error(`the place of the bug in ${file} is gone`);
  return text.replace(find, () => replace);
}
