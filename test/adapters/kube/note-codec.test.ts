import { expect, test } from "vitest";
import { decodeNote, encodeNote } from "../../../src/adapters/kube/metadata.ts";

test("a note is the uid, the addresses and the places, and reads back as it was", () => {
  const note = { ips: ["192.0.2.9", "192.0.2.1"], pending: ["digitalocean://7", ""] };
  const text = encodeNote("u-1", note);
  expect(text).toBe("u-1 192.0.2.9 192.0.2.1 pending=digitalocean://7 pending=");
  expect(decodeNote("u-1", text ?? "")).toEqual(note);
});

test("a note says of which provider its acquisitions are, if that is known", () => {
  const note = { ips: ["192.0.2.9"], pending: ["fsn1"], provider: "hetzner" };
  const text = encodeNote("u-1", note);
  expect(text).toBe("u-1 192.0.2.9 pending=fsn1 provider=hetzner");
  expect(decodeNote("u-1", text ?? "")).toEqual(note);
  expect(encodeNote("u-1", { ...note, provider: "a b" })).toBe("u-1 192.0.2.9 pending=fsn1");
  expect(decodeNote("u-1", "u-1 192.0.2.9 provider=")).toEqual({ ips: ["192.0.2.9"], pending: [] });
});

test("a note that tells of nothing is none", () => {
  expect(encodeNote("u-1", { ips: [], pending: [], provider: "hetzner" })).toBeNull();
});

test.for([
  ["another object's", "u-1", "u-2 192.0.2.1"],
  ["one without a uid", "u-1", "192.0.2.1"],
  ["one of an object without a uid", "", " 192.0.2.1"],
  ["none", "u-1", undefined],
] as const)("%s tells of nothing", ([, uid, text]) => {
  expect(decodeNote(uid, text)).toEqual({ ips: [], pending: [] });
});

test("what is no address is passed over, and an address counts once", () => {
  expect(decodeNote("u", "u 192.0.2.1  192.0.2.001 ?! 192.0.2.1\npending=nyc3")).toEqual({
    ips: ["192.0.2.1"],
    pending: ["nyc3"],
  });
});
