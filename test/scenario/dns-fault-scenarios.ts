import { expect } from "vitest";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import type { DNSName } from "../fake/dns-account.ts";
import type { WorldKind } from "./backend.ts";
import { addCall, conditionsText, DNS_PROVIDERS, publishedNodes, publishedPool, WWW, www } from "./dns-scene.ts";
import type { DNSOperation, FaultKind } from "./operation-fault.ts";
import type { Register } from "./scenario.ts";
import { externalIP, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const SECOND = 1000;

function fail(
  world: World,
  provider: DNSName,
  operation: DNSOperation,
  kind: FaultKind,
  more: {
    readonly times?: number;
    readonly skip?: number;
    readonly retryAfter?: number;
    readonly message?: string;
  } = {},
): void {
  world.fail({ side: "dns", provider, operation, kind, ...more });
}

/** A hanging call takes real time over HTTP, and the real API server has no part in most of these. */
function worldsOf(operation: DNSOperation, kind: FaultKind): readonly WorldKind[] {
  if (kind === "timeout" && operation === "zone") return ["memory"];
  return kind === "500" || kind === "403" ? ["memory", "sandbox", "cluster"] : ["memory", "sandbox"];
}

/** A second run that finds all as the first one left it. */
async function passIdly(world: World): Promise<void> {
  await world.pass();
  expect(world.writes().filter((line) => !line.startsWith("status "))).toEqual([]);
  await world.pass();
  expect(world.writes()).toEqual([]);
}

function limitedFirstWrites(scenario: Register): void {
  for (const provider of DNS_PROVIDERS)
    scenario(
      `429 of ${provider} at the first write of a name: none is told as published, and none as a repair`,
      async (world) => {
        await world.machines("n1", "n2");
        world.dns.zone(provider);
        fail(world, provider, provider === "digitalocean" ? "add-record" : "write", "429", { retryAfter: 20 });
        await world.recordSets.create("nodes", { dnsRecordSet: www(provider), addressType: "ExternalIP" });
        await world.pass({ lease: "fail" });
        expect(world.dns.addresses(provider, WWW)).toEqual([]);
        expect((await world.recordSets.status("nodes")).publishedDNS?.addresses ?? []).toEqual([]);
        world.advance(21 * SECOND);
        await world.pass({ lease: "fail" });
        expect(world.dns.set(provider, WWW)).toEqual(["ext1", "ext2"]);
        const { publishedDNS, fight } = await world.recordSets.status("nodes");
        expect([publishedDNS?.addresses.length, fight]).toEqual([2, undefined]);
        await world.pass();
        expect(world.writes()).toEqual([]);
      },
    );
}

/** What a DNS provider does wrong. */
export function dnsFaultScenarios(scenario: Register): void {
  refusedAdditions(scenario);
  limitedFirstWrites(scenario);
  for (const provider of DNS_PROVIDERS) {
    scenario(
      `54 partial failure at ${provider}: the second of the changes answers 500, the next due pass does only the rest`,
      async (world) => {
        await world.machines("n1", "n2", "n3");
        for (const number of [1, 2, 3]) world.cloud.address(ip(number));
        world.dns.zone(provider);
        world.dns.add(provider, WWW, "192.0.2.99");
        await world.pools.create("web", { ips: [ip(1), ip(2), ip(3)], dnsRecordSet: www(provider) });
        const isSingle = provider === "digitalocean";
        fail(world, provider, addCall(provider).operation, "500", { skip: isSingle ? 1 : 0 });
        const result = await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(isSingle ? ["ip1"] : ["ip353"]);
        expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
        const status = await world.pools.status("web");
        expect(status.error).toContain(WWW);
        expect(status.retries).toMatchObject([{ subject: `dns/${provider}/${WWW}`, attempts: 1 }]);
        expect(conditionsText(status.conditions)).toMatch(/^Ready=False \(\w+\) Reconciling=True \(Backoff\)$/);
        expect(await world.nodes.annotations()).toEqual({ n1: "ip1", n2: "ip2", n3: "ip3" });
        await world.pass();
        expect(world.writes().filter((line) => line !== "status web")).toEqual([]);
        await world.pass();
        expect(world.writes()).toEqual([]);
        world.advance(SECOND);
        await world.pass();
        expect(world.dnsWrites()).toHaveLength(isSingle ? 2 : 1);
        expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2", "ip3"]);
        expect((await world.pools.status("web")).error).toBeUndefined();
      },
    );

    for (const kind of ["lost-answer", "cut", "timeout", "html", "500", "422", "403", "401"] as const) {
      scenario(
        `a write at ${provider} ends with ${kind}: in the end the records are right, each once`,
        async (world) => {
          await publishedPool(world, provider, ["n1", "n2"]);
          await world.machines("n3");
          world.cloud.address(ip(3));
          await world.pools.edit("web", { ips: [ip(1), ip(2), ip(3)] });
          fail(world, provider, addCall(provider).operation, kind);
          await world.pass();
          if (kind === "timeout") await world.lateEffects();
          expect(await world.show()).toEqual(["ip1 active n1", "ip2 active n2", "ip3 active n3"]);
          world.advance(600 * SECOND);
          await world.pass();
          expect(world.dns.show(provider)).toEqual([1, 2, 3].map((number) => `${WWW} A ip${number} 60`));
          expect((await world.pools.status("web")).retries).toEqual([]);
        },
      );
    }

    // What waits for a limit is tried again when the provider says, here after five seconds.
    for (const [kind, cause, everyMs] of [
      ["401", "lets the token read and not write (401)", 15 * SECOND],
      ["429", "answers each write with 429", 5 * SECOND],
    ] as const)
      scenario(
        `while ${provider} ${cause} nobody is accused, and the name is there once it may be written`,
        async (world) => {
          await world.machines("n1");
          world.cloud.address(ip(1));
          world.dns.zone(provider);
          fail(world, provider, addCall(provider).operation, kind, { times: 0, retryAfter: 5 });
          await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider) });
          for (let pass = 0; pass < 8; pass += 1) {
            await world.pass();
            expect(conditionsText((await world.pools.status("web")).conditions)).not.toContain("Contested");
            world.advance(6 * SECOND);
          }
          const sinceMs = world.nowMs();
          await world.pass({ settle: true });
          expect(world.dnsWrites().length).toBeLessThanOrEqual((world.nowMs() - sinceMs) / everyMs + 2);
          expect(conditionsText((await world.pools.status("web")).conditions)).not.toContain("Contested");
          world.clearFaults();
          world.advance(6 * SECOND);
          await world.pass();
          expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
        },
      );

    for (const operation of ["zone", "records"] as const) {
      for (const kind of ["500", "cut", "timeout", "html", "403", "401", "422"] as const) {
        scenario(
          `reading ${operation} at ${provider} fails (${kind}): nothing about it changes, addresses go on`,
          async (world) => {
            await publishedPool(world, provider, ["n1", "n2"]);
            await world.machines("n3");
            await world.nodes.setReady("n1", false);
            fail(world, provider, operation, kind, { times: 0 });
            const result = await world.pass();
            expect(world.dnsWrites()).toEqual([]);
            expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
            expect(await world.nodes.annotations()).toEqual({ n2: "ip2", n3: "ip1" });
            const { error, conditions, publishedDNS } = await world.pools.status("web");
            expect(error).toBeTruthy();
            expect(conditions[0]).toMatchObject({ type: "Ready", status: "False" });
            expect(publishedDNS?.addresses).toEqual([ip(1), ip(2)]);
            expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
            await world.pass();
            expect(world.writes()).toEqual([]);
            world.clearFaults();
            await world.pass();
            expect((await world.pools.status("web")).error).toBeUndefined();
          },
          { worlds: worldsOf(operation, kind) },
        );
      }
    }

    scenario(
      `47 zone missing at ${provider}: the DNS part is in error, addresses go on, and it is found once it is made`,
      async (world) => {
        await world.machines("n1");
        world.cloud.address(ip(1));
        await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider) });
        const result = await world.pass();
        expect(await world.show()).toEqual(["ip1 active n1"]);
        const { error, conditions } = await world.pools.status("web");
        expect(error).toContain("example.com");
        expect(conditionsText(conditions)).toBe("Ready=False (ZoneNotFound) Stalled=True (ZoneNotFound)");
        expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
        world.dns.zone(provider);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      },
    );

    scenario(`the zone goes at ${provider} after it was published in: error, addresses go on`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      world.dns.removeZone(provider);
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      await world.pass();
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      expect(conditionsText((await world.pools.status("web")).conditions)).toContain("Stalled=True (ZoneNotFound)");
      world.dns.zone(provider);
      await world.pass();
      expect(world.dns.set(provider, WWW)).toEqual(["ip1", "ip2"]);
    });

    scenario(
      `a CNAME in the way at ${provider}: refused, shown, retried slowly; done when it is gone`,
      async (world) => {
        await world.machines("n1");
        world.cloud.address(ip(1));
        world.dns.zone(provider);
        world.dns.add(provider, WWW, "elsewhere.example.net", { type: "CNAME" });
        await world.pools.create("web", { ips: [ip(1)], dnsRecordSet: www(provider) });
        await world.pass();
        const status = await world.pools.status("web");
        expect(status.error).toMatch(/CNAME/);
        expect(status.retries).toMatchObject([{ subject: `dns/${provider}/${WWW}`, attempts: 1 }]);
        expect(await world.show()).toEqual(["ip1 active n1"]);
        await world.pass();
        expect(world.dnsWrites()).toEqual([]);
        world.dns.remove(provider, { fqdn: WWW, type: "CNAME" });
        world.advance(61 * SECOND);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual(["ip1"]);
      },
    );

    scenario(`no token for ${provider}: its names are held, the rest goes on`, async (world) => {
      await publishedPool(world, provider, ["n1", "n2"]);
      const other = provider === "digitalocean" ? "cloudflare" : "digitalocean";
      world.dns.zone(other);
      await world.recordSets.create("nodes", { dnsRecordSet: www(other) });
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      const result = await world.pass({ withoutToken: [provider] });
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      expect(world.dns.set(other, WWW)).toEqual(["ext2", "ext3"]);
      const { error, conditions } = await world.pools.status("web");
      expect(error).toContain("TOKEN");
      expect(conditionsText(conditions)).toBe("Ready=False (ProviderUnavailable) Stalled=True (ProviderUnavailable)");
      expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
      await world.pass();
      expect((await world.pools.status("web")).error).toBeUndefined();
    });
  }

  scenario(
    "60 429 of Cloudflare at the read: no call before it is over, across processes; addresses go on",
    async (world) => {
      await publishedPool(world, "cloudflare", ["n1", "n2"]);
      fail(world, "cloudflare", "records", "429", { retryAfter: 20 });
      await world.machines("n3");
      await world.nodes.setReady("n1", false);
      const result = await world.pass({ lease: "fail" });
      expect(exitCodeOfRun(result, { partialOk: false })).toBe(3);
      expect(await world.show()).toEqual(["ip1 active n3", "ip2 active n2"]);
      expect(conditionsText((await world.pools.status("web")).conditions)).toBe(
        "Ready=False (RateLimited) Reconciling=True (RateLimited)",
      );
      world.dns.remove("cloudflare", { fqdn: WWW, content: ip(1) });
      world.advance(15 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.dnsCalls()).toEqual([]);
      expect(world.cloudCalls()).not.toEqual([]);
      world.advance(6 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
    },
  );

  scenario("60b 429 of Cloudflare at the write: kept for the next run, no attempt is counted", async (world) => {
    await publishedNodes(world, "cloudflare", ["n1", "n2"]);
    await world.machines("n3");
    fail(world, "cloudflare", "write", "429", { retryAfter: 20 });
    await world.pass({ lease: "fail" });
    expect((await world.recordSets.status("nodes")).retries).toEqual([]);
    await world.pass({ lease: "fail" });
    expect(world.dnsCalls()).toEqual([]);
    world.advance(21 * SECOND);
    await world.pass({ lease: "fail" });
    expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1", "ext2", "ext3"]);
  });

  scenario(
    "60c 429 of DigitalOcean at a record: addresses and domains share the limit, both go on when it is over",
    async (world) => {
      await publishedPool(world, "digitalocean", ["n1", "n2"]);
      await world.nodes.setReady("n1", false);
      fail(world, "digitalocean", "remove-record", "429", { retryAfter: 20 });
      await world.pass({ lease: "fail" });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip1", "ip2"]);
      await world.pass({ lease: "fail" });
      expect([...world.cloudCalls(), ...world.dnsCalls()]).toEqual([]);
      world.advance(21 * SECOND);
      await world.pass({ lease: "fail" });
      expect(world.dns.set("digitalocean", WWW)).toEqual(["ip2"]);
    },
  );

  for (const operation of ["zone", "records", "write"] as const) {
    scenario(
      `Cloudflare answers 200 without success to ${operation}: taken for a failure, never for an empty answer`,
      async (world) => {
        await publishedPool(world, "cloudflare", ["n1", "n2"]);
        fail(world, "cloudflare", operation, "no-success", { times: 0 });
        await world.look();
        await world.nodes.setReady("n1", false);
        await world.pass();
        expect(world.dns.set("cloudflare", WWW)).toEqual(["ip1", "ip2"]);
        expect((await world.pools.status("web")).error).toBeTruthy();
        world.clearFaults();
        world.advance(600 * SECOND);
        await world.pass();
        expect(world.dns.set("cloudflare", WWW)).toEqual(["ip2"]);
      },
    );
  }

  for (const provider of DNS_PROVIDERS) {
    scenario(
      `a record that ${provider} adds after the write was given up does not stay when its object goes`,
      async (world) => {
        await publishedNodes(world, provider, ["n1", "n2"], { reclaimPolicy: "Delete" });
        await world.machines("n3");
        fail(world, provider, addCall(provider).operation, "timeout");
        await world.pass();
        await world.lateEffects();
        if (world.kind === "memory") world.dns.add(provider, WWW, externalIP(3));
        expect(world.dns.set(provider, WWW)).toEqual(["ext1", "ext2", "ext3"]);
        world.dnsSafety.allowEnd(WWW);
        await world.recordSets.delete("nodes");
        world.advance(600 * SECOND);
        await world.pass();
        expect(world.dns.set(provider, WWW)).toEqual([]);
      },
      {
        worlds: ["memory", "sandbox"],
        onlySingleRuns: "A watcher looks again, and knows the records, before the write has its effect.",
      },
    );
  }

  scenario(
    "a write fails again and again: attempts follow 1, 1, 5, 5, 10 s, never sooner",
    async (world) => {
      await publishedNodes(world, "cloudflare", ["n1", "n2"]);
      await world.machines("n3");
      fail(world, "cloudflare", "write", "500", { times: 0 });
      const attempts: number[] = [];
      const startMs = world.nowMs();
      for (let second = 0; second <= 24; second += 1) {
        world.advance(startMs + second * SECOND - world.nowMs());
        await world.pass();
        if (world.dnsWrites().length > 0) attempts.push(second);
        expect(world.dnsWrites().length).toBeLessThanOrEqual(1);
      }
      expect(attempts).toEqual([0, 1, 2, 7, 12, 22]);
      world.clearFaults();
      world.advance(60 * SECOND);
      await world.pass();
      expect((await world.recordSets.status("nodes")).retries).toEqual([]);
    },
    { onlySingleRuns: "A watcher lets a name stand still for half a second first, so its attempts come later." },
  );

  scenario("one name that is refused does not keep another of the same zone from being written", async (world) => {
    await world.machines("n1", "n2");
    world.dns.zone("cloudflare");
    world.dns.add("cloudflare", WWW, "elsewhere.example.net", { type: "CNAME" });
    await world.recordSets.create("bad", { dnsRecordSet: www("cloudflare") });
    await world.recordSets.create("good", { dnsRecordSet: www("cloudflare", { recordName: "api" }) });
    await world.pass();
    expect(world.dns.set("cloudflare", "api.example.com")).toEqual(["ext1", "ext2"]);
    expect((await world.recordSets.status("bad")).error).toMatch(/CNAME/);
    expect((await world.recordSets.status("good")).error).toBeUndefined();
  });

  scenario(
    "the list of record sets cannot be read: no write at all",
    async (world) => {
      await publishedNodes(world, "cloudflare", ["n1", "n2"]);
      await world.machines("n3");
      world.fail({ side: "cluster", operation: "listRecordSets", kind: "500" });
      await expect(world.pass()).rejects.toThrow();
      expect(world.writes()).toEqual([]);
      await world.pass();
      expect(world.dns.set("cloudflare", WWW)).toEqual(["ext1", "ext2", "ext3"]);
    },
    { onlySingleRuns: "A list that is in memory is not read again." },
  );
}

/** What becomes of nodes that stop serving while a name takes no more records. */
function refusedAdditions(scenario: Register): void {
  for (const [lost, left] of [
    [["n1"], ["n2", "n3"]],
    [["n1", "n2"], ["n3"]],
  ] as const)
    scenario(
      `while no record may be added at digitalocean (422), ${lost.join(" and ")} that stop serving leave the name in the next run`,
      async (world) => {
        const shown = (): readonly string[] => world.dns.addresses("digitalocean", WWW);
        await publishedNodes(world, "digitalocean", ["n1", "n2", "n3"]);
        fail(world, "digitalocean", "add-record", "422", { times: 0 });
        await world.machines("n4");
        await world.pass();
        for (const name of lost) await world.nodes.setReady(name, false);
        const result = await world.pass();
        expect(shown()).toEqual(left.map((name) => externalIP(Number(name.slice(1)))));
        expect(result.remaining.holds).toMatchObject([
          { kind: "update-dns", subject: WWW, reason: "RecordsRefused", needsPerson: true },
        ]);
        expect(exitCodeOfRun(result, { partialOk: false })).not.toBe(0);
        await passIdly(world);
        world.clearFaults();
        world.advance(600 * SECOND);
        await world.pass();
        expect(shown()).toEqual([...left, "n4"].map((name) => externalIP(Number(name.slice(1)))));
        expect((await world.recordSets.status("nodes")).retries).toEqual([]);
      },
      { worlds: ["memory", "sandbox", "cluster"] },
    );

  scenario("what could not leave a name to which others were added is not asked for again at once", async (world) => {
    await publishedNodes(world, "digitalocean", ["n1", "n2"]);
    await world.nodes.setReady("n2", false);
    await world.machines("n3");
    fail(world, "digitalocean", "remove-record", "500");
    await world.pass({ lease: "fail" });
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext2", "ext3"]);
    const { retries } = await world.recordSets.status("nodes");
    expect(retries).toMatchObject([{ subject: `dns-removal/digitalocean/${WWW}`, attempts: 1 }]);
    world.advance(2 * SECOND);
    await world.pass({ lease: "fail" });
    expect(world.dns.set("digitalocean", WWW)).toEqual(["ext1", "ext3"]);
    expect((await world.recordSets.status("nodes")).retries).toEqual([]);
  });

  scenario(
    "what leaves a name and is refused (500) is tried again after its own wait, and what is added to it meanwhile goes with it",
    async (world) => {
      await publishedNodes(world, "digitalocean", ["n1", "n2"]);
      fail(world, "digitalocean", "remove-record", "500", { times: 0 });
      await world.nodes.setReady("n1", false);
      await world.pass();
      const { retries } = await world.recordSets.status("nodes");
      expect(retries).toMatchObject([{ subject: `dns-removal/digitalocean/${WWW}`, attempts: 1 }]);
      await passIdly(world);
      await world.machines("n3");
      await world.pass();
      expect(world.dns.set("digitalocean", WWW)).toHaveLength(3);
      world.clearFaults();
      world.advance(600 * SECOND);
      await world.pass();
      expect(world.dns.addresses("digitalocean", WWW)).toEqual([2, 3].map(externalIP));
      expect((await world.recordSets.status("nodes")).retries).toEqual([]);
    },
    { worlds: ["memory", "sandbox"] },
  );
}
