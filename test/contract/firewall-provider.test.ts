import { openDigitalOcean } from "../../src/adapters/digitalocean/digitalocean.ts";
import { RULE_MARK } from "../../src/adapters/hetzner/firewall-answers.ts";
import { openHetzner } from "../../src/adapters/hetzner/hetzner.ts";
import { ProviderError } from "../../src/model/errors.ts";
import { FIREWALL_LABEL } from "../../src/model/firewall.ts";
import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import type { TargetState } from "../../src/sandbox/digitalocean/firewall-rules.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type HetznerSandbox, hetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { FirewallState, RuleState, ServerState } from "../../src/sandbox/hetzner/project-state.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryFirewallProvider } from "../fake/memory-firewall-provider.ts";
import { openAPIValidator } from "../openapi/validator.ts";
import {
  type FirewallDifferences,
  type FirewallPlace,
  firewallProviderContract,
} from "./firewall-provider-contract.ts";
import type { SeededFirewall } from "./firewall-provider-world.ts";

const account = { settings: { action_delay_ms: 20_000, rate_limit: { per_hour: 100_000, per_minute: 100_000 } } };

const DIGITALOCEAN: FirewallDifferences = {
  unknownID: "00000000-0000-4000-8000-00000000dead",
  pageSize: 200,
  hasScopes: true,
  writeAdvice: "Give the token the scope firewall:update.",
  sharesNames: true,
  limitsMachines: true,
  readsFirst: false,
};

const HETZNER: FirewallDifferences = {
  unknownID: "999999",
  pageSize: 50,
  hasScopes: false,
  writeAdvice: "Give flipop a token with the permission Read & Write.",
  sharesNames: false,
  limitsMachines: false,
  readsFirst: true,
};

// A token is taken out of every answer, so none of their words may have it.
const HETZNER_TOKEN = "0123456789";

const isWrite = (operation: string): boolean => /^(?:open|close|add|remove)-/.test(operation);

firewallProviderContract("the memory provider", DIGITALOCEAN, () => {
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
    writes: () => provider.recorded.filter(({ operation }) => isWrite(operation)).length,
    dispose: () => undefined,
  };
});

const validator = openAPIValidator();
const hetznerValidator = openAPIValidator("hetzner");

firewallProviderContract("the DigitalOcean adapter on the sandbox", DIGITALOCEAN, async () => {
  const clock = new FakeClock();
  const faults = new FaultList();
  const offSpec: string[] = [];
  let calls = 0;
  let writes = 0;
  const sandbox = digitaloceanSandbox({
    state: account,
    now: () => clock.wallMs(),
    // No fault fits every method but GET.
    faults: { take: (call) => (call.method === "GET" ? undefined : faults.take(call)) },
    onCall: ({ method, path, query, body }) => {
      calls += 1;
      if (method !== "GET") writes += 1;
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
    writes: () => writes,
    dispose: async () => {
      await server.close();
      if (offSpec.length > 0) throw new Error(`Not as the API description says:\n${offSpec.join("\n")}`);
    },
  };
});

firewallProviderContract("the Hetzner adapter on the sandbox", HETZNER, async () => {
  const clock = new FakeClock();
  const faults = new FaultList();
  const offSpec: string[] = [];
  let calls = 0;
  let writes = 0;
  const sandbox = hetznerSandbox({
    state: { settings: { action_delay_ms: 20_000, locks_firewalls: false } },
    now: () => clock.wallMs(),
    faults: { take: (call) => (call.method === "GET" ? undefined : faults.take(call)) },
    onCall: ({ method, path, query, body }) => {
      calls += 1;
      if (method !== "GET") writes += 1;
      offSpec.push(...hetznerValidator.checkRequest(method, query === "" ? path : `${path}?${query}`, body));
    },
  });
  const server = await sandbox.serve();
  const options = { token: HETZNER_TOKEN, baseURL: `${server.url}/v1`, userAgent: "flipop-test", clock };
  return {
    provider: openHetzner(options).firewalls,
    seed: hetznerSeedOf(sandbox, (ms) => clock.advance(ms)),
    failWrite: ({ hasEffect }) => {
      faults.add({ server: "hetzner", cut: hasEffect ? "after" : "before" });
    },
    calls: () => calls,
    writes: () => writes,
    dispose: async () => {
      await server.close();
      if (offSpec.length > 0) throw new Error(`Not as the API description says:\n${offSpec.join("\n")}`);
    },
  };
});

/** Each machine is behind the firewall `base`. Tags are labels; rules are flipop's, except where they are written in a form that is not its own. */
function hetznerSeedOf(sandbox: HetznerSandbox, advance: (ms: number) => void | Promise<void>): FirewallPlace["seed"] {
  let nextID = 1000;
  return {
    advance,
    machine: (id, tags = []) =>
      sandbox.edit((state) => {
        state.servers.push({ id: Number(id), labels: Object.fromEntries(tags.map((tag) => [tag, ""])) } as ServerState);
        const base = state.firewalls.find(({ name }) => name === "base");
        if (base === undefined) state.firewalls.push({ id: 999, name: "base", servers: [Number(id)] } as FirewallState);
        else base.servers.push(Number(id));
      }),
    firewall: ({ name, rules = [], outboundRules = 0, machineIDs = [], tags = [] }) => {
      nextID += 1;
      const firewall: FirewallState = {
        id: nextID,
        name,
        labels: { [FIREWALL_LABEL]: "true" },
        rules: [...rules.map(hetznerRule), ...Array.from({ length: outboundRules }, (_, at) => outgoing(at + 1))],
        servers: machineIDs.map(Number),
        selectors: [...tags],
        failed: [],
      };
      sandbox.edit((state) => state.firewalls.push(firewall));
      return String(nextID);
    },
    removal: (id) =>
      sandbox.edit((state) => {
        state.firewalls = state.firewalls.filter((one) => one.id !== Number(id));
      }),
    callsPerMinute: (count) =>
      sandbox.edit(({ settings }) => {
        settings.rate_limit = count;
      }),
    scopes: (scopes) =>
      sandbox.edit(({ tokens }) => {
        tokens[HETZNER_TOKEN] = scopes.includes("firewall:update") ? "read_write" : "read";
      }),
  };
}

function hetznerRule({ protocol, ports, sources }: NonNullable<SeededFirewall["rules"]>[number]): RuleState {
  const isForeign = protocol !== "icmp" && (ports === "all" || ports === "0");
  const port = protocol === "icmp" ? null : isForeign ? "1-65535" : ports;
  const beside = sources["tags"] === undefined ? [] : ["192.0.2.0/24"];
  const source_ips = [...(sources["addresses"] ?? []), ...beside];
  return {
    direction: "in",
    protocol,
    port,
    source_ips,
    destination_ips: [],
    description: isForeign ? null : RULE_MARK,
  };
}

function outgoing(port: number): RuleState {
  return {
    direction: "out",
    protocol: "tcp",
    port: String(port),
    source_ips: [],
    destination_ips: ["0.0.0.0/0", "::/0"],
    description: null,
  };
}

function seedOf(sandbox: DigitalOceanSandbox, advance: (ms: number) => void | Promise<void>): FirewallPlace["seed"] {
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
