import { expect, test } from "vitest";
import { acquireIP } from "../../src/apply/acquire-ip.ts";
import { applyContext } from "../../src/apply/context.ts";
import type { AcquireIP } from "../../src/model/action.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { ObjectMeta, PoolStatus } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { anObservation, aPool } from "../plan/builders.ts";
import { heldLock } from "../scenario/scenario-run.ts";

const PURCHASE: AcquireIP = {
  kind: "acquire-ip",
  id: "acquire-ip pool/ingress/web new-1",
  object: { kind: "pool", namespace: "ingress", name: "web" },
  reason: "BelowDesired",
  requires: [],
  follows: [],
  provider: "digitalocean",
  ordinal: 1,
  before: undefined,
  after: { node: { machineID: "101", nodeName: "n1" } },
};

const FORBIDDEN = new KubeError({
  failure: "forbidden",
  operation: "update leases",
  subject: "flipop/flipop",
  status: 403,
  message: "no",
});

test("a purchase whose time cannot be noted on the Lease is not made, and is on record no more", async () => {
  const clock = new FakeClock();
  const state = { settings: { action_delay_ms: 0 }, droplets: [{ id: 101, region: "nyc3" }] };
  const cloud = digitaloceanSandbox({ now: () => clock.wallMs(), state }).cloud();
  const provider = new MemoryIPProvider({ cloud, clock });
  const stored = aPool({ spec: { ips: [], desiredIPs: 1 } });
  const written: PoolStatus[] = [];
  const patchPoolStatus = async (meta: ObjectMeta, status: PoolStatus): Promise<unknown> => {
    written.push(status);
    return { ...stored, meta, status };
  };
  const notePoolAcquisitions = async (meta: ObjectMeta): Promise<unknown> => ({
    ...stored,
    meta,
    status: written.at(-1),
  });
  const cluster = { now: () => clock.wallMs(), patchPoolStatus, notePoolAcquisitions } as unknown as ClusterWriter;
  const access = {
    cluster,
    providers: new Map([["digitalocean", { kind: "usable", provider } as const]]),
    dnsProviders: new Map(),
    firewallProviders: new Map(),
    clock,
    lock: { ...heldLock(), noteAcquisition: () => Promise.reject(FORBIDDEN) },
  };
  const bounds = { deadlineMs: 60_000, signal: new AbortController().signal };
  const context = applyContext(access, anObservation({ pools: [stored] }), bounds);
  await expect(clock.settle(acquireIP(PURCHASE, context))).rejects.toBe(FORBIDDEN);
  expect(written.map(({ pendingAcquisitions }) => pendingAcquisitions.length)).toEqual([1, 0]);
  expect(cloud.state.reserved_ips).toEqual([]);
});
