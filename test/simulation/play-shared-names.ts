import { playSharedName } from "./shared-names.ts";

/** Which histories to play, as the command line says it. */
interface PlayOptions {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string | undefined;
  readonly "keep-going": boolean;
}

/** Plays seeded histories of a name that two clusters share, and tells which broke a promise. Returns true when all promises held. */
export async function playSharedNames(options: PlayOptions): Promise<boolean> {
  const from = Number(options.seed ?? options.from);
  const count = options.seed === undefined ? Number(options.seeds) : 1;
  const startedMs = performance.now();
  let played = 0;
  let brokenOnes = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    const broken = await playSharedName(seed);
    played += 1;
    if (broken.length === 0) continue;
    brokenOnes += 1;
    for (const promise of broken) print(`seed ${seed}: ${promise}`);
    if (options["keep-going"]) continue;
    print(`\nnpm run simulate -- --shared --seed ${seed}`);
    break;
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  print(`${played} histories of a shared name from ${from}: ${brokenOnes} broke a promise; ${seconds} s`);
  return brokenOnes === 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
