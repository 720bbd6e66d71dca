import type { NodeFacts } from "../../src/model/node.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool, PoolSpec } from "../../src/model/resource.ts";
import { dnsFacts, WWW } from "../plan/dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts } from "../plan/firewall-builders.ts";
import { aNode, anObservation, aPool } from "./world.ts";

const CORDON = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };

/** Worlds by what happens in them: three addresses serve on worker-1 to worker-3 and stand in www.example.com, and worker-4 to worker-6 wait. */
export const HARM_WORLDS: Readonly<Record<string, () => Observation>> = {
  "one holder is cordoned": () => serving({ nodes: cordoned([1]) }),
  "all holders are cordoned": () => serving({ nodes: cordoned([1, 2, 3]) }),
  "more holders are cordoned than nodes wait": () => serving({ nodes: cordoned([1, 2]), count: 2, last: 3 }),
  "the only holder is cordoned": () => serving({ nodes: cordoned([1]), count: 1 }),
  "desiredIPs is lowered": () => serving({ spec: { ips: [], desiredIPs: 1, reclaimPolicy: "Delete" }, last: 3 }),
  "an address leaves the spec": () => serving({ spec: { ips: addresses(2) }, last: 3 }),
  "the selector is changed": () => serving({ spec: { match: labelled("role=new") }, nodes: relabelled([4, 5, 6]) }),
  "the name is changed": () =>
    serving({ spec: { dnsRecordSet: { ...WWW, recordName: "new" }, reclaimPolicy: "Delete" } }),
  "the pool is deleted": () => serving({ spec: { reclaimPolicy: "Delete" }, isDeleting: true }),
  "an address is taken over": () => takenOver(),
  "foreign records are replaced": () => serving({ shown: [...addresses(3), "192.0.2.7"] }),
  "a firewall guards other machines": () => guarded(),
  "all holders are down": () => serving({ nodes: notReady([1, 2, 3]), last: 3 }),
  "one holder is down": () => serving({ nodes: notReady([1]) }),
  "nothing is to do": () => serving({ last: 3 }),
};

function addresses(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `203.0.113.${10 + index}`);
}

type Changes = Readonly<Record<number, Partial<NodeFacts>>>;

function of(numbers: readonly number[], change: Partial<NodeFacts>): Changes {
  return Object.fromEntries(numbers.map((number) => [number, change]));
}

function cordoned(numbers: readonly number[]): Changes {
  return of(numbers, { taints: [CORDON] });
}

function notReady(numbers: readonly number[]): Changes {
  return of(numbers, { ready: { isReady: false } });
}

function relabelled(numbers: readonly number[]): Changes {
  return of(numbers, { labels: { role: "new" } });
}

function labelled(nodeLabel: string): PoolSpec["match"] {
  return { nodeLabel, podNamespace: "", podLabel: "", tolerations: [] };
}

/** The pool `ingress/web`, whose first `count` addresses serve, on nodes up to worker-`last`. */
function serving({
  count = 3,
  last = 6,
  nodes = {},
  spec = {},
  shown = addresses(count),
  isDeleting = false,
}: {
  readonly count?: number;
  readonly last?: number;
  readonly nodes?: Changes;
  readonly spec?: Partial<PoolSpec>;
  readonly shown?: readonly string[];
  readonly isDeleting?: boolean;
}): Observation {
  const ips = addresses(count);
  const workers = Array.from({ length: last }, (_, index): NodeFacts => {
    const ip = ips[index];
    const annotations = ip === undefined ? {} : { addressAnnotation: ip, poolAnnotation: "ingress/web" };
    return aNode(index + 1, { ...annotations, ...nodes[index + 1] });
  });
  const finalizers = spec.reclaimPolicy === "Delete" ? ["flipop.digitalocean.com/cleanup"] : [];
  const names = ["www.example.com", "new.example.com"];
  const pool = servingPool(ips, spec);
  return {
    ...anObservation(
      [{ ...pool, meta: { ...pool.meta, finalizers, isDeleting } }],
      workers,
      Object.fromEntries(ips.map((ip, index) => [ip, `${index + 1}`])),
    ),
    dns: new Map([
      ["digitalocean", dnsFacts(Object.fromEntries(names.map((name, index) => [name, index === 0 ? shown : []])))],
    ]),
  };
}

function servingPool(ips: readonly string[], spec: Partial<PoolSpec>): Pool {
  return aPool("web", ips, {
    spec: { dnsRecordSet: WWW, ...spec },
    status: {
      ips: Object.fromEntries(
        ips.map((ip, index) => [
          ip,
          { state: "active", nodeName: `worker-${index + 1}`, providerID: `digitalocean://${index + 1}` },
        ]),
      ),
      acquired: spec.reclaimPolicy === "Delete" ? ips.map((ip) => ({ ip, acquiredAt: "2026-08-01T11:00:00Z" })) : [],
      publishedDNS: { provider: "digitalocean", zone: "example.com", name: "www.example.com", addresses: ips },
    },
  });
}

function takenOver(): Observation {
  const pool = aPool("web", ["203.0.113.10"], { spec: { foreignHolder: "TakeOver" } });
  return anObservation([pool], [aNode(1)], { "203.0.113.10": "900" });
}

function guarded(): Observation {
  const world = anObservation([aRoutedIP({ spec: { ips: ["203.0.113.10"] } })], [aNode(1)], {
    "203.0.113.10": undefined,
  });
  return {
    ...world,
    firewalls: new Map([["digitalocean", firewallFacts([aFirewall({ machineIDs: ["1", "900", "901"] })])]]),
  };
}
