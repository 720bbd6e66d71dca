import { afterAll, beforeAll, expect, test } from "vitest";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { type EmulatedAccount, startAccount } from "../cli/cluster-run.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { Gate } from "./gate.ts";
import { gatedKubeconfig } from "./gated-kubeconfig.ts";
import { lateWrites } from "./late-writes.ts";
import { startWatch, type WatchProcess } from "./watch-process.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";
const NODES = Array.from({ length: 50 }, (_, at) => `c${at + 1}`);
const ADDRESSES = ["203.0.113.10", "203.0.113.11", "203.0.113.12", "203.0.113.13", "203.0.113.14"];
const LABEL = { "test-of": "churn" };
const WAIT = { interval: 50 };
/** A node that has been ready for so long is known to be, however busy the machine, milliseconds. */
const KNOWN_MS = 2000;

describeCluster("a watching process on a real API server, while fifty nodes flap and watches break", (facts) => {
  let api: API;
  let account: EmulatedAccount;
  let cluster: Gate;
  let cloud: Gate;
  let watcher: WatchProcess;
  /** Since when nodes are ready, by their machines; absent while they are not. */
  const readySinceMs = new Map<number, number>();
  const machines = new Map(NODES.map((name, at) => [name, 1001 + at]));
  const robbed: string[] = [];

  beforeAll(async () => {
    api = new API({ server: facts.server, caFile: facts.caFile, token: facts.adminToken });
    for (const file of ["namespace.yaml", ...shippedFiles("crds")]) await api.applyManifests(shippedText(file));
    account = await startAccount([...machines.values()], ADDRESSES);
    account.sandbox.cloud().state.settings.action_delay_ms = 20;
    await Promise.all(NODES.map((name) => create(name)));
    cluster = await Gate.open({ url: facts.server, caFile: facts.caFile });
    cloud = await Gate.open({ url: account.url });
    cloud.onWrite = ({ path }) => judge(path.split("/")[3] ?? "");
    await api.call("POST", `${GROUP}/floatingippools`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "churn" },
      spec: { provider: "digitalocean", ips: ADDRESSES, match: { podNamespace: "", nodeLabel: "test-of=churn" } },
    });
    watcher = startWatch(["--no-lock"], {
      KUBECONFIG: gatedKubeconfig(facts.directory, cluster.url, facts.adminToken),
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: cloud.url,
    });
  });

  afterAll(async () => {
    watcher?.child.kill("SIGKILL");
    await watcher?.end;
    await cluster?.close();
    await cloud?.close();
    for (const path of [`${GROUP}/floatingippools/churn`, LEASE]) await api.request("DELETE", path);
    await Promise.all(NODES.map((name) => api.deleteNode(name)));
    api.close();
    await account?.close();
  });

  const create = async (name: string): Promise<void> => {
    const machine = machines.get(name) ?? 0;
    await api.createNode({ name, providerID: `digitalocean://${machine}`, region: "nyc3", labels: LABEL });
    readySinceMs.set(machine, performance.now());
  };

  const setReady = async (name: string, isReady: boolean): Promise<void> => {
    const machine = machines.get(name) ?? 0;
    if (!isReady) readySinceMs.delete(machine);
    await api.setNodeReady(name, isReady);
    if (isReady) readySinceMs.set(machine, performance.now());
  };

  /** The node is another machine under the same name; its watchers are away meanwhile. */
  const replace = async (name: string): Promise<void> => {
    const machine = machines.get(name) ?? 0;
    readySinceMs.delete(machine);
    cluster.dropAll();
    await api.deleteNode(name);
    account.sandbox.removeDroplet(machine);
    machines.set(name, machine + 1000);
    account.sandbox.addDroplet({ id: machine + 1000, region: "nyc3" });
    await create(name);
  };

  /** The machines that have addresses. */
  const holders = (): readonly number[] => {
    const state = account.sandbox.cloud();
    state.settle(Date.now());
    return state.state.reserved_ips.flatMap(({ droplet_id }) => droplet_id ?? []);
  };

  const judge = (ip: string): void => {
    const state = account.sandbox.cloud();
    state.settle(Date.now());
    const holder = state.state.reserved_ips.find((one) => one.ip === ip)?.droplet_id ?? 0;
    const readyMs = performance.now() - (readySinceMs.get(holder) ?? performance.now());
    if (readyMs > KNOWN_MS) robbed.push(`${ip} was taken from ${holder}, which has been ready for ${readyMs} ms`);
  };

  test("no node that is ready loses its address, and in the end each is on a ready node, annotated, and nothing is written any more", async () => {
    await expect.poll(holders, WAIT).toHaveLength(ADDRESSES.length);
    const writes = cloud.writes.length;
    const isIdle = (): boolean => cloud.writes.length - writes <= 5;
    // On a busy machine moves take longer than a few rounds of flapping.
    for (let round = 0; round < 40 || (isIdle() && round < 1000); round += 1) {
      const held = new Set(holders());
      const lost = NODES.filter((name) => held.has(machines.get(name) ?? 0)).slice(0, 1 + (round % 3));
      const back = NODES.filter((name) => !readySinceMs.has(machines.get(name) ?? 0)).slice(0, 2);
      const others = [0, 1, 2, 3].map((at) => NODES[(round * 4 + at) % NODES.length] ?? "");
      await Promise.all([
        ...[...lost, ...others].map((name) => setReady(name, false)),
        ...back.filter((name) => !lost.includes(name) && !others.includes(name)).map((name) => setReady(name, true)),
      ]);
      if (round % 14 === 10) await replace(lost[0] ?? NODES[0] ?? "");
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    expect(isIdle(), "it was at work").toBe(false);
    await Promise.all(NODES.map((name) => setReady(name, true)));

    await expect.poll(annotated, WAIT).toBe(true);
    expect(new Set(holders()).size).toBe(ADDRESSES.length);
    expect(robbed).toEqual([]);
    expect(await lateWrites(cloud, cluster)).toEqual([]);
    expect(watcher.child.exitCode).toBe(null);
  });

  /** True when exactly the nodes that have an address say so. */
  const annotated = async (): Promise<boolean> => {
    type Found = { readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> } };
    const nodes = await api.list<Found>("/api/v1/nodes");
    const told = nodes.flatMap(({ metadata: { name, annotations } }) =>
      annotations?.[ADDRESS_ANNOTATION] === undefined
        ? []
        : [`${machines.get(name)} ${annotations[ADDRESS_ANNOTATION]}`],
    );
    const { reserved_ips } = account.sandbox.cloud().state;
    const real = reserved_ips.flatMap(({ ip, droplet_id }) => (droplet_id === null ? [] : [`${droplet_id} ${ip}`]));
    return real.length === ADDRESSES.length && told.toSorted().join() === real.toSorted().join();
  };
});
