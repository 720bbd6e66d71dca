import { createWebhook } from "../../src/adapters/webhook/webhook.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import type { Clock } from "../../src/ports/system.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { webhookSandbox } from "../../src/sandbox/webhook/webhook-sandbox.ts";
import { NO_DOMAIN, webhookDNSAccount } from "../fake/dns-account.ts";
import { dnsProviderContract, type SeenRecord } from "./dns-provider-contract.ts";
import type { Permit } from "./dns-provider-world.ts";

/** More than a reading serves who comes later. */
const LATER_MS = 10_000;

dnsProviderContract("the webhook adapter on the sandbox", async () => {
  const faults = new FaultList();
  const permit: Permit = { mayWrite: () => true };
  const history: (readonly SeenRecord[])[] = [];
  let passedMs = 0;
  let meddle: (() => void) | undefined;
  const sandbox = webhookSandbox({
    state: { domains: [NO_DOMAIN], settings: { least_ttl: 30, most_ttl: 86_400 } },
    faults,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    onCall: ({ method, path, body }) => {
      if (method === "POST" && path === "/records") history.push(seen());
      // Two sets at once are the question for TTLs.
      if (path !== "/adjustendpoints" || (body as readonly unknown[]).length > 1) return;
      const beforeMs = passedMs;
      meddle?.();
      meddle = undefined;
      // So soon after the reading nobody reads again.
      passedMs = beforeMs;
    },
  });
  const account = webhookDNSAccount(sandbox);
  const seen = (): readonly SeenRecord[] =>
    account.records().map(({ fqdn, type, content, ttlSeconds: ttl }) => ({ fqdn, type, content, ttl }));
  const zoneOf = (fqdn: string): string => account.records().find((record) => record.fqdn === fqdn)?.zone ?? "";
  const server = await sandbox.serve();
  const clock: Clock = { ...SYSTEM_CLOCK, monotonicMs: () => SYSTEM_CLOCK.monotonicMs() + passedMs };
  const later = <A extends readonly unknown[]>(change: (...args: A) => void) => {
    return (...args: A): void => {
      change(...args);
      passedMs += LATER_MS;
    };
  };
  return {
    provider: createWebhook({
      name: "webhook",
      token: undefined,
      baseURL: server.url,
      userAgent: "flipop-test",
      clock,
      mayWrite: () => permit.mayWrite(),
    }),
    permit,
    isWhole: "account",
    seed: {
      zone: later((name) => void account.addZone(name)),
      record: later((zone, fqdn, type, content, ttlSeconds) =>
        account.addRecord(zone, { fqdn, type, content, ttlSeconds }),
      ),
      removal: later((zone, fqdn, type, content) =>
        account.removeRecords(zone, (one) => one.fqdn === fqdn && one.type === type && one.content === content),
      ),
    },
    failWrite: ({ skip, hasEffect }) =>
      faults.add({ server: "webhook", method: "POST", path: "^/records$", status: 500, skip, effect: hasEffect }),
    beforeNextWrite: (change) => {
      meddle = change;
    },
    writes: () => history.length,
    records: (zone) => seen().filter(({ fqdn }) => zoneOf(fqdn) === zone),
    resolverViews: (fqdn) =>
      history.map((records) => {
        const own = records.filter((record) => record.fqdn === fqdn && record.type === "A");
        return [...new Set(own.map(({ content }) => content))].sort();
      }),
    dispose: () => server.close(),
  };
});
