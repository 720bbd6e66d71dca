import { expect, test } from "vitest";
import { ACQUISITIONS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import { observe } from "../../src/observe/observe.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryCluster } from "../fake/memory-cluster.ts";

test("the Lease is read, unless whoever keeps it knows what is noted there", async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  const beforeCall = (operation: string): undefined => {
    asked.push(operation);
  };
  const cluster = new MemoryCluster({ now: () => clock.wallMs(), beforeCall });
  const none = new Map<string, never>();
  const leaseName = { namespace: "flipop", name: "flipop" };
  const deps = { cluster, providers: none, dnsProviders: none, firewallProviders: none, clock, leaseName };
  const readings = (): number => asked.filter((operation) => operation.includes("leases")).length;
  await observe(deps);
  expect(readings()).toBe(1);
  const notes = { [ACQUISITIONS_ANNOTATION]: new Date(clock.wallMs() - 1000).toISOString() };
  const { lease } = await observe({ ...deps, notes });
  expect(lease.acquisitionTimesMs).toEqual([clock.wallMs() - 1000]);
  expect(readings()).toBe(1);
});
