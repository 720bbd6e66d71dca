import { expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import type { Hold } from "../../src/model/plan.ts";
import { plan } from "../../src/plan/plan.ts";
import { anObservation, aPool, known, NOW, nodes } from "./builders.ts";

/** A pool that lacks an address of this region, and whose last purchase was refused. Its nodes are in nyc3. */
function world(
  region: string,
  addresses: Parameters<typeof anObservation>[0]["addresses"] = [],
  seen: Observation["nodes"] = nodes(2),
): Observation {
  const nextAttemptTime = new Date(NOW + 60_000).toISOString();
  const retries = [{ subject: "acquire", attempts: 1, nextAttemptTime, error: "Region is not available. (422)" }];
  return anObservation({
    pools: [aPool({ spec: { region, desiredIPs: 1 }, status: { retries } })],
    nodes: seen,
    addresses,
  });
}

function heldPurchase(observation: Observation): Hold | undefined {
  return plan(observation, {}).holds.find(({ kind }) => kind === "acquire-ip");
}

test.for(["nyc33", "NYC3"])(
  "a purchase that was refused in %s, where there is no node and no address, waits for a person",
  (region) => {
    const observation = world(region);
    expect(heldPurchase(observation)).toMatchObject({
      reason: "Backoff",
      needsPerson: true,
      notBeforeMs: NOW + 60_000,
      advice: `Set spec.region: no matching node and no address of the account is in ${region}; the nodes are in nyc3.`,
    });
    const conditions = plan(observation, {}).pools[0]?.status.conditions;
    expect(conditions?.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True", reason: "Backoff" });
  },
);

test("a purchase that was refused in a region of which no node tells is tried again, and says what to look at", () => {
  expect(heldPurchase(world("nyc33", [], []))).toMatchObject({
    reason: "Backoff",
    needsPerson: false,
    advice: "Look at spec.region: no matching node and no address of the account is in nyc33.",
  });
});

test.for([
  ["there are nodes", world("nyc3")],
  ["the account has an address", world("ams3", [known("203.0.113.9", { region: "ams3" })])],
] as const)("a purchase that was refused where %s is tried again by itself", ([, observation]) => {
  expect(heldPurchase(observation)).toMatchObject({ reason: "Backoff", needsPerson: false });
});
