// How one set of address records is changed. There is no precondition, so the set is read right before.
//
//   no set       one is made (409: somebody else was faster)
//   a set        its records are replaced at once, so the name is never empty in between; then its TTL is changed where it differs
//   none wanted  the set is deleted
//
// A change is accepted with an action, which runs until the name servers have it. Whether the set shows the change meanwhile, and whether a zone takes a second change, nobody has
// verified. So a set is read until it shows what it should, and a zone that is busy is tried again.
//
// A request overwrites what the set holds. Somebody else may change the set between two tries. So the set is read before each further try, and nothing more is sent if it has changed.

import type { Zone } from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import { setNamed, setText } from "../../model/record-types.ts";
import { nextTryMs, TRIES, type Waits } from "../../model/waits.ts";
import type { DNSProvider, RecordSetChange } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import {
  type ARecord,
  type ChangeAttempt,
  changeRecordSet,
  isSameSet,
  type ReadRecords,
  senderInParts,
  type Wanted,
} from "../dns/record-sets.ts";
import { type Client, expectedAs, type HetznerCall, providerError, refused, writing } from "./api.ts";
import { missingZone, type RecordName, type RecordReader, type RRset, recordName, recordsOf } from "./records.ts";
import { TTL_RULES } from "./traits.ts";

/** One attempt to change a name. */
interface Attempt {
  readonly name: RecordName;
  /** As it was read; undefined where the name had none. */
  readonly set: RRset | undefined;
  readonly wanted: Wanted;
  readonly records: ReadRecords<ARecord>;
  /** Sends one request of the change. */
  readonly send: <T>(call: HetznerCall<T>) => Promise<T>;
}

/** One request of a change, below the path of the zone's sets. */
interface Step {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly body?: object;
  /** What of the set is gone once the request has taken effect. */
  readonly replaces: "records" | "ttl";
}

/** So many records a set can be given (documented, read 2026-11-22). */
const MOST_RECORDS = 50;

/** What became of a request. */
type Sent = "accepted" | "changed meanwhile";

/** Changes records of one project. */
export class RecordWriter {
  readonly #client: Client;
  readonly #reader: RecordReader;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;

  constructor(
    client: Client,
    reader: RecordReader,
    { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
  ) {
    this.#client = client;
    this.#reader = reader;
    this.#clock = clock;
    this.#signal = signal;
  }

  get port(): Pick<DNSProvider, "writeRecords"> {
    return {
      writeRecords: async (zone: Zone, fqdn: string, change: RecordSetChange) => {
        const { fqdn: bare, type } = setNamed(fqdn);
        const doing = `write the ${type} records of ${JSON.stringify(bare)}`;
        const name = recordName(zone, writing("write", fqdn, doing));
        let set: RRset | undefined;
        return await changeRecordSet(change, {
          fqdn: setText(name),
          ttlRules: TTL_RULES,
          refuse: (reason) => refused(name.call, reason),
          read: async (purpose) => {
            set = await this.#reader.addressSet(name, this.#client.for(purpose));
            return recordsOf(set);
          },
          attempt: (wanted, records) =>
            this.#attempt({ name, set, wanted, records, send: senderInParts(this.#client.for("rest")) }),
        });
      },
    };
  }

  async #attempt(attempt: Attempt): Promise<ChangeAttempt<ARecord>> {
    const { name, wanted, records } = attempt;
    const count = wanted.addresses.length + records.others.length;
    if (count > MOST_RECORDS)
      throw refused(name.call, `Hetzner takes ${MOST_RECORDS} records for a name at most, and it would have ${count}`);
    const steps = stepsOf(attempt);
    for (const [at, step] of steps.entries()) {
      const outcome = await this.#carryOut(attempt, step);
      const before = at === 0 ? records.own.map(({ address }) => address) : wanted.addresses;
      if (outcome === "changed meanwhile") return { kind: "conflict", expected: before, isRepeatable: true };
    }
    return steps.length === 0 ? { kind: "written", own: records.own } : await this.#settle(attempt);
  }

  /** Sends a request. While the zone is busy it tries again. Before each further try it reads what the request replaces. */
  async #carryOut(attempt: Attempt, step: Step): Promise<Sent> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#send(attempt, step);
      } catch (error) {
        const isBusy = error instanceof ProviderError && error.failure === "busy";
        if (!isBusy || !(await this.#pause(TRIES.busyChange, tries))) throw error;
      }
      const now = await this.#reader.addressSet(attempt.name, this.#client.for("rest"));
      if (replacedText(now, step) !== replacedText(attempt.set, step)) return "changed meanwhile";
    }
  }

  async #send({ name: { zone, call }, send }: Attempt, { method, path, body }: Step): Promise<Sent> {
    return await send<Sent>({
      ...call,
      notFoundAdvice: missingZone(zone),
      send: (request) => request(method, `/zones/${zone}/rrsets${path}`, body),
      read: () => "accepted",
      otherwise: { value: "accepted" },
      // The set was made, or went away, since it was read. Where one is to be made, 404 is about the zone.
      expected: (refusal) =>
        expectedAs({ code: "uniqueness_error" }, "changed meanwhile" as const)(refusal) ??
        (path === "" ? undefined : expectedAs("not-found", "changed meanwhile" as const)(refusal)),
    });
  }

  /** Looks until an accepted change is seen. @throws ProviderError where it is not */
  async #settle(attempt: Attempt): Promise<ChangeAttempt<ARecord>> {
    const { name, wanted, records } = attempt;
    const known = new Set([...wanted.addresses, ...records.own.map(({ address }) => address)]);
    for (let looks = 0; ; looks += 1) {
      const own = await this.#own(attempt);
      const addresses = own.map(({ address }) => address);
      const hasTTL = own.every(({ ttlSeconds }) => ttlSeconds === wanted.ttlSeconds);
      if (isSameSet(addresses, wanted.addresses) && hasTTL) return { kind: "written", own };
      if (!addresses.every((address) => known.has(address)))
        return { kind: "conflict", expected: wanted.addresses, isRepeatable: false };
      if (await this.#pause(TRIES.shownWrite, looks)) continue;
      const reason = `it accepted the change and shows ${addresses.join(", ") || "no address"}; flipop looks again`;
      throw providerError(name.call, { failure: "unavailable", status: 201, reason, isAmbiguous: true });
    }
  }

  /** The own records as they are now. */
  async #own({ name, records }: Attempt): Promise<readonly ARecord[]> {
    try {
      return recordsOf(await this.#reader.addressSet(name, this.#client.for("rest"))).filter(records.isOwn);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { failure, status, message, notBeforeMs } = error;
      const reason = `it accepted the change, which could not be read again: ${message}`;
      throw providerError(name.call, { failure, status, reason, notBeforeMs, isAmbiguous: true });
    }
  }

  #isStopped(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Waits before the next try; false where there is none. */
  async #pause(waits: Waits, tries: number): Promise<boolean> {
    const waitMs = nextTryMs(waits, tries);
    if (waitMs === undefined || this.#isStopped()) return false;
    await this.#clock.sleep(waitMs, this.#signal);
    return !this.#isStopped();
  }
}

/** What has to be sent, in order; nothing where everything is as it should be. */
function stepsOf({ name, set, wanted, records: { others } }: Attempt): readonly Step[] {
  const addresses = [...new Set([...wanted.addresses, ...others.map(({ address }) => address)])].toSorted();
  const path = `/${name.relative}/${name.type}`;
  const ttl = wanted.ttlSeconds;
  if (set === undefined) {
    const made = { name: name.relative, type: name.type, ttl, records: addresses.map((value) => ({ value })) };
    return addresses.length === 0 ? [] : [{ method: "POST", path: "", body: made, replaces: "records" }];
  }
  if (addresses.length === 0) return [{ method: "DELETE", path, replaces: "records" }];
  const comments = new Map(set.records.map(({ value, comment }) => [value, comment]));
  const recordOf = (value: string): object => {
    const comment = comments.get(value);
    return { value, ...(comment === undefined ? {} : { comment }) };
  };
  const isSame = isSameSet(
    addresses,
    set.records.map(({ value }) => value),
  );
  const setRecords: Step = {
    method: "POST",
    path: `${path}/actions/set_records`,
    body: { records: addresses.map(recordOf) },
    replaces: "records",
  };
  const changeTTL: Step = { method: "POST", path: `${path}/actions/change_ttl`, body: { ttl }, replaces: "ttl" };
  return [...(isSame ? [] : [setRecords]), ...(set.ttlSeconds === ttl ? [] : [changeTTL])];
}

/** What of a set a request replaces, as text; `""` where there is no set. */
function replacedText(set: RRset | undefined, { replaces }: Step): string {
  if (set === undefined) return "";
  if (replaces === "ttl") return String(set.ttlSeconds);
  return set.records
    .map(({ value, comment = "" }) => `${value} ${comment}`)
    .toSorted()
    .join("\n");
}
