import type { Refusal } from "../model/errors.ts";
import type { Observation } from "../model/observation.ts";
import { type Clock, within } from "../ports/system.ts";

/** Enters what was read into an observation. Pure. */
export interface Enter {
  (observation: Observation): Observation;
  /** The piece that is read once this one has arrived. Absent = none. */
  readonly next?: Piece;
}

/** Returns the same entry, with the piece that is read after it. */
export function followedBy(enter: Enter, next: Piece | undefined): Enter {
  const entry = (observation: Observation): Observation => enter(observation);
  return next === undefined ? enter : Object.assign(entry, { next });
}

/** What is read by itself: everything of one kind at one provider. */
export interface Piece {
  readonly kind: "addresses" | "limit" | "names" | "owners" | "owners-late" | "firewalls";
  readonly provider: string;
  /** What of the provider it is about; absent = all of it. */
  readonly part?: string;
  /** True for what a pass looks at once more, see {@link DueLooks}: it knows of it already, and waits for nothing. */
  readonly isBeside?: boolean;
  /** What is asked for, as a text: where a reading of the same has begun already, that is waited for instead. */
  readonly asked: string;
  /** Why the provider is not asked at all, such as for want of a token: that is known before it is read. Absent = it is asked. */
  readonly unusable?: Refusal | undefined;
  /** Never throws for a provider's failure. */
  readonly read: () => Promise<Enter>;
}

/** A reading that has begun. */
interface Reading {
  readonly asked: string;
  readonly end: Promise<Enter>;
  isAnswered: boolean;
}

/** The readings that a process has begun and no pass has taken: a pass that ends before a provider answers leaves its reading to the next, which does not ask anew. */
export class Readings {
  readonly #begun = new Map<string, Reading>();

  /** Forgets them all: what is asked from now on is read anew. */
  forget(): void {
    this.#begun.clear();
  }

  /** True when a reading of the same has begun and has no answer yet. */
  isAwaited(piece: Piece): boolean {
    const reading = this.#begun.get(pieceKey(piece));
    return reading?.asked === piece.asked && !reading.isAnswered;
  }

  /** Waits for the reading of the same that has begun, or begins one. */
  async of(piece: Piece): Promise<Enter> {
    const before = this.#begun.get(pieceKey(piece));
    const reading = before?.asked === piece.asked ? before : this.#begin(piece);
    this.#begun.set(pieceKey(piece), reading);
    return await reading.end;
  }

  /** Lets go of a reading that a pass has taken: the next one begins anew. */
  taken(piece: Piece): void {
    if (this.#begun.get(pieceKey(piece))?.asked === piece.asked) this.#begun.delete(pieceKey(piece));
  }

  #begin(piece: Piece): Reading {
    const end = piece.read();
    const reading: Reading = { asked: piece.asked, end, isAnswered: false };
    const note = (): void => {
      reading.isAnswered = true;
    };
    end.then(note, note);
    return reading;
  }
}

/** What answers at about the same time is waited for at least so long, milliseconds. */
const SHORTEST_PATIENCE_MS = 50;

/**
 * A look at the providers that goes on while a pass is at work: what they show arrives piece by piece. So a provider that is slow, or hangs, holds up nothing but what
 * needs it.
 */
export class Looking {
  readonly #clock: Clock;
  readonly #readings: Readings;
  /** The pieces that an earlier pass began to read. */
  readonly #old = new Set<Piece>();
  readonly #underWay = new Map<Piece, Promise<void>>();
  readonly #asked = new Map<string, string>();
  #arrived: { readonly piece: Piece; readonly enter: Enter }[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isLeft = false;
  readonly #late: Enter[] = [];
  #taken: Enter[] = [];
  #bell = Promise.withResolvers<void>();

  /** Begins to read the pieces, or waits on for those that an earlier pass began to read. */
  constructor(pieces: readonly Piece[], readings: Readings, clock: Clock) {
    this.#clock = clock;
    this.#readings = readings;
    for (const piece of pieces) this.also(piece);
  }

  /** Begins to read one piece more, or waits on for it. */
  also(piece: Piece): void {
    if (this.#readings.isAwaited(piece)) this.#old.add(piece);
    this.#asked.set(wholeKey(piece), piece.asked);
    this.#underWay.set(piece, this.#follow(piece));
  }

  /** The pieces that have not arrived yet. */
  get underWay(): readonly Piece[] {
    return [...this.#underWay.keys()];
  }

  /** The pieces of which nothing is known yet: nobody has taken them, whether they have arrived or not. */
  get untaken(): readonly Piece[] {
    return this.#open().filter(({ isBeside }) => isBeside !== true);
  }

  /** True when a piece of this kind and provider was not taken yet, whatever part of it. @param key - {@link pieceKey} of the whole */
  isLookingAt(key: string): boolean {
    return this.#open().some((piece) => wholeKey(piece) === key);
  }

  /** Returns what was asked last of a kind and a provider, as {@link Piece.asked}; undefined when nothing was. @param key - {@link pieceKey} of the whole */
  askedOf(key: string): string | undefined {
    return this.#asked.get(key);
  }

  /** True when something has arrived since {@link take}. */
  get hasArrived(): boolean {
    return this.#arrived.length > 0 || this.#failure !== undefined;
  }

  /** Resolves when something has arrived since {@link take}. */
  get arrival(): Promise<void> {
    return this.#bell.promise;
  }

  /** Returns what has arrived since it was last asked. @throws what a reading was rejected with */
  take(): readonly Enter[] {
    if (this.#failure !== undefined) throw this.#failure.error;
    const arrived = this.#arrived.map(({ enter }) => enter);
    this.#arrived = [];
    this.#taken.push(...arrived);
    this.#bell = Promise.withResolvers<void>();
    return arrived;
  }

  /** Takes note that everything that was taken has been entered. */
  entered(): void {
    this.#taken = [];
  }

  /** Waits until everything has arrived, with the pieces that follow. */
  async whole(): Promise<void> {
    while (this.#underWay.size > 0 && !this.#isLeft) await Promise.all(this.#underWay.values());
  }

  /**
   * Waits for the first piece, and for what arrives within as long again. What an earlier pass has waited for already is not waited for.
   *
   * @param mostMs - how long the first piece is waited for, milliseconds; absent = until it arrives
   */
  async firstPieces(mostMs?: number): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    let patienceMs = mostMs;
    for (let left = this.#fresh(); left.length > 0; left = this.#fresh()) {
      const isOver = await this.#isOver(left, patienceMs);
      if (isOver) return;
      patienceMs = Math.max(SHORTEST_PATIENCE_MS, this.#clock.monotonicMs() - startMs);
    }
  }

  /**
   * What has arrived and was not {@link entered}. Nothing is planned on it yet, but what is under way may be judged by it. Once the look was ended nothing is planned on it any
   * more, but a provider may have asked for no calls.
   */
  get unentered(): readonly Enter[] {
    return [...this.#taken, ...this.#arrived.map(({ enter }) => enter), ...this.#late];
  }

  /** Ends the look: what has not arrived is left to the next one. */
  leave(): void {
    this.#isLeft = true;
  }

  #fresh(): readonly Promise<void>[] {
    return [...this.#underWay].flatMap(([piece, end]) => (this.#old.has(piece) ? [] : [end]));
  }

  /** Waits for the next piece; true when the patience ended before. */
  async #isOver(left: readonly Promise<void>[], patienceMs: number | undefined): Promise<boolean> {
    if (patienceMs === undefined) {
      await Promise.race(left);
      return false;
    }
    return (await within(this.#clock, patienceMs, Promise.race(left))) === "late";
  }

  #open(): readonly Piece[] {
    return [...this.#underWay.keys(), ...this.#arrived.map(({ piece }) => piece)];
  }

  async #follow(piece: Piece): Promise<void> {
    try {
      const enter = await this.#readings.of(piece);
      if (this.#isLeft) {
        this.#late.push(enter);
        return;
      }
      this.#arrived.push({ piece, enter });
      const { next } = enter;
      if (next !== undefined && !this.isLookingAt(wholeKey(next))) this.also(next);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#readings.taken(piece);
    this.#underWay.delete(piece);
    this.#bell.resolve();
  }
}

/** Names what is read by itself, whatever is asked of it. */
export function pieceKey({ kind, provider, part = "" }: Pick<Piece, "kind" | "provider" | "part">): string {
  return `${kind} ${provider} ${part}`;
}

function wholeKey({ kind, provider }: Piece): string {
  return pieceKey({ kind, provider });
}
