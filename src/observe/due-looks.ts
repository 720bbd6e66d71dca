import type { KnownFacts, Observation } from "../model/observation.ts";
import { type Enter, followedBy, type Looking, type Piece, pieceKey } from "./looking.ts";
import { unanswered } from "./observe.ts";
import type { ReusableFacts } from "./reusable-facts.ts";

/** Where an observation has what each kind of piece brings. Whose names are is looked for when a plan asks. */
const FACTS: Readonly<Partial<Record<Piece["kind"], keyof KnownFacts>>> = {
  addresses: "providers",
  names: "dns",
  firewalls: "firewalls",
};

/**
 * The looks of one pass at what it knows already, while it waits for something that may take much longer:
 *
 *   due    what is moving, or could not be read, once its wait is over. Nobody waits for such a look.
 *   more   what objects ask for now that have changed since the pass began. Until it is there nothing is known of it, as at the beginning.
 *
 * What they bring is entered where nothing else was learned meanwhile.
 */
export class DueLooks {
  readonly #looking: Looking;
  readonly #reusable: ReusableFacts;
  readonly #pieces: (world: Observation) => readonly Piece[];
  #mayAskMore = false;

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

  /** True when objects ask for more, and it has not been asked for yet: it is, as soon as its provider has answered what it was asked before. */
  get mayAskMore(): boolean {
    return this.#mayAskMore;
  }

  /** As {@link begin}, for objects that have changed. */
  askMore(world: Observation): Observation {
    this.#mayAskMore = true;
    return this.begin(world);
  }

  /** Begins to look at what is due, and at more. Returns the world, in which providers that were not asked before have not answered. @param world - what the pass knows by now */
  begin(world: Observation): Observation {
    const looking = this.#looking;
    this.#reusable.keep(world, looking);
    const pieces = this.#pieces(world);
    const isMore = (piece: Piece): boolean => this.#mayAskMore && looking.askedOf(pieceKey(piece)) !== piece.asked;
    const isDue = (piece: Piece): boolean => this.#reusable.dueInMs((key) => key === pieceKey(piece)) === 0;
    const isFree = (piece: Piece): boolean => !looking.isLookingAt(pieceKey(piece));
    const [more, due] = [pieces.filter(isMore), pieces.filter((piece) => !isMore(piece) && isDue(piece))];
    const known = withUnanswered(world, more);
    for (const piece of more.filter(isFree)) looking.also(onceMore(piece, "more", known));
    for (const piece of due.filter(isFree)) looking.also(onceMore(piece, "due", known));
    this.#mayAskMore = pieces.some(isMore);
    return known;
  }
}

/** The world in which those of the providers that nobody has asked before have not answered yet. */
function withUnanswered(world: Observation, pieces: readonly Piece[]): Observation {
  const waiting = unanswered(pieces);
  return {
    ...world,
    providers: new Map([...waiting.providers, ...world.providers]),
    dns: new Map([...waiting.dns, ...world.dns]),
    firewalls: new Map([...waiting.firewalls, ...world.firewalls]),
  };
}

/** The piece as it is read while a pass goes on. @param world - as it is known when the look begins */
function onceMore({ kind, provider, asked, read }: Piece, part: "more" | "due", world: Observation): Piece {
  const facts = FACTS[kind];
  const before = facts === undefined ? undefined : world[facts].get(provider);
  return {
    kind,
    provider,
    part,
    asked,
    isBeside: part === "due",
    async read() {
      const enter = await read();
      if (facts === undefined) return enter;
      return followedBy(entering(facts, provider, before, enter(world)[facts].get(provider)), enter.next);
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
