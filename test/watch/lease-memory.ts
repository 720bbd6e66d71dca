import { KubeError, type KubeFailure } from "../../src/model/errors.ts";
import type { LeaseRecord } from "../../src/ports/cluster.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { LeaseStore } from "../../src/watch/lease-record.ts";

type Method = "readLease" | "createLease" | "replaceLease";

/** What happens to one call: refused before it has an effect, its answer lost after it, never answered, or late. */
export interface LeaseFault {
  readonly on?: Method;
  readonly how: "refuse" | "lose-answer" | "hang" | "late";
  readonly failure?: KubeFailure;
  /** For `late`: when the effect comes, after the caller was given no answer. */
  readonly lateMs?: number;
}

/** The Lease of an API server, in memory: resource versions, conflicts, and who wrote what. */
export class LeaseMemory {
  record: LeaseRecord | undefined;
  hasNamespace = true;
  readonly writes: { readonly by: string; readonly verb: Method; readonly holder: string; readonly atMs: number }[] =
    [];
  private version = 100;
  private readonly clock: Clock;
  /** How far the server's clock is from the local wall clock. */
  readonly skewMs: number;

  constructor(clock: Clock, skewMs = 0) {
    this.clock = clock;
    this.skewMs = skewMs;
  }

  nowMs(): number {
    return this.clock.wallMs() + this.skewMs;
  }

  /** Writes fields of the record as a person with kubectl would. */
  edit(changes: Partial<LeaseRecord>): LeaseRecord {
    this.version += 1;
    this.record = {
      namespace: "flipop",
      name: "flipop",
      holder: "",
      durationSeconds: 15,
      acquireTimeMs: this.nowMs(),
      renewTimeMs: this.nowMs(),
      transitions: 0,
      annotations: {},
      ...this.record,
      ...changes,
      resourceVersion: String(this.version),
    };
    return this.record;
  }

  read(): LeaseRecord | undefined {
    return this.record;
  }

  create(by: string, lease: Omit<LeaseRecord, "resourceVersion">): LeaseRecord {
    if (!this.hasNamespace) throw refusal("not-found", 404);
    if (this.record !== undefined) throw refusal("already-exists", 409);
    this.log(by, "createLease", lease.holder);
    return this.edit(lease);
  }

  replace(by: string, lease: LeaseRecord): LeaseRecord {
    if (this.record === undefined) throw refusal("not-found", 404);
    if (lease.resourceVersion !== this.record.resourceVersion) throw refusal("conflict", 409);
    if (!(lease.durationSeconds >= 1)) throw refusal("invalid", 422);
    this.log(by, "replaceLease", lease.holder);
    return this.edit(lease);
  }

  private log(by: string, verb: Method, holder: string): void {
    this.writes.push({ by, verb, holder, atMs: this.clock.monotonicMs() });
  }
}

/** One process's connection to the Lease, with latency and faults of its own. */
export class LeaseConnection implements LeaseStore {
  readonly faults: LeaseFault[] = [];
  /** While set, every call ends this way. */
  away: LeaseFault | undefined;
  readonly calls: Method[] = [];
  private readonly memory: LeaseMemory;
  private readonly clock: Clock;
  private readonly by: string;
  private readonly latencyMs: number;

  constructor(memory: LeaseMemory, clock: Clock, by: string, latencyMs = 5) {
    this.memory = memory;
    this.clock = clock;
    this.by = by;
    this.latencyMs = latencyMs;
  }

  now(): number {
    return this.memory.nowMs();
  }

  readLease(): Promise<LeaseRecord | undefined> {
    return this.call("readLease", () => this.memory.read());
  }

  createLease(lease: Omit<LeaseRecord, "resourceVersion">): Promise<LeaseRecord> {
    return this.call("createLease", () => this.memory.create(this.by, lease));
  }

  replaceLease(lease: LeaseRecord): Promise<LeaseRecord> {
    return this.call("replaceLease", () => this.memory.replace(this.by, lease));
  }

  private async call<T>(method: Method, effect: () => T): Promise<T> {
    this.calls.push(method);
    const fault = this.away ?? this.takeFault(method);
    await this.clock.sleep(this.latencyMs);
    if (fault === undefined) return this.answer(effect());
    if (fault.how === "refuse") throw refusal(fault.failure ?? "unavailable", 503);
    if (fault.how === "hang") return new Promise<never>(() => undefined);
    if (fault.how === "late") await this.clock.sleep(fault.lateMs ?? 0);
    effect();
    if (fault.how === "late") return new Promise<never>(() => undefined);
    throw refusal(fault.failure ?? "unavailable", 0);
  }

  private async answer<T>(value: T): Promise<T> {
    await this.clock.sleep(this.latencyMs);
    return value;
  }

  private takeFault(method: Method): LeaseFault | undefined {
    const at = this.faults.findIndex((fault) => fault.on === undefined || fault.on === method);
    return at < 0 ? undefined : this.faults.splice(at, 1)[0];
  }
}

function refusal(failure: KubeFailure, status: number): KubeError {
  return new KubeError({ failure, operation: "test leases", subject: "flipop/flipop", status, message: failure });
}
