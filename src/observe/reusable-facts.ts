import type { AddressFact } from "../model/address.ts";
import type { RecordsFact } from "../model/dns.ts";
import type { Refusal } from "../model/errors.ts";
import type { Firewall } from "../model/firewall.ts";
import type { KnownFacts, Observation } from "../model/observation.ts";
import { WAITS, waitMs } from "../model/waits.ts";
import type { Clock } from "../ports/system.ts";
import { type Looking, type Piece, pieceKey, Readings } from "./looking.ts";
import { wantedAddresses } from "./wanted-addresses.ts";

/**
 * How a subject stands after it was read.
 *
 *   settled  nothing changes it but somebody else, at the provider: found, missing, refused or full. It is read again at the next full look.
 *   moving   the provider is carrying out a change of it.
 *   failed   it could not be read.
 *   refused  a change of it was refused for the token, which may read it all the same.
 */
type ReadState = "settled" | "moving" | "failed" | "refused";

/** A subject that is settled for less than this between two changes, done or refused, goes on with its waits, milliseconds. */
const MOMENT_MS = 60_000;

/** What a provider is asked about: itself, its whole list of addresses, or one thing it has. */
export type FactKind =
  | "addresses"
  | "list"
  | "address"
  | "names"
  | "zone"
  | "records"
  | "owner"
  | "firewalls"
  | "firewall";

/** One subject of one provider, as a key. `name` is `""` for the provider itself and for its list. */
export function factKey(kind: FactKind, provider: string, name = ""): string {
  return `${kind} ${provider} ${name}`;
}

/** A subject as a pass left it. A reading is recognised by its `mark`: the fact itself, or when it was read. */
interface Reading {
  readonly key: string;
  /** {@link pieceKey} of what it is read with. */
  readonly piece: string;
  readonly state: ReadState;
  readonly mark: unknown;
  /** What the cluster says of an address, see {@link WantedAddresses.told}; absent where it says nothing. */
  readonly told?: string | undefined;
  /** The machines that the change under way is about, or where it is; absent where that is not known. */
  readonly machines?: readonly string[] | undefined;
}

interface Entry {
  readonly piece: string;
  readonly state: ReadState;
  readonly mark: unknown;
  /** How many readings in a row had this state; of a settled subject, how many had the state before it. */
  readonly count: number;
  /** Of a settled subject, the state before it. Absent = it has always been settled. */
  readonly former?: ReadState | undefined;
  /** Monotonic milliseconds. */
  readonly readAtMs: number;
  /** Monotonic milliseconds; `Infinity` while it is settled. */
  readonly dueMs: number;
  /** As of the {@link Reading}. */
  readonly told?: string | undefined;
  /** The machines of the last reading that knew them. */
  readonly machines?: readonly string[] | undefined;
}

/** How long after a full look began what was known before it still counts, milliseconds. */
const STANDS_MS = 60_000;

/** What is known of providers when nothing is. */
export const NOTHING_KNOWN: KnownFacts = { providers: new Map(), dns: new Map(), firewalls: new Map() };

/**
 * What one process knows of the providers, from pass to pass. A change of the cluster alone makes nobody ask a provider again: what was found, missing, refused or
 * full is reused until the next full look. What is moving or could not be read is read again by itself, after waits that grow.
 */
export class ReusableFacts {
  /** Those that have begun and that no pass has taken. */
  readonly readings: Readings = new Readings();
  readonly #clock: Clock;
  #facts: KnownFacts = NOTHING_KNOWN;
  /** What was known before the last {@link forget}, but whose names are. With what was learned of a provider while it is read. */
  #former: KnownFacts = NOTHING_KNOWN;
  /** Monotonic milliseconds. */
  #forgottenAtMs = Number.NEGATIVE_INFINITY;
  #entries: ReadonlyMap<string, Entry> = new Map();
  /** By {@link pieceKey}, when it began to be read last, monotonic milliseconds. */
  readonly #lookedAtMs = new Map<string, number>();
  /** Set while another process is waited for: how often in a row, and when everything is read again, monotonic milliseconds. */
  #others: { readonly count: number; readonly dueMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the last pass left; empty before the first one and after {@link forget}. */
  get facts(): KnownFacts {
    return this.#facts;
  }

  /** What was known of a name's records before the last {@link forget}, or is known now; undefined when nothing was. */
  recordsBefore(provider: string, key: string): RecordsFact | undefined {
    const of = ({ dns }: KnownFacts): RecordsFact | undefined => dns.get(provider)?.records.get(key);
    return of(this.#facts) ?? of(this.#former);
  }

  /** What is known of providers, or was before the last {@link forget}; nothing of one of which nothing is, or that is too old to go by. */
  get before(): KnownFacts {
    const isRecent = this.#clock.monotonicMs() < this.#forgottenAtMs + STANDS_MS;
    return isRecent ? together(this.#former, this.#facts) : this.#facts;
  }

  /**
   * Makes the next pass read everything: a full look. The waits of what is not settled go on growing.
   *
   * @param isOther - true where the account may be another one: then nothing that was known stands while it is read
   */
  forget(isOther = false): void {
    this.readings.forget();
    if (this.#facts !== NOTHING_KNOWN) {
      this.#former = { ...this.#facts, dns: withoutOwners(this.#facts.dns) };
      this.#forgottenAtMs = this.#clock.monotonicMs();
    }
    if (isOther) this.#forgottenAtMs = Number.NEGATIVE_INFINITY;
    this.#facts = NOTHING_KNOWN;
  }

  /** True for a subject that was not read yet, or that is not settled and whose wait is over. */
  isDue(key: string): boolean {
    const dueMs = this.#entries.get(key)?.dueMs ?? Number.NEGATIVE_INFINITY;
    return Math.min(dueMs, this.#others?.dueMs ?? dueMs) <= this.#clock.monotonicMs();
  }

  /** Takes note that a piece begins to be read: what is due by now is read with it. */
  look(piece: Pick<Piece, "kind" | "provider">): void {
    this.#lookedAtMs.set(pieceKey(piece), this.#clock.monotonicMs());
  }

  /** Returns what the cluster said of an address when the last pass ended, see {@link WantedAddresses.told}; undefined where it said nothing. */
  toldBefore(key: string): string | undefined {
    return this.#entries.get(key)?.told;
  }

  /** Tells whether something waits for what another process has to do at a provider: then everything is read again, after waits that grow. */
  awaitOthers(isWaiting: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#others;
    if (isWaiting && before !== undefined && before.dueMs > nowMs) return;
    const count = (before?.count ?? 0) + 1;
    this.#others = isWaiting ? { count, dueMs: nowMs + waitMs(WAITS.moving, count - 1) } : undefined;
  }

  /**
   * Takes over the facts of a world as a pass knows it. A subject that was read since the last call, or that was due when its piece was read and was left out, gets its
   * next wait. Of pieces that are still under way what was known before stands, with what the pass has learned since.
   */
  keep(world: Observation, looking?: Pick<Looking, "untaken" | "isLookingAt">): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#facts;
    const underWay = new Set(looking?.untaken.map(pieceKey));
    const addresses = parted("addresses", before.providers, world.providers, underWay);
    const names = parted("names", before.dns, world.dns, underWay);
    const firewalls = parted("firewalls", before.firewalls, world.firewalls, underWay);
    const left = underWay.difference(new Set([addresses, names, firewalls].flatMap(({ standing }) => standing)));
    const owed = { providers: addresses.owed, dns: names.owed, firewalls: firewalls.owed };
    this.#former = together(this.#former, owed);
    this.#facts = { providers: addresses.facts, dns: names.facts, firewalls: firewalls.facts };
    const unchanged = [...this.#entries].filter(([, { piece }]) => left.has(piece));
    const readings = [
      ...unchanged.map(([key, entry]): Reading => ({ ...entry, key })),
      ...readingsOf(world).filter(({ piece }) => !left.has(piece)),
    ];
    this.#entries = new Map(
      readings.map((reading) => {
        const isOpen = looking?.isLookingAt(reading.piece) === true;
        const lookedAtMs = isOpen ? Number.NEGATIVE_INFINITY : (this.#lookedAtMs.get(reading.piece) ?? nowMs);
        return [reading.key, entryOf(reading, this.#entries.get(reading.key), { nowMs, lookedAtMs })];
      }),
    );
  }

  /** Milliseconds until the first subject that is not settled may be read again, at least 0; undefined when all are settled. */
  nextDueInMs(): number | undefined {
    return this.#inMs(
      Math.min(
        this.#others?.dueMs ?? Number.POSITIVE_INFINITY,
        this.#firstDueMs(() => true),
      ),
    );
  }

  /** As {@link nextDueInMs}, of some pieces, by {@link pieceKey}; whatever other processes have to do. */
  dueInMs(isOf: (piece: string) => boolean): number | undefined {
    return this.#inMs(this.#firstDueMs(isOf));
  }

  #firstDueMs(isOf: (piece: string) => boolean): number {
    let firstMs = Number.POSITIVE_INFINITY;
    for (const { piece, dueMs } of this.#entries.values()) if (dueMs < firstMs && isOf(piece)) firstMs = dueMs;
    return firstMs;
  }

  #inMs(dueMs: number): number | undefined {
    return dueMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, dueMs - this.#clock.monotonicMs());
  }
}

/** Facts of one kind, by what becomes of them while pieces are under way. */
interface Parted<F> {
  /** The pieces of which something is known while they are read, by {@link pieceKey}. */
  readonly standing: readonly string[];
  /** What stands only until a full look that is still to come. */
  readonly owed: ReadonlyMap<string, F>;
  /** All else: of pieces that are under way and of which nothing is known now as it was before. */
  readonly facts: ReadonlyMap<string, F>;
}

function parted<F extends { readonly unusable?: Refusal }>(
  kind: Piece["kind"],
  before: ReadonlyMap<string, F>,
  world: ReadonlyMap<string, F>,
  underWay: ReadonlySet<string>,
): Parted<F> {
  const keyOf = (provider: string): string => pieceKey({ kind, provider });
  const isUnderWay = (provider: string): boolean => underWay.has(keyOf(provider));
  const stands = (provider: string): boolean =>
    isUnderWay(provider) && world.has(provider) && world.get(provider)?.unusable === undefined;
  const isLeft = (provider: string): boolean => isUnderWay(provider) && !stands(provider);
  const isOwed = (provider: string): boolean => stands(provider) && !before.has(provider);
  const providers = [...world.keys()];
  return {
    standing: providers.filter(stands).map(keyOf),
    owed: new Map([...world].filter(([provider]) => isOwed(provider))),
    facts: new Map([
      ...[...world].filter(([provider]) => !isLeft(provider) && !isOwed(provider)),
      ...[...before].filter(([provider]) => isLeft(provider)),
    ]),
  };
}

/** Both; of a provider of which both tell something, what the second tells. */
function together(first: KnownFacts, second: KnownFacts): KnownFacts {
  return {
    providers: new Map([...first.providers, ...second.providers]),
    dns: new Map([...first.dns, ...second.dns]),
    firewalls: new Map([...first.firewalls, ...second.firewalls]),
  };
}

/** Somebody else may have marked a name since: whose it is, is looked for anew by whoever is about to take it. */
function withoutOwners(dns: KnownFacts["dns"]): KnownFacts["dns"] {
  return new Map([...dns].map(([name, { owners: _, isOwnerLate: __, ...facts }]) => [name, facts]));
}

function entryOf(
  reading: Reading,
  before: Entry | undefined,
  { nowMs, lookedAtMs }: { readonly nowMs: number; readonly lookedAtMs: number },
): Entry {
  const { piece, state, mark, told, machines = before?.machines } = reading;
  if (before !== undefined && before.mark === mark && before.state === state && before.dueMs > lookedAtMs)
    return { ...before, told };
  if (state === "settled") {
    const former = before?.state === "settled" ? before.former : before?.state;
    const own = { piece, state, mark, readAtMs: nowMs, dueMs: Number.POSITIVE_INFINITY, told, machines };
    return { ...own, former, count: before === undefined || former === "failed" ? 0 : before.count };
  }
  const count = 1 + (before === undefined || isNewChange(reading, before) ? 0 : countBefore(before, state, nowMs));
  const row = state === "moving" ? WAITS.moving : WAITS.unreadable;
  return { piece, state, mark, count, readAtMs: nowMs, dueMs: nowMs + waitMs(row, count - 1), told, machines };
}

/** A change of another machine than before has waits of its own. The same one, asked for again because nothing came of it, goes on with those it had. */
function isNewChange({ machines = [] }: Reading, before: Entry): boolean {
  return machines.some((machine) => before.machines?.includes(machine) === false);
}

/**
 * Returns how many earlier readings count as one row with this one. A subject may be settled for a moment only: its machine is busy at each attempt, or each change is refused
 * while reading works. Then the row goes on, and so do its growing waits.
 */
function countBefore(before: Entry, state: ReadState, nowMs: number): number {
  if (before.state === state) return before.count;
  const isMomentary = nowMs - before.readAtMs <= MOMENT_MS;
  return before.state === "settled" && before.former === state && isMomentary ? before.count : 0;
}

function readingsOf(world: Observation): readonly Reading[] {
  return [...addressReadings(world), ...nameReadings(world), ...firewallReadings(world)];
}

function addressReadings({ providers, pools, nodes, registry }: Observation): readonly Reading[] {
  return [...providers].flatMap(([name, facts]): readonly Reading[] => {
    const piece = pieceKey({ kind: "addresses", provider: name });
    const whole: Reading = {
      key: factKey("addresses", name),
      piece,
      state: providerState(facts),
      mark: facts.unusable,
    };
    if (facts.unusable !== undefined) return [whole];
    const wanted = wantedAddresses(name, pools, nodes, registry);
    const listState = facts.isComplete ? (wanted.hasOpenIntent ? "moving" : "settled") : "failed";
    // A list that nobody needs has no state: it is read as soon as somebody does.
    const list: readonly Reading[] = wanted.mayAcquire
      ? [{ key: factKey("list", name), piece, state: listState, mark: facts.readAtMs }]
      : [];
    const singles = [...wanted.ips].flatMap((ip): readonly Reading[] => {
      const fact = facts.addresses.get(ip);
      if (fact === undefined) return [];
      const state = addressState(fact, wanted.holders.get(ip));
      const place = placeOf(fact, state);
      const machines = place === undefined ? {} : { machines: [place] };
      return [{ key: factKey("address", name, ip), piece, state, mark: fact, told: wanted.told.get(ip), ...machines }];
    });
    return [whole, ...list, ...singles];
  });
}

/** An address that is not where status has it is looked at again, too: one of the two is about to change. */
function addressState(fact: AddressFact, expected: string | undefined): ReadState {
  if (fact.kind !== "known") return fact.kind === "gap" ? "failed" : "settled";
  const { isLocked, holderID } = fact.address;
  return isLocked || (expected !== undefined && holderID !== expected) ? "moving" : "settled";
}

/** Where an address is or is to come, as a machine id; `""` = nowhere, undefined = the provider did not say. */
function placeOf(fact: AddressFact, state: ReadState): string | undefined {
  if (fact.kind !== "known") return undefined;
  return state === "settled" ? (fact.address.holderID ?? "") : fact.movesTo;
}

function nameReadings({ dns }: Observation): readonly Reading[] {
  return [...dns].flatMap(([name, facts]): readonly Reading[] => {
    const piece = pieceKey({ kind: "names", provider: name });
    const zones = [...facts.zones].map(
      ([text, fact]): Reading => ({ key: factKey("zone", name, text), piece, state: nameState(fact), mark: fact }),
    );
    const records = [...facts.records].map(
      ([key, fact]): Reading => ({ key: factKey("records", name, key), piece, state: nameState(fact), mark: fact }),
    );
    const owners = [...(facts.owners ?? [])].map(
      ([key, fact]): Reading => ({ key: factKey("owner", name, key), piece, state: nameState(fact), mark: fact }),
    );
    const whole: Reading = { key: factKey("names", name), piece, state: providerState(facts), mark: facts.unusable };
    return facts.unusable === undefined ? [whole, ...zones, ...records, ...owners] : [whole];
  });
}

/** A change that is pending for a machine without a ready node moves nothing: it may never end, and nobody waits for it. */
function firewallReadings({ firewalls, nodes, registry }: Observation): readonly Reading[] {
  return [...firewalls].flatMap(([name, facts]): readonly Reading[] => {
    const piece = pieceKey({ kind: "firewalls", provider: name });
    const ready = nodes.flatMap((node) =>
      node.ready.isReady ? (registry.machineID(name, node.providerID) ?? []) : [],
    );
    const machines = new Set(ready);
    const single = [...facts.firewalls].map(([wanted, fact]): Reading => {
      const isMoving = fact.kind === "known" && isMovingAt(fact.firewall, machines);
      const state = fact.kind === "gap" ? "failed" : isMoving ? "moving" : "settled";
      const pending = isMoving ? { machines: fact.firewall.pendingMachineIDs } : {};
      return { key: factKey("firewall", name, wanted), piece, state, mark: fact, ...pending };
    });
    const whole: Reading = {
      key: factKey("firewalls", name),
      piece,
      state: providerState(facts),
      mark: facts.unusable,
    };
    return facts.unusable === undefined ? [whole, ...single] : [whole];
  });
}

function isMovingAt({ isWaiting, pendingMachineIDs }: Firewall, machines: ReadonlySet<string>): boolean {
  return isWaiting || pendingMachineIDs.some((machine) => machines.has(machine));
}

/** A token that is refused may be replaced at any time. A rate limit has its own time, which the provider told. */
function providerState({ unusable }: { readonly unusable?: Refusal }): ReadState {
  if (unusable === undefined || unusable.kind === "rate-limited") return "settled";
  return unusable.isOfChange === true ? "refused" : "failed";
}

/** A zone or name that the token may not read stays so; what was put off is still to be looked at. */
function nameState(fact: {
  readonly kind: string;
  readonly isRefused?: boolean;
  readonly putOffUntilMs?: number;
}): ReadState {
  if (fact.putOffUntilMs !== undefined) return "failed";
  return fact.kind === "gap" && fact.isRefused !== true ? "failed" : "settled";
}
