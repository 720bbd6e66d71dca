import { expect, test } from "vitest";
import { annotated, annotationsFor, clearedAddresses, isAnnotatedOn } from "../../src/model/annotated.ts";
import { aNode } from "../plan/builders.ts";

const [A, B] = ["203.0.113.10", "203.0.113.9"] as const;

test.for([
  { says: "one address of a pool", address: A, pool: "ns/web", shown: [{ ip: A, owner: "ns/web" }] },
  { says: "one address without a pool", address: A, pool: undefined, shown: [{ ip: A }] },
  { says: "a pool without an address", address: undefined, pool: "ns/web", shown: [] },
  {
    says: "several of one pool",
    address: `${A},${B}`,
    pool: "ns/web",
    shown: [
      { ip: A, owner: "ns/web" },
      { ip: B, owner: "ns/web" },
    ],
  },
  {
    says: "each of its own object",
    address: `${A},${B}`,
    pool: "ns/web,routedip/ns/mail",
    shown: [
      { ip: A, owner: "ns/web" },
      { ip: B, owner: "routedip/ns/mail" },
    ],
  },
  {
    says: "lists of different length, of nobody",
    address: `${A},${B},x`,
    pool: "ns/a,ns/b",
    shown: [{ ip: A }, { ip: B }, { ip: "x" }],
  },
])("annotations say $says", ({ address, pool, shown }) => {
  expect(annotated({ address, pool })).toEqual(shown);
});

test("what is written is sorted by text, names the one owner once, and says the same when it is read", () => {
  expect(annotationsFor([])).toEqual({ address: undefined, pool: undefined });
  expect(annotationsFor([{ ip: A, owner: "ns/web" }])).toEqual({ address: A, pool: "ns/web" });
  const ofOne = annotationsFor([B, A].map((ip) => ({ ip, owner: "ns/web" })));
  expect(ofOne).toEqual({ address: `${A},${B}`, pool: "ns/web" });
  const ofTwo = annotationsFor([
    { ip: B, owner: "ns/mail" },
    { ip: A, owner: "ns/web" },
  ]);
  expect(ofTwo).toEqual({ address: `${A},${B}`, pool: "ns/web,ns/mail" });
  expect(annotated(ofTwo)).toEqual([
    { ip: A, owner: "ns/web" },
    { ip: B, owner: "ns/mail" },
  ]);
});

test("a node shows an address as an object's own, or as anybody's where it does not say whose it is", () => {
  const node = aNode({ addressAnnotation: `${A},${B}`, poolAnnotation: "ns/web,ns/mail" });
  expect(isAnnotatedOn(node, B, "ns/mail")).toBe(true);
  expect(isAnnotatedOn(node, B, "ns/web")).toBe(false);
  expect(isAnnotatedOn(aNode({ addressAnnotation: A }), A, "ns/web")).toBe(true);
});

test("of two addresses one is cleared", () => {
  const before = { address: `${A},${B}`, pool: "ns/web" };
  expect(clearedAddresses({ before, after: { address: B, pool: "ns/web" } })).toEqual([A]);
});
