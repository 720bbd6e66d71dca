import type { IPFamily } from "../../src/model/address-source.ts";
import { marksOf } from "../../src/model/annotated.ts";
import type { Plan } from "../../src/model/plan.ts";
import { FINALIZER, type Pool } from "../../src/model/resource.ts";
import type { SimCall } from "./faults.ts";
import type { Monitor, Violation } from "./monitor.ts";
import { checkPrecautions, checkTarget, hadOther } from "./precautions.ts";
import type { Process } from "./process.ts";
import type { Reading } from "./readings.ts";
import { type Creation, nameOf } from "./records.ts";
import { checkShard } from "./shard-invariants.ts";
import { dropletOf, isBlocked, managedBy, mayBeAnswer } from "./truth.ts";

/** How long before a call takes effect its preconditions may have been read, milliseconds: a few calls with their time. */
const RACE_MS = 1500;
/** How far a list may lag behind, milliseconds: what somebody else did with a free address meanwhile may be overlooked. */
const LAG_MS = 4000;
const MOST_CREATIONS = 12;
const FAST_MS: readonly number[] = [1, 1, 5, 5, 10, 10, 10, 60].map((seconds) => seconds * 1000);
const SLOW_MS: readonly number[] = [1, 5, 10].map((minutes) => minutes * 60_000);

/** What holds for every write, whatever comes of it. */
export function checkWrite(monitor: Monitor, process: Process, call: SimCall): void {
  if (process.settings.isReader === true) monitor.violated("P9", `${process.identity}: ${call.operation} by a reader`);
  if (call.operation.endsWith("-lease")) return;
  const { world, history } = monitor.simulation;
  const what = `${process.identity}: ${call.operation} ${call.subject}`;
  // An Event tells of a pass that has ended.
  if (process.hasFailedList && call.operation !== "event")
    monitor.violated("P1", `${what} after a list of the cluster failed`);
  const holder = history.hasLock ? world.leaseHolder(process.leaseName) : process.identity;
  if (holder !== process.identity) monitor.violated("P11", `${what} while ${holder || "nobody"} holds the Lease`);
  const { target } = process.settings;
  if (target !== undefined && call.side === "cluster" && call.operation !== "annotate" && call.subject !== target)
    monitor.violated("selection", `${what} although only ${target} is selected`);
  checkShard(monitor, process, call, what);
  if (call.operation === "assign") checkRetry(monitor, call, what);
  checkPrecautions(monitor, process, call, what);
}

function checkRetry(monitor: Monitor, call: SimCall, what: string): void {
  const { records, simulation } = monitor;
  const refusal = records.refusals.get(`${call.subject} ${String(call.args[0])}`);
  if (refusal === undefined) return;
  const schedule = refusal.isSlow ? SLOW_MS : FAST_MS;
  const waitMs = schedule[Math.min(refusal.count, schedule.length) - 1] ?? 0;
  const passedMs = simulation.world.nowMs() - refusal.lastMs;
  if (passedMs < waitMs - 100) monitor.violated("retry", `${what} ${passedMs} ms after refusal ${refusal.count}`);
}

/** What an assignment, unassignment or deletion breaks if the provider accepts it. */
export function checkChange(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { records, simulation } = monitor;
  const ip = call.subject;
  const what = `${process.identity}: ${call.operation} ${ip} ${call.args.join(" ")}`;
  const holder = simulation.world.address(ip)?.droplet_id ?? undefined;
  const namers = records.namers(ip);
  const found: Violation[] = [];
  if (!records.everNamed.has(ip) && !records.bought.has(ip))
    found.push({ invariant: "P6", text: `${what}, which nobody ever named` });
  if (holder !== undefined && String(holder) !== call.args[0])
    found.push(...loss(monitor, process, what, ip, holder, namers));
  if (
    namers.length > 0 &&
    namers.every((pool) => isOutOfReach(monitor, process, pool)) &&
    !hadOther(monitor, process, ip)
  )
    found.push({
      invariant: "blocked",
      text: `${what} for ${namers.map(nameOf).join(", ")}, which may not be written`,
    });
  const reading = process.readings.newest.get(ip);
  if (reading === undefined || reading === "failed")
    found.push({ invariant: "P2", text: `${what} without having read it` });
  if (call.operation === "assign")
    found.push(
      ...coolOff(
        monitor,
        process,
        what,
        namers.filter((pool) => managedBy(pool).has(ip)),
      ),
    );
  if (call.operation === "assign") found.push(...checkTarget(monitor, process, call, what));
  if (call.operation === "delete") found.push(...deletion(monitor, process, what, ip, namers, holder));
  return found;
}

function loss(
  monitor: Monitor,
  process: Process,
  what: string,
  ip: string,
  holder: number,
  namers: readonly Pool[],
): readonly Violation[] {
  const { health, records, simulation } = monitor;
  const healthy = health.of(ip);
  // A spec that was edited back during the pass may have been read as it was in between.
  const isKnown = namers.every((pool) => monitor.isStable(process, pool));
  if (healthy !== undefined && isKnown && healthy.sinceMs <= simulation.world.nowMs() - RACE_MS)
    return [{ invariant: "P7", text: `${what} takes it from ${healthy.nodeName}, which serves ${healthy.key} well` }];
  const isLongThere = (records.handMoved.get(ip) ?? 0) <= simulation.world.nowMs() - RACE_MS - LAG_MS;
  const isForeign = !records.everNode.has(holder) && isLongThere;
  const mustHold = namers.every((pool) => pool.spec.foreignHolder === "Hold" && monitor.isStable(process, pool));
  if (isForeign && mustHold && namers.length > 0)
    return [{ invariant: "foreign", text: `${what} takes it from ${holder}, never a node` }];
  return [];
}

function isOutOfReach(monitor: Monitor, process: Process, pool: Pool): boolean {
  const { target } = process.settings;
  return (target !== undefined && nameOf(pool) !== target) || (isBlocked(pool) && monitor.isStable(process, pool));
}

function coolOff(monitor: Monitor, process: Process, what: string, owners: readonly Pool[]): readonly Violation[] {
  const { records, simulation } = monitor;
  const [owner, ...others] = owners;
  if (owner === undefined || others.length > 0) return [];
  const last = records.accepted_.get(owner.meta.uid);
  const touchedMs = records.touchedAtMs.get(nameOf(owner)) ?? 0;
  const lost = last?.unanswered;
  if (lost !== undefined && String(simulation.world.address(lost.ip)?.droplet_id) !== lost.machine) return [];
  if (last === undefined || last.generation !== owner.meta.generation || touchedMs >= last.atMs) return [];
  const passedMs = simulation.world.nowMs() - last.announcedMs;
  if (passedMs >= last.coolOffMs - RACE_MS || !monitor.isStable(process, owner)) return [];
  return [{ invariant: "cool-off", text: `${what} ${passedMs} ms after the last one of ${nameOf(owner)}` }];
}

function deletion(
  monitor: Monitor,
  process: Process,
  what: string,
  ip: string,
  namers: readonly Pool[],
  holder: number | undefined,
): readonly Violation[] {
  const found: Violation[] = [];
  const say = (text: string): number => found.push({ invariant: "P6", text: `${what} ${text}` });
  if (!monitor.records.bought.has(ip) && !monitor.records.onTarget.has(ip)) say("which flipop did not buy");
  // What somebody else does between the last look and the call nobody can see.
  const isJustMoved = (monitor.records.handMoved.get(ip) ?? 0) >= monitor.simulation.world.nowMs() - RACE_MS;
  if (holder !== undefined && !isJustMoved) say("while it is attached");
  const stable = namers.filter((pool) => monitor.isStable(process, pool));
  if (stable.some((pool) => pool.spec.ips.includes(ip))) say("which a spec lists");
  if (
    stable.length > 0 &&
    stable.length === namers.length &&
    stable.every((pool) => pool.spec.reclaimPolicy !== "Delete")
  )
    say("without reclaimPolicy Delete");
  if (namers.some((pool) => pool.status.acquired.some((entry) => entry.ip === ip && entry.adopted === true)))
    say("which was only adopted");
  return found;
}

/** A pool may have gone since its intent was written. */
function withoutPool({ records }: Monitor, { passStartMs }: Process, what: string): readonly Violation[] {
  if (records.lastChangeMs >= passStartMs) return [];
  return [{ invariant: "P4", text: `${what}: no intent on record` }];
}

/** What buying an address breaks if the provider sells it. */
export function checkCreation(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { records, simulation } = monitor;
  const { world } = simulation;
  const found: Violation[] = [];
  const nowMs = world.nowMs();
  const {
    args: [, family = "IPv4"],
  } = call;
  const isRecent = (creation: Creation): boolean => creation.atMs > nowMs - 60_000 && creation.family === family;
  const recent = records.creations.filter(isRecent).length;
  if (recent >= MOST_CREATIONS && simulation.history.hasLock)
    found.push({ invariant: "creation-rate", text: `${recent} within a minute` });
  const intent = process.intentOf(call);
  const pool = world.pool(intent ?? "");
  const what = `${process.identity}: create ${JSON.stringify(call.args[0])} for ${intent ?? "?"}`;
  if (pool === undefined) return [...found, ...withoutPool(monitor, process, what)];
  if (!monitor.isStable(process, pool)) return found;
  if (isOutOfReach(monitor, process, pool)) found.push({ invariant: "blocked", text: what });
  if (pool.spec.reclaimPolicy === "Delete" && !pool.meta.finalizers.includes(FINALIZER))
    found.push({ invariant: "leak", text: `${what} before the finalizer is set` });
  if ("machineID" in (call.args[0] as object)) found.push(...coolOff(monitor, process, what, [pool]));
  const held = heldBy(monitor, pool);
  // A run that took for the answer what somebody else had moved to its machine knows nothing of the address that it was.
  if (held.size + 1 > pool.spec.desiredIPs && !records.mistaken.has(pool.meta.uid))
    found.push({
      invariant: "P4",
      text: `${what}, which has ${[...held].join(", ")} and wants ${pool.spec.desiredIPs}`,
    });
  return found;
}

/** What a pool really has, whatever became of its status: listed addresses, and those bought for it that still exist and no other pool took over. */
function heldBy(monitor: Monitor, pool: Pool): ReadonlySet<string> {
  const { records, simulation } = monitor;
  const { world } = simulation;
  const others = world.pools().filter((other) => other.meta.uid !== pool.meta.uid);
  const bought = [...records.bought.values()].filter(
    ({ ip, uid }) =>
      uid === pool.meta.uid &&
      !records.handMoved.has(ip) &&
      !isDisowned(monitor, ip) &&
      !others.some((other) => managedBy(other).has(ip) || mayBeAnswer(other, ip)),
  );
  const acquired = [...bought, ...pool.status.acquired]
    .map(({ ip }) => ip)
    .filter((ip) => world.address(ip) !== undefined);
  return new Set([...pool.spec.ips, ...acquired]);
}

/** True when a person who was told that an address may be the answer of a lost creation has said that it is another one. */
function isDisowned({ records, simulation }: Monitor, ip: string): boolean {
  const isOpen = simulation.world.pools().some((pool) => mayBeAnswer(pool, ip));
  return records.told.has(ip) && !isOpen && records.namers(ip).length === 0;
}

/** The newest reading of an address. While the account is listed again, what was known stands. */
function readingOf({ readings: { newest, former } }: Process, ip: string): Reading | "failed" | undefined {
  return newest.get(ip) ?? former.get(ip);
}

/** What writing or clearing a node's annotations breaks. */
export function checkAnnotation(monitor: Monitor, process: Process, call: SimCall): readonly Violation[] {
  const { world } = monitor.simulation;
  const [{ address = null, ipFamily = "IPv4" }] = call.args as readonly [
    { readonly address?: string | null; readonly ipFamily?: IPFamily },
  ];
  const node = world.nodes().find(({ name }) => name === call.subject);
  const isReplaced = (monitor.records.nodeBornMs.get(call.subject) ?? 0) >= process.passStartMs;
  // A machine with two nodes is judged by one of them; which one may change.
  const isShared = world.nodes().filter(({ providerID }) => providerID === node?.providerID).length > 1;
  // By a spec as it was before another address may be the pool's; the next pass puts that right.
  if (node === undefined || isReplaced || isShared || process.isMisled) return [];
  const what = `${process.identity}: annotate ${node.name} ${address ?? "-"}`;
  if (address === null) {
    const { addressAnnotation, poolAnnotation } = marksOf(node, ipFamily);
    const healthy = monitor.health.of(addressAnnotation ?? "");
    const isServing =
      healthy?.nodeName === node.name && healthy.sinceMs < process.passStartMs && healthy.key === poolAnnotation;
    return isServing
      ? [{ invariant: "annotation", text: `${what} although ${addressAnnotation} is healthy there` }]
      : [];
  }
  const reading = readingOf(process, address);
  const machine = String(dropletOf(node));
  // One that was locked by hand stays where it is: only a change under way makes its place uncertain.
  const isBusy = world.cloud.state.actions.some((action) => action.ip === address && action.status === "in-progress");
  const wasLocked = world.address(address)?.locked === true && !isBusy;
  const shows = (shown: Reading | "failed" | undefined): boolean =>
    shown !== undefined && shown !== "failed" && (!shown.isLocked || wasLocked) && shown.holderID === machine;
  const isVerified = shows(reading) || shows(process.readings.listed.get(address));
  return isVerified ? [] : [{ invariant: "annotation", text: `${what}, last read as ${JSON.stringify(reading)}` }];
}

/** P5: one address for one node, one node for one address. */
export function checkPlan(monitor: Monitor, process: Process, { actions }: Plan): void {
  const assigns = actions.flatMap((action) =>
    action.kind === "assign-ip" || action.kind === "move-ip" ? [action] : [],
  );
  const creations = actions.flatMap((action) =>
    action.kind === "acquire-ip" && "node" in action.after ? [`${action.after.node.machineID} ${action.provider}`] : [],
  );
  // A machine takes one of each family.
  const machines = [...assigns.map(({ after, provider }) => `${after.machineID} ${provider}`), ...creations];
  const ips = assigns.map(({ ip }) => ip);
  if (new Set(machines).size !== machines.length || new Set(ips).size !== ips.length)
    monitor.violated("P5", `${process.identity} plans ${JSON.stringify({ ips, machines })}`);
}
