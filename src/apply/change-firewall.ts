import type { ChangeMachines, ChangePorts } from "../model/action.ts";
import { ProviderError } from "../model/errors.ts";
import {
  FIREWALL_LABEL,
  type Firewall,
  type FirewallLimits,
  type FirewallRule,
  letsIn,
  portText,
  progressAt,
  shownPorts,
} from "../model/firewall.ts";
import { IP_FAMILIES } from "../model/node-annotations.ts";
import type { LearnedFirewall } from "../model/outcome.ts";
import { WAITS, waitMs } from "../model/waits.ts";
import { isLastFirewall, joiningObstacle } from "../plan/firewalls/firewall-target.ts";
import type { FirewallProvider } from "../ports/providers.ts";
import { type ApplyContext, failed, firewallToolsOf, obstacle, type Result, skipped } from "./context.ts";

/** For so long after something was taken away the machines that lose it are waited for, milliseconds: a dead one never has it. */
const REST_MS = 2000;

/** A change of one firewall, and how to see that it is true. */
interface Change {
  readonly id: string;
  readonly provider: FirewallProvider;
  /** What of the change is still to be done. */
  readonly left: (firewall: Firewall) => readonly string[];
  readonly call: (left: readonly string[]) => Promise<void>;
  /** True for what takes something away: the firewall is read again right before. */
  readonly isDestructive: boolean;
  /** What speaks against the change as the firewall is now, as the next plan sees it, too; undefined when nothing does. */
  readonly objection: (firewall: Firewall) => string | undefined;
  /** Machines that must have it before it is done. */
  readonly awaited: readonly string[];
}

/** Opens or closes ports of a firewall and waits until it shows that and the awaited machines have it; one change of a firewall at a time. */
export async function changePorts(action: ChangePorts, context: ApplyContext): Promise<Result> {
  const { provider, mutex } = firewallToolsOf(action, context);
  const { id } = action.firewall;
  const isOpening = action.kind === "open-ports";
  const change: Change = {
    id,
    provider,
    awaited: action.awaited,
    isDestructive: !isOpening,
    objection: (firewall) => notOwned(firewall) ?? (isOpening ? undefined : shutOut(action, firewall)),
    left: (firewall) => {
      const shown = isOpening ? portsOfEverybody(firewall) : shownPorts(firewall);
      return action.ports.map(portText).filter((text) => shown.has(text) !== isOpening);
    },
    call: (left) => {
      const ports = action.ports.filter((one) => left.includes(portText(one)));
      return isOpening ? provider.openPorts(id, ports) : provider.closePorts(id, ports);
    },
  };
  return await mutex.run(() => carryOut(change, action.provider, context));
}

/** The ports on which a firewall lets everybody in, of whatever family, as `portText`: by the rule that flipop makes, or by others. */
function portsOfEverybody({ rules }: Firewall): ReadonlySet<string> {
  const byPorts = Map.groupBy(rules, ({ ports }) => portText(ports));
  const isOpen = (same: readonly FirewallRule[]): boolean =>
    IP_FAMILIES.every((family) => same.some(({ openTo }) => openTo.includes(family)));
  return new Set([...byPorts].flatMap(([text, same]) => (isOpen(same) ? [text] : [])));
}

/** Names ports that objects need and that nothing but the rules to be closed lets in; undefined when there are none. */
function shutOut({ ports, replaced = [] }: ChangePorts, { rules }: Firewall): string | undefined {
  const closing = new Set(ports.map(portText));
  const staying = rules.filter((rule) => !(rule.isPlain && closing.has(portText(rule.ports))));
  const shut = replaced
    .filter((one) => !staying.some((rule) => letsIn(rule, one)))
    .map(({ ports: own }) => portText(own));
  return shut.length === 0 ? undefined : `nothing else lets ${[...new Set(shut)].join(", ")} in now`;
}

/** Puts machines behind a firewall or takes them from it; else as {@link changePorts}. */
export async function changeMachines(action: ChangeMachines, context: ApplyContext): Promise<Result> {
  const { provider, mutex } = firewallToolsOf(action, context);
  const { id } = action.firewall;
  const isAdding = action.kind === "add-to-firewall";
  const change: Change = {
    id,
    provider,
    awaited: action.awaited,
    isDestructive: !isAdding,
    objection: (firewall) =>
      notOwned(firewall) ??
      (isAdding ? cannotJoin(action, firewall, provider.firewallLimits) : mustStay(action, firewall)),
    left: ({ machineIDs }) =>
      action.machines.map(({ machineID }) => machineID).filter((one) => machineIDs.includes(one) !== isAdding),
    call: (left) => (isAdding ? provider.addMachines(id, left) : provider.removeMachines(id, left)),
  };
  return await mutex.run(() => carryOut(change, action.provider, context));
}

/** Says that somebody else may change the rules of a firewall now. */
function notOwned({ name, isUnlabelled }: Firewall): string | undefined {
  return isUnlabelled === true ? `${name} has no label ${FIREWALL_LABEL}=true now` : undefined;
}

/** Why a machine cannot be put behind a firewall as that is now. */
function cannotJoin({ machines }: ChangeMachines, firewall: Firewall, limits: FirewallLimits): string | undefined {
  const outside = machines.filter(({ machineID }) => !firewall.machineIDs.includes(machineID));
  return outside.flatMap((place) => joiningObstacle(firewall, limits, place)?.detail ?? [])[0];
}

/** Why a machine cannot be taken from a firewall as that is now. */
function mustStay({ machines }: ChangeMachines, firewall: Firewall): string | undefined {
  const last = machines.find(
    ({ machineID }) => firewall.machineIDs.includes(machineID) && isLastFirewall(firewall, machineID),
  );
  return last === undefined ? undefined : `no other firewall is in force at machine ${last.machineID} now`;
}

async function carryOut(change: Change, providerName: string, context: ApplyContext): Promise<Result> {
  const learned: Telling = (fact) => ({
    firewall: { provider: providerName, id: change.id, fact },
  });
  const reason = obstacle(context);
  if (reason !== undefined) return skipped(reason);
  const { result, firewall } = await lastLook(change, learned);
  if (result !== undefined) return result;
  const late = obstacle(context);
  if (late !== undefined) return skipped(late);
  const acceptedAtMs = context.cluster.now();
  const wait: Wait = {
    acceptedAtMs,
    restsAtMs: context.clock.monotonicMs() + REST_MS,
    pendingBefore: firewall?.pendingMachineIDs,
  };
  try {
    await change.call(change.left(firewall ?? NOTHING_YET));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return await afterRefusal(change, error, wait, learned, context);
  }
  return await confirm(change, wait, learned, context);
}

/** Reads the firewall again where something is to be taken away: returns it, or what ends the change. */
async function lastLook(
  change: Change,
  learned: Telling,
): Promise<{ readonly result?: Result; readonly firewall?: Firewall }> {
  if (!change.isDestructive) return {};
  const { fact: reading, refusal } = await lookedAt(change);
  if (refusal?.hidesMachines === true) return { result: { ...failed(refusal), ...learned(reading) } };
  if (reading.kind === "gap") return { result: { ...skipped("Unreadable", reading.error), ...learned(reading) } };
  const { firewall } = reading;
  // A firewall that was just read again by an earlier change of the pass may have it all already.
  if (change.left(firewall).length === 0) return { result: { outcome: "applied", ...learned(reading) } };
  const objection = change.objection(firewall);
  return objection === undefined ? { firewall } : { result: { ...skipped("Stale", objection), ...learned(reading) } };
}

/** What is waited for after a change was accepted. */
interface Wait {
  /** By the API server's clock, milliseconds. */
  readonly acceptedAtMs: number;
  /** Monotonic milliseconds until when machines are waited for that nobody needs. */
  readonly restsAtMs: number;
  /** Machines that a change was pending for before; absent = only those awaited matter. */
  readonly pendingBefore: readonly string[] | undefined;
}

/** A firewall without anything: everything is left to be done. */
const NOTHING_YET: Firewall = {
  id: "",
  name: "",
  rules: [],
  ruleCount: 0,
  machineIDs: [],
  tags: [],
  isWaiting: false,
  pendingMachineIDs: [],
  failedMachineIDs: [],
};

type FirewallReading = LearnedFirewall["fact"];
type Telling = (fact: FirewallReading) => { readonly firewall: LearnedFirewall };

/**
 * A refusal, or a lost answer, is never believed before the firewall is read again: what is already true is success, once the machines have it. Where the firewall, as it is now, would not
 * have been asked for the change, nothing has failed: the next plan sees what this one could not.
 */
async function afterRefusal(
  change: Change,
  error: ProviderError,
  wait: Wait,
  learned: Telling,
  context: ApplyContext,
): Promise<Result> {
  if (error.concernsProvider) return failed(error);
  const reading = await read(change);
  const isTrue = reading.kind === "known" && change.left(reading.firewall).length === 0;
  if (isDone(reading, change)) return { outcome: "applied", ...learned(reading) };
  if (isTrue) return await confirm(change, wait, learned, context);
  const objection = reading.kind === "known" && !error.isAmbiguous ? change.objection(reading.firewall) : undefined;
  if (objection !== undefined) return { ...skipped("Stale", objection), ...learned(reading) };
  return { ...failed(error), ...learned(reading) };
}

async function confirm(change: Change, wait: Wait, learned: Telling, context: ApplyContext): Promise<Result> {
  const { acceptedAtMs } = wait;
  let last: FirewallReading = { kind: "gap", error: "it was not read after it was changed" };
  let endedBy: ProviderError | undefined;
  for (let reads = 0; endedBy === undefined && (await mayRead(reads, context)); reads += 1) {
    const { fact, refusal } = await lookedAt(change);
    if (fact.kind === "known") last = fact;
    const isOver = isAtRest(fact, wait) || context.clock.monotonicMs() >= wait.restsAtMs;
    if (isDone(fact, change) && isOver) return { outcome: "applied", acceptedAtMs, ...learned(fact) };
    // What the token may not read no further reading shows.
    endedBy = refusal;
  }
  if (isDone(last, change)) return { outcome: "applied", acceptedAtMs, ...learned(last) };
  const ended = endedBy === undefined ? {} : { endedBy };
  return { outcome: "unconfirmed", acceptedAtMs, ...ended, ...learned(unfinished(last, change)) };
}

function isDone(reading: FirewallReading, { left, awaited }: Change): boolean {
  if (reading.kind !== "known") return false;
  const { firewall } = reading;
  return awaited.every((machine) => progressAt(firewall, machine) === "in-force") && left(firewall).length === 0;
}

/** True when the provider is at work for no machine that it was not at work for before. */
function isAtRest(reading: FirewallReading, { pendingBefore }: Wait): boolean {
  if (reading.kind !== "known" || pendingBefore === undefined) return true;
  return reading.firewall.pendingMachineIDs.every((machine) => pendingBefore.includes(machine));
}

/** Waits for its turn of the n-th reading; false when time, or patience, is over. The first one is always made. */
async function mayRead(reads: number, { clock, deadlineMs, stopWaiting }: ApplyContext): Promise<boolean> {
  const wait = waitMs(WAITS.confirmation, reads);
  await clock.sleep(Math.max(0, Math.min(wait, deadlineMs - clock.monotonicMs())), stopWaiting);
  return reads === 0 || (!stopWaiting.aborted && clock.monotonicMs() < deadlineMs);
}

/** What was accepted and is not shown counts as being worked on for every machine, whatever the provider says meanwhile. */
function unfinished(reading: FirewallReading, { left }: Change): FirewallReading {
  if (reading.kind !== "known" || left(reading.firewall).length === 0) return reading;
  return { ...reading, firewall: { ...reading.firewall, isWaiting: true } };
}

async function read(change: Change): Promise<FirewallReading> {
  return (await lookedAt(change)).fact;
}

/** Reads the firewall; `refusal` where the provider refuses to tell of any. */
async function lookedAt({
  provider,
  id,
}: Change): Promise<{ readonly fact: FirewallReading; readonly refusal?: ProviderError }> {
  try {
    const firewall = await provider.getFirewall(id);
    // One reading alone never shows that something is gone: the next pass asks the list, too.
    return { fact: firewall === undefined ? { kind: "gap", error: "it is not there" } : { kind: "known", firewall } };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const fact = { kind: "gap", error: error.message } as const;
    return error.concernsProvider ? { fact, refusal: error } : { fact };
  }
}
