// What a webhook shows: its domains, and all of its records. webhook.ts says how it is read.

import { ANY_TTL, canonicalDNSName, relativeName, type TTLRules, type Zone } from "../../model/dns.ts";
import { ProviderError } from "../../model/errors.ts";
import { waitingFor } from "../../model/progress.ts";
import { RECORD_TYPES, type RecordSetName, type RecordType, setNamed, setText } from "../../model/record-types.ts";
import { nextTryMs, TRIES } from "../../model/waits.ts";
import type { ZoneListing } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import { type ARecord, recordSetState } from "../dns/record-sets.ts";
import type { Fields } from "../http/answer.ts";
import { type CallInfo, connectionFault, type FailureDetails } from "../http/failures.ts";
import { lookPurpose, type Purpose } from "../http/limits.ts";
import { SharedRead } from "../http/shared-read.ts";
import { type Client, type Endpoint, readEndpoints, recordsOf, type WebhookOptions, webhookError } from "./api.ts";
import { type DomainFilter, isServed, isServedZone, readDomains } from "./domains.ts";

/** Everything that the webhook shows, by name. */
type Reading = ReadonlyMap<string, readonly Endpoint[]>;

/** What a reading shows of one set of records. */
export interface SeenName {
  readonly name: RecordSetName;
  /** The sets that it comes in: usually one, or none. */
  readonly sets: readonly Endpoint[];
  readonly records: readonly ARecord[];
  /** The same text as long as nothing of the sets changes. */
  readonly text: string;
  readonly hasCNAME: boolean;
  /** When it was read, monotonic milliseconds. */
  readonly atMs: number;
}

/** An address that is nowhere: what is asked with it is never stored. */
const NO_ADDRESS = "192.0.2.1";

/** Reads from one webhook. */
export class WebhookReader {
  readonly name: string;
  /** The TTLs that the webhook takes, as far as it has told. */
  ttlRules: TTLRules = ANY_TTL;
  readonly #options: WebhookOptions;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #domains: SharedRead<DomainFilter>;
  readonly #everything: SharedRead<{ readonly reading: Reading; readonly atMs: number }>;
  /** As it was told last; undefined until the webhook has answered. Whoever looks for a zone asks again. */
  #lastDomains: DomainFilter | undefined;
  #knowsTTLs = false;

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
      throw this.refused(call, `${JSON.stringify(text)} is not the name of a zone`);
    if (!isServedZone(zone, await this.#domains.recent("recovery"))) return undefined;
    await this.#learnTTLs(zone);
    return { id: zone, name: zone };
  }

  /** The domains that it looks after, as far as it tells. */
  async zoneNames(): Promise<readonly string[]> {
    const { include } = await this.#domains.recent(lookPurpose(false));
    return include.map((domain) => domain.replace(/^\./, ""));
  }

  /** What was read of a set of records a moment ago, or is read now. @throws ProviderError `malformed` where it has records that cannot be told */
  async look(zone: Zone, fqdn: string, purpose: Purpose): Promise<SeenName> {
    const name = await this.nameIn(zone, fqdn, readingOf(fqdn));
    return this.#seen(name, await this.#everything.recent(purpose));
  }

  /** The records of one type of all names of a zone. */
  async list(zone: Zone, type: RecordType, purpose: Purpose): Promise<ZoneListing> {
    const call = callOf("records", zone.id, `list the ${type} records of the zone ${zone.id}`);
    const everything = await this.everythingIn(zone, call, purpose);
    const sets = everything
      .filter((set) => set.type === type || set.type === "?")
      .map((set) => ({ ...set, fqdn: setText({ fqdn: set.fqdn, type }) }));
    const unclear = new Set(sets.flatMap((set) => (troubleOf(set, type) === undefined ? [] : [set.fqdn])));
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
    this.#expectZone(zone, await this.#knownDomains(), call);
    const { reading } = await this.#everything.recent(purpose);
    return [...reading].flatMap(([name, sets]) => (relativeName(zone, name) === undefined ? [] : sets));
  }

  /** What is read of a name now. @throws ProviderError as {@link look} */
  fresh(name: RecordSetName, purpose: Purpose): Promise<SeenName> {
    return this.#everything.fresh(purpose).then((everything) => this.#seen(name, everything));
  }

  /** How the webhook would store these sets. */
  async adjust(call: CallInfo, sets: readonly Fields[], purpose: Purpose): Promise<readonly Endpoint[]> {
    return await this.#client.for(purpose).call({
      ...callOf("adjust", call.subject, `say how it stores ${call.subject}`),
      isQuestion: true,
      send: (request) => request("POST", "/adjustendpoints", sets),
      read: readEndpoints,
    });
  }

  /**
   * Returns the set of records with its canonical name.
   * @throws ProviderError `not-found` where the webhook does not look after the zone; `refused` for a text that is no name in it, or a name that is left out of its domains
   */
  async nameIn(zone: Zone, text: string, call: CallInfo): Promise<RecordSetName> {
    const { fqdn: written, type } = setNamed(text);
    const name = canonicalDNSName(written);
    if (name === undefined) throw this.refused(call, `${JSON.stringify(written)} is not a DNS name`);
    if (relativeName(zone.id, name) === undefined) throw this.refused(call, `it is not in the zone ${zone.id}`);
    // Whoever changes a name asks again for the domains: the webhook may have been started anew with others.
    const domains = call.isWrite ? await this.#domains.recent("recovery") : await this.#knownDomains();
    this.#expectZone(zone.id, domains, call);
    if (isServed(name, domains)) return { fqdn: name, type };
    throw this.refused(call, "the webhook does not look after this name; its domain filter says which it does");
  }

  /** Tells a person what is waited for. */
  waiting<T>(work: () => Promise<T>): Promise<T> {
    return waitingFor(this.#options.progress, { kind: "provider", name: this.name }, work);
  }

  /** Returns the error of a call that is refused before anything is sent. */
  refused(call: CallInfo, reason: string): ProviderError {
    return this.error(call, { failure: "refused", status: 0, reason });
  }

  /** Returns the error of a call with these details. */
  error(call: CallInfo, details: FailureDetails): ProviderError {
    return webhookError(this.name, call, details);
  }

  #seen(name: RecordSetName, { reading, atMs }: { readonly reading: Reading; readonly atMs: number }): SeenName {
    const all = reading.get(name.fqdn) ?? [];
    const trouble = all.map((set) => troubleOf(set, name.type)).find((reason) => reason !== undefined);
    if (trouble !== undefined)
      throw this.error(readingOf(setText(name)), { failure: "malformed", status: 200, reason: trouble });
    const sets = all.filter(({ type }) => type === name.type);
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
        this.#lastDomains = domains;
        return domains;
      } catch (error) {
        const isStarting = this.#lastDomains === undefined && isUnheard(error);
        const waitMs = isStarting ? nextTryMs(TRIES.sidecarStart, tries) : undefined;
        if (waitMs === undefined || signal?.aborted === true) throw error;
        await this.#clock.sleep(waitMs, signal);
        return await ask(tries + 1);
      }
    };
    return await this.waiting(() => ask(0));
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
      const answers = await this.adjust(call, [probe("least-ttl", 1), probe("most-ttl", most)], "recovery");
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

  async #knownDomains(): Promise<DomainFilter> {
    return this.#lastDomains ?? (await this.#domains.recent("recovery"));
  }

  #expectZone(zone: string, domains: DomainFilter, call: CallInfo): void {
    if (isServedZone(zone, domains)) return;
    const reason = `it does not look after the zone ${zone}`;
    throw this.error(call, { failure: "not-found", status: 0, reason });
  }

  /** Something has been changed: what was read before serves nobody any more. */
  forget(): void {
    this.#everything.forget();
  }
}

/** Returns what texts say about a call that changes nothing. */
export function callOf(operation: string, subject: string, doing: string, isWrite = false): CallInfo {
  return { operation, subject, doing, scope: "", isWrite };
}

function readingOf(text: string): CallInfo {
  const { fqdn, type } = setNamed(text);
  return callOf("records", text, `read the ${type} records of ${fqdn}`);
}

/** Why flipop cannot tell the records of a type of a set's name; undefined where it can. */
function troubleOf({ type, targets, setIdentifier, isUnclear }: Endpoint, asked: RecordType): string | undefined {
  if (type === "?") return "a record of the name cannot be understood";
  if (type !== asked) return undefined;
  if (isUnclear) return `the ${asked} records of the name cannot be understood`;
  if (setIdentifier !== "")
    return `the provider chooses among several sets of ${asked} records of the name (${setIdentifier}), which flipop does not do`;
  const { canonical, family } = RECORD_TYPES[asked];
  const other = targets.find((target) => canonical(target) === undefined);
  return other === undefined
    ? undefined
    : `an ${asked} record of the name leads to ${other}, which is no ${family} address`;
}

/** True if nothing listens at all. */
function isUnheard(error: unknown): boolean {
  return error instanceof ProviderError && connectionFault(error.cause).code === "ECONNREFUSED";
}
