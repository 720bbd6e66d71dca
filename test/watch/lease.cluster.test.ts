import { beforeAll, beforeEach, expect, test } from "vitest";
import { createClusterWriter } from "../../src/adapters/kube/cluster-writer.ts";
import { loadConfig } from "../../src/adapters/kube/config.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import type { Clock } from "../../src/ports/system.ts";
import type { LeaseOptions } from "../../src/watch/lease.ts";
import { withLease } from "../../src/watch/lease.ts";
import { REAL_CLOCK } from "../adapters/kube/real-clock.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { writeKubeconfig } from "../cluster/kubeconfig.ts";
import { shippedText } from "../manifests/shipped.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";

describeCluster("the lock as the shipped account on a real API server", (facts) => {
  const admin = new API({ ...facts, token: facts.adminToken });
  let cluster: ClusterWriter & { close: () => void };

  const options = (changes: Partial<LeaseOptions> = {}): LeaseOptions => ({
    cluster,
    clock: REAL_CLOCK,
    namespace: "flipop",
    name: "flipop",
    identity: "first",
    durationMs: 30_000,
    renewDeadlineMs: 25_000,
    retryMs: 200,
    onLocked: "fail",
    deadline: REAL_CLOCK.monotonicMs() + 120_000,
    signal: new AbortController().signal,
    ...changes,
  });
  const spec = async (): Promise<unknown> => (await admin.call("GET", LEASE)).spec;
  const renewTime = async (): Promise<string> =>
    (await admin.call<{ spec: { renewTime: string } }>("GET", LEASE)).spec.renewTime;

  beforeAll(async () => {
    await admin.applyManifests(shippedText("namespace.yaml"));
    await admin.applyManifests(shippedText("rbac.yaml"));
    const token = await admin.serviceAccountToken("flipop", "flipop");
    const kubeconfig = writeKubeconfig(facts, token);
    const connection = await loadConfig({ kubeconfig, home: "", inCluster: {}, environment: {} });
    cluster = createClusterWriter(connection, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" });
    return () => cluster.close();
  });

  beforeEach(async () => {
    await admin.request("DELETE", LEASE);
  });

  test("is created, renewed, annotated, refused to others and given back", async () => {
    const result = await withLease(options(), async (lock) => {
      await lock.annotate({ "flipop.digitalocean.com/test": "1" });
      const other = await withLease(options({ identity: "second" }), async () => "worked");
      const takenAt = await renewTime();
      await expect.poll(renewTime).not.toBe(takenAt);
      return { other, isHeld: lock.isHeld(), spec: await spec() };
    });
    expect(result).toMatchObject({
      kind: "done",
      value: {
        other: { kind: "locked", holder: "first" },
        isHeld: true,
        spec: { holderIdentity: "first", leaseDurationSeconds: 30, leaseTransitions: 0 },
      },
    });
    expect(await spec()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    expect((await admin.call("GET", LEASE)).metadata.annotations).toEqual({ "flipop.digitalocean.com/test": "1" });
  });

  test("is taken from a holder that died two seconds ago and one that never set a time or a duration", async () => {
    for (const dead of [{ holderIdentity: "killed", leaseDurationSeconds: 2 }, { holderIdentity: "odd" }]) {
      await admin.request("DELETE", LEASE);
      const body = { metadata: { name: "flipop" }, spec: dead };
      await admin.call("POST", "/apis/coordination.k8s.io/v1/namespaces/flipop/leases", body);
      const startedMs = REAL_CLOCK.monotonicMs();
      // Without a duration on the Lease, that of whoever waits counts.
      const short = options({ durationMs: 2_000, renewDeadlineMs: 1_500 });
      expect(await withLease(short, async () => "worked")).toEqual({ kind: "done", value: "worked" });
      expect(REAL_CLOCK.monotonicMs() - startedMs).toBeGreaterThan(1_900);
    }
  });

  test("of a run that waits is had as soon as the holder gives it back", async () => {
    const order: string[] = [];
    // The first one ends once the second one has found the Lease taken, and waits.
    const ends = Promise.withResolvers<void>();
    const first = withLease(options(), async () => {
      order.push("first");
      await ends.promise;
      order.push("first ends");
    });
    await expect.poll(() => order).toEqual(["first"]);
    const clock: Clock = {
      ...REAL_CLOCK,
      sleep: async (ms, signal) => {
        ends.resolve();
        await REAL_CLOCK.sleep(ms, signal);
      },
    };
    const waiting = options({ identity: "second", onLocked: "wait", clock });
    const second = withLease(waiting, async () => order.push("second"));
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "first ends", "second"]);
  });

  test("is lost when somebody takes the record by hand", async () => {
    const result = await withLease(options(), async (lock) => {
      const spec = { holderIdentity: "somebody" };
      await admin.call("PATCH", LEASE, { spec }, "application/merge-patch+json");
      await REAL_CLOCK.sleep(120_000, lock.lost);
      return String(lock.lost.reason);
    });
    expect(result).toEqual({ kind: "done", value: expect.stringContaining("it is held by somebody now") });
    expect(await spec()).toMatchObject({ holderIdentity: "somebody" });
  });

  test("in a namespace that does not exist is an error that says how to create it", async () => {
    const kubeconfig = facts.kubeconfig;
    const connection = await loadConfig({ kubeconfig, home: "", inCluster: {}, environment: {} });
    const writer = createClusterWriter(connection, { version: "0.0.0", clock: REAL_CLOCK, reportingInstance: "test" });
    const running = withLease(options({ cluster: writer, namespace: "nowhere" }), async () => "worked");
    await expect(running).rejects.toThrow('Run "kubectl create namespace nowhere"');
    writer.close();
  });
});
