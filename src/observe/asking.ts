import { ProviderError, type Refusal } from "../model/errors.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { formatTime } from "../model/time.ts";
import type { ProviderAccess } from "../ports/providers.ts";
import type { ReusableFacts } from "./reusable-facts.ts";

/** What every reading of a provider is made with. */
export interface AskOptions<P> {
  readonly name: string;
  readonly access: ProviderAccess<P>;
  /** What each provider can do. */
  readonly registry: ProviderRegistry;
  /** No call before this time, as an earlier run was told; milliseconds of the API server's clock. */
  readonly notBeforeMs: number | undefined;
  /** The API server's clock, milliseconds. */
  readonly nowMs: number;
  /** How far it is ahead of the local one at this moment, milliseconds: providers' times are local, an observation's are the server's. */
  readonly skewMs: () => number;
  /** What earlier passes of this process left. Absent = everything is read. */
  readonly reusable?: ReusableFacts | undefined;
}

/** Why a provider may not be asked at all in this pass: no token, or it asked for no calls until later; undefined when it may. Pure. */
export function unusableWhy({
  name,
  access,
  notBeforeMs,
  nowMs,
}: Pick<AskOptions<unknown>, "name" | "access" | "notBeforeMs" | "nowMs">): Refusal | undefined {
  if (access.kind === "no-token")
    return {
      kind: "no-access",
      message: `provider "${name}" cannot be used: ${access.emptyFile ?? `set ${access.variables.join(" or ")}`}`,
    };
  if (notBeforeMs === undefined || notBeforeMs <= nowMs) return undefined;
  const message = `${name} asked for no calls until ${formatTime(notBeforeMs)}`;
  return { kind: "rate-limited", message, notBeforeMs };
}

/**
 * Why a provider cannot be used after it refused a token or asked for no more calls.
 * @param skewMs - how far the API server's clock was ahead of the local one then: providers' times are local, an observation's are the server's.
 */
export function refusalOf(error: ProviderError, skewMs: number): Refusal {
  if (error.failure !== "rate-limited") return { kind: "no-access", message: error.message };
  const common = { kind: "rate-limited" as const, message: error.message };
  return error.notBeforeMs === undefined ? common : { ...common, notBeforeMs: error.notBeforeMs + skewMs };
}

/**
 * How far the API server's clock was ahead of the local one when an error came, milliseconds. What an answer said in local time is true by the clock of that moment:
 * the local one may leap before the last of the other reads has ended.
 */
export class SkewNotes {
  readonly #skewMs: () => number;
  readonly #noted = new WeakMap<Error, number>();

  constructor(skewMs: () => number) {
    this.#skewMs = skewMs;
  }

  /** Enters an error that has just come. */
  note(error: unknown): void {
    if (error instanceof Error && !this.#noted.has(error)) this.#noted.set(error, this.#skewMs());
  }

  /** As it was when the error was noted; as it is now for any other. */
  of(error: Error): number {
    return this.#noted.get(error) ?? this.#skewMs();
  }
}

/** How many reads are under way at once. */
export const PARALLEL_READS = 4;
/** After so many reads in a row without any answer the provider is taken to be away. */
const UNANSWERED_LIMIT = 3;

/** A reading; `isUnanswered` when nothing came back at all. */
interface Reading {
  readonly kind: string;
  readonly error?: string;
  readonly isUnanswered?: boolean;
}

/**
 * Reads many things of one provider, a few at a time. It is a circuit breaker: after several reads in a row without an answer the provider is taken to be away, and
 * the rest is not asked for, since every call would only wait for its deadline. A failure of the provider as a whole (a read that throws) ends the reading, too. What
 * was read before is kept.
 */
export class CircuitBreaker {
  #unanswered = 0;
  #lastError = "";
  #failure: ProviderError | undefined;
  readonly #skews: SkewNotes | undefined;
  readonly #unansweredLimit: number;

  /**
   * @param skews - enters every failure of the provider as a whole as it comes
   * @param unansweredLimit - after so many reads in a row without any answer the provider is taken to be away
   */
  constructor(skews?: SkewNotes, unansweredLimit: number = UNANSWERED_LIMIT) {
    this.#skews = skews;
    this.#unansweredLimit = unansweredLimit;
  }

  /** The failure of the provider as a whole; undefined when there was none. */
  get failure(): ProviderError | undefined {
    return this.#failure;
  }

  /** Returns each key with its reading, in the order of the keys; what was not asked for is `skipped`, given the last error. */
  async all<T extends Reading>(
    keys: readonly string[],
    read: (key: string) => Promise<T>,
    skipped: (error: string) => T,
  ): Promise<ReadonlyMap<string, T>> {
    const readings = new Map<string, T>(keys.map((key) => [key, skipped("it was not read")]));
    const queue = keys.values();
    const work = async (): Promise<void> => {
      for (const key of queue) readings.set(key, await this.#readOne(key, read, skipped));
    };
    await Promise.all(Array.from({ length: PARALLEL_READS }, work));
    return readings;
  }

  async #readOne<T extends Reading>(
    key: string,
    read: (key: string) => Promise<T>,
    skipped: (error: string) => T,
  ): Promise<T> {
    if (this.#failure !== undefined) return skipped(this.#failure.message);
    if (this.#unanswered >= this.#unansweredLimit) return skipped(this.#lastError);
    const reading = await this.#guard(() => read(key));
    if (reading === undefined) return skipped(this.failure?.message ?? "");
    const isUnanswered = reading.isUnanswered === true;
    this.#unanswered = isUnanswered ? this.#unanswered + 1 : 0;
    if (isUnanswered) this.#lastError = reading.error ?? "";
    return reading;
  }

  async #guard<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#skews?.note(error);
      // Until when to wait must reach later runs, whatever else failed beside it.
      if (this.#failure === undefined || error.failure === "rate-limited") this.#failure = error;
      return undefined;
    }
  }
}
