import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { TargetState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryFirewallProvider } from "../fake/memory-firewall-provider.ts";
import { openAPIValidator } from "../openapi/validator.ts";
import { type FirewallProviderWorld, firewallProviderContract } from "./firewall-provider-contract.ts";

const account = { settings: { action_delay_ms: 20_000, rate_limit: { per_hour: 100_000, per_minute: 100_000 } } };
const isWrite = (operation: string): boolean => /^(?:open|close|add|remove)-/.test(operation);

firewallProviderContract("the memory provider", () => {
  const clock = new FakeClock();
  const sandbox = digitaloceanSandbox({ state: account, now: () => clock.wallMs() });
  const provider = new MemoryFirewallProvider({ cloud: sandbox.cloud(), clock });
  return {
    provider,
    seed: seedOf(sandbox, (ms) => clock.advance(ms)),
    failWrite: ({ hasEffect }) => {
      provider.beforeCall = (operation, subject) => {
        if (!isWrite(operation)) return undefined;
        provider.beforeCall = undefined;
        const facts = { provider: provider.name, operation, subject, status: 0, message: "no answer" };
        const error = new ProviderError({ ...facts, failure: "unavailable", isAmbiguous: true });
        return hasEffect ? { throwAfter: error } : { throw: error };
      };
    },
    calls: () => provider.recorded.length,
    dispose: () => undefined,
  };
});

const validator = openAPIValidator();

firewallProviderContract("the DigitalOcean adapter on the sandbox", async () => {
  const clock = new FakeClock();
  const faults = new FaultList();
  const offSpec: string[] = [];
  let calls = 0;
  const sandbox = digitaloceanSandbox({
    state: account,
    now: () => clock.wallMs(),
    // No fault fits every method but GET.
    faults: { take: (call) => (call.method === "GET" ? undefined : faults.take(call)) },
    onCall: ({ method, path, query, body }) => {
      calls += 1;
      offSpec.push(...validator.checkRequest(method, query === "" ? path : `${path}?${query}`, body));
    },
  });
  const server = await sandbox.serve();
  return {
    provider: openDigitalOcean({ token: "token", baseURL: server.url, userAgent: "flipop-test", clock }).firewalls,
    seed: seedOf(sandbox, (ms) => clock.advance(ms)),
    failWrite: ({ hasEffect }) => {
      faults.add({ server: "digitalocean", cut: hasEffect ? "after" : "before" });
    },
    calls: () => calls,
    dispose: async () => {
      await server.close();
      if (offSpec.length > 0) throw new Error(`Not as the API description says:\n${offSpec.join("\n")}`);
    },
  };
});

function seedOf(
  sandbox: DigitalOceanSandbox,
  advance: (ms: number) => void | Promise<void>,
): FirewallProviderWorld["seed"] {
  const anywhere = { addresses: ["0.0.0.0/0", "::/0"] };
  return {
    advance,
    machine: (id, tags) => sandbox.addDroplet({ id: Number(id), ...(tags === undefined ? {} : { tags: [...tags] }) }),
    firewall: ({ name, rules = [], outboundRules = 0, machineIDs = [], tags = [], hasFailed = false }) =>
      sandbox.setFirewall({
        name,
        inbound_rules: rules.map((rule) => ({ ...rule, sources: structuredClone(rule.sources) as TargetState })),
        outbound_rules: Array.from({ length: outboundRules }, (_, at) => ({
          protocol: "tcp",
          ports: String(at + 1),
          destinations: anywhere,
        })),
        droplet_ids: machineIDs.map(Number),
        tags: [...tags],
        ...(hasFailed ? { status: "failed" } : {}),
      }),
    removal: (id) => sandbox.removeFirewall(id),
    callsPerMinute: (count) => {
      sandbox.cloud().state.settings.rate_limit.per_minute = count;
    },
    scopes: (scopes) => {
      sandbox.cloud().state.tokens["token"] = [...scopes];
    },
  };
}
