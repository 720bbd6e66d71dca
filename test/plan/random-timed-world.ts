import type { NodeFacts, Taint } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { MatchSpec, Pool, RecordSet, RetryStatus } from "../../src/model/resource.ts";
import { NOW } from "./builders.ts";
import { randomDNSWorld } from "./random-dns-world.ts";
import { randomFirewallWorld } from "./random-firewall-world.ts";
import { random } from "./random-world.ts";

const TAINTS = ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready", "example.com/maintenance"] as const;

const TARGETS = [{ region: "nyc3" }, { nodeName: "n3", providerID: "digitalocean://103" }] as const;

/** A random world in which much depends on the time: tolerations, grace, cool-offs, retries, creations without an answer, limits. */
export function randomTimedWorld(seed: number): Observation {
  const base = seed % 3 === 0 ? randomFirewallWorld(seed) : randomDNSWorld(seed);
  const next = random(seed + 2_000_000);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const chance = (share: number): boolean => next() < share;
  const past = (ms: number): number => NOW - Math.floor(next() * ms);
  const text = (ms: number): string => new Date(ms).toISOString();
  const taint = (): Taint => ({
    key: pick(TAINTS),
    value: "",
    effect: "NoExecute",
    ...(chance(0.8) ? { timeAddedMs: chance(0.1) ? NOW + 5000 : past(40_000) } : {}),
  });
  const match = (own: MatchSpec): MatchSpec => ({
    ...own,
    tolerations: TAINTS.filter(() => chance(0.7)).map((key) => ({
      key,
      operator: "Exists",
      ...(chance(0.8) ? { tolerationSeconds: pick([0, 10, 30, 60]) } : {}),
    })),
  });
  const retry = (subject: string): readonly RetryStatus[] =>
    chance(0.2)
      ? [{ subject, attempts: pick([1, 2]), nextAttemptTime: text(NOW - 10_000 + next() * 60_000), error: "500" }]
      : [];
  const node = (one: NodeFacts): NodeFacts => (chance(0.4) ? { ...one, taints: [taint()] } : one);
  const pool = (one: Pool): Pool => ({
    ...one,
    spec: { ...one.spec, match: match(one.spec.match), gracePeriodSeconds: pick([0, 30]) },
    status: {
      ...one.status,
      ...(chance(0.5) ? { lastAssignmentTime: text(past(30_000)) } : {}),
      ...(chance(0.2)
        ? { pendingAcquisitions: [{ startedAt: text(past(40_000)), knownIPs: [], ...pick(TARGETS) }] }
        : {}),
      retries: [
        "acquire",
        "annotate",
        "finalizer",
        "dns/digitalocean/www.example.com",
        "node/n2/102",
        "ip/203.0.113.1",
      ].flatMap(retry),
    },
  });
  const recordSet = (one: RecordSet): RecordSet => ({
    ...one,
    spec: { ...one.spec, match: match(one.spec.match), gracePeriodSeconds: pick([0, 30]) },
    status: { ...one.status, retries: ["finalizer", "dns/digitalocean/www.example.com"].flatMap(retry) },
  });
  const limited = { kind: "rate-limited", message: "too many", notBeforeMs: NOW + next() * 60_000 } as const;
  return {
    ...base,
    nodesReadAtMs: past(5000),
    nodes: base.nodes.map(node),
    pools: base.pools.map(pool),
    recordSets: base.recordSets.map(recordSet),
    dns: new Map([...base.dns].map(([name, facts]) => [name, chance(0.1) ? { ...facts, unusable: limited } : facts])),
    lease: { ...base.lease, acquisitionTimesMs: Array.from({ length: pick([0, 12]) }, () => past(70_000)) },
  };
}
