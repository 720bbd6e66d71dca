import type { KnownFacts, Observation } from "../model/observation.ts";
import { type Enter, type Looking, type Piece, pieceKey } from "./looking.ts";
import type { ReusableFacts } from "./reusable-facts.ts";

/** Where an observation has what each kind of piece brings. Whose names are is looked for when a plan asks. */
const FACTS: Readonly<Partial<Record<Piece["kind"], keyof KnownFacts>>> = {
  addresses: "providers",
  names: "dns",
  firewalls: "firewalls",
};

/**
 * The looks of one pass at what is moving, or could not be read, once its wait is over: what the pass waits for may take much longer. Nobody waits for such a look. What it
 * brings is entered where nothing else was learned meanwhile.
 */
export class DueLooks {
  readonly #looking: Looking;
  readonly #reusable: ReusableFacts;
  readonly #pieces: (world: Observation) => readonly Piece[];

  /** @param pieces - what the objects of a world ask of each provider */
  constructor(looking: Looking, reusable: ReusableFacts, pieces: (world: Observation) => readonly Piece[]) {
    this.#looking = looking;
    this.#reusable = reusable;
    this.#pieces = pieces;
  }

  /** Milliseconds until something is due that nobody is looking at, at least 0; undefined when there is nothing. */
  nextInMs(): number | undefined {
    return this.#reusable.dueInMs((piece) => !this.#looking.isLookingAt(piece));
  }

  /** Begins to look at what is due. @param world - what the pass knows by now */
  begin(world: Observation): void {
    this.#reusable.keep(world, this.#looking);
    const isDue = (piece: Piece): boolean =>
      !this.#looking.isLookingAt(pieceKey(piece)) && this.#reusable.dueInMs((key) => key === pieceKey(piece)) === 0;
    for (const piece of this.#pieces(world).filter(isDue)) {
      const facts = FACTS[piece.kind];
      if (facts !== undefined) this.#looking.also(beside(piece, facts, world));
    }
  }
}

/** The piece as it is read beside what a pass does. @param world - as it is known when the look begins */
function beside({ kind, provider, read }: Piece, facts: keyof KnownFacts, world: Observation): Piece {
  const before = world[facts].get(provider);
  return {
    kind,
    provider,
    part: "due",
    asked: "",
    isBeside: true,
    async read() {
      const found = (await read())(world)[facts].get(provider);
      return entering(facts, provider, before, found);
    },
  };
}

function entering(
  facts: keyof KnownFacts,
  provider: string,
  before: object | undefined,
  found: object | undefined,
): Enter {
  return (observation) => {
    const known = new Map<string, unknown>(observation[facts]);
    const now = observation[facts].get(provider);
    if (before === undefined || found === undefined || now === undefined) return observation;
    known.set(provider, Object.fromEntries(merged(fields(before), fields(found), fields(now))));
    return { ...observation, [facts]: known };
  };
}

type Values = ReadonlyMap<unknown, unknown>;

function fields(facts: object): Values {
  return new Map(Object.entries(facts));
}

/** What was found, where what is known now is what was known before; else what is known now. */
function merged(before: Values, found: Values, now: Values): ReadonlyMap<string, unknown>;
function merged(before: Values, found: Values, now: Values): Values {
  const keys = new Set([...found.keys(), ...now.keys()]);
  return new Map(
    [...keys].flatMap((key): readonly (readonly [unknown, unknown])[] => {
      const value = newest(before.get(key), found.get(key), now.get(key));
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function newest(before: unknown, found: unknown, now: unknown): unknown {
  if (now === before) return found;
  const areMaps = before instanceof Map && found instanceof Map && now instanceof Map;
  return areMaps ? merged(before, found, now) : now;
}
