import { type Palette, PLAIN } from "../report/palette.ts";

/** Returns the palette for a stream; the colour library is loaded only when there is colour. */
export async function loadPalette(isColoured: boolean): Promise<Palette> {
  if (!isColoured) return PLAIN;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return {
    strong: (text) => chalk.bold(text),
    faint: (text) => chalk.dim(text),
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    notable: (text) => chalk.yellow(text),
  };
}
