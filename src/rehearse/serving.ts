import { changesName } from "../model/action-kinds.ts";
import { meantSeconds } from "../model/dns.ts";
import type { NameService } from "../model/plan.ts";
import { compareText } from "../model/resource.ts";
import type { DeadAnswers, NameFate } from "../model/simulation.ts";
import type { Span, Story, View } from "./forward.ts";

/*
 * What clients of names get while a story goes on.
 *
 *   an answer     the addresses that a name shows. Resolvers may hand out an older one until its TTL is over
 *   it is dead    an address that does not answer: its node is not ready or gone, or the address is just moved
 *   no service    there is an answer, the present one or an older one, in which every address is dead; or the name shows nothing any more
 *
 * Between two moments at which something begins, ends or is looked at nothing changes.
 */

/** What the TTL is taken to be where the records do not say it, seconds. */
const USUAL_TTL_SECONDS = 60;

/** Returns what clients of each name got, sorted by name. Of a name that never shows an address nothing is told. Pure. */
export function namesServed(story: Story): readonly NameFate[] {
  const first = new Map<string, NameService>();
  for (const { names } of story.views)
    for (const name of names) if (!first.has(keyOf(name))) first.set(keyOf(name), name);
  const spans = story.steps.flatMap((step) => step.spans);
  const away = awaySpans(spans);
  const cuts = cutsOf(story, spans);
  return [...first]
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([key, name]) =>
      fateOf(name, { answers: answersOf(key, name, story.views, spans), views: seen(key, story.views), away, cuts }),
    );
}

function keyOf({ provider, fqdn }: Pick<NameService, "provider" | "fqdn">): string {
  return `${fqdn} ${provider}`;
}

/** What a name shows from one moment on, and until when resolvers may hand it out. */
interface Answer {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
  readonly fromMs: number;
  /** `Infinity` for the last one. */
  readonly untilMs: number;
}

/** What is known of one name at one moment. */
interface Sight {
  readonly atMs: number;
  readonly isWithinPass: boolean;
  /** Addresses that it shows, or has shown. */
  readonly known: ReadonlySet<string>;
  readonly serving: ReadonlySet<string>;
}

interface Facts {
  readonly answers: readonly Answer[];
  readonly views: readonly Sight[];
  /** Address → when it is changed at its provider. */
  readonly away: ReadonlyMap<string, readonly Span[]>;
  readonly cuts: readonly number[];
}

function seen(key: string, views: readonly View[]): readonly Sight[] {
  return views.flatMap(({ atMs, names, isWithinPass = false }) =>
    names
      .filter((name) => keyOf(name) === key)
      .map(({ shown, serving, takenOut = [] }) => ({
        atMs,
        isWithinPass,
        known: new Set([...shown, ...takenOut.map(({ ip }) => ip)]),
        serving: new Set([...serving, ...takenOut.flatMap(({ ip, isServing }) => (isServing ? [ip] : []))]),
      })),
  );
}

function awaySpans(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const all = spans.flatMap((span) => ("ip" in span.action ? [[span.action.ip, span] as const] : []));
  return new Map([...Map.groupBy(all, ([ip]) => ip)].map(([ip, own]) => [ip, own.map(([, span]) => span)]));
}

/** Every moment at which something may change, ascending; that resolvers forget is added for each name. */
function cutsOf({ views }: Story, spans: readonly Span[]): readonly number[] {
  return [...views.map(({ atMs }) => atMs), ...spans.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs])];
}

function answersOf(key: string, first: NameService, views: readonly View[], spans: readonly Span[]): readonly Answer[] {
  const own = spans.flatMap(({ action, untilMs }) =>
    changesName(action) && keyOf({ provider: action.dnsProvider, fqdn: action.fqdn }) === key
      ? [{ action, untilMs }]
      : [],
  );
  // A TTL that the provider decides stays its own, whatever is written.
  const decided = own[0]?.action.cachedSeconds;
  const writes = own.map(({ action: { after }, untilMs }) => ({
    fromMs: untilMs,
    addresses: after.addresses,
    ttlSeconds: decided ?? after.ttlSeconds,
  }));
  const ttlSeconds = first.ttlSeconds ?? decided;
  const all = [{ fromMs: views[0]?.atMs ?? 0, addresses: first.shown, ttlSeconds }, ...writes];
  return all
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .map(({ fromMs, addresses, ttlSeconds: ttl = USUAL_TTL_SECONDS }, at, sorted) => {
      const next = sorted[at + 1];
      const keptSeconds = meantSeconds(ttl);
      const untilMs = next === undefined ? Number.POSITIVE_INFINITY : next.fromMs + keptSeconds * 1000;
      return { addresses, ttlSeconds: keptSeconds, fromMs, untilMs };
    });
}

function fateOf(name: NameService, facts: Facts): readonly NameFate[] {
  const { answers } = facts;
  if (answers.every(({ addresses }) => addresses.length === 0)) return [];
  const forgotten = answers.map(({ untilMs }) => untilMs).filter(Number.isFinite);
  const cuts = [...new Set([...facts.cuts, ...forgotten])].toSorted((a, b) => a - b);
  const moments = cuts.map((atMs, at) => ({ ...momentOf(atMs, facts), ms: (cuts[at + 1] ?? atMs) - atMs }));
  const lengthOf = (isMeant: (moment: Moment) => boolean): number =>
    moments.filter(isMeant).reduce((sum, { ms }) => sum + ms, 0);
  const last = moments.at(-1);
  const lasting = moments.filter((moment) => moment.ms > 0 || moment === last);
  const { dead, of } = lasting.reduce(worse, FINE);
  const told: DeadAnswers = { dead, of, ms: lengthOf((moment) => moment.dead > 0), isLasting: (last?.dead ?? 0) > 0 };
  const ttls = answers.filter(({ addresses }) => addresses.length > 0).map(({ ttlSeconds }) => ttlSeconds);
  return [
    {
      provider: name.provider,
      fqdn: name.fqdn,
      ttlSeconds: Math.max(...ttls),
      unservedMs: lengthOf(({ isUnserved }) => isUnserved),
      isUnservedAtEnd: last?.isUnserved ?? false,
      ...(dead === 0 ? {} : { dead: told }),
    },
  ];
}

/** So many addresses of one answer are dead. */
interface Dead {
  readonly dead: number;
  readonly of: number;
}

interface Moment extends Dead {
  readonly isUnserved: boolean;
}

const FINE: Dead = { dead: 0, of: 1 };

function worse<D extends Dead>(a: D, b: D): D {
  return b.dead / b.of > a.dead / a.of ? b : a;
}

/** What clients of a name get at one moment: of the answers that are handed out the worst. */
function momentOf(atMs: number, facts: Facts): Moment {
  const begun = facts.answers.filter(({ fromMs }) => fromMs <= atMs);
  const isEmptied = begun.at(-1)?.addresses.length === 0 && begun.some(({ addresses }) => addresses.length > 0);
  const handedOut = begun
    .filter(({ untilMs, addresses }) => untilMs > atMs && addresses.length > 0)
    .map(({ addresses }) => {
      const dead = addresses.filter((ip) => !isAnswering(ip, atMs, facts)).length;
      return { dead, of: addresses.length };
    });
  const isUnserved = isEmptied || handedOut.some(({ dead, of }) => dead === of);
  return { isUnserved, ...handedOut.reduce(worse, FINE) };
}

/**
 * True for an address that answers at a moment, as it was seen last. While it is changed at its provider it answers nobody; what became of that shows in the first view
 * behind it.
 */
function isAnswering(ip: string, atMs: number, { views, away }: Facts): boolean {
  const spans = away.get(ip) ?? [];
  if (spans.some(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)) return false;
  const changedMs = Math.max(
    Number.NEGATIVE_INFINITY,
    ...spans.map(({ untilMs }) => untilMs).filter((ms) => ms <= atMs),
  );
  const last = views.findLast((view) => view.atMs <= atMs && view.known.has(ip));
  const isOld = last === undefined || last.atMs < changedMs || (last.isWithinPass && last.atMs <= changedMs);
  if (!isOld) return last.serving.has(ip);
  const since = Math.max(changedMs, last === undefined ? Number.NEGATIVE_INFINITY : last.atMs);
  const next = views.find((view) => view.atMs >= since && !view.isWithinPass && view.known.has(ip));
  return (next ?? last)?.serving.has(ip) ?? false;
}
