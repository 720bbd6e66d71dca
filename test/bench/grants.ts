import { type NamespaceGrants, parseGrants } from "../../src/model/grants.ts";
import type { Observation } from "../../src/model/observation.ts";
import { summarizePods } from "../../src/model/pods.ts";
import type { Pool } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, aPool, known, NOW } from "../plan/builders.ts";
import { dnsFacts } from "../plan/dns-builders.ts";
import { shareFigure, timeFigure } from "./figure.ts";
import type { Section } from "./table.ts";

const NAMESPACES = Array.from({ length: 1000 }, (_, index) => index);
const WARM_UP = 5;
const RUNS = 81;
const PREFIX = "flipop.digitalocean.com/";

/** What grants add to the planner, by time of the processor: the same world planned without them and with them, in turn, the annotations read anew each time. */
export async function benchGrants(): Promise<Section> {
  const world = aWorld();
  const samples = Array.from({ length: WARM_UP + RUNS }, (_, index) => {
    // Whoever comes second finds a fuller heap: so they take turns at being first.
    const [first, second] = index % 2 === 0 ? [false, true] : [true, false];
    const ms = new Map([first, second].map((withGrants) => [withGrants, planned(world, withGrants)]));
    return { off: ms.get(false) ?? 0, on: ms.get(true) ?? 0 };
  }).slice(WARM_UP);
  return {
    title: "Grants: 1,000 namespaces with a pool, an address and a name each, all granted by list and network",
    figures: [
      timeFigure(
        "planned with --grants off, processor time",
        samples.map(({ off }) => off),
      ),
      timeFigure(
        "read and planned with --grants require, the same",
        samples.map(({ on }) => on),
      ),
      shareFigure(
        "the difference, run by run",
        samples.map(({ on, off }) => on / off - 1),
        { wanted: "≤ 5 %" },
      ),
    ],
  };
}

function planned(world: Observation, withGrants: boolean): number {
  const before = process.cpuUsage();
  const grants = withGrants ? { grants: { mode: "require" as const, namespaces: readGrants() } } : {};
  const { actions, grants: told } = plan({ ...world, ...grants }, {});
  const { user, system } = process.cpuUsage(before);
  const expected = 3 * NAMESPACES.length;
  if (actions.length !== expected) throw new Error(`planned ${actions.length} actions instead of ${expected}`);
  if ((told?.missing.length ?? -1) !== (withGrants ? 0 : -1)) throw new Error("grants do not count as they should");
  return (user + system) / 1000;
}

export function readGrants(): ReadonlyMap<string, NamespaceGrants> {
  return new Map(NAMESPACES.map((number) => [`ns${number}`, parseGrants(`ns${number}`, annotationsOf(number))]));
}

function annotationsOf(number: number): Readonly<Record<string, string>> {
  return {
    [`${PREFIX}names`]: `*.edge${number}.example.com, www${number}.example.com`,
    [`${PREFIX}addresses`]: `198.51.100.0/28, 10.0.${number >> 8}.0/24`,
    [`${PREFIX}purchases`]: "3",
    "kubernetes.io/metadata.name": `ns${number}`,
  };
}

/** Every address is free and has to be placed, every name is empty; two nodes for each. */
export function aWorld(): Observation {
  const pools = NAMESPACES.map(aPoolOf);
  const nodes = [...NAMESPACES, ...NAMESPACES].map((_, index) => aNode({ name: `n${index}`, droplet: index + 1 }));
  const pods = NAMESPACES.map((number) => {
    const list = [number, NAMESPACES.length + number].map((node) => ({
      namespace: `ns${number}`,
      name: `web-${node}`,
      nodeName: `n${node}`,
      phase: "Running",
      ready: { isReady: true, sinceMs: NOW - 60_000 },
    }));
    return [`ns${number}|`, { kind: "read", byNode: summarizePods(list) }] as const;
  });
  const addresses = pools.flatMap(({ spec }) => spec.ips.map((ip) => known(ip)));
  const empty = Object.fromEntries(NAMESPACES.map((number) => [`www${number}.example.com`, []]));
  return anObservation({ pools, nodes, addresses, dns: [dnsFacts(empty)], pods: new Map(pods) });
}

function aPoolOf(number: number): Pool {
  const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: `www${number}`, ttlSeconds: 60 };
  const match = { nodeLabel: "", podNamespace: `ns${number}`, podLabel: "", tolerations: [] };
  const ips = [`10.0.${number >> 8}.${number & 255}`];
  const pool = aPool({ name: "web", createdAtMs: NOW - number, spec: { ips, dnsRecordSet, match } });
  return { ...pool, meta: { ...pool.meta, namespace: `ns${number}`, uid: `uid-${number}` } };
}
