import { expect, test } from "vitest";
import { explain } from "./explain.ts";
import type { History, WorldEvent } from "./history.ts";
import { Simulation } from "./simulation.ts";
import { address, node } from "./story.ts";

const provider = "digitalocean";
const ip = "203.0.113.1";
const at = { provider, zone: "example.com", ttl: 60 } as const;
const nodes = { atMs: 0, kind: "record-set", name: "r0" } as const;

function pool(spec: object, name = "p0"): WorldEvent {
  return { atMs: 0, kind: "pool", name, spec: { provider, ips: [ip], ...spec } };
}

test.for<[string, Omit<History, "seed" | "latencyMs" | "hasLock" | "slots"> & Partial<History>]>([
  [
    "what was added under a known name right before a death goes when the object is renamed",
    {
      endsAtMs: 20_000,
      events: [
        ...node(1),
        ...node(2, false),
        { ...nodes, spec: { reclaimPolicy: "Delete", dnsRecordSet: { ...at, recordName: "www" } } },
        { atMs: 4000, kind: "ready", name: "n2", value: true },
        { atMs: 4000, kind: "crash", slot: 0, skip: 0, isAfter: true, side: "dns", operation: "add-record" },
        { atMs: 8000, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "nodes" } } },
      ],
    },
  ],
  [
    "what requests without an answer did under a name is known when the object is renamed and is to clean up from then on",
    {
      endsAtMs: 40_000,
      events: [
        ...node(5),
        { ...nodes, spec: { reclaimPolicy: "Retain", dnsRecordSet: { ...at, recordName: "nodes" } } },
        { atMs: 3000, kind: "fault", how: "timeout-after", times: 2, side: "dns", operation: "write" },
        { atMs: 4000, kind: "node", name: "n5", droplet: 104, region: "nyc3", isReady: true, role: "edge" },
        { atMs: 15_000, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "@" } } },
        { atMs: 25_000, kind: "edit-record-set", name: "r0", spec: { reclaimPolicy: "Delete" } },
      ],
    },
  ],
  [
    "a run that loses the Lease in the middle of a change makes no further request",
    {
      endsAtMs: 70_000,
      slots: [
        { pauseMs: 5000, startsAtMs: 500, timeoutMs: 45_000, settles: false, onLocked: "wait" },
        { pauseMs: 5000, startsAtMs: 510, timeoutMs: 45_000, settles: false, onLocked: "wait" },
      ],
      events: [
        ...node(1),
        ...node(2),
        { ...nodes, spec: { dnsRecordSet: { ...at, recordName: "www" } } },
        { atMs: 0, kind: "freeze", slot: 0, skip: 0, ms: 17_000, side: "dns", operation: "add-record" },
      ],
    },
  ],
  [
    "a name that another object takes over and leaves without having published there is cleaned after all",
    {
      endsAtMs: 30_000,
      events: [
        ...node(1),
        address(1),
        pool({ reclaimPolicy: "Delete", dnsRecordSet: { ...at, recordName: "www" } }),
        pool({ ips: ["203.0.113.5"], dnsRecordSet: { ...at, recordName: "www" } }, "p1"),
        { atMs: 6000, kind: "edit", name: "p0", spec: { dnsRecordSet: { recordName: "nodes" } } },
        { atMs: 14_000, kind: "edit", name: "p1", spec: { dnsRecordSet: null } },
      ],
    },
  ],
  [
    "a rate limit met beside a refused token is obeyed by the next run",
    {
      endsAtMs: 20_000,
      events: [
        ...node(1),
        pool({ ips: [ip, "203.0.113.2"] }),
        { atMs: 0, kind: "fault", how: "401", times: 1, side: "cloud", operation: "get" },
        { atMs: 0, kind: "fault", how: "429", times: 1, side: "cloud", operation: "get" },
      ],
    },
  ],
  [
    "a rate limit outlives the objects for which it was met",
    {
      endsAtMs: 30_000,
      events: [
        ...node(1),
        { ...nodes, spec: { dnsRecordSet: { ...at, recordName: "www" } } },
        { atMs: 0, kind: "fault", how: "429", times: 1, side: "dns", operation: "records" },
        { atMs: 4000, kind: "delete-record-set", name: "r0" },
        { ...nodes, atMs: 14_000, name: "r1", spec: { dnsRecordSet: { ...at, recordName: "nodes" } } },
      ],
    },
  ],
  [
    "what stands in a name that an object takes over, and could not take out of it, is cleaned by that object",
    {
      endsAtMs: 20_000,
      events: [
        ...node(1),
        address(1),
        pool({ reclaimPolicy: "Delete" }),
        { ...nodes, spec: { reclaimPolicy: "Delete", dnsRecordSet: { ...at, recordName: "www" } } },
        { atMs: 5000, kind: "edit", name: "p0", spec: { dnsRecordSet: { ...at, recordName: "www" } } },
        { atMs: 5000, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { recordName: "nodes" } } },
        { atMs: 5000, kind: "fault", how: "timeout", times: 1, side: "dns", operation: "remove-record" },
        { atMs: 11_500, kind: "edit", name: "p0", spec: { dnsRecordSet: null } },
      ],
    },
  ],
  [
    "the same name at two providers is cleaned at both when its object is deleted",
    {
      endsAtMs: 20_000,
      events: [
        ...node(1),
        { ...nodes, spec: { reclaimPolicy: "Delete", dnsRecordSet: { ...at, recordName: "www" } } },
        { atMs: 4000, kind: "edit-record-set", name: "r0", spec: { dnsRecordSet: { provider: "cloudflare" } } },
        { atMs: 4000, kind: "crash", slot: 0, skip: 0, isAfter: true, side: "dns", operation: "write" },
        { atMs: 8000, kind: "delete-record-set", name: "r0" },
      ],
    },
  ],
  [
    "the name of a record set that goes is not emptied under another one that has nothing to publish, which cleans it when it goes itself",
    {
      endsAtMs: 30_000,
      events: [
        ...node(1),
        { ...nodes, spec: { reclaimPolicy: "Delete", dnsRecordSet: { ...at, recordName: "www" } } },
        {
          ...nodes,
          name: "r1",
          spec: {
            reclaimPolicy: "Delete",
            match: { nodeLabel: "role=nobody" },
            dnsRecordSet: { ...at, recordName: "www" },
          },
        },
        { atMs: 5000, kind: "delete-record-set", name: "r0" },
        { atMs: 20_000, kind: "delete-record-set", name: "r1" },
      ],
    },
  ],
  [
    "a suspended pool says the same before and after the end of a wait that is not its own any more",
    {
      endsAtMs: 40_000,
      events: [
        { atMs: 0, kind: "droplet", id: 150, region: "fra1" },
        { atMs: 0, kind: "node", name: "n1", droplet: 150, region: "nyc3", isReady: true, role: "edge" },
        address(1),
        pool({ dnsRecordSet: { ...at, recordName: "www" } }),
        { atMs: 12_000, kind: "edit", name: "p0", spec: { suspend: true } },
      ],
    },
  ],
])("%s", async ([, story]) => {
  const slot = { pauseMs: 4000, startsAtMs: 2000, timeoutMs: 20_000, settles: false, onLocked: "wait" } as const;
  const history: History = { seed: 1, hasLock: true, slots: [slot], latencyMs: 0, ...story };
  const { violation } = await new Simulation(history, false).run();
  expect(violation === undefined ? [] : await explain(history, 80)).toEqual([]);
});
