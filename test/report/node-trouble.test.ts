import { describe, expect, test } from "vitest";
import type { NodeFacts } from "../../src/model/node.ts";
import type { Pool } from "../../src/model/resource.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { type Overview, overviewOf } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { schemaErrors } from "./schemas.ts";
import { aNode, aPool, NOW_MS } from "./world.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";

function poolOn(nodes: Readonly<Record<string, string>>, retries: Pool["status"]["retries"] = []): Pool {
  const pool = aPool("web", Object.keys(nodes));
  const ips = Object.fromEntries(
    Object.entries(nodes).map(([ip, nodeName]) => [ip, { state: "active" as const, nodeName }]),
  );
  return { ...pool, status: { ...pool.status, ips, retries } };
}

function overview(pool: Pool, nodes?: readonly NodeFacts[], nodesError?: string): Overview {
  const known = { ...(nodes === undefined ? {} : { nodes }), ...(nodesError === undefined ? {} : { nodesError }) };
  const facts = { cluster: "https://k", nowMs: NOW_MS, pools: [pool], recordSets: [], routedIPs: [], leaseKey: "a/b" };
  return overviewOf({ ...facts, ...known }, 60_000);
}

const text = (seen: Overview): string => renderStatus(seen, { palette: PLAIN, wide: false });

function notReady(node: NodeFacts, forMs: number): NodeFacts {
  return { ...node, ready: { isReady: false, sinceMs: NOW_MS - forMs } };
}

describe("the status of an address whose node cannot serve now", () => {
  test.for([
    [
      "not ready",
      [notReady(aNode(1), 58_000)],
      "worker-1 (not ready 58s)",
      { kind: "not-ready", since: "2026-08-01T11:59:02Z" },
    ],
    [
      "being deleted",
      [{ ...aNode(1), isDeleting: true }],
      "worker-1 (being deleted)",
      { kind: "deleting", since: null },
    ],
    ["gone", [aNode(2)], "worker-1 (gone)", { kind: "gone", since: null }],
  ] as const)("%s says so, although the last run saw it active", ([, nodes, cell, trouble]) => {
    const seen = overview(poolOn({ [A]: "worker-1" }), nodes);
    expect(text(seen)).toContain(` active   ${cell} `);
    expect(text(seen)).toContain(
      `  ! ${A} is active by status on a node that cannot serve: ${cell}.\n      flipop plan shows what a run does about it.\n`,
    );
    expect(seen.problems).toContain(`${A} is active by status on a node that cannot serve: ${cell}.`);
    const document = overviewDocument(seen);
    expect(document).toMatchObject({ pools: [{ addresses: [{ nodeTrouble: trouble }] }] });
    expect(schemaErrors(JSON.parse(JSON.stringify(document)), "Status")).toEqual([]);
  });

  test("says so, too, while nobody can read where the address is", () => {
    const pool = poolOn({ [A]: "worker-1" });
    const status = {
      ...pool.status,
      ips: { [A]: { state: "active" as const, nodeName: "worker-1", reason: "Unreadable" as const } },
    };
    const seen = overview({ ...pool, status }, [notReady(aNode(1), 58_000)]);
    expect(text(seen)).toContain(
      `  ! ${A} is active by status on a node that cannot serve: worker-1 (not ready 58s).\n`,
    );
  });

  test("counts them, and says nothing where all can serve or nobody can tell", () => {
    const both = poolOn({ [A]: "worker-1", [B]: "worker-2" });
    expect(text(overview(both, []))).toContain(
      `  ! ${A} and ${B} are active by status on nodes that cannot serve: worker-1 (gone) and worker-2 (gone).\n`,
    );
    const unreadable = { ...notReady(aNode(2), 1000), unreadable: "status" };
    for (const nodes of [[aNode(1), aNode(2)], [aNode(1), unreadable], undefined]) {
      const seen = overview(both, nodes);
      expect(text(seen)).not.toMatch(/cannot serve|\(not ready|\(gone/);
      expect(seen.problems.filter((problem) => problem.includes(A))).toEqual([]);
    }
  });

  test("says why nodes could not be looked at", () => {
    const seen = overview(poolOn({ [A]: "worker-1" }), undefined, "nodes is forbidden.");
    expect(text(seen)).toContain("  nodes:          not looked at: nodes is forbidden.\n");
    expect(overviewDocument(seen)["nodesError"]).toBe("nodes is forbidden.");
  });
});

describe("the status of what is tried again", () => {
  const retry = (subject: string, error: string, inSeconds: number) => ({
    subject,
    attempts: 2,
    nextAttemptTime: new Date(NOW_MS + inSeconds * 1000).toISOString(),
    error,
  });

  test("tells each cause once, with what waits for it and when it is tried next", () => {
    const pool = poolOn({ [A]: "worker-1", [B]: "worker-2" }, [
      retry("dns/digitalocean/www.example.com", "HTTP 403", 58),
      retry(`ip/${A}`, "droplet is busy", 30),
      retry(`ip/${B}`, "droplet is busy", 20),
      retry("acquire", "no more", 5),
    ]);
    const printed = text(overview(pool, [aNode(1), aNode(2)]));
    expect(printed).toContain("  ! pool/ingress/web: www.example.com: HTTP 403\n      2 failed, next in 58s\n");
    expect(printed).toContain(`  ! pool/ingress/web: ${A} and ${B}: droplet is busy\n      2 failed, next in 20s\n`);
    expect(printed).toContain("  ! pool/ingress/web: a new address: no more\n");
  });

  test("leaves out what already is told as waiting for a person", () => {
    const pool = poolOn({ [A]: "worker-1" }, [retry("acquire", "the limit is reached", 5)]);
    const conditions = [
      {
        type: "Stalled",
        status: "True" as const,
        observedGeneration: pool.meta.generation,
        lastTransitionTime: "",
        reason: "QuotaExceeded",
        message: "1 address is missing: the limit is reached.",
      },
    ];
    const stalled = { ...pool, status: { ...pool.status, conditions } };
    expect(text(overview(stalled, [aNode(1)])).match(/the limit is reached/g)).toHaveLength(1);
  });
});
