import type { NodeFacts } from "../../model/node.ts";
import type { Observation, PodSummary } from "../../model/observation.ts";
import type { NodeVerdict } from "../../model/plan.ts";
import type { ProviderRegistry } from "../../model/provider.ts";
import { compareText, type ObjectMeta } from "../../model/resource.ts";
import { undecidedText } from "../holds.ts";
import type { MatchVerdict, NodeByMachine, Verdicts } from "../pool-view.ts";
import type { Validation } from "../validate.ts";
import { type Changed, carriedOver, changedNodes, type Judgement } from "./carry-over.ts";
import { ANY_NODE, isOutside, isRestless, judge, judgedUntilMs, type Matcher, stillServes } from "./match.ts";

/** Judges every node for one object; none matches an object that is blocked or being deleted. Pure. */
export function judgeNodes(
  { meta }: { readonly meta: ObjectMeta },
  validation: Validation,
  world: Pick<Observation, "nodes" | "nodesReadAtMs">,
): Verdicts {
  if (validation.kind === "blocked" || meta.isDeleting) {
    const reason = validation.kind === "blocked" ? validation.why.reason : "Deleting";
    const verdict: MatchVerdict = { kind: "excluded", reason, detail: "" };
    const none = { matches: [], notMatching: [], undecided: [], restless: [] };
    return { ...none, of: () => verdict, untilMs: Number.POSITIVE_INFINITY };
  }
  const { matcher } = validation;
  return { ...judgement(matcher, world), of: (node) => judge(node, matcher, world.nodesReadAtMs) };
}

/** What is known of a list of nodes; it goes with the list. */
const COMMON = new WeakMap<readonly NodeFacts[], Common>();
/** The list that a node was in last, for a few nodes of each list: most likely the next list differs from it in a few nodes. */
const LAST_LISTS = new WeakMap<NodeFacts, readonly NodeFacts[]>();

interface Common {
  /** What is known of a list that differs in a few nodes, and those. */
  readonly like: (Pick<Common, "judgements" | "machines"> & { readonly changed: readonly Changed[] }) | undefined;
  /** Name of a node → its place in the list. */
  readonly places: ReadonlyMap<string, number>;
  /** By the pods that are asked for, and by what is asked of nodes. */
  readonly judgements: WeakMap<Pods, Map<string, Judged>>;
  /** By what reads providerIDs, and by the name of the provider. */
  readonly machines: WeakMap<ProviderRegistry, Map<string, MachinePlaces>>;
}

type Pods = ReadonlyMap<string, PodSummary>;

interface Judged {
  readonly judgement: Judgement;
  /** When it holds, milliseconds; undefined = always. */
  readonly atMs: number | undefined;
}

/** Where no pod is anywhere. */
const NO_PODS: Pods = new Map();
/** Stands for no need of pods. */
const ANY_PODS: Pods = new Map();

/**
 * Of thousands of nodes and hundreds of objects most are judged alike. So whatever asks the same of the same nodes and pods is judged once, in a later pass, too; and what
 * does not depend on pods once for all pods: for each selector only the nodes are judged that its pods are on. Of a list that differs from the one before in a few nodes
 * only those are judged, as long as they are judged as before.
 */
function judgement(
  matcher: Matcher,
  { nodes, nodesReadAtMs: nowMs }: Pick<Observation, "nodes" | "nodesReadAtMs">,
): Judgement {
  const { key, podsByNode, unplaced } = matcher;
  const common = commonOf(nodes);
  const isAlone = key === undefined || unplaced !== undefined || common.places.size !== nodes.length;
  if (isAlone) return judgeEach(nodes, matcher, nowMs);
  const atMs = matcher.tolerations.some(({ tolerationSeconds }) => tolerationSeconds !== undefined) ? nowMs : undefined;
  const judged = (pods: Pods, asked: Matcher, judge: () => Judgement): Judgement => {
    const known = common.judgements.get(pods) ?? new Map<string, Judged>();
    common.judgements.set(pods, known);
    const before = known.get(key);
    if (before !== undefined && before.atMs === atMs) return before.judgement;
    const old = common.like?.judgements.get(pods)?.get(key);
    const isLike = old !== undefined && old.atMs === atMs;
    const carried = isLike ? carriedOver(old.judgement, common.like?.changed ?? [], asked, nowMs) : undefined;
    const made = carried ?? judge();
    known.set(key, { judgement: made, atMs });
    return made;
  };
  if (podsByNode === undefined) return judged(ANY_PODS, matcher, () => judgeEach(nodes, matcher, nowMs));
  const unpeopled = { ...matcher, podsByNode: NO_PODS };
  // Found out of every list, whether it is needed or not: so the next one that differs in a few nodes can take it over.
  const podless = judged(NO_PODS, unpeopled, () => judgeEach(nodes, unpeopled, nowMs));
  return judged(podsByNode, matcher, () => withPods(podless, { nodes, places: common.places, matcher, nowMs }));
}

function commonOf(nodes: readonly NodeFacts[]): Common {
  const known = COMMON.get(nodes);
  if (known !== undefined) return known;
  const marks = [0, nodes.length >> 1, nodes.length - 1].flatMap((place) => nodes[place] ?? []);
  const before = marks.map((node) => LAST_LISTS.get(node)).find((list) => list !== undefined);
  const old = before === undefined ? undefined : COMMON.get(before);
  const changed = before === undefined ? undefined : changedNodes(before, nodes);
  const like = old === undefined || changed === undefined ? undefined : old;
  const common: Common = {
    like: like && changed && { judgements: like.judgements, machines: like.machines, changed },
    places: like?.places ?? new Map(nodes.map(({ name }, place) => [name, place])),
    judgements: new WeakMap<Pods, Map<string, Judged>>(),
    machines: new WeakMap<ProviderRegistry, Map<string, MachinePlaces>>(),
  };
  COMMON.set(nodes, common);
  for (const node of marks) LAST_LISTS.set(node, nodes);
  return common;
}

/** @param podless - the judgement where pods are asked for and none is there: no node matches */
function withPods(
  podless: Judgement,
  {
    nodes,
    places,
    matcher,
    nowMs,
  }: {
    readonly nodes: readonly NodeFacts[];
    readonly places: Common["places"];
    readonly matcher: Matcher;
    readonly nowMs: number;
  },
): Judgement {
  const hosts = [...(matcher.podsByNode ?? NO_PODS).keys()]
    .flatMap((name) => places.get(name) ?? [])
    .toSorted((a, b) => a - b);
  const own = judgeEach(
    hosts.flatMap((place) => nodes[place] ?? []),
    matcher,
    nowMs,
  );
  const isHost = new Set(hosts);
  const placeOf = ({ node }: Judgement["undecided"][number]): number => places.get(node.name) ?? 0;
  return {
    matches: own.matches,
    notMatching: inPlace(podless.notMatching, own.notMatching, { hosts, nodes }),
    undecided: [...podless.undecided.filter((one) => !isHost.has(placeOf(one))), ...own.undecided].toSorted(
      (a, b) => placeOf(a) - placeOf(b),
    ),
    restless: own.restless,
    untilMs: Math.min(podless.untilMs, own.untilMs),
  };
}

/** The verdicts of all nodes, those of some replaced by their own, if they do not match. */
function inPlace(
  all: readonly NodeVerdict[],
  own: readonly NodeVerdict[],
  { hosts, nodes }: { readonly hosts: readonly number[]; readonly nodes: readonly NodeFacts[] },
): readonly NodeVerdict[] {
  const verdicts: NodeVerdict[] = [];
  let from = 0;
  let next = 0;
  const copyTo = (end: number): void => {
    for (let place = from; place < end; place += 1) {
      const verdict = all[place];
      if (verdict !== undefined) verdicts.push(verdict);
    }
    from = end + 1;
  };
  for (const host of hosts) {
    copyTo(host);
    const verdict = own[next];
    if (verdict === undefined || verdict.nodeName !== nodes[host]?.name) continue;
    verdicts.push(verdict);
    next += 1;
  }
  copyTo(all.length);
  return verdicts;
}

function judgeEach(nodes: readonly NodeFacts[], matcher: Matcher, nowMs: number): Judgement {
  const matches: NodeFacts[] = [];
  const notMatching: NodeVerdict[] = [];
  const undecided: { readonly node: NodeFacts; readonly why: string }[] = [];
  const restless: NodeFacts[] = [];
  let untilMs = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const verdict = judge(node, matcher, nowMs);
    // What excludes a node ends by time only where the node rests from it.
    if (verdict.kind !== "excluded" || node.rest !== undefined)
      untilMs = Math.min(untilMs, judgedUntilMs(node, matcher, nowMs));
    if (isRestless(node, matcher)) restless.push(node);
    if (verdict.kind === "unreadable") undecided.push({ node, why: undecidedText(node, verdict.detail) });
    if (verdict.kind === "match") matches.push(node);
    else notMatching.push({ nodeName: node.name, reason: verdict.reason, detail: verdict.detail });
  }
  return { matches, notMatching, undecided, restless, untilMs };
}

/**
 * Returns what says of a node whether it serves an object, whatever labels and taints say. Pure.
 *
 * @param arePodsNowhere - true where no pod that the object asks for exists: then a node that is up serves, as far as it ever did
 */
export function servingJudge(
  validation: Validation,
  nowMs: number,
  arePodsNowhere: boolean,
): (node: NodeFacts) => boolean {
  if (validation.kind === "blocked") return () => false;
  const { matcher } = validation;
  const asked = arePodsNowhere ? { ...matcher, podsByNode: undefined } : matcher;
  return (node) => stillServes(node, asked, nowMs);
}

/** Returns what says of a node whether an object never wants it, as long as the labels are as they are. Of one that cannot be read nobody can tell. Pure. */
export function outsideJudge(validation: Validation): (node: NodeFacts) => boolean {
  if (validation.kind === "blocked") return () => false;
  return (node) => node.unreadable === undefined && isOutside(node, validation.matcher);
}

/** Returns what says of a node whether it is up, whatever runs there. Pure. */
export function upJudge(nowMs: number): (node: NodeFacts) => boolean {
  return (node) => stillServes(node, ANY_NODE, nowMs);
}

/** The nodes of machines. A machine that came back under another name has two for a while, until the old one is removed. */
export interface MachineNodes {
  /** By machine id: its node, the first by name. */
  readonly byMachine: NodeByMachine;
  /** Machines with more than one node, with all of them, by name. */
  readonly shared: ReadonlyMap<string, readonly NodeFacts[]>;
  /** Nodes whose providerID cannot be read: each may be any machine. Sorted by name. */
  readonly machineless: readonly NodeFacts[];
}

/** Where the nodes of machines stand in a list of nodes; each as of {@link MachineNodes}. */
interface MachinePlaces {
  readonly byMachine: ReadonlyMap<string, number>;
  readonly shared: ReadonlyMap<string, readonly number[]>;
  readonly machineless: readonly number[];
}

/** Groups nodes by their machine: once for each list of nodes. Pure; the order of the nodes changes nothing. */
export function machineNodes(
  { nodes, registry }: Pick<Observation, "nodes" | "registry">,
  provider: string,
): MachineNodes {
  const { byMachine, shared, machineless } = machinePlaces(nodes, registry, provider);
  const at = (places: readonly number[]): readonly NodeFacts[] => places.flatMap((place) => nodes[place] ?? []);
  return {
    byMachine: { get: (machine) => nodes[byMachine.get(machine) ?? -1] },
    shared: new Map([...shared].map(([machine, places]) => [machine, at(places)])),
    machineless: at(machineless),
  };
}

/** Those of the list before, where only a few nodes differ from it, and those are on the machines that they were on. */
function machinePlaces(nodes: readonly NodeFacts[], registry: ProviderRegistry, provider: string): MachinePlaces {
  const { machines, like } = commonOf(nodes);
  const known = machines.get(registry) ?? new Map<string, MachinePlaces>();
  machines.set(registry, known);
  const machineOf = ({ providerID }: NodeFacts): string | undefined => registry.machineID(provider, providerID);
  const isLike = ({ before, after }: Changed): boolean =>
    machineOf(before) === machineOf(after) && isMachineless(before) === isMachineless(after);
  const ofListBefore = (): MachinePlaces | undefined =>
    like?.changed.every(isLike) === true ? like.machines.get(registry)?.get(provider) : undefined;
  const found = known.get(provider) ?? ofListBefore() ?? groupByMachine(nodes, machineOf);
  known.set(provider, found);
  return found;
}

function groupByMachine(
  nodes: readonly NodeFacts[],
  machineOf: (node: NodeFacts) => string | undefined,
): MachinePlaces {
  const byMachine = new Map<string, number>();
  const shared = new Map<string, readonly number[]>();
  const machineless: number[] = [];
  const byName = [...nodes.entries()].toSorted(([, a], [, b]) => compareText(a.name, b.name));
  for (const [place, node] of byName) {
    if (isMachineless(node)) machineless.push(place);
    const machine = machineOf(node);
    if (machine === undefined) continue;
    const first = byMachine.get(machine);
    if (first === undefined) byMachine.set(machine, place);
    else shared.set(machine, [...(shared.get(machine) ?? [first]), place]);
  }
  return { byMachine, shared, machineless };
}

function isMachineless({ unreadable, providerID, isDeleting }: NodeFacts): boolean {
  return unreadable !== undefined && providerID === "" && !isDeleting;
}

/** Machine id → its node as one pool sees it: one that matches, else one that may, else one that is merely unready, the last to become so, else the first by name. Pure. */
export function nodeByMachine(
  { byMachine, shared }: MachineNodes,
  verdictOf: (node: NodeFacts) => MatchVerdict,
): NodeByMachine {
  if (shared.size === 0) return byMachine;
  const best = (nodes: readonly NodeFacts[]): readonly NodeFacts[] =>
    (["match", "unreadable", "unready", "excluded"] as const).flatMap((kind) =>
      nodes.filter((node) => verdictOf(node).kind === kind).toSorted((a, b) => unreadySince(b) - unreadySince(a)),
    );
  const unreadySince = (node: NodeFacts): number => {
    const verdict = verdictOf(node);
    return verdict.kind === "unready" ? (verdict.sinceMs ?? Number.MAX_SAFE_INTEGER) : 0;
  };
  const chosen = new Map(
    [...shared].flatMap(([machine, nodes]) =>
      best(nodes)
        .slice(0, 1)
        .map((node) => [machine, node] as const),
    ),
  );
  return { get: (machine) => chosen.get(machine) ?? byMachine.get(machine) };
}
