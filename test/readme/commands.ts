import { readFileSync } from "node:fs";

const ROOT: URL = new URL("../../", import.meta.url);

/**
 * The commands that a page of the manual tells people to type: the lines of a block of code under a heading, without the comments behind them.
 * @param page - from the root of the project
 * @param block - which block of the section, from 0
 */
export function commandsOf(page: string, heading: string, block: number): readonly string[] {
  const text = readFileSync(new URL(page, ROOT), "utf8");
  const [, section = ""] = text.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [own = ""] = section.split(/^#+ /m);
  const code = [...own.matchAll(/^```\n([\s\S]*?)^```$/gm)][block]?.[1] ?? "";
  return code.split("\n").flatMap((line) => line.replace(/ +# .*/, "").trim() || []);
}
