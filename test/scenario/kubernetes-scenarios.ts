import { expect } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import { conditionsText } from "./dns-scene.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

async function ip1OnN1(world: World, ...others: readonly string[]): Promise<void> {
  await world.machines("n1", ...others);
  world.cloud.address(ip(1));
  await world.pools.create("web", { ips: [ip(1)] });
  await world.pass();
}

/** What the cluster does, and what people do to its objects: scenarios 4–76. */
export function kubernetesScenarios(scenario: Register): void {
  for (const operation of ["listPools", "listNodes", "listPods"] as const) {
    for (const kind of ["500", "timeout", "403", "html"] as const) {
      scenario(`4 ${operation} fails (${kind}): no write at all`, async (world) => {
        await world.machines("n1");
        world.cloud.address(ip(1));
        await world.pods.create("p1", { node: "n1", labels: { app: "web" } });
        await world.pools.create("web", { ips: [ip(1)], match: { podLabel: "app=web" } });
        world.fail({ side: "cluster", operation, kind });
        await expect(world.pass()).rejects.toThrow(KubeError);
        expect({ cloud: world.cloudWrites(), kube: world.kubeWrites() }).toEqual({ cloud: [], kube: [] });
        await world.pass();
        expect(await world.show()).toEqual(["ip1 active n1"]);
      });
    }
  }

  scenario(
    "44 edited to an unknown provider: the exact text, the addresses' status is kept, nothing is written at a provider",
    async (world) => {
      await ip1OnN1(world, "n2");
      await world.pools.edit("web", { provider: "Ferengi" });
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(world.cloudCalls()).toEqual([]);
      const { error, conditions } = await world.pools.status("web");
      expect(error).toBe('unknown provider "Ferengi"');
      expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
        "Ready=False",
        "Reconciling=False",
        "Stalled=True",
      ]);
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1" });
      await world.pools.edit("web", { provider: "digitalocean" });
      await world.pass();
      expect((await world.pools.status("web")).error).toBeUndefined();
      expect(await world.show()).toEqual(["ip1 active n2"]);
    },
  );

  const invalid: Readonly<Record<string, readonly [spec: Readonly<Record<string, unknown>>, text: string | RegExp]>> = {
    "a provider without floating IPs": [
      { provider: "cloudflare" },
      'provider "cloudflare" does not provide floating IPs',
    ],
    "neither ips nor desiredIPs": [{ ips: [], desiredIPs: 0 }, "ips or desiredIPs must be provided"],
    "a bad node selector": [{ match: { nodeLabel: "a=b=c" } }, /^Error parsing node selector: /],
    "a bad pod selector": [{ match: { podLabel: "a in (b" } }, /^Error parsing pod selector: /],
  };
  for (const [what, [spec, text]] of Object.entries(invalid)) {
    scenario(`44b invalid by ${what}: the exact text, and the other pool goes on`, async (world) => {
      await ip1OnN1(world, "n2");
      world.cloud.address(ip(2));
      await world.pools.edit("web", spec);
      await world.pools.create("other", { ips: [ip(2)] });
      await world.pass();
      expect((await world.pools.status("web")).error).toMatch(text);
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect(await world.show("other")).toEqual(["ip2 active n2"]);
    });
  }

  scenario("44c the machine of an address gets no other one while the pool names another provider", async (world) => {
    await ip1OnN1(world, "n2");
    for (const number of [2, 3]) world.cloud.address(ip(number));
    await world.pools.edit("web", { provider: "cloudflare" });
    await world.pools.create("other", { ips: [ip(2), ip(3)] });
    for (let pass = 0; pass < 3; pass++) {
      await world.pass();
      expect(await world.show("other")).toEqual(["ip2 active n2", "ip3 unassigned (NoCandidate)"]);
    }
  });

  scenario("a bad entry in ips is an error of that entry alone", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: ["203.0.113.001", ip(1), ip(1)] });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n1"]);
    const { ips, conditions } = await world.pools.status("web");
    expect(ips["203.0.113.001"]).toMatchObject({ state: "error", reason: "InvalidIP" });
    expect(conditions.find(({ type }) => type === "Stalled")?.status).toBe("True");
  });

  scenario(
    "51 half-ready cluster: the address of a NotReady node is not moved to one whose pod terminates",
    async (world) => {
      await world.machines("n1", "n2");
      for (const node of ["n1", "n2"]) await world.pods.create(`p-${node}`, { node, labels: { app: "web" } });
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)], match: { podLabel: "app=web" } });
      await world.pass();
      await world.nodes.setReady("n1", false);
      await world.pods.delete("p-n2");
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect(await world.show()).toEqual(["ip1 no-match n1 (NoCandidate)"]);
    },
  );

  scenario("65 no providerID yet: skipped with that reason, then included", async (world) => {
    world.cloud.droplet("n1");
    await world.nodes.create("n1", { droplet: null });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    const { remaining } = await world.pass();
    expect(remaining.pools[0]?.notMatching.map(({ reason }) => reason)).toContain("NoProviderID");
    expect(world.cloudWrites()).toEqual([]);
    await world.nodes.patch("n1", { spec: { providerID: "digitalocean://101" } });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("67 deletionTimestamp on the node: no match at once", async (world) => {
    await ip1OnN1(world, "n2");
    await world.nodes.beginDeletion("n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario("67b deletionTimestamp on the pod: no match at once", async (world) => {
    await world.machines("n1", "n2");
    for (const node of ["n1", "n2"]) await world.pods.create(`p-${node}`, { node, labels: { app: "web" } });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], match: { podLabel: "app=web" } });
    await world.pass();
    await world.pods.delete("p-n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });

  scenario(
    "73 may not patch nodes: assignment goes on, status names the verb, and it is done once permitted",
    async (world) => {
      await world.machines("n1", "n2");
      world.cloud.address(ip(1));
      await world.pools.create("web", { ips: [ip(1)] });
      const message = 'nodes "n1" is forbidden: User "flipop" cannot patch resource "nodes"';
      world.fail({ side: "cluster", operation: "annotateNode", kind: "403", times: 0, message });
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1"]);
      expect((await world.pools.status("web")).nodeErrors.join()).toContain('"patch" on "nodes"');
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n2"]);
      expect((await world.pools.status("web")).nodeErrors.join()).toContain('"patch" on "nodes"');
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({ n2: "ip1" });
      expect((await world.pools.status("web")).nodeErrors).toEqual([]);
    },
  );

  scenario(
    "a node whose annotations cannot be written keeps no other node from its own",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      world.cloud.address(ip(1));
      world.cloud.address(ip(2));
      await world.pools.create("web", { ips: [ip(1), ip(2)] });
      const message = "metadata.annotations: Too long: may not be more than 262144 bytes";
      world.fail({ side: "cluster", operation: "annotateNode", subject: "n1", kind: "422", times: 0, message });
      for (let run = 0; run < 6; run += 1) {
        world.advance(10 * SECOND);
        await world.pass();
      }
      expect((await world.pools.status("web")).nodeErrors.join()).toContain(message);
      await world.nodes.setReady("n2", false);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n3"]);
      expect(await world.nodes.annotations()).toEqual({ n3: "ip2" });
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n3: "ip2" });
      expect((await world.pools.status("web")).retries).toEqual([]);
    },
    { worlds: ["memory", "sandbox"] },
  );

  scenario(
    "a rule of the cluster that refuses a pool's finalizer waits for a person, in each run until it lets it pass",
    async (world) => {
      await world.machines("n1");
      world.cloud.address(ip(1));
      const message = "ValidatingAdmissionPolicy 'frozen' with binding 'all' denied request: frozen";
      world.fail({ side: "cluster", operation: "setPoolFinalizer", kind: "422", times: 0, message });
      const dnsRecordSet = { provider: "digitalocean", zone: "example.com", recordName: "www", ttl: 60 };
      world.dns.zone("digitalocean");
      await world.pools.create("web", { ips: [ip(1)], dnsRecordSet, reclaimPolicy: "Delete" });
      for (let run = 0; run < 4; run += 1) {
        const result = await world.pass();
        expect(exitCodeOfRun(result, { partialOk: false })).toBe(3);
        const { conditions } = await world.pools.status("web");
        expect(conditionsText(conditions)).toContain("Stalled=True (AdmissionRefused)");
        expect(JSON.stringify(conditions)).toContain("'frozen'");
        world.advance(10 * SECOND);
      }
      expect(await world.show()).toEqual(["ip1 active n1"]);
      world.clearFaults();
      world.advance(600 * SECOND);
      expect(exitCodeOfRun(await world.pass(), { partialOk: false })).toBe(0);
      expect((await world.pools.status("web")).retries).toEqual([]);
    },
  );

  for (const [kind, message] of [
    ["403", "nodes \"n1\" is forbidden: ValidatingAdmissionPolicy 'frozen' with binding 'all' denied request: frozen"],
    ["403", 'admission webhook "frozen.example.com" denied the request: frozen'],
    ["400", 'admission webhook "frozen.example.com" denied the request: frozen'],
    ["409", 'admission webhook "frozen.example.com" denied the request: frozen'],
  ] as const) {
    scenario(
      `73c an admission rule refuses one node with ${kind} (${message.slice(0, 17)}): the others are annotated at once, and status says what ends it`,
      async (world) => {
        await world.machines("n1", "n2", "n3");
        world.cloud.address(ip(1));
        world.cloud.address(ip(2));
        await world.pools.create("web", { ips: [ip(1), ip(2)] });
        world.fail({ side: "cluster", operation: "annotateNode", subject: "n1", kind, times: 0, message });
        for (let run = 0; run < 6; run += 1) {
          const result = await world.pass();
          expect(exitCodeOfRun(result, { partialOk: false })).toBe(3);
          expect(await world.nodes.annotations()).toEqual({ n2: "ip2" });
          world.advance(10 * SECOND);
        }
        expect(conditionsText((await world.pools.status("web")).conditions)).toContain(
          "Stalled=True (AdmissionRefused)",
        );
        await world.nodes.setReady("n2", false);
        await world.pass();
        expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n3"]);
        expect(await world.nodes.annotations()).toEqual({ n3: "ip2" });
        const { nodeErrors } = await world.pools.status("web");
        expect(nodeErrors).toEqual([
          `Cannot patch nodes n1: ${message} (${kind}). No permission is missing: a rule of the cluster refuses it for this object. Change the rule, or exempt flipop from it.`,
        ]);
        world.clearFaults();
        world.advance(600 * SECOND);
        await world.pass();
        expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n3: "ip2" });
      },
    );
  }

  scenario("73b events may not be written: everything else goes on", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cluster", operation: "createEvent", kind: "403", times: 0 });
    const { reportFailures } = await world.pass();
    expect(reportFailures.map(({ what }) => what)).toEqual(["event"]);
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });

  scenario("a failure that repeats over runs is one Event, which counts", async (world) => {
    await world.machines("n1");
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cloud", operation: "assign", kind: "500", times: 3 });
    for (let run = 0; run < 3; run += 1) {
      await world.pass();
      world.advance(60 * SECOND);
    }
    expect(await world.warnings()).toEqual(["AssignIP Failed x3"]);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    expect(await world.warnings()).toEqual(["AssignIP Failed x3"]);
  });

  scenario("an object that begins to wait for a person says so in one Event", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { ips: [ip(1)] });
    await world.pass();
    expect(await world.warnings()).toEqual(["Stall IPNotFound x1"]);
    world.advance(60 * SECOND);
    await world.pass();
    expect(await world.warnings()).toEqual(["Stall IPNotFound x1"]);
    world.cloud.address(ip(1));
    world.advance(600 * SECOND);
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
    world.cloud.removeAddress(ip(1));
    await world.pass();
    expect(await world.warnings()).toEqual(["Stall IPNotFound x2"]);
    world.advance(60 * SECOND);
    await world.pass();
    expect(world.writes()).toEqual([]);
  });

  scenario("an object whose status cannot be written says once it can that it waits for a person", async (world) => {
    await world.machines("n1");
    await world.pools.create("web", { ips: [ip(1)] });
    world.fail({ side: "cluster", operation: "patchPoolStatus", kind: "403", times: 0 });
    await world.pass();
    expect(await world.warnings()).toEqual([]);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
    expect(await world.warnings()).toEqual(["Stall IPNotFound x1"]);
  });

  scenario("a status that is refused once is told of by a run that goes on without trying it again", async (world) => {
    await world.machines("n1", "n2", "n3", "n4", "n5");
    for (const number of [1, 2, 3, 4, 5]) world.cloud.address(ip(number));
    await world.nodes.patch("n1", { metadata: { labels: { role: "frozen" } } });
    await world.pools.create("frozen", { ips: [ip(1)], match: { nodeLabel: "role=frozen" } });
    const match = { nodeLabel: "role!=frozen" };
    const ips = [2, 3, 4, 5].map(ip);
    await world.pools.create("slow", { ips, assignmentCoolOffSeconds: 2, match });
    world.fail({ side: "cluster", operation: "patchPoolStatus", subject: "frozen", kind: "403", times: 0 });
    const result = await world.pass({ settle: true });
    expect(await world.show("slow")).toEqual([2, 3, 4, 5].map((number) => `ip${number} active n${number}`));
    const told = result.reportFailures.map(({ object, what }) => `${what} of ${object.name}`);
    expect([...new Set(told)]).toEqual(["status of frozen"]);
    expect(exitCodeOfRun(result, { partialOk: false })).toBe(3);
    world.clearFaults();
    world.advance(600 * SECOND);
    await world.pass();
  });
}
