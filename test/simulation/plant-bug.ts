import { registerHooks } from "node:module";
import type { Mutation } from "./mutations.ts";

/** Whatever is imported from now on has the bug: its piece of the sources is replaced as the file is loaded. @throws Error when its place is gone */
export function plantBug({ file, find, replace }: Mutation): void {
  const url = new URL(`../../${file}`, import.meta.url).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const answer = nextLoad(loaded, context);
      if (loaded !== url) return answer;
      const source = String(answer.source);
      if (source.split(find).length !== 2) throw new Error(`the place of the bug in ${file} is gone`);
      return { ...answer, source: source.replace(find, () => replace) };
    },
  });
}
