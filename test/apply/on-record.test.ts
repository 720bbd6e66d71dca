import { expect, test } from "vitest";
import { applyContext } from "../../src/apply/context.ts";
import { preparations } from "../../src/apply/on-record.ts";
import type { PendingAcquisition } from "../../src/model/address.ts";
import type { ObjectMeta, Pool, PoolStatus } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { aNode, anObservation, aPool, known, NOW } from "../plan/builders.ts";

const [LISTED, BOUGHT] = ["203.0.113.10", "192.0.2.1"] as const;
const INTENT: PendingAcquisition = {
  startedAt: new Date(NOW).toISOString(),
  providerID: "digitalocean://102",
  nodeName: "n2",
  knownIPs: [LISTED],
};

test("an address goes on record as sent while a purchase of its pool gets its answer: the answer stays", async () => {
  const clock = new FakeClock();
  const written: PoolStatus[] = [];
  const stored = aPool({ spec: { ips: [LISTED], desiredIPs: 2 }, status: { pendingAcquisitions: [INTENT] } });
  const observation = anObservation({ pools: [stored], nodes: [aNode()], addresses: [known(LISTED)] });
  const answered = async (meta: ObjectMeta, status: PoolStatus): Promise<Pool> => {
    await clock.sleep(100);
    written.push(status);
    return { ...stored, meta, status };
  };
  const cluster = {
    now: () => clock.wallMs(),
    patchPoolStatus: answered,
    notePoolAcquisitions: async (meta: ObjectMeta) => ({ ...stored, meta, status: written.at(-1) ?? stored.status }),
  } as unknown as ClusterWriter;
  const lock = {
    isHeld: () => true,
    lost: new AbortController().signal,
    annotations: () => ({}),
    noteAcquisition: async () => true,
    annotate: async () => undefined,
  };
  const access = { cluster, providers: new Map(), dnsProviders: new Map(), firewallProviders: new Map(), clock, lock };
  const bounds = { deadlineMs: 60_000, signal: new AbortController().signal };
  const context = applyContext(access, observation, bounds);
  const made = plan(observation, {});
  expect(made.actions.map(({ id }) => id)).toContain(`assign-ip pool/ingress/web ${LISTED}`);
  const answer = context.stores.pool.updateStatus(stored.meta, (status) => ({
    ...status,
    acquired: [{ ip: BOUGHT, acquiredAt: INTENT.startedAt }],
    pendingAcquisitions: [],
  }));
  const prepared = preparations(made, made.actions, context);
  await clock.settle(Promise.all([answer, prepared({ kind: "pool", ...stored.meta }).whole]));
  const last = written.at(-1);
  expect(last?.ips[LISTED]?.state).toBe("in-progress");
  expect(last?.acquired.map(({ ip }) => ip)).toEqual([BOUGHT]);
  expect(last?.pendingAcquisitions).toEqual([]);
});
