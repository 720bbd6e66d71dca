import { describe, expect, test } from "vitest";
import { type HostPods, hostPods } from "../../src/model/host-agent.ts";
import type { NodeFacts, PodFacts } from "../../src/model/node.ts";
import type { Pool } from "../../src/model/resource.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { type Overview, overviewOf } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { schemaErrors } from "./schemas.ts";
import { aNode, aPool, NOW_MS } from "./world.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";
const MINUTE_MS = 60_000;

function agent(node: number, isReady: boolean): PodFacts {
  const facts = { namespace: "flipop-host", name: `h-${node}`, nodeName: `worker-${node}`, phase: "Running" };
  return { ...facts, ready: { isReady, sinceMs: NOW_MS - 3 * MINUTE_MS } };
}

const asking = (node: number, ip: string): NodeFacts => ({ ...aNode(node), hostAnnotation: ip });

function poolOf(states: Readonly<Record<string, "active" | "in-progress">> = { [A]: "active", [B]: "active" }): Pool {
  const pool = aPool("web", Object.keys(states));
  const ips = Object.entries(states).map(([ip, state], at) => [ip, { state, nodeName: `worker-${at + 1}` }] as const);
  return { ...pool, status: { ...pool.status, ips: Object.fromEntries(ips) } };
}

function overview(pods: HostPods | undefined, pool = poolOf(), nodes = [asking(1, A), asking(2, B)]): Overview {
  const facts = { cluster: "https://k", nowMs: NOW_MS, pools: [pool], recordSets: [], routedIPs: [], leaseKey: "a/b" };
  return overviewOf({ ...facts, nodes, ...(pods === undefined ? {} : { hostPods: pods }) }, MINUTE_MS);
}

const text = (seen: Overview, wide = false): string => renderStatus(seen, { palette: PLAIN, wide });
const agentsOf = (seen: Overview): readonly unknown[] => {
  const document = JSON.parse(JSON.stringify(overviewDocument(seen)));
  expect(schemaErrors(document, "Status")).toEqual([]);
  return document.pools[0].addresses.map((one: { readonly hostAgent?: unknown }) => one.hostAgent);
};

describe("the status of an address that a node is to put on its host", () => {
  test("says where flipop host does not run and where it is not ready, and what that means", () => {
    const seen = overview(hostPods([agent(2, false)]));
    expect(text(seen)).toContain(
      `  ! ${A} may answer nobody: flipop host does not run on worker-1.\n` +
        "      It stays published. flipop doctor --only addresses says what helps.\n" +
        `  ! ${B} may answer nobody: flipop host is not ready on worker-2 (for 3m).\n`,
    );
    expect(seen.problems).toEqual(
      expect.arrayContaining([
        `${A} may answer nobody: flipop host does not run on worker-1.`,
        `${B} may answer nobody: flipop host is not ready on worker-2 (for 3m).`,
      ]),
    );
    expect(agentsOf(seen)).toEqual([
      { kind: "missing", since: null },
      { kind: "not-ready", since: "2026-08-01T11:57:00Z" },
    ]);
    expect(text(seen, true)).toMatch(/HOST +REASON/);
    expect(text(seen, true)).toMatch(/ missing +-\n/);
    expect(text(seen, true)).toMatch(/ not ready 3m +-\n/);
    expect(text(seen)).not.toContain("HOST");
  });

  test("counts them as one where there are many", () => {
    expect(text(overview(hostPods([])))).toContain(
      `  ! ${A} and ${B} may answer nobody: flipop host does not run on worker-1 and worker-2.\n`,
    );
  });

  test("has nothing to say while all is well, but in wide and JSON", () => {
    const seen = overview(hostPods([agent(1, true), agent(2, true)]));
    expect(text(seen)).not.toContain("flipop host");
    expect(text(seen, true).match(/ ready /g)).toHaveLength(2);
    expect(agentsOf(seen)).toEqual([
      { kind: "ready", since: null },
      { kind: "ready", since: null },
    ]);
  });

  test("says that it is not known where pods may not be read, and finds nothing wrong with that", () => {
    const seen = overview({ kind: "unread", error: "pods is forbidden." });
    expect(text(seen)).toContain("  flipop host:    whether it runs is not known: pods is forbidden.\n");
    expect(seen.problems).toEqual(overview(undefined).problems);
    expect(agentsOf(seen)).toEqual([
      { kind: "unknown", since: null },
      { kind: "unknown", since: null },
    ]);
    expect(overviewDocument(seen)["hostsError"]).toBe("pods is forbidden.");
  });

  test("tells nothing of an address that is not active yet, that its node is not to have, or whose node is lost anyway", () => {
    const pods = hostPods([]);
    const busy = overview(pods, poolOf({ [A]: "in-progress" }));
    const unasked = overview(pods, poolOf(), [aNode(1), aNode(2)]);
    expect([...agentsOf(busy), ...agentsOf(unasked)]).toEqual([undefined, undefined, undefined]);
    const lost = { ...asking(1, A), ready: { isReady: false } };
    for (const seen of [busy, unasked, overview(pods, poolOf({ [A]: "active" }), [lost])])
      expect(text(seen)).not.toContain("flipop host");
  });

  test("says the same of no pods at all where nobody asked for them", () => {
    expect(agentsOf(overview(undefined))).toEqual([undefined, undefined]);
    expect(text(overview(undefined), true)).not.toContain("HOST");
  });
});
