import { parse } from "yaml";
import { readEntryLines, withEntryLines } from "../../src/cli/entry-lines.ts";
import { yamlText } from "../../src/cli/yaml-text.ts";
import type { Subject } from "../../src/model/explanation.ts";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import { summarizePods } from "../../src/model/pods.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { ASSUMED, forward } from "../../src/rehearse/forward.ts";
import { simulateLosses } from "../../src/rehearse/losses.ts";
import type { JSONObject } from "../../src/report/json/document.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "../../src/snapshot/snapshot.ts";
import { checkText } from "../validate/knowledge.ts";
import { memoryFigure, timeFigure } from "./figure.ts";
import { type PlannerSize, plannerWorld } from "./planner-world.ts";
import type { Section } from "./table.ts";

const RUNS = 5;
const HORIZON_MS = 15 * 60_000;
const SIZE: PlannerSize = { nodes: 1000, pools: 10, recordSets: 10 };

/** What people ask flipop, without a cluster: the processor's time for the answer, once the world is read. */
export async function benchTools(): Promise<Section> {
  const explained = worldForExplain();
  const [nameless, named] = [worldAtRest({ ...SIZE, recordSets: 0 }), worldAtRest(SIZE)];
  const snapshot = bigSnapshot();
  const text = snapshotText(snapshot);
  return {
    title:
      "Tools alone, processor time: 1,000 nodes, 10 pools and 10 record sets, each with a name; a snapshot of 5,000 nodes and 50,000 pods",
    figures: [
      ...Object.entries(QUESTIONS).map(([what, subject]) =>
        timeFigure(
          `explain ${what}`,
          measure(() => explainIn(explained, subject)),
          { wanted: "≤ 2 s" },
        ),
      ),
      timeFigure(
        "simulate --n-1, 10 pools without names",
        measure(() => loseEach(nameless), 1),
        { wanted: "≤ 20 s" },
      ),
      timeFigure(
        "the same, a name for each pool and 10 record sets",
        measure(() => loseEach(named), 1),
      ),
      timeFigure(
        "validate 1,000 documents",
        measure(() => checkText(MANIFESTS)),
        { wanted: "≤ 1 s" },
      ),
      timeFigure(
        "write a snapshot",
        measure(() => snapshotText(snapshot)),
        { wanted: "≤ 1 s" },
      ),
      timeFigure(
        "read it",
        measure(() => readText(text, snapshot)),
        { wanted: "≤ 1 s" },
      ),
      memoryFigure("its file", [text.length / 1024 ** 2], { wanted: "≤ 5 MB" }),
    ],
  };
}

/** The processor's time of the thread, milliseconds: other work on the machine does not count. */
function measure(work: () => unknown, runs: number = RUNS): number[] {
  return Array.from({ length: runs }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
}

/** A world at rest, in which each object has what it asks for. */
function worldAtRest(size: PlannerSize): Observation {
  const { observation, pods } = plannerWorld(size);
  const summaries = new Map(
    pods.map(([selector, list]) => [selector, { kind: "read", byNode: summarizePods(list) } as const]),
  );
  return forward({ ...observation, pods: summaries }, {}, { horizonMs: 3_600_000 }).world;
}

/** Of every fifty nodes one is not ready and one is cordoned. */
function worldForExplain(): Observation {
  const world = worldAtRest(SIZE);
  const spoilt = (node: NodeFacts, at: number): NodeFacts => {
    if (at % 50 === 3) return { ...node, ready: { isReady: false, sinceMs: 0 } };
    const cordon = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };
    return at % 50 === 4 ? { ...node, taints: [cordon] } : node;
  };
  return { ...world, nodes: world.nodes.map(spoilt) };
}

const QUESTIONS: Readonly<Record<string, Subject>> = {
  "a pair, 2 facts from coming true": { kind: "pair", ip: "10.0.0.0", node: "n954" },
  "an address": { kind: "ip", ip: "10.0.0.0" },
  "a node, to 20 objects": { kind: "node", node: "n954" },
  "a pool": { kind: "object" },
};

function explainIn(world: Observation, subject: Subject): void {
  const isMeant = ({ name }: { readonly name: string }): boolean => subject.kind === "node" || name === "web0";
  const { sections } = explain(world, { subject, isMeant, horizonMs: HORIZON_MS });
  if (sections.length === 0) throw new Error("nothing was explained");
}

/** Every node that carries an address, or is published, is lost in turn. */
function loseEach(world: Observation): void {
  const losses = simulateLosses(world, {}, { horizonMs: 3_600_000, assumed: ASSUMED, by: "node" });
  let next = losses.next();
  while (next.done !== true) next = losses.next();
  const moves = (next.value.cases ?? []).reduce((sum, one) => sum + one.moves, 0);
  if (moves !== 10 * SIZE.pools) throw new Error(`told ${moves} moves instead of ${10 * SIZE.pools}`);
}

const MANIFESTS: string = Array.from(
  { length: 1000 },
  (_, at) =>
    `apiVersion: flipop.digitalocean.com/v1alpha1\nkind: FloatingIPPool\nmetadata: { name: web-${at}, namespace: ingress }\nspec:\n  provider: digitalocean\n  region: nyc3\n  ips: [10.0.${at >> 8}.${at & 255}]\n  desiredIPs: 1\n  match:\n    podNamespace: ingress\n    podLabel: app=web-${at}\n  dnsRecordSet: { zone: example.com, recordName: web-${at}, ttl: 60 }\n`,
).join("---\n");

/** Returns a snapshot of 5,000 nodes, on each of which run pods of ten pools. */
export function bigSnapshot(): Snapshot {
  const observation = worldAtRest({ nodes: 5000, pools: 50, recordSets: 10 });
  return { observation, stored: { pools: observation.pools, routedIPs: [], leaseKey: "flipop/flipop" } };
}

/** Returns the text of a snapshot's file. */
export function snapshotText(snapshot: Snapshot): string {
  return withEntryLines({ ...writeSnapshot(snapshot) }, (short) => yamlText(short as JSONObject));
}

function readText(text: string, { observation: { registry } }: Snapshot): void {
  readSnapshot(readEntryLines(text, parse) as object, { name: "world.yaml", registry });
}
