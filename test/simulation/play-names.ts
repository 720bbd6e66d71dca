/** Which histories to play, as the command line says it. */
interface PlayOptions {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string | undefined;
  readonly "keep-going": boolean;
  /** True: of a name that another controller wants, too; else of one that two clusters share. */
  readonly contested: boolean;
}

/** Plays seeded histories of one name, and tells which broke a promise. Returns true when all promises held. */
export async function playNames(options: PlayOptions): Promise<boolean> {
  const [kind, flag] = options.contested ? ["contested", "--contested"] : ["shared", "--shared"];
  const play = await player(options);
  const from = Number(options.seed ?? options.from);
  const count = options.seed === undefined ? Number(options.seeds) : 1;
  const startedMs = performance.now();
  let played = 0;
  let brokenOnes = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    const broken = await play(seed);
    played += 1;
    if (broken.length === 0) continue;
    brokenOnes += 1;
    for (const promise of broken) print(`seed ${seed}: ${promise}`);
    if (options["keep-going"]) continue;
    print(`\nnpm run play -- ${flag} --seed ${seed}`);
    break;
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  print(`${played} histories of a ${kind} name from ${from}: ${brokenOnes} broke a promise; ${seconds} s`);
  return brokenOnes === 0;
}

async function player({ contested }: PlayOptions): Promise<(seed: number) => Promise<readonly string[]>> {
  return contested
    ? (await import("./contested-names.ts")).playContestedName
    : (await import("./shared-names.ts")).playSharedName;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
