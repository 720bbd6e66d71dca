import type { Address } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import { WAITS, waitMs } from "../model/waits.ts";
import { entryKeys } from "../ports/listing.ts";
import type { AcceptedAction, IPProvider } from "../ports/providers.ts";
import { type Clock, within } from "../ports/system.ts";

/** How an accepted change stands when the wait for it ends. `address` is the newest reading; absent when none succeeded. `endedBy` is why the provider could not be asked any more. */
type Confirmation =
  | { readonly kind: "confirmed"; readonly address: Address }
  | { readonly kind: "errored"; readonly address: Address }
  | { readonly kind: "pending"; readonly address?: Address; readonly endedBy?: ProviderError };

interface Waiting {
  readonly accepted: AcceptedAction;
  readonly isTrue: (address: Address) => boolean;
  readonly resolve: (confirmation: Confirmation) => void;
  reads: number;
  address?: Address;
}

/** From so many on, addresses are read together from the account's list. */
const TOGETHER = 3;
/** An unlocked address that is not where it was sent is held against its action from this reading on. */
const SUSPICIOUS_READS = 2;

/**
 * Waits for accepted changes of one provider by reading the addresses themselves, all of them together: the action is asked only when an address is at
 * rest somewhere else, and an action the provider does not know (BYOIP) proves nothing.
 */
export class Confirmer {
  readonly #provider: IPProvider;
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<Waiting>();
  #starting = 0;
  #isRunning = false;
  #refusal: ProviderError | undefined;

  /** @param deadlineMs - monotonic milliseconds at which waiting ends with `pending`. */
  constructor(provider: IPProvider, clock: Clock, deadlineMs: number, signal: AbortSignal) {
    this.#provider = provider;
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#signal = signal;
  }

  /** Announces calls whose acceptance will be waited for, so that one reading serves them all. */
  async starting<T>(call: () => Promise<T>): Promise<T> {
    this.#starting += 1;
    try {
      return await call();
    } finally {
      this.#starting -= 1;
    }
  }

  /** Resolves once the address, read back, satisfies `isTrue` and is not locked; or the action failed; or time is over. Never rejects. */
  confirm(accepted: AcceptedAction, isTrue: (address: Address) => boolean): Promise<Confirmation> {
    return new Promise((resolve) => {
      this.#waiting.add({ accepted, isTrue, resolve, reads: 0 });
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.size > 0 && !this.#isOver()) {
      const newest = Math.min(...[...this.#waiting].map(({ reads }) => reads));
      await this.#pause(waitMs(WAITS.confirmation, newest));
      await this.#letOthersStart();
      if (this.#isOver()) break;
      await this.#read([...this.#waiting]);
    }
    for (const waiting of this.#waiting) {
      const { address } = waiting;
      const endedBy = this.#refusal;
      this.#end(waiting, {
        kind: "pending",
        ...(address === undefined ? {} : { address }),
        ...(endedBy === undefined ? {} : { endedBy }),
      });
    }
    this.#isRunning = false;
  }

  #isOver(): boolean {
    return this.#refusal !== undefined || this.#signal.aborted || this.#clock.monotonicMs() >= this.#deadlineMs;
  }

  async #pause(ms: number): Promise<void> {
    const left = this.#deadlineMs - this.#clock.monotonicMs();
    await this.#clock.sleep(Math.max(0, Math.min(ms, left)), this.#signal);
  }

  /** Up to two seconds: others of the same pass are just being accepted, and one reading can serve them too. */
  async #letOthersStart(): Promise<void> {
    for (let waited = 0; this.#starting > 0 && waited < 2000 && !this.#isOver(); waited += 20) await this.#pause(20);
  }

  async #read(waiting: readonly Waiting[]): Promise<void> {
    const addresses = waiting.length >= TOGETHER ? await this.#readList(waiting) : new Map<string, Address>();
    for (const entry of waiting) {
      const address = addresses.get(entry.accepted.ip) ?? (await this.#readOne(entry.accepted.ip));
      entry.reads += 1;
      if (address !== undefined) await this.#judge(entry, address);
    }
  }

  async #judge(entry: Waiting, address: Address): Promise<void> {
    entry.address = address;
    if (address.isLocked) return;
    if (entry.isTrue(address)) this.#end(entry, { kind: "confirmed", address });
    else if (entry.reads >= SUSPICIOUS_READS && (await this.#hasFailed(entry.accepted)))
      this.#end(entry, { kind: "errored", address });
  }

  #end(entry: Waiting, confirmation: Confirmation): void {
    this.#waiting.delete(entry);
    entry.resolve(confirmation);
  }

  async #hasFailed(accepted: AcceptedAction): Promise<boolean> {
    try {
      return (await this.#provider.actionState(accepted)) === "errored";
    } catch (error) {
      if (error instanceof ProviderError) return false;
      throw error;
    }
  }

  async #readOne(ip: string): Promise<Address | undefined> {
    try {
      return await this.#provider.getAddress(ip);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#note(error);
      return undefined;
    }
  }

  /** The addresses waited for that the account's list shows; pages are read until all are found, one shows nothing new, or time is over. */
  async #readList(waiting: readonly Waiting[]): Promise<Map<string, Address>> {
    const wanted = new Set(waiting.map(({ accepted }) => accepted.ip));
    const found = new Map<string, Address>();
    const seen = new Set<string>();
    try {
      for (let page = 1, hasMore = true; hasMore && found.size < wanted.size && !this.#isOver(); page += 1) {
        const answer = await this.#provider.listPage(page);
        for (const address of answer.addresses.filter(({ ip }) => wanted.has(ip))) found.set(address.ip, address);
        const known = seen.size;
        for (const key of entryKeys(answer)) seen.add(key);
        // Pages that lead in a circle have no end.
        hasMore = answer.hasMore && seen.size > known;
      }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      this.#note(error);
    }
    return found;
  }

  /** What concerns every call, a rate limit or a token that is no longer valid, will not pass while we wait. */
  #note(error: ProviderError): void {
    if (error.concernsProvider) this.#refusal ??= error;
  }
}

/** So long a change waits for others of its machines, milliseconds. */
const PATIENCE_MS = 2000;

/**
 * Lets changes of addresses through one at a time on each machine, as the providers do: while one is under way they refuse the next, which costs a call and a longer wait. One that
 * takes its time holds up nobody for more than two seconds: then the provider is asked all the same, and says whether it is busy.
 */
export class MachineTurns {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #last = new Map<string, Promise<unknown>>();

  /** @param signal - ends all waits */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Makes the change once what came before it on these machines has ended. Resolves or rejects as the change does. */
  async run<T>(machines: readonly string[], change: () => Promise<T>): Promise<T> {
    const ahead = machines.flatMap((machine) => this.#last.get(machine) ?? []);
    const own = Promise.withResolvers<void>();
    const last = Promise.all([...ahead, own.promise]);
    for (const machine of machines) this.#last.set(machine, last);
    try {
      if (ahead.length > 0) await within(this.#clock, PATIENCE_MS, Promise.all(ahead), this.#signal);
      return await change();
    } finally {
      own.resolve();
    }
  }
}

/** Runs pieces of work one after another, in the order they came. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work once all earlier work has ended, however it ended. Resolves or rejects as the work does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
