// How the records of names behind a webhook are changed. webhook.ts says by what rules.

import type { Zone } from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import { type RecordType, setNamed, setText } from "../../model/record-types.ts";
import { nextTryMs, TRIES } from "../../model/waits.ts";
import type { RecordSetChange, RecordSetResult } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import {
  type ARecord,
  type ChangeAttempt,
  changeRecordSet,
  isSameSet,
  type ReadRecords,
  type Wanted,
} from "../dns/record-sets.ts";
import type { Fields } from "../http/answer.ts";
import type { Call, PlainRequest } from "../http/api-client.ts";
import type { CallInfo } from "../http/failures.ts";
import { addressesOf, type Client, type Endpoint, isAutomatic, type WebhookOptions } from "./api.ts";
import { callOf, type SeenName, type WebhookReader } from "./read-records.ts";

/** One attempt to change a name. */
interface Attempt {
  readonly call: CallInfo;
  /** As it was read. */
  readonly before: SeenName;
  readonly wanted: Wanted;
  readonly records: ReadRecords<ARecord>;
}

/** A change that was accepted and not seen yet. */
interface Accepted {
  /** What was seen instead: {@link SeenName.text}. */
  readonly before: string;
  readonly wish: string;
  readonly atMs: number;
}

/** The changes of one set of records in one call. */
type SetChange =
  | { readonly create: readonly Fields[] }
  | { readonly updateOld: readonly Fields[]; readonly updateNew: readonly Fields[] }
  | { readonly delete: readonly Fields[] };

/** So old may be what was read of a name when the name is changed, milliseconds: others may have been changed first. */
const OLDEST_MS = 5000;

/** For how long an accepted change is not sent again where the webhook shows what it showed before, milliseconds. Caches of ten minutes are the longest that were found. */
const CACHED_MS = 600_000;

/** Changes names behind one webhook. */
export class WebhookWriter {
  readonly #options: WebhookOptions;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #reader: WebhookReader;
  readonly #accepted = new Map<string, Accepted>();
  /** Ends when the changes before have been sent. */
  #sent: Promise<unknown> = Promise.resolve();
  /** How many changes are being made ready or sent, and what is resolved when there are none. */
  #unsent = 0;
  #allSent: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: WebhookOptions, client: Client, reader: WebhookReader) {
    this.#options = options;
    this.#client = client;
    this.#clock = options.clock;
    this.#reader = reader;
  }

  /** As `writeRecords` of the port. */
  async write(zone: Zone, fqdn: string, change: RecordSetChange): Promise<RecordSetResult> {
    const { fqdn: bare, type } = setNamed(fqdn);
    const call = callOf("write", fqdn, `write the ${type} records of ${bare}`, true);
    const name = await this.#reader.nameIn(zone, fqdn, call);
    let seen: SeenName | undefined;
    return changeRecordSet(change, {
      fqdn: setText(name),
      ttlRules: this.#reader.ttlRules,
      refuse: (reason) => this.#reader.refused(call, reason),
      read: async (purpose) => {
        seen = await this.#reader.fresh(name, purpose);
        return seen.records;
      },
      attempt: async (wanted, records) => {
        const before = seen ?? (await this.#reader.fresh(name, "rest"));
        return await this.#attempt({ call, before, wanted, records });
      },
    });
  }

  async #attempt(attempt: Attempt): Promise<ChangeAttempt<ARecord>> {
    this.#unsent += 1;
    const { end, wish } = await this.#trySending(attempt).finally(() => this.#endSending());
    if (end !== undefined) return end;
    // One look is enough for all changes that are sent at the same time.
    if (this.#unsent > 0) await this.#allSent.promise;
    return await this.#settle(attempt, wish);
  }

  #endSending(): void {
    this.#unsent -= 1;
    if (this.#unsent > 0) return;
    this.#allSent.resolve();
    this.#allSent = Promise.withResolvers();
  }

  /** Sends the change. Returns what became of the attempt where nothing was sent. */
  async #trySending(attempt: Attempt): Promise<{ readonly end?: ChangeAttempt<ARecord>; readonly wish: string }> {
    const { call, before, records } = attempt;
    if (before.hasCNAME)
      throw this.#reader.refused(
        call,
        `the name has a CNAME record, and no ${before.name.type} record can stand beside it`,
      );
    const change = await this.#changeFor(attempt);
    const wish = JSON.stringify(change) ?? "";
    if (change === undefined) return { end: { kind: "written", own: records.own }, wish };
    const known = this.#accepted.get(setText(before.name));
    const isLookedFor = known?.before === before.text && known.wish === wish;
    if (isLookedFor && this.#clock.monotonicMs() - known.atMs < CACHED_MS) throw this.#notShown(attempt);
    this.#accepted.delete(setText(before.name));
    const end = await this.#send(attempt, change);
    return end === undefined ? { wish } : { end, wish };
  }

  /** What has to be sent; undefined where everything is as it should be. */
  async #changeFor({ call, before, wanted, records: { others } }: Attempt): Promise<SetChange | undefined> {
    const targets = [...new Set([...wanted.addresses, ...others.map(({ address }) => address)])].toSorted();
    const [first] = before.sets;
    if (targets.length === 0) return first && { delete: before.sets.map(({ raw }) => raw) };
    // Two sets of one name are one to whoever changes it.
    const old = first && { ...first.raw, targets: before.sets.flatMap((set) => set.targets) };
    const ttl = before.sets.some(isAutomatic) ? {} : { recordTTL: wanted.ttlSeconds };
    const { fqdn: dnsName, type: recordType } = before.name;
    const empty = { dnsName, recordType };
    const adjusted = await this.#adjusted(call, recordType, { ...(first?.raw ?? empty), targets, ...ttl }, targets);
    if (old === undefined) return { create: [adjusted.raw] };
    const hasTTL =
      adjusted.ttlSeconds === 0 || adjusted.ttlSeconds === first?.ttlSeconds || ttl.recordTTL === undefined;
    const isOneSet = before.sets.length === 1 && before.records.length === targets.length;
    const isSame = isSameSet(
      targets,
      before.records.map(({ address }) => address),
    );
    return hasTTL && isOneSet && isSame ? undefined : { updateOld: [old], updateNew: [adjusted.raw] };
  }

  /** Asks how a set would be stored. @throws ProviderError `refused` where other addresses would be */
  async #adjusted(call: CallInfo, type: RecordType, set: Fields, targets: readonly string[]): Promise<Endpoint> {
    const [own] = await this.#reader.adjust({ ...call, isWrite: false }, [set], "rest");
    if (own === undefined) throw this.#reader.refused(call, "it would not store such a record (POST /adjustendpoints)");
    if (own.type === type && isSameSet(addressesOf(own), targets)) return own;
    throw this.#reader.refused(call, `it would store ${own.type} ${own.targets.join(" ")} (POST /adjustendpoints)`);
  }

  /** Changes go one after another. Returns what became of the attempt where nothing was sent. */
  async #send(attempt: Attempt, change: SetChange): Promise<ChangeAttempt<ARecord> | undefined> {
    const { call, before, records } = attempt;
    const earlier = this.#sent;
    const sending = (async (): Promise<ChangeAttempt<ARecord> | undefined> => {
      await earlier;
      if (this.#clock.monotonicMs() - before.atMs > OLDEST_MS) {
        const now = await this.#reader.fresh(before.name, "rest");
        const expected = records.own.map(({ address }) => address);
        if (now.text !== before.text) return { kind: "conflict", expected, seen: now.records, isRepeatable: true };
      }
      const write: Call<undefined, PlainRequest> = {
        ...call,
        send: (request) => request("POST", "/records", change),
        read: () => undefined,
        otherwise: { value: undefined },
      };
      try {
        return await this.#client.for("rest").call(write);
      } finally {
        this.#reader.forget();
      }
    })();
    this.#sent = sending.catch(() => undefined);
    return await sending;
  }

  /** Looks until an accepted change is seen, also one that is made bit by bit. @throws ProviderError where it is not, or not as it was asked for */
  async #settle({ call, before, wanted, records }: Attempt, wish: string): Promise<ChangeAttempt<ARecord>> {
    const known = new Set([...wanted.addresses, ...before.records.map(({ address }) => address)]);
    const atMs = this.#clock.monotonicMs();
    for (let looks = 0; ; looks += 1) {
      const now = await this.#reader.fresh(before.name, "rest").catch((error: unknown) => {
        throw this.#unseen(call, error);
      });
      const own = now.records.filter(records.isOwn);
      const addresses = own.map(({ address }) => address);
      const isChanged = now.text !== before.text;
      if (isChanged && isSameSet(addresses, wanted.addresses)) return { kind: "written", own };
      if (!addresses.every((address) => known.has(address)))
        return { kind: "conflict", expected: wanted.addresses, seen: now.records, isRepeatable: false };
      const waitMs = nextTryMs(TRIES.shownWrite, looks);
      if (waitMs === undefined && isChanged) {
        const reason = `it accepted ${listed(wanted.addresses)} and shows ${listed(addresses)}`;
        throw this.#reader.error(call, { failure: "malformed", status: 204, reason });
      }
      if (waitMs === undefined) {
        this.#accepted.set(setText(before.name), { before: before.text, wish, atMs });
        throw this.#notShown({ call, before, wanted, records });
      }
      await this.#reader.waiting(() => this.#clock.sleep(waitMs, this.#options.signal));
    }
  }

  /** The change was accepted, so it may have been made, whatever kept flipop from looking. */
  #unseen(call: CallInfo, error: unknown): unknown {
    if (!(error instanceof ProviderError)) return error;
    const { failure, status, message, notBeforeMs } = error;
    const reason = `it accepted the change, which could not be read again: ${message}`;
    return this.#reader.error(call, { failure, status, reason, notBeforeMs, isAmbiguous: true });
  }

  #notShown({ call, before, wanted, records: { own } }: Attempt): ProviderError {
    const [shown = 0] = before.sets.map(({ ttlSeconds }) => ttlSeconds);
    const addresses = own.map(({ address }) => address);
    const isTTLAlone = shown !== wanted.ttlSeconds && isSameSet(addresses, wanted.addresses);
    const reason = isTTLAlone
      ? `it accepted a TTL of ${wanted.ttlSeconds} s and shows ${shown} s; where that stays so its provider takes no other one: write ttl: ${shown}`
      : "it accepted the change and does not show it yet, as with a cache; flipop looks again";
    return this.#reader.error(call, { failure: "unavailable", status: 204, reason, isAmbiguous: true });
  }
}

function listed(addresses: readonly string[]): string {
  return addresses.length === 0 ? "no address" : addresses.join(", ");
}
