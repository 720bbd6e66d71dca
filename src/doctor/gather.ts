import { ConfigError, KubeError, type KubeFailure, ProviderError } from "../model/errors.ts";
import { type Clock, within } from "../ports/system.ts";
import type { Answer, Answers, Facts, Unread } from "./facts.ts";

/** How each fact is read. Each throws what cannot be read, with a text for people. */
export type Sources = {
  readonly [K in keyof Facts]: {
    readonly read: () => Promise<Facts[K]>;
    /** True where it rests on other facts, and is read after them. */
    readonly isLate?: true;
  };
};

/** The longest time for one fact, milliseconds. */
export const FACT_MS = 5000;

/** Reads the facts that are wanted, each for at most five seconds: first those that rest on nothing, all at once, then the others. @throws what is a bug */
export async function gather(
  sources: Sources,
  wanted: ReadonlySet<keyof Facts>,
  clock: Clock,
  limitMs: number = FACT_MS,
): Promise<Answers> {
  const names = [...wanted];
  const ask = async (name: keyof Facts): Promise<readonly [keyof Facts, Answer<unknown>]> => [
    name,
    await answerOf<unknown>(sources[name].read, clock, limitMs),
  ];
  const early = await Promise.all(names.filter((name) => sources[name].isLate !== true).map(ask));
  const late = await Promise.all(names.filter((name) => sources[name].isLate === true).map(ask));
  return Object.fromEntries([...early, ...late]) as Answers;
}

/** What may come of reading; everything else is a bug. */
const FAILURES = [ConfigError, KubeError, ProviderError];

async function answerOf<T>(read: () => Promise<T>, clock: Clock, limitMs: number): Promise<Answer<T>> {
  const startMs = clock.monotonicMs();
  const taken = (): number => Math.round(clock.monotonicMs() - startMs);
  try {
    const value = await within(clock, limitMs, read());
    if (value === "late")
      return { ms: taken(), error: `there was no answer within ${limitMs / 1000} s`, silence: "too slow" };
    return { ms: taken(), value };
  } catch (error) {
    if (!FAILURES.some((failure) => error instanceof failure)) throw error;
    return { ms: taken(), error: (error as Error).message, ...kindOf(error) };
  }
}

/** The failures of an API server that serves nobody, or nobody with these credentials. */
const SILENCES: ReadonlyMap<KubeFailure, NonNullable<Unread["silence"]>> = new Map([
  ["unauthorized", "no answer"],
  ["unavailable", "no answer"],
  ["malformed", "no answer"],
  ["timeout", "too slow"],
] as const);

function kindOf(error: unknown): Omit<Unread, "error"> {
  if (error instanceof ConfigError && error.kind === "invalid") return { isWrongSetting: true };
  const silence = error instanceof KubeError ? SILENCES.get(error.failure) : undefined;
  return silence === undefined ? {} : { silence };
}
