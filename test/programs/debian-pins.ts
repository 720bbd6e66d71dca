// Which packages of Debian the tests make images of.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ARCHITECTURES, currentPins, PackageGoneError, packageFiles } from "../../bin/debian.ts";
import { PINS, readPins } from "../../bin/image.ts";

/**
 * Returns a file of packages that can be had: the one of the sources, or one in `folder` with what Debian has now, once it no longer gives what the sources name. The sources
 * need a change then, which says so on stderr; an image can be made and tested all the same. Fetches what is not kept yet.
 */
export async function usablePins(folder: string): Promise<string> {
  const pins = readPins();
  try {
    for (const architecture of ARCHITECTURES) await packageFiles(pins[architecture], pins.asOf);
    return PINS;
  } catch (error) {
    if (!(error instanceof PackageGoneError)) throw error;
    process.stderr.write(`\n*** ${error.message} ***\n\n`);
    const file = join(folder, "pins.json");
    writeFileSync(file, JSON.stringify(await currentPins()));
    return file;
  }
}
