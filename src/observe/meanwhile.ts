import { ANY_TTL, type ZoneFact } from "../model/dns.ts";
import type { Refusal } from "../model/errors.ts";
import type { KnownFacts, Observation } from "../model/observation.ts";
import { type Enter, followedBy, type Piece } from "./looking.ts";

/** Where an observation has what each kind of piece brings. Whose names are is looked for when a plan asks. */
const FACTS: Readonly<Partial<Record<Piece["kind"], keyof KnownFacts>>> = {
  addresses: "providers",
  names: "dns",
  firewalls: "firewalls",
};

/** What is known of providers that have not answered yet. Of one that is not asked at all it is known why. */
export function unanswered(pieces: readonly Piece[]): KnownFacts {
  const of = <F>(
    kind: Piece["kind"],
    facts: F,
  ): ReadonlyMap<string, F & { readonly name: string; readonly unusable: Refusal }> =>
    new Map(
      pieces
        .filter((one) => one.kind === kind)
        .map(
          ({ provider, unusable = notYet(provider) }) => [provider, { ...facts, name: provider, unusable }] as const,
        ),
    );
  return {
    providers: of("addresses", NO_ADDRESSES),
    dns: of("names", NO_NAMES),
    firewalls: of("firewalls", { limits: { rules: 0, machines: 0 }, firewalls: new Map() }),
  };
}

/**
 * What is known of sources of addresses and of DNS providers that can be used, and that nobody has asked.
 * @param zones - by DNS provider the names of the zones that are taken to be there
 */
export function unasked(sources: readonly string[], zones: ReadonlyMap<string, readonly string[]>): KnownFacts {
  const known = (name: string): readonly [string, ZoneFact] => [name, { kind: "known", zone: { id: name, name } }];
  return {
    providers: new Map(sources.map((name) => [name, { ...NO_ADDRESSES, name }])),
    dns: new Map([...zones].map(([name, own]) => [name, { ...NO_NAMES, name, zones: new Map(own.map(known)) }])),
    firewalls: new Map(),
  };
}

const NO_ADDRESSES = { addresses: new Map(), isComplete: false, readAtMs: 0 };
const NO_NAMES = { ttlRules: ANY_TTL, isBatched: false, zones: new Map(), records: new Map() };

function notYet(provider: string): Refusal {
  return { kind: "unanswered", message: `${provider} has not answered yet`, isAwaited: true };
}

/** The observation in which no answer is waited for any more: a provider that has not answered could not be read. */
export function withoutAwaited(observation: Observation): Observation {
  const each = <F extends Unread>(all: ReadonlyMap<string, F>): ReadonlyMap<string, F> =>
    new Map([...all].map(([provider, facts]) => [provider, givenUp(provider, facts)]));
  const { providers, dns, firewalls } = observation;
  return { ...observation, providers: each(providers), dns: each(dns), firewalls: each(firewalls) };
}

interface Unread {
  readonly unusable?: Refusal;
}

function givenUp<F extends Unread>(provider: string, facts: F): F {
  if (facts.unusable?.isAwaited !== true) return facts;
  return { ...facts, unusable: { kind: "unanswered", message: `${provider} did not answer before the run ended` } };
}

/** The piece, as it is read while what is known stands: what it brings is entered where nothing else was learned meanwhile. @param world - as it is known when the look begins */
export function besideKnown(piece: Piece, world: Observation): Piece {
  const { kind, provider } = piece;
  const facts = FACTS[kind];
  if (facts === undefined) return piece;
  const before = world[facts].get(provider);
  return {
    ...piece,
    async read() {
      const enter = await piece.read();
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
