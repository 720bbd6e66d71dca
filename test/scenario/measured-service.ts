import { meantSeconds } from "../../src/model/dns.ts";
import type { WorldDNS } from "./world-dns.ts";

/** What clients of a name got by what the world itself did: nothing of it is told by flipop. */
export interface MeasuredFate {
  readonly unservedMs: number;
  readonly isUnservedAtEnd: boolean;
  /** How long a resolver handed out an address that answered nobody, milliseconds. */
  readonly deadMs: number;
}

/** The records of a name from one moment on, and until when resolvers have them. */
interface Answer {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
  untilMs: number;
}

interface Measured {
  readonly answers: Answer[];
  unservedMs: number;
  deadMs: number;
  isUnserved: boolean;
}

/**
 * Looks at the records and the machines of a world whenever its time moves: between two calls nothing changes. Resolvers hand out each answer until its TTL is over, as
 * they may; a client that gets addresses none of which answers has no service.
 */
export class ServiceMeter {
  readonly #dns: WorldDNS;
  readonly #isServing: (address: string) => boolean;
  readonly #names = new Map<string, Measured>();

  constructor(dns: WorldDNS, isServing: (address: string) => boolean, nowMs: number) {
    this.#dns = dns;
    this.#isServing = isServing;
    this.#look(nowMs);
  }

  /** Counts what clients get while the time moves. */
  pass(fromMs: number, untilMs: number): void {
    this.#look(fromMs);
    for (const name of this.#names.values()) this.#count(name, fromMs, untilMs);
  }

  /** Returns what clients got, once resolvers have forgotten all that is not so any more. */
  end(nowMs: number): ReadonlyMap<string, MeasuredFate> {
    this.#look(nowMs);
    const told = [...this.#names].map(([key, name]) => {
      const forgottenMs = Math.max(nowMs, ...name.answers.map(({ untilMs }) => untilMs).filter(Number.isFinite));
      this.#count(name, nowMs, forgottenMs);
      this.#count(name, forgottenMs, forgottenMs);
      const { unservedMs, deadMs, isUnserved } = name;
      return [key, { unservedMs, deadMs, isUnservedAtEnd: isUnserved }] as const;
    });
    return new Map(told);
  }

  #look(nowMs: number): void {
    const sets = new Map<string, Pick<Answer, "addresses" | "ttlSeconds">>(
      this.#dns.sets().map(({ provider, fqdn, addresses }) => {
        const ttlSeconds = meantSeconds(Math.min(...this.#dns.ttls(provider, fqdn), Number.MAX_SAFE_INTEGER));
        return [`${fqdn} ${provider}`, { addresses, ttlSeconds }] as const;
      }),
    );
    for (const key of new Set([...sets.keys(), ...this.#names.keys()])) {
      const { addresses, ttlSeconds } = sets.get(key) ?? { addresses: [], ttlSeconds: 0 };
      const name = this.#names.get(key) ?? { answers: [], unservedMs: 0, deadMs: 0, isUnserved: false };
      this.#names.set(key, name);
      const last = name.answers.at(-1);
      if (last !== undefined && last.addresses.join() === addresses.join() && last.ttlSeconds === ttlSeconds) continue;
      if (last !== undefined) last.untilMs = nowMs + last.ttlSeconds * 1000;
      name.answers.push({ addresses, ttlSeconds, untilMs: Number.POSITIVE_INFINITY });
    }
  }

  #count(name: Measured, fromMs: number, untilMs: number): void {
    const forgotten = name.answers.map((answer) => answer.untilMs).filter((ms) => ms > fromMs && ms < untilMs);
    const cuts = [fromMs, ...forgotten.toSorted((a, b) => a - b), untilMs];
    for (const [at, atMs] of cuts.slice(0, -1).entries()) {
      const handedOut = name.answers.filter((answer) => answer.untilMs > atMs && answer.addresses.length > 0);
      const dead = handedOut.map(({ addresses }) => addresses.filter((ip) => !this.#isServing(ip)).length);
      const isEmptied =
        name.answers.at(-1)?.addresses.length === 0 && name.answers.some(({ addresses }) => addresses.length > 0);
      const ms = (cuts[at + 1] ?? atMs) - atMs;
      name.isUnserved = isEmptied || handedOut.some(({ addresses }, one) => dead[one] === addresses.length);
      if (name.isUnserved) name.unservedMs += ms;
      if (dead.some((count) => count > 0)) name.deadMs += ms;
    }
  }
}
