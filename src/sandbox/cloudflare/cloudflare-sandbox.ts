import { FaultList, type FaultSource } from "../faults.ts";
import {
  type RecordedCall,
  type SandboxReply,
  type SandboxRequest,
  type SandboxServer,
  serve,
} from "../http-server.ts";
import { Account } from "./account.ts";
import {
  type AccountState,
  completeAccount,
  fullName,
  type RecordState,
  worldFile,
  type ZoneState,
} from "./account-state.ts";
import { APIRefusal, answerRequest } from "./routes.ts";

/** Where the account is kept, and its surroundings. */
interface CloudflareSandboxOptions {
  /** Path of `cloudflare.yaml`; made when it does not exist. Without it the account lives in memory. */
  readonly file?: string;
  /** What a new account holds; as short as a person would write it. Ignored when the file exists. */
  readonly state?: unknown;
  /** Default: none. */
  readonly faults?: FaultSource;
  /** Milliseconds since the epoch; the account's only clock. */
  readonly now: () => number;
  readonly onCall?: (call: RecordedCall) => void;
  readonly onError?: (error: unknown) => void;
}

/** The emulated Cloudflare: its API, and the account behind it. */
export interface CloudflareSandbox {
  /** Answers one request. @throws ConfigError when the file was edited into something invalid. */
  handle(request: SandboxRequest): SandboxReply;
  /** Serves the API on loopback, with the faults; the base URL of a client is `url` and `/client/v4`. */
  serve(): Promise<SandboxServer>;
  /** The account as it is now, the file's newest edit included; changes to its state are saved with the next request or {@link save}. */
  account(): Account;
  /** Writes the account to its file. */
  save(): void;
  /** Adds a zone and returns it. */
  addZone(zone: Partial<Omit<ZoneState, "dns_records">> & { readonly name: string }): ZoneState;
  /** Takes a zone away with its records. */
  removeZone(name: string): void;
  /** Adds a record behind everybody's back and returns it; it may be one that the API would refuse. @throws Error without the zone. */
  addRecord(zone: string, record: Partial<RecordState> & Pick<RecordState, "name" | "content">): RecordState;
  /** Takes the records of a name (full or relative) that fit away, behind everybody's back. @throws Error without the zone. */
  removeRecords(zone: string, name: string, fits?: (record: RecordState) => boolean): void;
}

/**
 * Opens or makes an emulated account. The file is read again before a request when a person changed it, and written
 * after each request that changed something.
 * @throws ConfigError naming the file when it cannot be read; Error when `state` is invalid.
 */
export function cloudflareSandbox(options: CloudflareSandboxOptions): CloudflareSandbox {
  const file = options.file === undefined ? undefined : worldFile(options.file);
  const account = new Account(file?.load() ?? completeAccount(options.state));
  const meter = new RateMeter();
  let requests = 0;

  function save(): void {
    file?.save(account.state);
  }

  function current(): Account {
    if (file?.changedSinceLoad() === true) account.state = file.load() ?? completeAccount(options.state);
    return account;
  }

  function change(edit: (state: AccountState) => void): AccountState {
    const state = structuredClone(current().state);
    edit(state);
    account.state = completeAccount(state);
    save();
    return account.state;
  }

  function handle(request: SandboxRequest): SandboxReply {
    requests += 1;
    const ray = `${requests.toString(16).padStart(16, "0")}-SBX`;
    const reply = answerRequest(current(), meter, request, { nowMs: options.now(), ray });
    save();
    return reply;
  }

  save();
  return {
    handle,
    serve: () => serve(serveOptions(options, handle)),
    account: current,
    save,
    addZone(zone) {
      const { zones } = change((state) => state.zones.push({ ...zone, dns_records: [] } as unknown as ZoneState));
      return last(zones);
    },
    removeZone: (name) => {
      change((state) => {
        state.zones = state.zones.filter((zone) => zone.name !== name);
      });
    },
    addRecord(zone, record) {
      const state = change((draft) => zoneOf(draft, zone).dns_records.push(record as RecordState));
      return last(zoneOf(state, zone).dns_records);
    },
    removeRecords(zone, name, fits = () => true) {
      change((state) => {
        const held = zoneOf(state, zone);
        const full = fullName(name, held.name);
        held.dns_records = held.dns_records.filter((record) => record.name !== full || !fits(record));
      });
    },
  };
}

function zoneOf(state: AccountState, name: string): ZoneState {
  const zone = state.zones.find((item) => item.name === name);
  if (zone === undefined) throw new Error(`the sandbox has no zone ${name}`);
  return zone;
}

function last<T>(items: readonly T[]): T {
  const item = items.at(-1);
  if (item === undefined) throw new Error("the sandbox lost what was just added");
  return item;
}

function serveOptions(
  options: CloudflareSandboxOptions,
  handle: (request: SandboxRequest) => SandboxReply,
): Parameters<typeof serve>[0] {
  return {
    server: "cloudflare",
    handle,
    faults: options.faults ?? new FaultList(),
    now: options.now,
    ...(options.onCall === undefined ? {} : { onCall: options.onCall }),
    ...(options.onError === undefined ? {} : { onError: options.onError }),
  };
}

const windowMs = 300_000;
const blockMs = 300_000;

/** What the rate-limit headers say. */
interface RateFacts {
  readonly remaining: number;
  readonly resetSeconds: number;
}

/**
 * Counts the requests of the account's user, whatever token they come with, in sliding five minutes; one too many blocks
 * everything for five minutes. Lives in memory only: a new process starts afresh.
 * @see https://developers.cloudflare.com/fundamentals/api/reference/limits/ verified 2026-11-21
 */
export class RateMeter {
  private times: number[] = [];
  private blockedUntilMs = Number.NEGATIVE_INFINITY;

  /** Counts one request. @throws APIRefusal 429 when it is one too many, or comes while everything is blocked */
  count(limit: number, nowMs: number): void {
    this.times = this.times.filter((time) => time > nowMs - windowMs);
    if (nowMs >= this.blockedUntilMs && this.times.length >= limit) this.blockedUntilMs = nowMs + blockMs;
    if (nowMs < this.blockedUntilMs) {
      const error = { code: 971, message: "Please wait and consider throttling your request speed" };
      throw new APIRefusal(429, [error], Math.ceil((this.blockedUntilMs - nowMs) / 1000));
    }
    this.times.push(nowMs);
  }

  /** The headers of an answer. */
  facts(limit: number, nowMs: number): RateFacts {
    const isBlocked = nowMs < this.blockedUntilMs;
    const resetMs = isBlocked ? this.blockedUntilMs : (this.times[0] ?? nowMs) + windowMs;
    return {
      remaining: isBlocked ? 0 : Math.max(0, limit - this.times.length),
      resetSeconds: Math.max(1, Math.ceil((resetMs - nowMs) / 1000)),
    };
  }
}
