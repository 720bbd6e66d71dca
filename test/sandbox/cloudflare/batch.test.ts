import { describe, expect, test } from "vitest";
import { type APIClient, apiClient, codes, recordsPath } from "./api-client.ts";

const [ip1, ip2, ip3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const id = (letter: string): string => letter.repeat(32);
const held = [
  { id: id("a"), content: ip1, ttl: 60, comment: "by hand" },
  { id: id("b"), content: ip2, ttl: 60 },
];
const post = (content: string): object => ({ type: "A", name: "www.example.com", content, ttl: 60 });

function addresses(client: APIClient): readonly string[] {
  return client.stored().map((line) => line.split(" ")[2] ?? "");
}

describe("a batch", () => {
  test("runs deletes, patches and posts in that order, whatever the order of the body", () => {
    const client = apiClient([...held, { id: id("c"), name: "c", content: ip1 }]);
    const answer = client.send("POST", recordsPath("/batch"), {
      posts: [post(ip2)],
      patches: [{ id: id("b"), content: ip1 }],
      deletes: [{ id: id("a") }],
    });
    expect(codes(answer)).toBe("");
    expect(answer.body.result).toMatchObject({
      deletes: [{ id: id("a"), content: ip1, comment: "by hand" }],
      patches: [{ id: id("b"), content: ip1, ttl: 60 }],
      posts: [{ name: "www.example.com", content: ip2 }],
    });
    expect(client.stored()).toEqual([`www.example.com A ${ip1}`, `c.example.com A ${ip1}`, `www.example.com A ${ip2}`]);
  });

  test("may create what it deletes, and cannot patch what it deletes", () => {
    const client = apiClient(held);
    expect(codes(client.send("POST", recordsPath("/batch"), { deletes: [{ id: id("a") }], posts: [post(ip1)] }))).toBe(
      "",
    );
    expect(addresses(client)).toEqual([ip2, ip1]);
    const both = { deletes: [{ id: id("b") }], patches: [{ id: id("b"), content: ip3 }] };
    expect(codes(client.send("POST", recordsPath("/batch"), both))).toBe("81044");
    expect(addresses(client)).toEqual([ip2, ip1]);
  });

  test.for<readonly [string, object, string]>([
    ["the last post exists", { deletes: [{ id: id("a") }], posts: [post(ip3), post(ip2)] }, "81058"],
    ["a post is invalid", { deletes: [{ id: id("a") }], posts: [{ ...post(ip3), ttl: 5 }] }, "1004>9021"],
    ["a patch is of no record", { deletes: [{ id: id("a") }], patches: [{ id: id("f"), ttl: 60 }] }, "81044"],
    ["a delete is of no record", { deletes: [{ id: id("a") }, { id: id("f") }] }, "81044"],
    ["a delete has no id", { deletes: [{ id: id("a") }, {}] }, "81044"],
    ["the first of two errors counts", { patches: [{ id: id("f") }], posts: [{ ...post(ip3), ttl: 5 }] }, "81044"],
    ["a list is none", { deletes: { id: id("a") } }, "6007"],
  ])("changes nothing when %s", ([, body, expected]) => {
    const client = apiClient(held);
    const answer = client.send("POST", recordsPath("/batch"), body);
    expect([codes(answer), answer.body.success, answer.body.result]).toEqual([expected, false, null]);
    expect(addresses(client)).toEqual([ip1, ip2]);
  });

  test("frees the places of what it deletes before it creates", () => {
    const client = apiClient(held, { settings: { records_per_zone: 2 } });
    expect(codes(client.send("POST", recordsPath("/batch"), { posts: [post(ip3)] }))).toBe("81045");
    const swap = { deletes: [{ id: id("a") }], posts: [post(ip3)] };
    expect(codes(client.send("POST", recordsPath("/batch"), swap))).toBe("");
    expect(addresses(client)).toEqual([ip2, ip3]);
  });

  test("takes 200 changes and no more", () => {
    const posts = Array.from({ length: 201 }, (_, at) => post(`198.18.0.${at}`));
    const client = apiClient([], { settings: { records_per_zone: 1000 } });
    expect(client.send("POST", recordsPath("/batch"), { posts }).status).toBe(400);
    expect(client.stored()).toEqual([]);
    expect(client.send("POST", recordsPath("/batch"), { posts: posts.slice(1) }).status).toBe(200);
    expect(client.stored()).toHaveLength(200);
  });

  test("without changes answers empty lists", () => {
    const { body } = apiClient().send("POST", recordsPath("/batch"), {});
    expect(body.result).toEqual({ deletes: [], patches: [], puts: [], posts: [] });
  });
});
