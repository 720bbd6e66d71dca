import type { AssignIP, ObjectRef, Place, UnassignIP } from "../model/action.ts";
import type { Address } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import { KubeError, ProviderError } from "../model/errors.ts";
import type { NodeFacts } from "../model/node.ts";
import type { PodSummary } from "../model/observation.ts";
import type { Learned } from "../model/outcome.ts";
import { podsKeyOf, summarizeEndpoints, summarizePods, summaryOn } from "../model/pods.ts";
import type { Pool } from "../model/resource.ts";
import { keepsAddress } from "../plan/addresses/position.ts";
import { judgeNodes } from "../plan/nodes/judge-nodes.ts";
import { statusOf } from "../plan/pool-view.ts";
import { validatePool } from "../plan/validate.ts";
import type { IPProvider } from "../ports/providers.ts";
import { changeAddress } from "./change-address.ts";
import {
  type ApplyContext,
  applied,
  beforeEnd,
  type Ending,
  failed,
  learn,
  lookAt,
  notFound,
  type Result,
  skipped,
  toolsOf,
} from "./context.ts";
import { type Preparation, recordAssignmentTime } from "./on-record.ts";

/** An address seen free longer ago than this may have been taken by somebody else, milliseconds. */
const FRESH_ADDRESS_MS = 2000;
/** So long after a refusal for the limit is over a move does without a reading that the pass has just made, milliseconds. */
const SHORT_MS = 60_000;

/**
 * Assigns or moves one address, when it is the turn of its machines. A move reads the address and its holder first, and so does an assignment that comes late; a target that may carry an unreadable address
 * is looked at first. All of that, and what goes on record, goes on at once: it is time in which nothing serves. An address that leaves a machine on record does not
 * wait until the next one is: that is on its way to the API server before anything is asked of the provider, and a write that takes its time delays no failover.
 */
export function assignIP(action: AssignIP, context: ApplyContext, prepared: Preparation): Promise<Result> {
  return context.machineTurns.run(machinesOf(action), () => assign(action, context, prepared));
}

async function assign(action: AssignIP, context: ApplyContext, prepared: Preparation): Promise<Result> {
  const { provider, confirmer } = toolsOf(action.provider, context);
  const target = action.after.machineID;
  const ready = leavesKnownMachine(action, context) ? prepared.vital : prepared.whole;
  const lastLook = new LastLook(() => objectionTo(action, provider, context), context);
  const before = new Set(othersOnTarget(action, context));
  const known = await beforeEnd(Promise.all([lastLook.ask(), ready]), context);
  if (known === "late") return skipped("Deadline");
  if (known[0] !== undefined) return known[0];
  const withdraw = await beforeEnd(recordAssignmentTime(action, context), context);
  if (withdraw === "late") return skipped("Deadline");
  const result = await changeAddress(
    {
      ip: action.ip,
      machine: target,
      provider,
      confirmer,
      call: () => provider.assign(action.ip, target),
      objection: async () => newcomerOnTarget(action, before, context) ?? (await lastLook.objection()),
      isTrue: ({ holderID }) => holderID === target,
      isAsPlanned: ({ holderID }) => holderID === action.before?.machineID,
      explain: (error, address) =>
        explainRefusal(
          error,
          { object: action.object, place: action.after },
          { provider, learned: [learn(action.ip, address)] },
          context,
        ),
    },
    context,
  );
  if (!("acceptedAtMs" in result) || result.acceptedAtMs === undefined) await withdraw();
  return result;
}

function leavesKnownMachine({ object, ip, provider, before }: AssignIP, { stores, registry }: ApplyContext): boolean {
  if (before === undefined) return false;
  const stored = stores.ownersOf(object).get(object);
  return stored !== undefined && statusOf(stored, ip)?.providerID === registry.providerID(provider, before.machineID);
}

/**
 * What speaks against the change as things are now; undefined when nothing does. A question that gets no answer takes nothing from what the others were told: all of it is
 * known from now on.
 */
async function objectionTo(action: AssignIP, provider: IPProvider, context: ApplyContext): Promise<Result | undefined> {
  const answers = await Promise.all(
    [targetCarries(action, provider, context), hasMoved(action, provider, context), holderKeeps(action, context)].map(
      answerOf,
    ),
  );
  const objections = answers.flatMap((answer) => answer ?? []);
  const objection = objections.find(({ outcome }) => outcome === "failed") ?? objections[0];
  if (objection === undefined) return undefined;
  const learned = objections.flatMap((one) => one.learned ?? []);
  const [judged] = objections.flatMap(({ learnedNode, learnedPods }) =>
    learnedNode === undefined ? [] : { learnedNode, ...(learnedPods === undefined ? {} : { learnedPods }) },
  );
  return { ...objection, ...judged, learned };
}

/** What a question was answered; where it could not be, the failure. */
async function answerOf(question: Promise<Result | undefined>): Promise<Result | undefined> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof ProviderError || error instanceof KubeError) return failed(error);
    throw error;
  }
}

async function targetCarries(
  action: AssignIP,
  provider: IPProvider,
  context: Pick<ApplyContext, "cluster" | "registry">,
): Promise<Result | undefined> {
  if (action.mustNotCarry.length === 0) return undefined;
  const carried = await provider.machineAddresses(action.after.machineID);
  if (carried === undefined) return await withoutMachine(action.after, { provider, learned: [] }, context);
  const ip = action.mustNotCarry.find((unreadable) => carried.includes(unreadable));
  if (ip === undefined) return undefined;
  const address: Address = { ip, region: "", holderID: action.after.machineID, isLocked: false };
  return skipped("NodeHasOtherIP", ip, [learn(ip, address)]);
}

/** The other addresses of the source that are known to be on the target. */
function othersOnTarget(
  { ip, provider, after }: AssignIP,
  { addressesOf }: Pick<ApplyContext, "addressesOf">,
): readonly string[] {
  return [...addressesOf(provider)].flatMap(([other, fact]) => {
    const isThere = fact.kind === "known" && fact.address.holderID === after.machineID;
    return isThere && other !== ip ? [other] : [];
  });
}

/** A provider that is busy for long may be so with another address: once that is on the target, which may have no more, nothing else is sent there. */
function newcomerOnTarget(
  action: AssignIP,
  before: ReadonlySet<string>,
  context: Pick<ApplyContext, "addressesOf" | "registry" | "stores">,
): Result | undefined {
  const { object, provider } = action;
  const others = othersOnTarget(action, context);
  const newcomer = others.find((other) => !before.has(other));
  const asked = context.stores.ownersOf(object).get(object)?.spec.maxPerNode;
  const isFull = others.length >= context.registry.maxPerNode(sourceNamed(provider).provider, asked);
  return newcomer === undefined || !isFull ? undefined : skipped("NodeHasOtherIP", newcomer);
}

/** True where the provider has lately asked for no calls: each one that is not needed may be the one that it would have allowed. */
function isShort({ provider }: AssignIP, { cluster, limits }: Pick<ApplyContext, "cluster" | "limits">): boolean {
  const untilMs = limits.get(sourceNamed(provider).provider);
  return untilMs !== undefined && cluster.now() - untilMs <= SHORT_MS;
}

async function hasMoved(
  action: AssignIP,
  provider: IPProvider,
  { cluster, readAtMs, limits }: ApplyContext,
): Promise<Result | undefined> {
  const ageMs = cluster.now() - (readAtMs.get(action.provider) ?? 0);
  if (action.before === undefined && ageMs <= FRESH_ADDRESS_MS) return undefined;
  if (ageMs <= FRESH_ADDRESS_MS && isShort(action, { cluster, limits })) return undefined;
  const look = await lookAt(action.ip, provider);
  if ("failure" in look) return look.failure;
  const { address } = look;
  if (address === undefined) return skipped("IPNotFound", "", [notFound(action.ip)]);
  if (address.isLocked) return skipped("InProgress", "", [learn(action.ip, address)]);
  if (address.holderID === action.before?.machineID) return undefined;
  return skipped("Stale", "it is not where it was when the pass began", [learn(action.ip, address)]);
}

/** The machines that a change keeps busy. A provider has one machine for the addresses of both families. */
function machinesOf({ provider, before, after }: AssignIP | UnassignIP): readonly string[] {
  const { provider: account } = sourceNamed(provider);
  return [before, after].flatMap((place) => (place === undefined ? [] : `${account} ${place.machineID}`));
}

/** Why an address stays that was to be given back. */
export const PROTECTED = "it is protected from deletion now";

/**
 * Detaches one address, when it is the turn of its machine. It must still be where the plan saw it, its node must not match again, and one that is to be given back must not be
 * protected from that. Already detached is done.
 */
export function unassignIP(action: UnassignIP, context: ApplyContext): Promise<Result> {
  return context.machineTurns.run(machinesOf(action), () => unassign(action, context));
}

async function unassign(action: UnassignIP, context: ApplyContext): Promise<Result> {
  const { provider, confirmer } = toolsOf(action.provider, context);
  const { ip } = action;
  const look = await lookAt(ip, provider);
  if ("failure" in look) return look.failure;
  const { address } = look;
  if (address === undefined) return skipped("IPNotFound", "", [notFound(ip)]);
  if (address.isLocked) return skipped("InProgress", "", [learn(ip, address)]);
  if (address.holderID === undefined) return applied({ address });
  if (address.holderID !== action.before.machineID)
    return skipped("Stale", "it is on another machine now", [learn(ip, address)]);
  const keeps = ({ isProtected }: Address): string | undefined =>
    action.isGivenBack === true && isProtected === true ? PROTECTED : undefined;
  const kept = keeps(address);
  if (kept !== undefined) return skipped("Stale", kept, [learn(ip, address)]);
  const holder = new LastLook(() => holderKeeps(action, context), context);
  return await changeAddress(
    {
      ip,
      machine: "",
      provider,
      confirmer,
      call: () => provider.unassign(ip),
      objection: () => holder.objection(),
      isTrue: ({ holderID }) => holderID === undefined,
      isAsPlanned: ({ holderID }) => holderID === action.before.machineID,
      keeps,
      explain: async (error, reading) => failed(error, { learned: [learn(ip, reading)] }),
    },
    context,
  );
}

/** An answer about what speaks against a call counts for this long after it came, milliseconds. */
const FRESH_MS = 400;
/** An answer that took longer than this may tell of how things were long ago, milliseconds. */
const SLOW_MS = 2000;

/**
 * Asks what speaks against a call. It asks again right before the call in two cases:
 *
 *   something took time since the answer came    such as a status write, or a busy provider
 *   the answer itself was slow                   unless the one before it took about as long: then another one would be no newer
 */
class LastLook {
  readonly #question: () => Promise<Result | undefined>;
  readonly #context: Ending;
  #answer = { atMs: Number.NEGATIVE_INFINITY, tookMs: 0, isOld: true };

  constructor(question: () => Promise<Result | undefined>, context: Ending) {
    this.#question = question;
    this.#context = context;
  }

  /** What speaks against a call that is made later; undefined when nothing does. A run that is asked to end waits for no answer: it makes no call. */
  async ask(): Promise<Result | undefined> {
    const askedAtMs = this.#context.clock.monotonicMs();
    const objection = await beforeEnd(this.#question(), this.#context);
    if (objection === "late") return skipped("Deadline");
    const atMs = this.#context.clock.monotonicMs();
    const tookMs = atMs - askedAtMs;
    this.#answer = { atMs, tookMs, isOld: tookMs > Math.max(SLOW_MS, 2 * this.#answer.tookMs) };
    return objection;
  }

  /** What speaks against a call that is made now; undefined when nothing does. Asks three times at most. */
  async objection(): Promise<Result | undefined> {
    for (let asked = 0; asked < 3 && this.#isOld(); asked += 1) {
      const objection = await this.ask();
      if (objection !== undefined) return objection;
    }
    return undefined;
  }

  #isOld(): boolean {
    return this.#answer.isOld || this.#context.clock.monotonicMs() - this.#answer.atMs > FRESH_MS;
  }
}

/**
 * Judges the holder of an address once more, node and pods, as they are now: one that matches again, is in grace, or cannot be read keeps its address. Reads the node and, where the
 * pool asks for pods, its pods; a node that cannot keep it whatever its pods are is judged at once. Undefined when the address may leave.
 */
export async function holderKeeps(
  action: AssignIP | UnassignIP,
  context: Pick<ApplyContext, "cluster" | "stores" | "registry">,
): Promise<Result | undefined> {
  const { before, ip, object } = action;
  const pool = context.stores.ownersOf(object).get(object);
  if (!action.isHolderJudged || before === undefined || pool === undefined) return undefined;
  const name = before.nodeName ?? statusOf(pool, ip)?.nodeName;
  if (name === undefined) return undefined;
  const reading = podsOn(name, pool, context);
  // Nobody waits for pods that decide nothing.
  reading.catch(() => undefined);
  const node = await context.cluster.readNode(name);
  if (node === undefined || !mayBe(node, before.machineID, pool, context)) return undefined;
  const key = podsKeyOf(pool);
  const keepsWith = (pods: PodSummary | undefined): boolean => {
    const byNode = new Map(pods === undefined ? [] : [[name, pods] as const]);
    const { registry } = context;
    const validation = validatePool(pool, { pods: new Map([[key ?? "", { kind: "read", byNode }]]), registry });
    const nowMs = context.cluster.now();
    const { of: verdictOf } = judgeNodes(pool, validation, { nodes: [node], nodesReadAtMs: nowMs });
    const machineOf = (providerID: string): string | undefined => registry.machineID(pool.spec.provider, providerID);
    return keepsAddress(pool, ip, { node, machine: before.machineID, verdictOf, machineOf }, nowMs);
  };
  if (!keepsWith(READY_PODS)) return undefined;
  const pods = await reading;
  if (!keepsWith(pods)) return undefined;
  const learned =
    key === undefined ? {} : { learnedPods: { key, nodeName: name, ...(pods === undefined ? {} : { pods }) } };
  const why = `node ${name}, which has the address, ${abilityOf(node, pods)}`;
  return { ...skipped("Stale", why), learnedNode: node, ...learned };
}

/** The best that pods can be. */
const READY_PODS: PodSummary = { ready: 1, notReady: 0 };

function abilityOf({ unreadable }: NodeFacts, pods: PodSummary | undefined): string {
  const doubt = unreadable ?? (pods?.ready === 0 ? pods.unreadable : undefined);
  return doubt === undefined ? "can serve again" : `may serve: ${doubt} cannot be read`;
}

/** True if the machine is the node's, or if the node's machine cannot be read. */
function mayBe(
  { providerID, unreadable }: NodeFacts,
  machine: string,
  { spec }: Pool,
  { registry }: Pick<ApplyContext, "registry">,
): boolean {
  return registry.machineID(spec.provider, providerID) === machine || (providerID === "" && unreadable !== undefined);
}

async function podsOn(
  nodeName: string,
  pool: Pool,
  { cluster }: Pick<ApplyContext, "cluster">,
): Promise<PodSummary | undefined> {
  if (podsKeyOf(pool) === undefined) return undefined;
  if (pool.endpoints !== undefined)
    return summaryOn(summarizeEndpoints(await cluster.readEndpointSlices(pool.endpoints)), nodeName);
  const { podNamespace, podLabel } = pool.spec.match;
  const pods = await cluster.readPodsOn({ namespace: podNamespace, label: podLabel }, nodeName);
  return summaryOn(summarizePods(pods), nodeName);
}

/** Private address ranges: a machine's own internal and anchor addresses, which say nothing about reserved ones. */
const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/**
 * What came of a change that the provider refused for a machine: a machine with more public addresses than its own and those that a node may have is full, and one
 * that the provider does not know cannot take any; then the next node is tried. At most one reading of the machine.
 */
export async function explainRefusal(
  error: ProviderError,
  { object, place }: { readonly object: ObjectRef; readonly place: Required<Place> },
  { provider, learned }: { readonly provider: IPProvider; readonly learned: readonly Learned[] },
  context: Pick<ApplyContext, "cluster" | "registry" | "stores">,
): Promise<Result> {
  const { registry, stores } = context;
  const { machineID, nodeName } = place;
  if (error.failure !== "refused" && error.failure !== "not-found") return failed(error, { learned });
  const carried = await carriedBy(machineID, provider);
  if (carried === "unknown") return failed(error, { learned });
  if (carried === undefined) return await withoutMachine(place, { provider, learned }, context);
  const isPublic = carried.filter((ip) => !PRIVATE.test(ip));
  const most = registry.maxPerNode(provider.name, stores.ownersOf(object).get(object)?.spec.maxPerNode);
  if (isPublic.length > most) {
    const text = `${nodeName}: machine ${machineID} carries ${isPublic.join(", ")}; ${error.message}`;
    return { ...skipped("NodeHasForeignIP", text, learned), isMachineUnfit: true };
  }
  return failed(error, { learned });
}

/**
 * What came of a change for a machine that the provider does not know. Its node waits for that only while it has this machine: one that was made anew meanwhile, under the same
 * name, can take an address at once. One reading of the node.
 */
async function withoutMachine(
  place: Required<Place>,
  { provider, learned }: { readonly provider: IPProvider; readonly learned: readonly Learned[] },
  { cluster, registry }: Pick<ApplyContext, "cluster" | "registry">,
): Promise<Result> {
  const text = missingMachine(place, provider);
  const node = await readNow(place.nodeName, cluster);
  const isSame = node === undefined || registry.machineID(provider.name, node.providerID) === place.machineID;
  if (isSame) return { ...skipped("MachineNotFound", text, learned), isMachineUnfit: true };
  return { ...skipped("Stale", `${text}, and the node has another one now`, learned), learnedNode: node };
}

/** A node as it is now; undefined where there is none, or where it cannot be read. */
async function readNow(name: string, cluster: ApplyContext["cluster"]): Promise<NodeFacts | undefined> {
  try {
    return await cluster.readNode(name);
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

/** Says that a node's machine does not exist. Pure. */
function missingMachine({ machineID, nodeName }: Required<Place>, { name }: Pick<IPProvider, "name">): string {
  return `${nodeName}: ${name} does not know machine ${machineID}`;
}

/** What a machine carries; undefined when there is none. Where it cannot be read the refusal stands as it is. */
async function carriedBy(machineID: string, provider: IPProvider): Promise<readonly string[] | undefined | "unknown"> {
  try {
    return await provider.machineAddresses(machineID);
  } catch (error) {
    if (error instanceof ProviderError) return "unknown";
    throw error;
  }
}
