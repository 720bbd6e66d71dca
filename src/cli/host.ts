import {
  askedBy,
  type HostKeeping,
  type HostPass,
  isInOrder,
  keepHost,
  lookAtHost,
  passHost,
} from "../host/keep-host.ts";
import type { HostPlan, HostStep } from "../host/plan-host.ts";
import { ConfigError, type HostError, type KubeError } from "../model/errors.ts";
import { familyOf, type HostAddresses } from "../model/host-address.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import type { NodeReading, PresentAddress } from "../ports/host.ts";
import type { Clock } from "../ports/system.ts";
import { EXIT } from "../report/exit-code.ts";
import { resolveConfig } from "./config.ts";
import { parseListenAddress, serveEndpoints } from "./endpoints.ts";
import type { HostFlags } from "./host-flags.ts";
import { Outage } from "./outage.ts";
import { type Level, writeLine, writeLines } from "./output.ts";
import type { Session } from "./session.ts";
import type { HostWorld } from "./wiring.ts";

/** Runs `host`: keeps the addresses of this host until a signal comes; once with `--once`, not at all with `--dry-run`. Returns the exit code. */
export async function runHost(session: Session, flags: HostFlags): Promise<number> {
  checkFlags(flags);
  const { clock, withHost } = await session.loadWiring();
  const { dryRun = false, once = false, remove = false } = flags;
  const nodeName = remove ? undefined : flags.nodeName;
  const unused = { dnsWebhook: [], dnsTokenFile: [], leaseNamespace: "flipop", leaseName: "flipop" };
  const config = resolveConfig({ ...flags, ...unused }, session.env, session);
  return withHost(config, { nodeName, searchPath: session.env["PATH"] ?? "" }, async (world) => {
    await world.network.prepare(!dryRun);
    if (dryRun) return await showPlan(session, world, flags);
    if (once) return await passOnce(session, world, flags);
    session.progress.end();
    return await keep(session, world, { flags, clock });
  });
}

/** @throws ConfigError `usage` for flags that do not go together */
function checkFlags({ nodeName, remove, sandbox, dryRun, once, metricsAddr }: HostFlags): void {
  const refuse = (why: string): never => {
    throw new ConfigError("usage", why);
  };
  if (remove !== true && nodeName === undefined)
    refuse(
      "Which node is this host? Name it by --node-name, as kubectl get nodes does; in a pod FLIPOP_NODE_NAME says it.",
    );
  if (sandbox !== undefined && dryRun !== true)
    refuse("The nodes of a sandbox have no hosts: this machine would get their addresses. Add --dry-run.");
  if (metricsAddr !== undefined && (dryRun === true || once === true))
    refuse("--metrics-addr is for a process that goes on: leave it out beside --once and --dry-run.");
}

async function showPlan({ streams, signal }: Session, { network, node }: HostWorld, flags: HostFlags): Promise<number> {
  const looked = await untilInterrupted(lookAtHost(network, node, flags.interface), signal);
  const lines = planLines(looked.asked, looked.plan);
  writeLines(
    streams,
    lines.length === 0 ? ["Nothing to do: the host has no address of flipop, and is to have none."] : lines,
  );
  return EXIT.done;
}

function planLines(asked: HostAddresses | undefined, { steps, kept, foreign, blocked }: HostPlan): readonly string[] {
  return [
    ...steps.map((step) => (step.kind === "add" ? `+ add ${stepText(step)}` : `- remove ${stepText(step)}`)),
    ...kept.map((address) => `= ${presentText(address)}`),
    ...foreign.map((address) => `= ${foreignText(address)}`),
    ...blocked.map(({ ip, why }) => `! ${ip}: ${why}`),
    ...(asked?.refused ?? []).map(({ text, why }) => `! ${text} is passed over: ${why}`),
  ];
}

async function passOnce(session: Session, { network, node }: HostWorld, flags: HostFlags): Promise<number> {
  const asked = node === undefined ? undefined : await untilInterrupted(askedBy(node), session.signal);
  const pass = await passHost(network, asked, flags.interface);
  const log = new HostLog(session);
  log.passed(pass);
  if (pass.done.length === 0 && isInOrder(pass)) writeLine(session, "info", "nothing to do");
  return isInOrder(pass) ? EXIT.done : EXIT.unexpected;
}

interface Keeping {
  readonly flags: HostFlags;
  readonly clock: Clock;
}

async function keep(session: Session, { network, node }: HostWorld, { flags, clock }: Keeping): Promise<number> {
  const log = new HostLog(session);
  const health = new HostHealth(clock);
  const endpoints = flags.metricsAddr === undefined ? undefined : await serve(session, flags.metricsAddr, health);
  const { signal } = session;
  const keeping: HostKeeping = {
    network,
    ...(node === undefined ? {} : { node }),
    ...{ clock, random: Math.random, chosen: flags.interface, signal },
    onPass: (pass) => {
      health.beat(isInOrder(pass) ? undefined : "an address could not be put on the host, or taken from it");
      log.passed(pass);
    },
    onTrouble: (error) => {
      health.beat(error.message);
      log.troubled(error);
    },
    onReading: (reading) => {
      health.heard();
      log.read(reading);
    },
    onSilence: (error, failures) => {
      health.beatWithoutReading(error.message);
      log.silent(error, failures);
    },
  };
  try {
    if (endpoints !== undefined)
      writeLine(session, "info", `serves /metrics, /healthz and /readyz on port ${endpoints.port}`);
    writeLine(session, "info", node === undefined ? REMOVES : `keeps the addresses of ${flags.nodeName} on this host`);
    await keepHost(keeping);
    writeLine(session, "info", "stopped; addresses stay where they are");
    return EXIT.done;
  } finally {
    await endpoints?.close();
  }
}

const REMOVES = "removes every address that flipop host added here, and keeps them away";

async function serve(
  { secrets }: Session,
  address: string,
  health: HostHealth,
): Promise<Awaited<ReturnType<typeof serveEndpoints>>> {
  const { processMetrics } = await import("../adapters/pushgateway/pushgateway.ts");
  return await serveEndpoints(parseListenAddress(address), {
    metrics: processMetrics(),
    health: () => health.health(),
    readiness: () => {
      const { isOK, why } = health.readiness();
      return { isOK, why: secrets.redact(why) };
    },
  });
}

/** A host that was not looked at for so long hangs, milliseconds: each call of `ip` and to the API server has a deadline of its own. */
const HANGING_MS = 180_000;

/** A node that could not be read for so long may ask for addresses of which its host knows nothing, milliseconds. */
const SILENT_MS = 300_000;

/**
 * Judges a process that keeps a host: does it make progress, and has the host every address that its node asks for?
 *
 * While the node cannot be read the host keeps what it has, and stays in order for five minutes. After that nobody can say what the node asks for by now.
 */
export class HostHealth {
  readonly #clock: Clock;
  #beatMs: number;
  #why: string | undefined = "the node has not been read yet";
  /** When the node could not be read for the first time since it was read. */
  #silentSinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beatMs = clock.monotonicMs();
  }

  /** The host was looked at. @param why - what is not in order; undefined if nothing */
  beat(why: string | undefined): void {
    this.#beatMs = this.#clock.monotonicMs();
    this.#why = why;
  }

  /** The node was read. */
  heard(): void {
    this.#silentSinceMs = undefined;
  }

  /** The node could not be read. @param why - told while the host is not in order */
  beatWithoutReading(why: string): void {
    this.#beatMs = this.#clock.monotonicMs();
    this.#silentSinceMs ??= this.#beatMs;
    this.#why &&= why;
  }

  health(): { readonly isOK: boolean; readonly why: string } {
    const agoMs = this.#clock.monotonicMs() - this.#beatMs;
    return { isOK: agoMs <= HANGING_MS, why: `the host was looked at ${Math.round(agoMs / 1000)} s ago` };
  }

  readiness(): { readonly isOK: boolean; readonly why: string } {
    const silentMs = this.#silentSinceMs === undefined ? 0 : this.#clock.monotonicMs() - this.#silentSinceMs;
    if (silentMs >= SILENT_MS)
      return {
        isOK: false,
        why: `the node could not be read for ${Math.round(silentMs / 1000)} s; the host keeps what it has`,
      };
    return { isOK: this.#why === undefined, why: this.#why ?? "the host is as its node says" };
  }
}

/** Writes a line for each change of the host, and for each trouble when it begins. */
class HostLog {
  readonly #session: Session;
  readonly #outage: Outage;
  #troubles: ReadonlySet<string> = new Set();
  #reading: NodeReading["kind"] = "known";

  constructor(session: Session) {
    this.#session = session;
    this.#outage = new Outage(session, "; the host keeps the addresses that it has");
  }

  passed({ asked, plan, done, failed, untold }: HostPass): void {
    for (const step of done)
      this.#write("info", `${step.kind === "add" ? "added" : "removed"} ${stepText(step)}`, step);
    for (const { ip, error } of untold)
      this.#write("warn", `${ip} is on the host, but its neighbours do not know yet. ${error.message}`);
    this.#tell([
      ...failed.map(({ step, error }) => `could not ${step.kind} ${stepText(step)}. ${error.message}`),
      ...plan.blocked.map(({ ip, why }) => `${ip} cannot be added: ${why}`),
      ...(asked?.refused ?? []).map(({ text, why }) => `the node asks for ${text}, which is passed over: ${why}`),
      ...plan.foreign.map(foreignText),
    ]);
  }

  troubled(error: HostError): void {
    this.#tell([`the host cannot be read. ${error.message}`]);
  }

  read(reading: NodeReading): void {
    this.#outage.recovered();
    if (reading.kind !== this.#reading) {
      if (reading.kind === "missing")
        this.#write("warn", "the node is not in the cluster; the host keeps the addresses that it has");
      if (reading.kind === "unreadable")
        this.#write("warn", `${reading.part} of the node cannot be read; the host keeps the addresses that it has`);
      if (reading.kind === "known") this.#write("info", "the node can be read again");
    }
    this.#reading = reading.kind;
  }

  silent(error: KubeError, failures: number): void {
    this.#outage.failed(error, failures);
  }

  /** Each trouble is told when it begins, and not again while it lasts. */
  #tell(troubles: readonly string[]): void {
    for (const text of troubles) if (!this.#troubles.has(text)) this.#write("warn", text);
    this.#troubles = new Set(troubles);
  }

  #write(level: Level, text: string, step?: HostStep): void {
    const fields = step === undefined ? {} : { action: step.kind, address: ipOf(step), interface: interfaceOf(step) };
    writeLine(this.#session, level, text, fields);
  }
}

function stepText(step: HostStep): string {
  return `${ipOf(step)}/${familyOf(ipOf(step)) === 4 ? 32 : 128} on ${interfaceOf(step)}`;
}

function ipOf(step: HostStep): string {
  return step.kind === "add" ? step.ip : step.address.ip;
}

function interfaceOf(step: HostStep): string {
  return step.kind === "add" ? step.interface : step.address.interface;
}

function presentText({ ip, prefix, interface: on }: PresentAddress): string {
  return `${ip}/${prefix} on ${on}`;
}

function foreignText(address: PresentAddress): string {
  return `${presentText(address)} was there already, not from flipop: it serves, and is left alone`;
}
