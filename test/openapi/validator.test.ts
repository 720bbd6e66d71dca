import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openAPIValidator } from "./validator.ts";

const validator = openAPIValidator();
const description: Node = JSON.parse(readFileSync(new URL("digitalocean.json", import.meta.url), "utf8"));

describe("openAPIValidator", () => {
  test("accepts the description's own examples of answers", () => {
    const faults: unknown[] = [];
    let examples = 0;
    for (const { path, method, status, answer } of documentedAnswers()) {
      for (const example of examplesOf(answer)) {
        examples += 1;
        const found = validator.checkResponse(method, samplePath(path), status, example);
        if (found.length > 0) faults.push({ path, method, status, found });
      }
    }
    expect(faults).toEqual([]);
    expect(examples).toBeGreaterThan(100);
  });

  test("accepts the requests flipop sends", () => {
    expect(validator.checkRequest("GET", "/v2/reserved_ips?page=1&per_page=200")).toEqual([]);
    expect(validator.checkRequest("POST", "/v2/reserved_ips", { droplet_id: 42 })).toEqual([]);
    expect(validator.checkRequest("POST", "/v2/reserved_ips", { region: "nyc3" })).toEqual([]);
    expect(
      validator.checkRequest("POST", "/v2/reserved_ips/203.0.113.1/actions", { type: "assign", droplet_id: 42 }),
    ).toEqual([]);
    expect(validator.checkRequest("DELETE", "/v2/reserved_ips/203.0.113.1")).toEqual([]);
  });

  test.for([
    ["an unknown path", "GET", "/v2/reserved_ip", undefined],
    ["an unknown method", "PUT", "/v2/reserved_ips", {}],
    ["an unknown query parameter", "GET", "/v2/reserved_ips?perPage=200", undefined],
    ["a page size over 200", "GET", "/v2/reserved_ips?per_page=201", undefined],
    ["an address that is none", "GET", "/v2/reserved_ips/203.0.113.256", undefined],
    ["a droplet id that is no number", "GET", "/v2/droplets/abc", undefined],
    ["a missing body", "POST", "/v2/reserved_ips", undefined],
    ["a body where there is none", "DELETE", "/v2/reserved_ips/203.0.113.1", {}],
    ["both a droplet and a region", "POST", "/v2/reserved_ips", { droplet_id: 1, region: "nyc3" }],
    ["a droplet id sent as text", "POST", "/v2/reserved_ips", { droplet_id: "1" }],
    ["an unknown action", "POST", "/v2/reserved_ips/203.0.113.1/actions", { type: "attach" }],
  ] as const)("finds fault with a request with %s", ([, method, path, body]) => {
    expect(validator.checkRequest(method, path, body)).not.toEqual([]);
  });

  test.for([
    ["an address of the wrong form", "GET", "/v2/reserved_ips/203.0.113.1", 200, { reserved_ip: { ip: "x" } }],
    ["a status nobody documented", "GET", "/v2/reserved_ips", 206, {}],
    ["an error without a message", "GET", "/v2/reserved_ips/203.0.113.1", 404, { id: "not_found" }],
    ["an undocumented error without an id", "POST", "/v2/reserved_ips", 422, { message: "x" }],
    ["a body on 204", "DELETE", "/v2/reserved_ips/203.0.113.1", 204, {}],
    ["no body on 200", "GET", "/v2/reserved_ips", 200, undefined],
    ["no total", "GET", "/v2/reserved_ips", 200, { reserved_ips: [] }],
  ] as const)("finds fault with an answer with %s", ([, method, path, status, body]) => {
    expect(validator.checkResponse(method, path, status, body)).not.toEqual([]);
  });
});

/** A node of the description; reading a field that is not there gives an empty node, so that paths need no checks. */
type Node = Readonly<Record<string, unknown>>;

function documentedAnswers(): { path: string; method: string; status: number; answer: Node }[] {
  return Object.entries(at(description, "paths")).flatMap(([path, item]) =>
    Object.entries(asNode(item)).flatMap(([method, operation]) =>
      Object.entries(at(asNode(operation), "responses"))
        .filter(([status]) => /^\d/.test(status))
        .map(([status, answer]) => ({ path, method, status: Number(status), answer: deref(asNode(answer)) })),
    ),
  );
}

function examplesOf(answer: Node): unknown[] {
  const media = at(answer, "content", "application/json");
  const named = Object.values(at(media, "examples")).map((example) => deref(asNode(example))["value"]);
  const single = media["example"] ?? at(media, "schema")["example"];
  return single === undefined ? named : [...named, single];
}

function deref(node: Node): Node {
  const reference = node["$ref"];
  return typeof reference === "string" ? deref(at(description, ...reference.slice(2).split("/"))) : node;
}

function at(node: Node, ...path: readonly string[]): Node {
  return path.reduce((here, part) => asNode(here[part]), node);
}

function asNode(value: unknown): Node {
  return typeof value === "object" && value !== null ? (value as Node) : {};
}

function samplePath(template: string): string {
  return template.replace(/\{reserved_ip\}/, "203.0.113.1").replace(/\{[^}]+\}/g, "1");
}
