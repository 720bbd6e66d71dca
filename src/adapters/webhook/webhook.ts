// A DNS provider behind a webhook of external-dns.
//
//   Reading   The protocol knows no zones and no single names. One read of everything serves all who ask at the same time (shared-read.ts). A zone is whatever lies within the
//             domains that the webhook looks after (domains.ts).
//   Changing  A change sends the whole set of a name: as it was read, and as it is wanted, so that labels and settings of the provider stay. There is no precondition, so the
//             set is read right before. What somebody else does between that and the change is lost; whether a name is without records in between is the webhook's doing.
//   Seeing    An accepted change is looked for until it is seen. Some webhooks show for minutes what they read before. Then the change is not sent again, but looked for in
//             later passes.

import { canonicalIPv4 } from "../../model/address.ts";
import { ANY_TTL, canonicalDNSName, relativeName, type TTLRules, type Zone } from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import { waitingFor } from "../../model/progress.ts";
import { nextTryMs, TRIES } from "../../model/waits.ts";
import type {
  DNSProvider,
  DNSProviderReader,
  ProviderMeter,
  RecordSetChange,
  RecordSetResult,
  ZoneListing,
} from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import {
  type ARecord,
  type ChangeAttempt,
  changeRecordSet,
  isSameSet,
  type ReadRecords,
  recordSetState,
  type Wanted,
} from "../dns/record-sets.ts";
import { textsAmong } from "../dns/zone-texts.ts";
import type { Fields } from "../http/answer.ts";
import { type CallInfo, connectionFault, type FailureDetails } from "../http/failures.ts";
import { lookPurpose, type Purpose } from "../http/limits.ts";
import {
  type Client,
  createClient,
  type Endpoint,
  isAutomatic,
  readEndpoints,
  recordsOf,
  type WebhookOptions,
  webhookError,
} from "./api.ts";
import { type DomainFilter, isServed, isServedZone, readDomains } from "./domains.ts";
import { SharedRead } from "./shared-read.ts";

/**
 * Returns the provider behind a webhook. Sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createWebhook(
  options: WebhookOptions,
  client: Client = createClient(options),
): DNSProvider & ProviderMeter {
  const webhook = new Webhook(options, client);
  return Object.assign(readerOf(webhook, client), {
    writeRecords: (zone: Zone, fqdn: string, change: RecordSetChange) => webhook.write(zone, fqdn, change),
  });
}

/**
 * Returns the provider behind a webhook for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function createWebhookReader(options: WebhookOptions): DNSProviderReader & ProviderMeter {
  const client = createClient(options);
  return readerOf(new Webhook(options, client), client);
}

function readerOf(webhook: Webhook, client: Client): DNSProviderReader & ProviderMeter {
  return {
    name: webhook.name,
    get ttlRules() {
      return webhook.ttlRules;
    },
    isBatched: true,
    findZone: (zone) => webhook.findZone(zone),
    zoneNames: () => webhook.zoneNames(),
    readRecords: async (zone, fqdn, isAwaited) => {
      const { name, records } = await webhook.look(zone, fqdn, lookPurpose(isAwaited));
      return recordSetState(name, records);
    },
    listRecords: (zone, _mostCalls, isAwaited) => webhook.list(zone, lookPurpose(isAwaited)),
    listTexts: async (zone) => {
      const records = await webhook.everythingIn(zone, textsOf(zone.id), lookPurpose(true));
      return textsAmong(
        records.flatMap(({ fqdn, type, targets }) => targets.map((content) => ({ id: "", type, fqdn, content }))),
      );
    },
    readTexts: async (zone, fqdn) => {
      const records = await webhook.everythingIn(zone, textsOf(fqdn), lookPurpose(true));
      const own = records.filter((set) => set.fqdn === fqdn && set.type === "TXT");
      return own.flatMap(({ targets }) => targets.map((text) => ({ fqdn, text })));
    },
    ...client.meter,
  };
}

function callOf(operation: string, subject: string, doing: string, isWrite = false): CallInfo {
  return { operation, subject, doing, scope: "", isWrite };
}

function textsOf(subject: string): CallInfo {
  return callOf("texts", subject, `read the TXT records of ${subject}`);
}

function readingOf(fqdn: string): CallInfo {
  return callOf("records", fqdn, `read the A records of ${fqdn}`);
}

/** Everything that the webhook shows, by name. */
type Reading = ReadonlyMap<string, readonly Endpoint[]>;

/** What a reading shows of one name. */
interface SeenName {
  readonly name: string;
  /** Its sets of A records: usually one, or none. */
  readonly sets: readonly Endpoint[];
  readonly records: readonly ARecord[];
  /** The same text as long as nothing of the sets changes. */
  readonly text: string;
  readonly hasCNAME: boolean;
  /** When it was read, monotonic milliseconds. */
  readonly atMs: number;
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

/** An address that is nowhere: what is asked with it is never stored. */
const NO_ADDRESS = "192.0.2.1";

class Webhook {
  readonly name: string;
  /** The TTLs that the webhook takes, as far as it has told. */
  ttlRules: TTLRules = ANY_TTL;
  readonly #options: WebhookOptions;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #domains: SharedRead<DomainFilter>;
  readonly #everything: SharedRead<{ readonly reading: Reading; readonly atMs: number }>;
  readonly #accepted = new Map<string, Accepted>();
  #hasAnswered = false;
  #knowsTTLs = false;
  /** Ends when the changes before have been sent. */
  #sent: Promise<unknown> = Promise.resolve();
  /** How many changes are being made ready or sent, and what is resolved when there are none. */
  #unsent = 0;
  #allSent: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(options: WebhookOptions, client: Client) {
    this.name = options.name;
    this.#options = options;
    this.#client = client;
    this.#clock = options.clock;
    this.#domains = new SharedRead((purpose) => this.#negotiate(purpose));
    this.#everything = new SharedRead((purpose) => this.#readEverything(purpose));
  }

  /** The zone as the user wrote it, if the webhook looks after it: there is nobody who knows whether it exists. */
  async findZone(text: string): Promise<Zone | undefined> {
    const zone = canonicalDNSName(text);
    const call = callOf("zone", text, `find the zone ${text}`);
    if (zone === undefined || zone.startsWith("*"))
      throw this.#refused(call, `${JSON.stringify(text)} is not the name of a zone`);
    if (!isServedZone(zone, await this.#domains.recent("recovery"))) return undefined;
    await this.#learnTTLs(zone);
    return { id: zone, name: zone };
  }

  async zoneNames(): Promise<readonly string[]> {
    const { include } = await this.#domains.recent(lookPurpose(false));
    return include.map((domain) => domain.replace(/^\./, ""));
  }

  /** What was read of a name a moment ago, or is read now. @throws ProviderError `malformed` where it has A records that cannot be told */
  async look(zone: Zone, fqdn: string, purpose: Purpose): Promise<SeenName> {
    const name = await this.#nameIn(zone, fqdn, readingOf(fqdn));
    return this.#seen(name, await this.#everything.recent(purpose));
  }

  async list(zone: Zone, purpose: Purpose): Promise<ZoneListing> {
    const call = callOf("records", zone.id, `list the A records of the zone ${zone.id}`);
    const sets = (await this.everythingIn(zone, call, purpose)).filter(({ type }) => type === "A" || type === "?");
    const unclear = new Set(sets.flatMap((set) => (troubleOf(set) === undefined ? [] : [set.fqdn])));
    const byName = Map.groupBy(sets, ({ fqdn }) => fqdn);
    const clear = [...byName].filter(([fqdn]) => !unclear.has(fqdn));
    return {
      names: new Map(clear.map(([fqdn, own]) => [fqdn, recordSetState(fqdn, own.flatMap(recordsOf))])),
      isOneAnswer: true,
      unclear,
    };
  }

  /** All sets of records of a zone. */
  async everythingIn({ id: zone }: Zone, call: CallInfo, purpose: Purpose): Promise<readonly Endpoint[]> {
    await this.#expectZone(zone, call);
    const { reading } = await this.#everything.recent(purpose);
    return [...reading].flatMap(([name, sets]) => (relativeName(zone, name) === undefined ? [] : sets));
  }

  async write(zone: Zone, fqdn: string, change: RecordSetChange): Promise<RecordSetResult> {
    const call = callOf("write", fqdn, `write the A records of ${fqdn}`, true);
    const name = await this.#nameIn(zone, fqdn, call);
    let seen: SeenName | undefined;
    return changeRecordSet(change, {
      fqdn: name,
      ttlRules: this.ttlRules,
      refuse: (reason) => this.#refused(call, reason),
      read: async (purpose) => {
        seen = await this.#fresh(name, purpose);
        return seen.records;
      },
      attempt: async (wanted, records) => {
        const before = seen ?? (await this.#fresh(name, "rest"));
        return await this.#attempt({ call, before, wanted, records, mayWrite: change.mayWrite });
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
    if (before.hasCNAME) throw this.#refused(call, "the name has a CNAME record, and no A record can stand beside it");
    const change = await this.#changeFor(attempt);
    const wish = JSON.stringify(change) ?? "";
    if (change === undefined) return { end: { kind: "written", own: records.own }, wish };
    const known = this.#accepted.get(before.name);
    const isLookedFor = known?.before === before.text && known.wish === wish;
    if (isLookedFor && this.#clock.monotonicMs() - known.atMs < CACHED_MS) throw this.#notShown(call);
    this.#accepted.delete(before.name);
    const end = await this.#send(attempt, change);
    return end === undefined ? { wish } : { end, wish };
  }

  /** What has to be sent; undefined where everything is as it should be. */
  async #changeFor({ call, before, wanted, records: { others } }: Attempt): Promise<SetChange | undefined> {
    const targets = [...new Set([...wanted.addresses, ...others.map(({ address }) => address)])].toSorted();
    const [first] = before.sets;
    if (targets.length === 0) return first && { delete: before.sets.map(({ raw }) => raw) };
    // Two sets of one name are one to whoever changes it.
    const old = first && { ...first.raw, targets: before.records.map(({ address }) => address) };
    const ttl = before.sets.some(isAutomatic) ? {} : { recordTTL: wanted.ttlSeconds };
    const empty = { dnsName: before.name, recordType: "A" };
    const adjusted = await this.#adjusted(call, { ...(first?.raw ?? empty), targets, ...ttl }, targets);
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
  async #adjusted(call: CallInfo, set: Fields, targets: readonly string[]): Promise<Endpoint> {
    const [own] = await this.#adjust({ ...call, isWrite: false }, [set], "rest");
    if (own === undefined) throw this.#refused(call, "it would not store such a record (POST /adjustendpoints)");
    if (own.type === "A" && isSameSet(own.targets, targets)) return own;
    throw this.#refused(call, `it would store ${own.type} ${own.targets.join(" ")} (POST /adjustendpoints)`);
  }

  async #adjust(call: CallInfo, sets: readonly Fields[], purpose: Purpose): Promise<readonly Endpoint[]> {
    return await this.#client.for(purpose).call({
      ...callOf("adjust", call.subject, `say how it stores ${call.subject}`),
      isQuestion: true,
      send: (request) => request("POST", "/adjustendpoints", sets),
      read: readEndpoints,
    });
  }

  /** Changes go one after another. Returns what became of the attempt where nothing was sent. */
  async #send(attempt: Attempt, change: SetChange): Promise<ChangeAttempt<ARecord> | undefined> {
    const { call, before, records, mayWrite } = attempt;
    const earlier = this.#sent;
    const sending = (async (): Promise<ChangeAttempt<ARecord> | undefined> => {
      await earlier;
      if (this.#clock.monotonicMs() - before.atMs > OLDEST_MS) {
        const now = await this.#fresh(before.name, "rest");
        const expected = records.own.map(({ address }) => address);
        if (now.text !== before.text) return { kind: "conflict", expected, seen: now.records, isRepeatable: true };
      }
      if (mayWrite?.() === false) return { kind: "stopped", own: records.own };
      try {
        await this.#client.for("rest").call({
          ...call,
          send: (request) => request("POST", "/records", change),
          read: () => undefined,
          otherwise: { value: undefined },
        });
      } finally {
        this.#everything.forget();
      }
      return undefined;
    })();
    this.#sent = sending.catch(() => undefined);
    return await sending;
  }

  /** Looks until an accepted change is seen. @throws ProviderError where it is not, or not as it was asked for */
  async #settle({ call, before, wanted, records }: Attempt, wish: string): Promise<ChangeAttempt<ARecord>> {
    const atMs = this.#clock.monotonicMs();
    for (let looks = 0; ; looks += 1) {
      const now = await this.#fresh(before.name, "rest").catch((error: unknown) => {
        throw this.#unseen(call, error);
      });
      if (now.text !== before.text) return this.#judged({ call, before, wanted, records }, now);
      const waitMs = nextTryMs(TRIES.shownWrite, looks);
      if (waitMs === undefined) {
        this.#accepted.set(before.name, { before: before.text, wish, atMs });
        throw this.#notShown(call);
      }
      await this.#waiting(() => this.#clock.sleep(waitMs, this.#options.signal));
    }
  }

  /** The change was accepted, so it may have been made, whatever kept flipop from looking. */
  #unseen(call: CallInfo, error: unknown): unknown {
    if (!(error instanceof ProviderError)) return error;
    const { failure, status, message, notBeforeMs } = error;
    const reason = `it accepted the change, which could not be read again: ${message}`;
    return this.#error(call, { failure, status, reason, notBeforeMs, isAmbiguous: true });
  }

  /** Tells a person what is waited for. */
  #waiting<T>(work: () => Promise<T>): Promise<T> {
    return waitingFor(this.#options.progress, { kind: "provider", name: this.name }, work);
  }

  #judged({ call, wanted, records, before }: Attempt, now: SeenName): ChangeAttempt<ARecord> {
    const own = now.records.filter(records.isOwn);
    const addresses = own.map(({ address }) => address);
    if (isSameSet(addresses, wanted.addresses)) return { kind: "written", own };
    const known = new Set([...wanted.addresses, ...before.records.map(({ address }) => address)]);
    if (!addresses.every((address) => known.has(address)))
      return { kind: "conflict", expected: wanted.addresses, seen: now.records, isRepeatable: false };
    const reason = `it accepted ${listed(wanted.addresses)} and shows ${listed(addresses)}`;
    throw this.#error(call, { failure: "malformed", status: 204, reason });
  }

  #fresh(name: string, purpose: Purpose): Promise<SeenName> {
    return this.#everything.fresh(purpose).then((everything) => this.#seen(name, everything));
  }

  #seen(name: string, { reading, atMs }: { readonly reading: Reading; readonly atMs: number }): SeenName {
    const all = reading.get(name) ?? [];
    const trouble = all.map(troubleOf).find((reason) => reason !== undefined);
    if (trouble !== undefined)
      throw this.#error(readingOf(name), { failure: "malformed", status: 200, reason: trouble });
    const sets = all.filter(({ type }) => type === "A");
    const text = JSON.stringify(sets.map(({ raw }) => raw));
    const hasCNAME = all.some(({ type }) => type === "CNAME");
    return { name, sets, records: sets.flatMap(recordsOf), text, hasCNAME, atMs };
  }

  async #readEverything(purpose: Purpose): Promise<{ readonly reading: Reading; readonly atMs: number }> {
    const atMs = this.#clock.monotonicMs();
    const sets = await this.#client.for(purpose).call({
      ...callOf("records", "", "list all records"),
      send: (request) => request("GET", "/records"),
      read: readEndpoints,
    });
    return { reading: Map.groupBy(sets, ({ fqdn }) => fqdn), atMs };
  }

  /** The first question. A webhook in the same pod may start at the same time, so nothing may listen yet. */
  async #negotiate(purpose: Purpose): Promise<DomainFilter> {
    const { signal } = this.#options;
    const ask = async (tries: number): Promise<DomainFilter> => {
      try {
        const domains = await this.#client.for(purpose).call({
          ...callOf("zone", "", "say which names it looks after"),
          send: (request) => request("GET", "/"),
          read: readDomains,
        });
        this.#hasAnswered = true;
        return domains;
      } catch (error) {
        const isStarting = !this.#hasAnswered && isUnheard(error);
        const waitMs = isStarting ? nextTryMs(TRIES.sidecarStart, tries) : undefined;
        if (waitMs === undefined || signal?.aborted === true) throw error;
        await this.#clock.sleep(waitMs, signal);
        return await ask(tries + 1);
      }
    };
    return await this.#waiting(() => ask(0));
  }

  /** Asks what becomes of the least and of the greatest TTL. A webhook that does not tell takes any. */
  async #learnTTLs(zone: string): Promise<void> {
    if (this.#knowsTTLs) return;
    const probe = (label: string, recordTTL: number): Fields => {
      return { dnsName: `${label}.${zone}`, recordType: "A", targets: [NO_ADDRESS], recordTTL };
    };
    const { maximumSeconds: most } = ANY_TTL;
    try {
      const call = callOf("zone", zone, `find the zone ${zone}`);
      const answers = await this.#adjust(call, [probe("least-ttl", 1), probe("most-ttl", most)], "recovery");
      const told = (label: string): number => answers.find(({ fqdn }) => fqdn === `${label}.${zone}`)?.ttlSeconds ?? 0;
      const [least, greatest] = [told("least-ttl"), told("most-ttl")];
      const minimumSeconds = least > 1 ? least : 0;
      const maximumSeconds = greatest >= Math.max(minimumSeconds, 1) ? greatest : most;
      this.ttlRules = { minimumSeconds, maximumSeconds };
      this.#knowsTTLs = true;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
    }
  }

  /** Returns the canonical name. @throws ProviderError `refused` for what is no name of the zone or of the webhook's domains; `not-found` without the zone */
  async #nameIn(zone: Zone, fqdn: string, call: CallInfo): Promise<string> {
    const name = canonicalDNSName(fqdn);
    if (name === undefined) throw this.#refused(call, `${JSON.stringify(fqdn)} is not a DNS name`);
    if (relativeName(zone.id, name) === undefined) throw this.#refused(call, `it is not in the zone ${zone.id}`);
    await this.#expectZone(zone.id, call);
    if (isServed(name, await this.#domains.recent("recovery"))) return name;
    throw this.#refused(call, "the webhook does not look after this name; its domain filter says which it does");
  }

  async #expectZone(zone: string, call: CallInfo): Promise<void> {
    if (isServedZone(zone, await this.#domains.recent("recovery"))) return;
    const reason = `it does not look after the zone ${zone}`;
    throw this.#error(call, { failure: "not-found", status: 0, reason });
  }

  #notShown(call: CallInfo): ProviderError {
    const reason = "it accepted the change and does not show it yet, as with a cache; flipop looks again";
    return this.#error(call, { failure: "unavailable", status: 204, reason, isAmbiguous: true });
  }

  #refused(call: CallInfo, reason: string): ProviderError {
    return this.#error(call, { failure: "refused", status: 0, reason });
  }

  #error(call: CallInfo, details: FailureDetails): ProviderError {
    return webhookError(this.name, call, details);
  }
}

/** One attempt to change a name. */
interface Attempt {
  readonly call: CallInfo;
  /** As it was read. */
  readonly before: SeenName;
  readonly wanted: Wanted;
  readonly records: ReadRecords<ARecord>;
  readonly mayWrite?: RecordSetChange["mayWrite"];
}

/** Why flipop cannot tell the A records of a set's name; undefined where it can. */
function troubleOf({ type, targets, setIdentifier }: Endpoint): string | undefined {
  if (type === "?") return "a record of the name cannot be understood";
  if (type !== "A") return undefined;
  if (setIdentifier !== "")
    return `the provider chooses among several sets of A records of the name (${setIdentifier}), which flipop does not do`;
  const other = targets.find((target) => canonicalIPv4(target) !== target);
  return other === undefined ? undefined : `an A record of the name leads to ${other}, which is no IPv4 address`;
}

/** True if nothing listens at all. */
function isUnheard(error: unknown): boolean {
  return error instanceof ProviderError && connectionFault(error.cause).code === "ECONNREFUSED";
}

function listed(addresses: readonly string[]): string {
  return addresses.length === 0 ? "no address" : addresses.join(", ");
}
