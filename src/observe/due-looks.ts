import type { Observation } from "../model/observation.ts";
import { type Looking, type Piece, pieceKey } from "./looking.ts";
import { besideKnown, unanswered } from "./meanwhile.ts";
import type { ReusableFacts } from "./reusable-facts.ts";

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
    for (const piece of more.filter(isFree)) looking.also({ ...besideKnown(piece, known), part: "more" });
    for (const piece of due.filter(isFree)) looking.also({ ...besideKnown(piece, known), part: "due", isBeside: true });
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
