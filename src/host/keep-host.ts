import { ConfigError, HostError, KubeError } from "../model/errors.ts";
import { type HostAddresses, readHostAddresses } from "../model/host-address.ts";
import type { HostNetwork, NodeReading, OwnNode } from "../ports/host.ts";
import type { Clock } from "../ports/system.ts";
import { type HostPlan, type HostStep, planHost } from "./plan-host.ts";

/*
 * `flipop host` keeps the addresses of one host as an annotation of its node says:
 *
 *   read the node -> read the host -> plan -> add, tell the neighbours -> remove
 *
 * It does so whenever the node changes, and every five seconds: whoever configures the interface anew may have taken addresses away.
 *
 * What was read of the node last counts until it can be read again. So nothing changes on a host because the API server is away, because the node was deleted, or because
 * the process ends: addresses stay, and traffic goes on. They go when the annotation does, or by `flipop host --remove`.
 */

/** What one pass over the host did. */
export interface HostPass {
  /** What the node asks for; undefined before it was read once, and where everything is to go. */
  readonly asked?: HostAddresses;
  readonly plan: HostPlan;
  readonly done: readonly HostStep[];
  readonly failed: readonly { readonly step: HostStep; readonly error: HostError }[];
  /** Addresses that are there and of which the neighbours could not be told, with why. */
  readonly untold: readonly { readonly ip: string; readonly error: HostError }[];
}

/** Whether every address that is asked for is there, and no other own one. */
export function isInOrder({ plan, failed }: HostPass): boolean {
  return failed.length === 0 && plan.blocked.length === 0;
}

/** Reads the host, and makes it have these addresses. @throws ConfigError `permission`; HostError when the host cannot be read */
export async function passHost(
  network: HostNetwork,
  asked: HostAddresses | undefined,
  chosen: string | undefined,
): Promise<HostPass> {
  const plan = planHost(asked?.ips ?? [], await network.read(), chosen);
  const done: HostStep[] = [];
  const failed: HostPass["failed"][number][] = [];
  const untold: HostPass["untold"][number][] = [];
  for (const step of plan.steps) {
    const error = await failureOf(
      step.kind === "add" ? network.add(step.ip, step.interface) : network.remove(step.address),
    );
    if (error !== undefined) {
      failed.push({ step, error });
      continue;
    }
    done.push(step);
    const silence = step.kind === "add" ? await failureOf(network.announce(step.ip, step.interface)) : undefined;
    if (step.kind === "add" && silence !== undefined) untold.push({ ip: step.ip, error: silence });
  }
  return { ...(asked === undefined ? {} : { asked }), plan, done, failed, untold };
}

async function failureOf(work: Promise<void>): Promise<HostError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
}

/** How often the host is looked at. */
const EVERY_MS = 5000;
/** The longest wait between two attempts to read a node that cannot be read: many hosts wait for one API server. */
const LONGEST_MS = 60_000;

/** Who is told what happens. */
export interface HostListener {
  readonly onPass: (pass: HostPass) => void;
  /** The host could not be read. */
  readonly onTrouble: (error: HostError) => void;
  /** Called whenever the node was read. */
  readonly onReading: (reading: NodeReading) => void;
  /** The node could not be read, for the n-th time in a row. */
  readonly onSilence: (error: KubeError, failures: number) => void;
}

/** What keeps a host. */
export interface HostKeeping extends HostListener {
  readonly network: HostNetwork;
  /** Absent = nothing is asked for: all own addresses go, and stay away. */
  readonly node?: OwnNode;
  readonly clock: Clock;
  /** From 0 to 1, anew at each call. */
  readonly random: () => number;
  /** The interface to use; absent = that of the default route. */
  readonly chosen: string | undefined;
  readonly signal: AbortSignal;
}

/** Keeps the host until the signal comes, and leaves its addresses where they are. @throws ConfigError: what no waiting ends */
export async function keepHost(keeping: HostKeeping): Promise<void> {
  const { node, network, clock, chosen, signal, onPass, onTrouble } = keeping;
  const follower = node === undefined ? undefined : new NodeFollower(node, keeping);
  const alarm = new Alarm(signal);
  node?.onChange(() => alarm.ring());
  while (!signal.aborted) {
    alarm.set();
    await follower?.look();
    if (follower === undefined || follower.asked !== undefined) {
      try {
        onPass(await passHost(network, follower?.asked, chosen));
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        onTrouble(error);
      }
    }
    await clock.sleep(EVERY_MS, alarm.signal);
  }
}

/** Knows what the node asked for when it could be read last. */
class NodeFollower {
  readonly #node: OwnNode;
  readonly #keeping: HostKeeping;
  #asked: HostAddresses | undefined;
  #failures = 0;
  #nextLookMs = 0;
  #hasChanged = false;

  constructor(node: OwnNode, keeping: HostKeeping) {
    this.#node = node;
    this.#keeping = keeping;
    node.onChange(() => {
      this.#hasChanged = true;
    });
  }

  /** Undefined before the node was read once. */
  get asked(): HostAddresses | undefined {
    return this.#asked;
  }

  /** Reads the node; one that could not be read is left alone for a while, unless it has changed. @throws ConfigError */
  async look(): Promise<void> {
    const { clock, random, onReading, onSilence } = this.#keeping;
    if (!this.#hasChanged && clock.monotonicMs() < this.#nextLookMs) return;
    this.#hasChanged = false;
    try {
      const reading = await this.#node.read();
      this.#failures = 0;
      this.#nextLookMs = 0;
      onReading(reading);
      if (reading.kind === "known") this.#asked = readHostAddresses(reading.annotation);
    } catch (error) {
      // Who may not read the node, and never could, waits for nothing that comes by itself.
      const isRefused =
        error instanceof KubeError && (error.failure === "forbidden" || error.failure === "unauthorized");
      if (!(error instanceof KubeError) || (isRefused && this.#asked === undefined)) throw error;
      this.#failures += 1;
      const waitMs = Math.min(EVERY_MS * 2 ** (this.#failures - 1), LONGEST_MS);
      this.#nextLookMs = clock.monotonicMs() + waitMs * (0.75 + random() / 2);
      onSilence(error, this.#failures);
    }
  }
}

/** Ends a wait; a ring before the wait counts, too. */
class Alarm {
  readonly #over: AbortSignal;
  #current = new AbortController();

  constructor(over: AbortSignal) {
    this.#over = over;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#over, this.#current.signal]);
  }

  set(): void {
    this.#current = new AbortController();
  }

  ring(): void {
    this.#current.abort();
  }
}

/**
 * Reads the node and the host, and says what would be done. Changes nothing.
 * @param node - absent: as if all own addresses were to go
 * @throws ConfigError for a node that is not there or cannot be understood; KubeError; HostError
 */
export async function lookAtHost(
  network: HostNetwork,
  node: OwnNode | undefined,
  chosen: string | undefined,
): Promise<{ readonly asked?: HostAddresses; readonly plan: HostPlan }> {
  const asked = node === undefined ? undefined : await askedBy(node);
  const plan = planHost(asked?.ips ?? [], await network.read(), chosen);
  return asked === undefined ? { plan } : { asked, plan };
}

/** Returns what a node asks for. @throws ConfigError for a node that is not there or cannot be understood; KubeError */
export async function askedBy(node: OwnNode): Promise<HostAddresses> {
  const reading = await node.read();
  switch (reading.kind) {
    case "known":
      return readHostAddresses(reading.annotation);
    case "missing":
      throw new ConfigError(
        "invalid",
        "There is no such node. Nothing was changed on the host; kubectl get nodes lists them.",
      );
    case "unreadable":
      throw new ConfigError("invalid", `${reading.part} of the node cannot be read. Nothing was changed on the host.`);
  }
}
