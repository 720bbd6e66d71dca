import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { createClusterReader } from "../../../../src/adapters/kube/cluster-reader.ts";
import { createWarmCluster } from "../../../../src/adapters/kube/warm-cluster.ts";
import type { ClusterReader } from "../../../../src/ports/cluster.ts";
import type { Clock } from "../../../../src/ports/system.ts";
import type { Fault } from "../../../../src/sandbox/faults.ts";
import { serve } from "../../../../src/sandbox/http-server.ts";
import { type KubernetesSandbox, kubernetesSandbox } from "../../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import type { JSONObject } from "../../../../src/sandbox/kubernetes/object-store.ts";
import { Random } from "../../../simulation/random.ts";
import { REAL_CLOCK } from "../real-clock.ts";
import { plainConnection } from "../scripted-server.ts";
import { until } from "./scripted-watch.ts";
import { tcpGate } from "./tcp-gate.ts";

const EVENTS = 10_000;
const SELECTORS = [
  { namespace: "", label: "app=web" },
  { namespace: "default", label: "" },
];

/** A hundred times as fast: what takes minutes takes seconds. */
const HASTY: Clock = {
  monotonicMs: () => REAL_CLOCK.monotonicMs() * 100,
  wallMs: () => REAL_CLOCK.wallMs(),
  sleep: (ms, signal) => REAL_CLOCK.sleep(ms / 100, signal),
};

/** Most calls go well; the others go wrong in every way a server and what stands in between have. */
function faultOf(random: Random, path: string): Fault | undefined {
  if (!random.chance(0.4)) return undefined;
  const message = "planned";
  const body = (code: number, reason: string): unknown => ({
    kind: "Status",
    status: "Failure",
    code,
    reason,
    message,
  });
  const faults: readonly Omit<Fault, "server">[] = [
    { cut: "before" },
    { cut: "middle" },
    { cut: "after" },
    { status: 500, body: body(500, "InternalError") },
    { status: 410, body: body(410, "Expired") },
    { status: 403, body: body(403, "Forbidden") },
    { status: 200, contentType: "text/html", body: "<html>log in</html>" },
    { delayMs: 30 },
  ];
  return { server: "kubernetes", path, ...random.pick(faults) };
}

function happen(random: Random, sandbox: KubernetesSandbox): void {
  const name = `x${random.between(1, 30)}`;
  const { api } = sandbox;
  const write = (document: JSONObject): void => sandbox.write(document);
  const remove = (kind: "Node" | "Pod", key: string): void => {
    const type = api.types.byKind("v1", kind);
    if (type !== undefined && api.store.get(`/${type.plural}`, key) !== undefined)
      api.remove(type, key, { gracePeriodSeconds: 0 });
  };
  const happenings: readonly (() => void)[] = [
    () => write(aNode(name, { pool: `p${random.between(1, 3)}` })),
    () => write(aNode(name, {})),
    () => write(aPod(name, random.pick(["web", "db"]))),
    () => write(aPod(name, random.pick(["web", "db"]))),
    () => remove("Node", name),
    () => remove("Pod", `default/${name}`),
  ];
  random.pick(happenings)();
  if (random.chance(0.002)) api.store.compact();
}

function aNode(name: string, labels: Readonly<Record<string, string>>): JSONObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

function aPod(name: string, app: string): JSONObject {
  const spec = { nodeName: "n", containers: [{ name: "main", image: "example.test/none" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", labels: { app } }, spec };
}

/** Every list, each in an order that does not matter. */
async function listsOf(cluster: ClusterReader): Promise<readonly unknown[]> {
  const pods = await Promise.all(SELECTORS.map((selector) => cluster.listPods(selector)));
  return [await cluster.listNodes(), ...pods.map((list) => list.toSorted((a, b) => (a.name < b.name ? -1 : 1)))];
}

test("over 10,000 events and a connection on which four calls of ten go wrong, lists end right and leave nothing behind", async () => {
  const random = new Random(7);
  const sandbox = kubernetesSandbox({ bookmarkMs: 200 });
  let isFaulty = true;
  const faults = { take: ({ path }: { readonly path: string }) => (isFaulty ? faultOf(random, path) : undefined) };
  let watches = 0;
  const onCall = ({ query }: { readonly query: string }): void => {
    if (query.includes("watch=true")) watches += 1;
  };
  const server = await serve({ server: "kubernetes", handle: (request) => sandbox.handle(request), faults, onCall });
  const gate = await tcpGate(server.url);
  const resources = (): readonly string[] =>
    process.getActiveResourcesInfo().filter((name) => /TCPSocket|Timeout/.test(name));
  const before = resources().length;
  const options = { version: "0.0.0", clock: HASTY, reportingInstance: "test", random: () => random.next() };
  const cluster = createWarmCluster(plainConnection(gate.url), options);
  let announced = 0;
  cluster.onChange(() => {
    announced += 1;
  });
  for (let count = 0; count < EVENTS; count++) {
    happen(random, sandbox);
    if (count % 20 === 0) await delay(2);
    if (count % 200 === 0) await listsOf(cluster).catch(() => undefined);
    if (random.chance(0.01)) {
      gate.shut();
      gate.open();
    }
  }
  isFaulty = false;
  const reader = createClusterReader(plainConnection(server.url), { version: "0.0.0", clock: HASTY });
  await until(async () => {
    const warm = await listsOf(cluster).catch(() => undefined);
    // A list can be read before the watch of it stands again.
    const isWatched = cluster.staleness() === undefined;
    return isWatched && warm !== undefined && isDeepStrictEqual(warm, await listsOf(reader));
  });
  expect(announced).toBeGreaterThan(300);
  expect(watches).toBeGreaterThan(30);
  expect(cluster.staleness()).toBeUndefined();
  cluster.close();
  reader.close();
  gate.close();
  await server.close();
  await until(() => resources().length <= before);
  expect(resources().length).toBeLessThanOrEqual(before);
});
