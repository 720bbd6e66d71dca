import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { KubeError, ProviderError, type ProviderFailure } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { RetryStatus } from "../../src/model/resource.ts";
import { fold } from "../../src/plan/fold.ts";
import { plan } from "../../src/plan/plan.ts";
import { withOutcome } from "../../src/plan/retries.ts";
import { aNode, anObservation, aPool, known, NOW, nodes } from "./builders.ts";

const A = "203.0.113.1";
const GRANT = 'Cannot patch nodes: forbidden (403). Grant the verb "patch" on "nodes".';

const forbidden = new KubeError({
  failure: "forbidden",
  operation: "patch nodes",
  subject: "n1",
  status: 403,
  message: GRANT,
});
const refused = (failure: ProviderFailure): ProviderError =>
  new ProviderError({
    provider: "digitalocean",
    failure,
    operation: "assign",
    subject: A,
    status: 403,
    message: "not now",
  });

/** A pool of one address that is on its node, or could be, with what its earlier attempts left. */
function world(retries: readonly RetryStatus[], isServing: boolean): Observation {
  const ips = isServing ? { [A]: { state: "active" as const, nodeName: "n1", providerID: "digitalocean://101" } } : {};
  return anObservation({
    pools: [aPool({ spec: { ips: [A] }, status: { ips, retries } })],
    nodes: isServing ? [aNode({ name: "n1", droplet: 101 })] : nodes(1),
    addresses: [known(A, isServing ? { holderID: "101" } : {})],
  });
}

/** What is left after the first action of that kind has failed. */
function failed(kind: Action["kind"], error: Error, isServing: boolean): readonly RetryStatus[] {
  const action = plan(world([], isServing), {}).actions.find((one) => one.kind === kind);
  if (action === undefined) throw new Error(`nothing to ${kind}`);
  return withOutcome([], { action, outcome: "failed", error, ms: 1 }, { nowMs: NOW });
}

function conditions(observation: Observation): Readonly<Record<string, string>> {
  const { pools } = plan(observation, {});
  const told = (pools[0]?.status.conditions ?? []).map(
    ({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`] as const,
  );
  return Object.fromEntries(told);
}

describe("a change that failed because a permission is missing", () => {
  test("waits for a person, and is tried again by its schedule", () => {
    const retries = failed("annotate-node", forbidden, true);
    const observation = world(retries, true);
    const told = conditions(observation);
    expect(told["Stalled"]).toMatch(/^True PermissionMissing: .*Grant the verb "patch" on "nodes"\./);
    expect(told["Stalled"]).toContain("Waits until 2026-08-01T12:00:");
    expect(told["Reconciling"]).toMatch(/^False Stable/);
    const [hold] = plan(observation, {}).holds;
    expect(hold).toMatchObject({ kind: "annotate-node", reason: "PermissionMissing", needsPerson: true });
    expect(hold?.notBeforeMs).toBeGreaterThan(NOW);
    const later = { ...observation, observedAtMs: hold?.notBeforeMs ?? 0 };
    expect(plan(later, {}).actions.map(({ kind }) => kind)).toEqual(["annotate-node"]);
  });

  test("names no node where it is missing for all of them", () => {
    const message =
      'Cannot patch nodes n1: nodes "n1" is forbidden: User "flipop" cannot patch resource "nodes" (403).';
    const error = new KubeError({
      failure: "forbidden",
      operation: "patch nodes",
      subject: "n1",
      status: 403,
      message,
    });
    const retries = failed("annotate-node", error, true);
    expect(retries.map((retry) => [retry.subject, retry.error])).toEqual([
      ["annotate", 'Cannot patch nodes: nodes is forbidden: User "flipop" cannot patch resource "nodes" (403).'],
    ]);
  });

  test("waits for nobody once it has succeeded", () => {
    const retries = failed("annotate-node", forbidden, true);
    const [action] = plan(world([], true), {}).actions;
    if (action === undefined) throw new Error("nothing to do");
    expect(withOutcome(retries, { action, outcome: "applied", ms: 1 }, { nowMs: NOW })).toEqual([]);
  });

  test("at the provider waits for a person, too, and no other node is tried", () => {
    const retries = failed("assign-ip", refused("forbidden"), false);
    expect(retries.map(({ subject, attempts }) => [subject, attempts])).toEqual([[`ip/${A}`, 1]]);
    const observation = { ...world(retries, false), nodes: nodes(3) };
    expect(plan(observation, {}).actions).toEqual([]);
    expect(conditions(observation)["Stalled"]).toMatch(/^True PermissionMissing: .*not now/);
  });

  test("because the token was refused holds up the whole provider, until it is looked at again", () => {
    const before = { ...world([], false), nodes: nodes(3) };
    const [action] = plan(before, {}).actions;
    if (action === undefined) throw new Error("nothing to do");
    const now = { nowMs: NOW, wallMs: NOW };
    const after = fold(before, [{ action, outcome: "failed", error: refused("unauthorized"), ms: 1 }], now, {});
    expect(after.pools[0]?.status.retries).toEqual([]);
    expect(plan(after, {}).actions).toEqual([]);
    expect(conditions(after)["Stalled"]).toMatch(/^True ProviderUnavailable: .*not now/);
    expect(plan({ ...after, providers: before.providers }, {}).actions).toEqual(expect.arrayContaining([action]));
  });

  test("is no longer told of after another kind of failure", () => {
    const retries = failed("annotate-node", forbidden, true);
    const [action] = plan(world([], true), {}).actions;
    if (action === undefined) throw new Error("nothing to do");
    const away = new KubeError({
      failure: "unavailable",
      operation: "patch",
      subject: "n1",
      status: 503,
      message: "no",
    });
    const nowMs = NOW + 60_000;
    const after = withOutcome(retries, { action, outcome: "failed", error: away, ms: 1 }, { nowMs });
    const told = conditions({ ...world(after, true), observedAtMs: nowMs + 1 });
    expect(told["Stalled"]).toBe("False NotStalled: Nothing waits for a person.");
    expect(told["Reconciling"]).toMatch(/^True Backoff/);
  });
});

test("a change that failed for another reason waits for time alone", () => {
  const told = conditions(world(failed("assign-ip", refused("refused"), false), false));
  expect(told["Stalled"]).toBe("False NotStalled: Nothing waits for a person.");
  expect(told["Reconciling"]).toMatch(/^True Backoff/);
});
