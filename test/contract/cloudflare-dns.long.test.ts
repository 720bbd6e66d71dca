import { createCloudflare } from "../../src/adapters/cloudflare/cloudflare.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import type { RecordState, RecordType } from "../../src/sandbox/cloudflare/account-state.ts";
import { type CloudflareSandbox, cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type DNSProviderWorld, dnsProviderContract } from "./dns-provider-contract.ts";
import type { Permit } from "./dns-provider-world.ts";

dnsProviderContract("the Cloudflare adapter on the sandbox", async () => {
  const faults = new FaultList();
  const permit: Permit = { mayWrite: () => true };
  const snapshots: (readonly RecordState[])[] = [];
  let meddle: (() => void) | undefined;
  const sandbox: CloudflareSandbox = cloudflareSandbox({
    state: { settings: { records_per_zone: 1000 } },
    faults,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    onCall: ({ method, path }) => {
      // A batch is one transaction: there is nothing to see between its changes.
      if (method !== "GET") snapshots.push(sandbox.account().state.zones.flatMap((zone) => zone.dns_records));
      if (!path.endsWith("/dns_records")) return;
      meddle?.();
      meddle = undefined;
    },
  });
  const server = await sandbox.serve();
  const world: DNSProviderWorld = {
    provider: createCloudflare({
      token: "token",
      baseURL: `${server.url}/client/v4`,
      userAgent: "flipop-test",
      clock: SYSTEM_CLOCK,
      mayWrite: () => permit.mayWrite(),
    }),
    permit,
    seed: {
      zone(name) {
        sandbox.addZone({ name });
      },
      record(zone, fqdn, type, content, ttl) {
        sandbox.addRecord(zone, { name: fqdn, type: type as RecordType, content, ttl });
      },
      removal: (zone, fqdn, type, content) =>
        sandbox.removeRecords(zone, fqdn, (record) => record.type === type && record.content === content),
    },
    failWrite: ({ skip, hasEffect }) =>
      faults.add({ server: "cloudflare", method: "POST", status: 500, skip, effect: hasEffect }),
    beforeNextWrite: (change) => {
      meddle = change;
    },
    writes: () => snapshots.length,
    records: (zone) =>
      (sandbox.account().state.zones.find((item) => item.name === zone)?.dns_records ?? []).map(
        ({ name, type, content, ttl }) => ({ fqdn: name, type, content, ttl }),
      ),
    resolverViews: (fqdn) => snapshots.map((records) => addressesOf(records, fqdn)),
    dispose: () => server.close(),
  };
  return world;
});

function addressesOf(records: readonly RecordState[], fqdn: string): readonly string[] {
  const found = records.filter((record) => record.name === fqdn && record.type === "A").map((record) => record.content);
  return [...new Set(found)].sort();
}
