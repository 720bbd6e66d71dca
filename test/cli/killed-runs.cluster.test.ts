import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { SECRET_TOKEN } from "../fake/fake-tokens.ts";
import { shippedText } from "../manifests/shipped.ts";
import { FLIPOP } from "../programs/entry.ts";
import { type EmulatedAccount, runProgram, startAccount } from "./cluster-run.ts";

const POOLS = "/apis/flipop.digitalocean.com/v1alpha1/namespaces/default/floatingippools";
const NODES = ["n1", "n2", "n3", "n4"] as const;
const MOST_ADDRESSES = 3;
const RUNS = 40;

interface Round {
  readonly seed: number;
  readonly unready: string;
  readonly desiredIPs: number;
  readonly signal: NodeJS.Signals;
  /** When it is killed, as a share of how long a whole run takes on this machine. */
  readonly share: number;
}

describeCluster("flipop killed at a random moment, again and again", () => {
  let cluster: Cluster;
  let api: API;
  let account: EmulatedAccount;
  let env: Record<string, string>;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const name of ["floatingippools", "nodednsrecordsets"])
      await api.applyManifests(shippedText(`crds/${name}.yaml`));
    account = await startAccount([101, 102, 103, 104], []);
    account.sandbox.cloud().state.settings.action_delay_ms = 150;
    account.sandbox.setDomain({ name: "example.com", records: [] });
    env = {
      KUBECONFIG: cluster.kubeconfig,
      DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
      DIGITALOCEAN_API_URL: account.url,
    };
    for (const [index, name] of NODES.entries()) {
      await api.createNode({ name, providerID: `digitalocean://${101 + index}`, region: "nyc3", ready: true });
    }
    await api.call("POST", POOLS, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind: "FloatingIPPool",
      metadata: { name: "web" },
      spec: {
        provider: "digitalocean",
        region: "nyc3",
        desiredIPs: MOST_ADDRESSES,
        reclaimPolicy: "Delete",
        dnsRecordSet: { zone: "example.com", recordName: "www" },
        match: { podNamespace: "", nodeLabel: "" },
      },
    });
  });

  afterAll(async () => {
    await account?.close();
    api?.close();
    await cluster?.stop();
  });

  const addresses = (): readonly { ip: string; droplet_id?: number | null }[] =>
    account.sandbox.cloud().state.reserved_ips;

  const published = (): readonly string[] =>
    (account.sandbox.cloud().state.domains[0]?.records ?? [])
      .filter(({ type }) => type === "A")
      .map(({ data }) => data);

  test("never holds an address too many, loses none, empties no name, and is right as soon as one run ends", {
    timeout: 180_000,
  }, async () => {
    const startedAt = performance.now();
    expect(await runProgram(["reconcile", "--no-lock"], env)).toMatchObject({ code: 0 });
    const wholeMs = performance.now() - startedAt;
    let killed = 0;
    for (const round of rounds(RUNS)) {
      for (const name of NODES) await api.setNodeReady(name, name !== round.unready);
      await api.call(
        "PATCH",
        `${POOLS}/web`,
        { spec: { desiredIPs: round.desiredIPs } },
        "application/merge-patch+json",
      );
      if ((await killedRun(round, wholeMs, env)) !== null) killed += 1;
      expect(addresses().length, JSON.stringify(round)).toBeLessThanOrEqual(MOST_ADDRESSES);
      expect(published(), JSON.stringify(round)).not.toEqual([]);
    }
    expect(killed).toBeGreaterThan(RUNS / 4);

    for (const name of NODES) await api.setNodeReady(name, true);
    await api.call("PATCH", `${POOLS}/web`, { spec: { desiredIPs: 3 } }, "application/merge-patch+json");
    const settled = await runProgram(["reconcile", "--no-lock", "--settle", "--timeout", "60s"], env);
    expect(settled, settled.stderr).toMatchObject({ code: 0 });
    const last = await runProgram(["reconcile", "--no-lock"], env);
    expect(last).toMatchObject({ code: 0, stdout: "Nothing to do: 1 pool, 3 of 3 addresses active.\n" });
    const { status } = await api.call<{ status: { acquired: { ip: string }[] } }>("GET", `${POOLS}/web`);
    expect(status.acquired.map(({ ip }) => ip).toSorted()).toEqual(
      addresses()
        .map(({ ip }) => ip)
        .toSorted(),
    );
    expect(published().toSorted()).toEqual(
      addresses()
        .map(({ ip }) => ip)
        .toSorted(),
    );
    expect(addresses().every(({ droplet_id }) => typeof droplet_id === "number")).toBe(true);
  });
});

/** The signal that ended a run, or null when it had ended before. */
function killedRun(
  { signal, share }: Round,
  wholeMs: number,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const child = spawn(FLIPOP, ["reconcile", "--no-lock", "-q"], {
    env: { PATH: process.env["PATH"], HOME: tmpdir(), ...env },
    stdio: "ignore",
  });
  const timer = setTimeout(() => child.kill(signal), share * wholeMs);
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code, endedBy) => {
      clearTimeout(timer);
      resolve(endedBy ?? (code === 130 || code === 143 ? signal : null));
    });
  });
}

/** The same rounds every time: a linear congruential generator is random enough to hit every phase of a run. */
function rounds(count: number): readonly Round[] {
  let state = 20_261;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % limit;
  };
  return Array.from({ length: count }, (_, seed) => ({
    seed,
    unready: NODES[below(NODES.length)] ?? NODES[0],
    desiredIPs: 2 + below(2),
    signal: below(4) === 0 ? "SIGTERM" : "SIGKILL",
    share: (20 + below(80)) / 100,
  }));
}
