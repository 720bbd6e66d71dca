import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../model/errors.ts";

/** The example world, as it is copied. */
const EXAMPLE = new URL("./example/", import.meta.url);

/**
 * Makes a directory the home of a world: a new or empty one is filled with the example, one that has a world is left alone.
 *
 * @throws ConfigError when it cannot be made or read, or when it holds files but no world.
 */
export function prepareDirectory(dir: string): void {
  const present = listVisible(dir);
  const files = readdirSync(EXAMPLE).filter((name) => name.endsWith(".yaml"));
  if (files.some((name) => present.includes(name))) return;
  if (present.length > 0) {
    const shown = present.slice(0, 3).join(", ");
    throw new ConfigError(
      "usage",
      `cannot use ${dir} as a sandbox: it holds other files (${shown}); name a new or an empty directory`,
    );
  }
  for (const name of files) copyFileSync(new URL(name, EXAMPLE), join(dir, name));
}

function listVisible(dir: string): readonly string[] {
  try {
    mkdirSync(dir, { recursive: true });
    return readdirSync(dir).filter((name) => !name.startsWith("."));
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "it is a file" : message;
    throw new ConfigError("usage", `cannot use ${dir} as a sandbox: ${why}; name a directory that can be written`, {
      cause: error,
    });
  }
}
