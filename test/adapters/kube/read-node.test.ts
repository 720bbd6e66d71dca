import { expect, test } from "vitest";
import { failure, hangUp, list, type Say } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const named = (name: string): object => ({ metadata: { name } });
const never: Say = () => undefined;
const LISTED = "/api/v1/nodes?fieldSelector=metadata.name%3Da&limit=500";

/** Answers a reading of node `a` alone, and lists of nodes. */
const answers =
  (alone: Say, listed: Say): Say =>
  (response, asked) => {
    const say = asked.url.startsWith("/api/v1/nodes?") ? listed : alone;
    if (typeof say === "function") return say(response, asked);
    response.writeHead(say.status ?? 200, { "content-type": "application/json", ...say.headers });
    response.end(JSON.stringify(say.json));
  };

test.for([
  ["is never answered", never],
  ["is not permitted", failure(403, "Forbidden", "no get")],
  ["fails again and again", failure(500, "InternalError", "oops")],
  ["is refused for now", failure(429, "TooManyRequests", "slow down", { "Retry-After": "60" })],
  ["loses its connection", hangUp],
] as const)("a node whose reading %s is known from a list of it alone", async ([, alone]) => {
  const script = [answers(alone, list("NodeList", [named("b"), named("a")]))];
  await withServer(script, async ({ reader, asked }) => {
    expect(await reader.readNode("a")).toMatchObject({ name: "a" });
    expect(asked.map(({ url }) => url)).toContain(LISTED);
  });
});

test("a node that such a list does not show is gone", async () => {
  await withServer([answers(never, list("NodeList", [named("b")]))], async ({ reader }) => {
    expect(await reader.readNode("a")).toBeUndefined();
  });
});

test("a node of which both fail cannot be read, and the reading says why", async () => {
  const script = [answers(failure(403, "Forbidden", "no get"), failure(500, "InternalError", "oops"))];
  await withServer(script, async ({ reader }) => {
    expect(await rejection(reader.readNode("a"))).toMatchObject({ failure: "forbidden" });
  });
});
