/** Which histories to play, as the command line says it. */
interface PlayOptions {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string | undefined;
  readonly "keep-going": boolean;
  /** True: of a name that another controller wants, too. */
  readonly contested: boolean;
  /** True: of pools at Hetzner. Without both: of a name that two clusters share. */
  readonly hetzner: boolean;
  /** True: the pools at Hetzner have twins of IPv6. */
  readonly families: boolean;
}

/** Plays seeded histories of one name, or of pools at Hetzner, and tells which broke a promise. Returns true when all promises held. */
export async function playNames(options: PlayOptions): Promise<boolean> {
  const { kind, flag, play } = await played(options);
  const from = Number(options.seed ?? options.from);
  const count = options.seed === undefined ? Number(options.seeds) : 1;
  const startedMs = performance.now();
  let histories = 0;
  let brokenOnes = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    const broken = await play(seed);
    histories += 1;
    if (broken.length === 0) continue;
    brokenOnes += 1;
    for (const promise of broken) print(`seed ${seed}: ${promise}`);
    if (options["keep-going"]) continue;
    print(`\nnpm run play -- ${flag} --seed ${seed}`);
    break;
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  print(`${histories} histories of ${kind} from ${from}: ${brokenOnes} broke a promise; ${seconds} s`);
  return brokenOnes === 0;
}

interface Played {
  readonly kind: string;
  readonly flag: string;
  readonly play: (seed: number) => Promise<readonly string[]>;
}

async function played({ contested, hetzner, families }: PlayOptions): Promise<Played> {
  if (hetzner) {
    const { playHetznerPools } = await import("./hetzner-pools.ts");
    return families
      ? {
          kind: "pools of both families at Hetzner",
          flag: "--hetzner --families",
          play: (seed) => playHetznerPools(seed, ["IPv4", "IPv6"]),
        }
      : { kind: "pools at Hetzner", flag: "--hetzner", play: (seed) => playHetznerPools(seed) };
  }
  return contested
    ? { kind: "a contested name", flag: "--contested", play: (await import("./contested-names.ts")).playContestedName }
    : { kind: "a shared name", flag: "--shared", play: (await import("./shared-names.ts")).playSharedName };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
