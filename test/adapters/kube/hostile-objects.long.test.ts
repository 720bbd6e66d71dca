import { describe, expect, test } from "vitest";
import type { ListRequest } from "../../../src/adapters/kube/lists.ts";
import { NODE_FIELDS, NODES_REQUEST } from "../../../src/adapters/kube/node.ts";
import { podsRequest } from "../../../src/adapters/kube/pod.ts";
import { decodeItem, type Fields, Marker } from "../../../src/adapters/kube/protobuf.ts";
import { endpointSlicesRequest, SERVICES_REQUEST } from "../../../src/adapters/kube/service.ts";
import { identityOf, packedIdentity } from "../../../src/adapters/kube/watch/watched-store.ts";
import type { NodeFacts, PodFacts } from "../../../src/model/node.ts";
import { summarizePods } from "../../../src/model/pods.ts";
import type { EndpointSliceFacts, ServiceFacts } from "../../../src/model/service.ts";
import { timestamp } from "../../../src/model/time.ts";
import { judge } from "../../../src/plan/nodes/match.ts";
import { Random } from "../../simulation/random.ts";
import {
  aHostileNode,
  aHostilePod,
  aHostileService,
  aHostileSlice,
  bytesOf,
  cut,
  damaged,
  jsonOf,
  noise,
  type Tree,
  wrongWireType,
} from "./hostile-objects.ts";
import { messageField, textField } from "./protobuf-writer.ts";
import { type ReadEverywhere, readEverywhere } from "./read-everywhere.ts";

const ROUNDS = 200;
const NOW = Date.UTC(2026, 7, 1, 12, 30);
const NAMES = ["a", "b", "c"];

/** One kind of object: how it is made and read, and what flipop would make of it, as text. */
interface Kind<T> {
  readonly name: string;
  readonly request: ListRequest<T>;
  readonly make: (random: Random, name: string) => Tree;
  readonly verdict: (facts: T | undefined) => string;
}

const NODES: Kind<NodeFacts> = {
  name: "Node",
  request: NODES_REQUEST,
  make: aHostileNode,
  verdict: (node) => {
    if (node === undefined) return "gone";
    const matcher = {
      nodeSelector: { required: [], demands: new Map() },
      nodeLabel: "",
      tolerations: [],
      podsByNode: undefined,
    };
    const { kind, ...verdict } = judge(node, matcher, NOW);
    if ("sinceMs" in verdict) timestamp(verdict.sinceMs ?? Number.NaN);
    const { providerID, labels, addresses, isDeleting, addressAnnotation } = node;
    const rest = JSON.stringify({ providerID, labels, addresses, isDeleting, addressAnnotation });
    return kind === "unreadable" || kind === "excluded" ? kind : `${kind} ${rest}`;
  },
};

const PODS: Kind<PodFacts> = {
  name: "Pod",
  request: podsRequest({ namespace: "shop", label: "" }),
  make: aHostilePod,
  verdict: (pod) => {
    const [summary] = summarizePods(pod === undefined ? [] : [pod]).values();
    timestamp(summary?.unreadySinceMs ?? Number.NaN);
    if (summary?.unreadable !== undefined) return "unreadable";
    return summary === undefined || summary.ready === 0 ? "serves nowhere" : `serves on ${pod?.nodeName}`;
  },
};

const SLICES: Kind<EndpointSliceFacts> = {
  name: "EndpointSlice",
  request: endpointSlicesRequest({ namespace: "shop", name: "web" }),
  make: aHostileSlice,
  verdict: (slice) => {
    const nodes = [...(slice?.endpointsByNode ?? [])];
    if (nodes.some(([, { unreadable }]) => unreadable !== undefined)) return "unreadable";
    return JSON.stringify(nodes.map(([node, { ready }]) => [node, ready]).toSorted());
  },
};

const SERVICES: Kind<ServiceFacts> = {
  name: "Service",
  request: SERVICES_REQUEST,
  make: aHostileService,
  verdict: (service) =>
    service?.unreadable === undefined ? JSON.stringify({ ...service, resourceVersion: "" }) : "unreadable",
};

/** Expects that what became odd costs nothing but itself, and changes nothing unseen. True when flipop could not read it. */
function expectOwnCost<T>(kind: Kind<T>, before: ReadEverywhere<T>, after: ReadEverywhere<T>, seed: number): boolean {
  const { once, ...others } = after;
  for (const other of Object.values(others)) expect(other, `seed ${seed}`).toEqual(once);
  expect([...once.keys()], `seed ${seed}`).toEqual([...before.once.keys()]);
  const odd = [...once.keys()].filter((key) => key.endsWith("b"));
  for (const [key, facts] of once) if (!odd.includes(key)) expect(facts, `seed ${seed}`).toEqual(before.once.get(key));
  const [then, now] = [before, after].map((read) => odd.map((key) => kind.verdict(read.once.get(key))).join());
  if (now !== "unreadable") expect(now, `seed ${seed}`).toBe(then);
  return now === "unreadable";
}

describe.each([NODES, PODS, SLICES, SERVICES])("objects of the kind $name, however odd,", (anyKind) => {
  const kind = anyKind as Kind<unknown>;
  const fields = kind.request.fields as Fields;
  const three = (random: Random): readonly Tree[] => NAMES.map((name) => kind.make(random, name));
  const read = async (items: readonly unknown[]): Promise<ReadEverywhere<unknown>> =>
    await readEverywhere(kind.name, kind.request, items);

  test("mean the same in protobuf and in JSON, in a list and in a watch", async () => {
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const trees = three(new Random(seed));
      const json = await read(trees.map(jsonOf));
      const packed = await read(trees.map((tree) => bytesOf(tree, fields)));
      for (const one of [...Object.values(json), ...Object.values(packed)])
        expect(one, `seed ${seed}`).toEqual(json.once);
      expect(json.once.size, `seed ${seed}`).toBe(3);
    }
  });

  test("are read the same with fields that nobody knows between the others", async () => {
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = new Random(seed);
      const trees = three(random);
      const noisy = await read(trees.map((tree) => bytesOf(tree, fields, noise(random))));
      expect(noisy, `seed ${seed}`).toEqual(await read(trees.map((tree) => bytesOf(tree, fields))));
    }
  });

  test.for([
    ["whose bytes end too early somewhere", cut],
    ["with a field of another wire type", wrongWireType],
  ] as const)("%s cost only themselves, and never change what flipop does unseen", async ([, breakOnce]) => {
    let unreadable = 0;
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = new Random(seed);
      const trees = three(random);
      const sound = trees.map((tree) => bytesOf(tree, fields));
      const spoiled = bytesOf(trees[1] ?? {}, fields, breakOnce(random));
      const reading = read(sound.with(1, spoiled));
      if (packedIdentity(spoiled) === undefined)
        await expect(reading, `seed ${seed}`).rejects.toMatchObject({ failure: "malformed" });
      else if (expectOwnCost(kind, await read(sound), await reading, seed)) unreadable += 1;
    }
    expect(unreadable).toBeGreaterThan(ROUNDS / 20);
  });

  test("with a value of the wrong type in JSON cost only themselves, and never change what flipop does unseen", async () => {
    let unreadable = 0;
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = new Random(seed);
      const sound = three(random).map(jsonOf);
      const after = await read(sound.with(1, damaged(random, sound[1])));
      if (expectOwnCost(kind, await read(sound), after, seed)) unreadable += 1;
    }
    expect(unreadable).toBeGreaterThan(ROUNDS / 20);
  });

  test("stop nothing, wherever bytes are changed, and have one name in a list and in a watch", () => {
    for (let seed = 1; seed <= ROUNDS * 3; seed += 1) {
      const random = new Random(seed);
      const bytes = shaken(random, bytesOf(kind.make(random, "a"), fields));
      const item = decodeItem(bytes, fields);
      kind.verdict(kind.request.project(item));
      expect(packedIdentity(bytes), `seed ${seed}`).toEqual(identityOf(item));
    }
  });

  test("make the list fail when one of them has no name that can be read: whoever is not in it looks gone", async () => {
    const [sound] = three(new Random(1)).map(jsonOf);
    for (const odd of [
      null,
      5,
      "x",
      [],
      {},
      { metadata: {} },
      { metadata: { name: 5 } },
      { metadata: { name: "" } },
      { metadata: { name: "a", namespace: 5 } },
    ])
      await expect(read([sound, odd])).rejects.toMatchObject({
        failure: "malformed",
        message: expect.stringContaining("an item of the list has no name that can be read"),
      });
    for (const odd of [messageField(1), messageField(1, textField(1, "")), messageField(2), textField(1, "a")])
      await expect(read([odd])).rejects.toMatchObject({ failure: "malformed" });
  });

  test("count once where two have one name: the newer one, in a list and in a watch", async () => {
    const named = (resourceVersion: string, tree: unknown): unknown => {
      const { metadata, ...rest } = tree as { readonly metadata: object };
      return { ...rest, metadata: { ...metadata, name: "a", resourceVersion } };
    };
    const [first, second] = three(new Random(7)).map(jsonOf);
    const [older, newer] = [named("5", first), named("12", second)];
    for (const pair of [
      [older, newer],
      [newer, older],
    ]) {
      const { once, listed } = await read(pair);
      expect(listed).toEqual(once);
      expect([...once.values()]).toEqual([kind.request.project(newer)]);
    }
  });
});

test("two nodes with one mark are read alike, their versions aside, however their bytes were changed", () => {
  const marker = new Marker();
  let alike = 0;
  for (let seed = 1; seed <= ROUNDS * 5; seed += 1) {
    const random = new Random(seed);
    const bytes = bytesOf(aHostileNode(random, "a"), NODE_FIELDS, noise(random));
    const other = shaken(random, Buffer.from(bytes));
    const mark = marker.markOf(other, NODE_FIELDS);
    if (mark === undefined || mark !== marker.markOf(bytes, NODE_FIELDS)) continue;
    alike += 1;
    const [before, after] = [bytes, other].map((one) => NODES_REQUEST.project(decodeItem(one, NODE_FIELDS)));
    expect({ ...after, resourceVersion: "" }, `seed ${seed}`).toEqual({ ...before, resourceVersion: "" });
  }
  expect(alike).toBeGreaterThan(20);
});

/** The bytes with some of them changed, in place. */
function shaken(random: Random, bytes: Buffer): Buffer {
  for (let count = random.between(1, 4); count > 0; count -= 1)
    bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
  return bytes;
}
