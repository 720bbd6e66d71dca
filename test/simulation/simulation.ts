import type {
  DNSMemory,
  PoolStatus,
  PublishedName,
  RecordSetStatus,
  RoutedIPStatus,
} from "../../src/model/resource.ts";
import { Blow } from "./blow.ts";
import { happen } from "./events.ts";
import { type Failure, Faults, type SimCall } from "./faults.ts";
import { onRecord } from "./firewall-truth.ts";
import type { History, Slot, Strike, WorldEvent } from "./history.ts";
import { checkStandstill } from "./liveness.ts";
import { Monitor, type Violation } from "./monitor.ts";
import { Process } from "./process.ts";
import { Random } from "./random.ts";
import { World } from "./world.ts";

/** What came of one history. */
export interface SimulationResult {
  readonly violation: Violation | undefined;
  /** Calls and events in order; only when asked for. */
  readonly trace: readonly string[];
  readonly calls: number;
  /** Writes that were held against the promises. */
  readonly effects: number;
  /** Calls that failed as planned. */
  readonly faults: number;
  /** Processes that were ended in the middle of their work. */
  readonly deaths: number;
}

/** One history being run. */
export class Simulation {
  readonly history: History;
  readonly world: World = new World();
  readonly faults: Faults = new Faults();
  readonly blow: Blow;
  /** Every call made before the world stood still, in order. */
  readonly made: SimCall[] = [];
  readonly monitor: Monitor;
  readonly running: (Process | undefined)[] = [];
  /** By slot, until when it is not to be started, milliseconds since the start. */
  readonly #stoppedUntilMs: number[] = [];
  /** By slot, how far its clock has leapt since the start, milliseconds. */
  readonly leaptMs: number[] = [];
  calls = 0;
  failed = 0;
  deaths = 0;
  isQuiet = false;
  readonly #random: Random;
  readonly #lines: string[] | undefined;
  #incarnations = 0;
  #providerCalls = 0;
  #statusWrites = 0;
  #countFrom = { calls: 0, statuses: 0 };

  constructor(history: History, isTraced: boolean) {
    this.history = history;
    this.blow = new Blow(history.strike);
    this.world.shards = history.shards ?? {};
    this.#random = new Random(history.seed ^ 0x5bd1e995);
    this.#lines = isTraced ? [] : undefined;
    this.monitor = new Monitor(this);
  }

  /** Runs the history to its end, then lets the world stand still and the program come to rest. */
  async run(): Promise<SimulationResult> {
    const { scheduler } = this.world;
    const { events, slots, endsAtMs } = this.history;
    for (const event of events) scheduler.at(this, event.atMs, () => this.happen(event));
    let isOver = false;
    scheduler.at(this, endsAtMs, () => {
      isOver = true;
    });
    for (const [index, slot] of slots.entries()) void this.live(index, slot, () => isOver);
    await scheduler.run(() => isOver || this.monitor.violation !== undefined);
    if (this.monitor.violation === undefined) await this.standStill();
    const { violation, effects } = this.monitor;
    const { calls, failed: faults, deaths } = this;
    return { violation, trace: this.#lines ?? [], calls, effects, faults, deaths };
  }

  /** Enters a call that is about to be made, and lets happen what is to happen right before it; returns the strike that is meant for it. */
  strike(call: SimCall): Strike | undefined {
    if (this.isQuiet) return undefined;
    this.made.push(call);
    const struck = this.blow.next();
    for (const event of struck?.events ?? []) this.happen(event);
    return struck;
  }

  /** The time of the next half of a call, milliseconds. */
  latency(): number {
    const { latencyMs } = this.history;
    if (latencyMs === 0 || this.isQuiet || this.#random.chance(0.5)) return 0;
    return this.#random.between(1, latencyMs);
  }

  note(line: string): void {
    this.#lines?.push(line);
  }

  trace(process: Process, call: SimCall, failure: Failure | undefined): void {
    this.calls += 1;
    if (call.side !== "cluster") this.#providerCalls += 1;
    else if (STATUS_WRITES.has(call.operation)) this.#statusWrites += 1;
    if (failure !== undefined) this.failed += 1;
    if (this.#lines === undefined) return;
    const args =
      call.operation === "status" || call.operation === "routed-ip-status"
        ? statusText(call.args[0] as RoutedIPStatus)
        : call.operation === "record-set-status"
          ? namesText(call.args[0] as RecordSetStatus)
          : call.args.map((arg) => JSON.stringify(arg)).join(" ");
    const time = (this.world.scheduler.elapsedMs() / 1000).toFixed(3).padStart(8);
    const text = args.length > 320 ? `${args.slice(0, 320)}…` : args;
    this.note(
      `${time} ${process.identity} ${call.side === "dns" ? `${call.provider} ` : ""}${call.operation} ${call.subject} ${text}${failure === undefined ? "" : ` !! ${failure.how}`}`,
    );
  }

  /** Starts one incarnation and resolves when it has ended or died. */
  async start(slot: number, settings: Slot): Promise<Process> {
    const process = this.newProcess(slot, settings);
    this.running[slot] = process;
    try {
      await Promise.race([process.run(), process.died]);
    } catch (error) {
      this.monitor.violated("no-throw", error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return process;
  }

  protected newProcess(slot: number, settings: Slot): Process {
    this.#incarnations += 1;
    return new Process(this, slot, settings, this.#incarnations);
  }

  private async live(index: number, slot: Slot, isOver: () => boolean): Promise<void> {
    const { scheduler } = this.world;
    const { endsAtMs = Number.POSITIVE_INFINITY } = slot;
    if (slot.endsAtMs !== undefined) scheduler.at(this, slot.endsAtMs, () => this.running[index]?.terminate());
    await scheduler.sleep(this, slot.startsAtMs);
    while (!isOver() && scheduler.elapsedMs() < endsAtMs) {
      await this.start(index, slot);
      await scheduler.sleep(this, slot.pauseMs);
      await scheduler.sleep(this, (this.#stoppedUntilMs[index] ?? 0) - scheduler.elapsedMs());
    }
  }

  private happen(event: WorldEvent): void {
    this.note(`${(event.atMs / 1000).toFixed(3).padStart(8)} ** ${JSON.stringify(event)}`);
    if (event.kind === "fault" || event.kind === "crash" || event.kind === "freeze" || event.kind === "stale")
      this.faults.add(event);
    else if (event.kind === "terminate") this.running[event.slot]?.terminate();
    else if (event.kind === "kill") this.killAt(event.slot);
    else if (event.kind === "stop") this.#stop(event.slot, event.ms);
    else if (event.kind === "leap") this.leap(event.slot, event.ms);
    else if (event.kind === "count-calls")
      this.#countFrom = { calls: this.#providerCalls, statuses: this.#statusWrites };
    else if (event.kind === "expect-on") this.#expectOn(event);
    else if (event.kind === "expect-calls") this.#expectCalls(event);
    else if (event.kind === "read") void this.start(READER, { ...READING, skewMs: event.skewMs });
    else {
      this.monitor.beforeEvent();
      happen(this.world, event);
      this.monitor.afterEvent(event);
    }
  }

  #expectOn({ ip, droplets }: Extract<WorldEvent, { kind: "expect-on" }>): void {
    const holder = this.world.address(ip)?.droplet_id ?? undefined;
    if (holder !== undefined && droplets.includes(holder)) return;
    this.monitor.violated("P11", `${ip} is on ${holder ?? "nothing"}, and not on ${droplets.join(" or ")}`);
  }

  #expectCalls({ most, mostStatuses }: Extract<WorldEvent, { kind: "expect-calls" }>): void {
    const made = this.#providerCalls - this.#countFrom.calls;
    const written = this.#statusWrites - this.#countFrom.statuses;
    if (made > most)
      this.monitor.violated("budget", `${made} calls to providers in a minute in which only pods and nodes change`);
    if (written > mostStatuses)
      this.monitor.violated("budget", `${written} statuses written in a minute in which only pods and nodes change`);
  }

  private killAt(slot: number): void {
    this.deaths += 1;
    this.running[slot]?.kill();
    this.monitor.records.refusals.clear();
  }

  #stop(slot: number, ms: number): void {
    this.#stoppedUntilMs[slot] = this.world.scheduler.elapsedMs() + ms;
    this.running[slot]?.terminate();
  }

  /** The clock of a process's machine is set anew; it stays so for later incarnations. */
  private leap(slot: number, ms: number): void {
    this.leaptMs[slot] = (this.leaptMs[slot] ?? 0) + ms;
  }

  private async standStill(): Promise<void> {
    this.isQuiet = true;
    this.faults.clear();
    for (const process of this.running) process?.kill();
    this.monitor.records.refusals.clear();
    this.world.scheduler.forget(this);
    this.note("         == the world stands still from here on");
    let isDone = false;
    const checking = checkStandstill(this).catch((error: unknown) => {
      this.monitor.violated("no-throw", error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
    void checking.finally(() => {
      isDone = true;
    });
    await this.world.scheduler.run(() => isDone || this.monitor.violation !== undefined);
  }
}

const STATUS_WRITES: ReadonlySet<string> = new Set(["status", "record-set-status", "routed-ip-status"]);

/** The place of those who only read. */
const READER = 7;
const READING: Slot = {
  pauseMs: 0,
  startsAtMs: 0,
  timeoutMs: 20_000,
  settles: false,
  onLocked: "skip",
  isReader: true,
};

/** What a status remembers of DNS, in one line. */
function namesText({
  publishedDNS,
  formerDNS,
  error,
  ...status
}: Pick<PoolStatus, "retries"> & DNSMemory & { readonly error?: string }): string {
  const text = (name: PublishedName): string => `${name.provider}/${name.name}=${name.addresses.join(",")}`;
  const retries = status.retries.map(({ subject, attempts }) => `${subject}x${attempts}`);
  const now = publishedDNS === undefined ? "-" : text(publishedDNS);
  return `dns[${now}] former[${formerDNS.map(text).join(" ")}] retries[${retries.join(" ")}] ${error ?? ""}`;
}

/** A status in one line. */
function statusText(status: RoutedIPStatus): string {
  const ips = Object.entries(status.ips).map(
    ([ip, entry]) => `${ip}:${entry.state}@${entry.nodeName ?? entry.providerID ?? "-"}`,
  );
  const acquired = status.acquired.map(({ ip, adopted }) => `${ip}${adopted === true ? "(adopted)" : ""}`);
  const pending = status.pendingAcquisitions.map(({ nodeName, region }) => nodeName ?? region ?? "?");
  const released = status.released.map(({ ip }) => ip);
  const firewalls = onRecord({ status });
  return `${ips.join(" ")}${firewalls.length === 0 ? "" : ` firewalls[${firewalls.join(" ")}]`} acquired[${acquired.join(" ")}] pending[${pending.join(" ")}] released[${released.join(" ")}] ${namesText(status)}`;
}
