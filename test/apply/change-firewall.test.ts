import { expect, test } from "vitest";
import { changeMachines, changePorts } from "../../src/apply/change-firewall.ts";
import { type ApplyContext, applyContext } from "../../src/apply/context.ts";
import { UNPREPARED } from "../../src/apply/on-record.ts";
import { operate } from "../../src/apply/operations.ts";
import type { ChangeMachines, ChangePorts } from "../../src/model/action.ts";
import { NotSent, ProviderError } from "../../src/model/errors.ts";
import { portText } from "../../src/model/firewall.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryFirewallProvider } from "../fake/memory-firewall-provider.ts";
import { anObservation } from "../plan/builders.ts";

const ID = "bb4b2611-3d72-467b-8602-000000000001";

const ADD: ChangeMachines = {
  kind: "add-to-firewall",
  id: "add-to-firewall routedip/ingress/vip web",
  object: { kind: "routedip", namespace: "ingress", name: "vip" },
  reason: "NodeOutsideFirewall",
  requires: [],
  follows: [],
  provider: "digitalocean",
  firewall: { id: ID, name: "web" },
  machines: [{ machineID: "101", nodeName: "n1" }],
  before: [],
  after: ["101"],
  awaited: ["101"],
};

/** Droplet 101 outside the firewall `web`, whose changes take two seconds to reach it; with a rule of a person for tcp/80 where a source is given. */
function scene(source?: string): {
  readonly clock: FakeClock;
  readonly provider: MemoryFirewallProvider;
  readonly context: ApplyContext;
} {
  const clock = new FakeClock();
  const theirs = { protocol: "tcp" as const, ports: "80", sources: { addresses: [source ?? ""] } };
  const inbound_rules = source === undefined ? [] : [theirs];
  const state = {
    settings: { action_delay_ms: 2000 },
    droplets: [{ id: 101, region: "nyc3" }],
    firewalls: [{ id: ID, name: "web", inbound_rules, outbound_rules: [], droplet_ids: [], tags: [] }],
  };
  const provider = new MemoryFirewallProvider({
    cloud: digitaloceanSandbox({ now: () => clock.wallMs(), state }).cloud(),
    clock,
  });
  const lock = {
    isHeld: () => true,
    lost: new AbortController().signal,
    annotations: () => ({}),
    noteAcquisition: async () => true,
    annotate: async () => undefined,
  };
  const access = {
    cluster: { now: () => clock.wallMs() } as ClusterWriter,
    providers: new Map(),
    dnsProviders: new Map(),
    firewallProviders: new Map([["digitalocean", { kind: "usable", provider } as const]]),
    clock,
    lock,
  };
  const bounds = { deadlineMs: 60_000, signal: new AbortController().signal };
  return { clock, provider, context: applyContext(access, anObservation({}), bounds) };
}

test("a change whose answer was lost counts once the machines have it, not as soon as the firewall shows it", async () => {
  const { clock, provider, context } = scene();
  provider.beforeCall = (operation, subject) => {
    if (operation !== "add-machines") return undefined;
    const facts = { provider: "digitalocean", failure: "timeout", operation, subject, status: 0 } as const;
    return { throwAfter: new ProviderError({ ...facts, message: "no answer", isAmbiguous: true }) };
  };
  const startMs = clock.wallMs();
  expect(await clock.settle(changeMachines(ADD, context))).toMatchObject({
    outcome: "applied",
    firewall: { fact: { firewall: { pendingMachineIDs: [] } } },
  });
  expect(clock.wallMs() - startMs).toBeGreaterThanOrEqual(2000);
  expect(provider.recorded.filter(({ operation }) => operation === "add-machines")).toHaveLength(1);
});

test("a change that is not sent since the Lease was lost is skipped, and nothing is asked about it", async () => {
  const { clock, provider, context } = scene();
  provider.beforeCall = (operation) => (operation === "add-machines" ? { throw: new NotSent("Lost.") } : undefined);
  const outcome = clock.settle(operate(ADD, () => UNPREPARED, context));
  expect(await outcome).toMatchObject({ outcome: "skipped", reason: "LockLost" });
  expect(provider.recorded.map(({ operation }) => operation)).toEqual(["add-machines"]);
});

test.for(["forbidden", "unauthorized", "rate-limited"] as const)(
  "a change of a firewall that may not be read (%s) is not waited for, and says why",
  async (failure) => {
    const { clock, provider, context } = scene();
    provider.beforeCall = (operation, subject) => {
      if (operation !== "firewall") return undefined;
      const facts = { provider: "digitalocean", failure, operation, subject, status: 403 } as const;
      return { throw: new ProviderError({ ...facts, message: "ask for firewall:read" }) };
    };
    const startMs = clock.wallMs();
    expect(await clock.settle(changeMachines(ADD, context))).toMatchObject({
      outcome: "unconfirmed",
      endedBy: { message: "ask for firewall:read" },
    });
    expect(clock.wallMs() - startMs).toBeLessThan(1000);
    expect(provider.recorded.map(({ operation }) => operation)).toEqual(["add-machines", "firewall"]);
  },
);

const range = (from: number, to = from): ChangePorts["ports"][number] => ({ protocol: "tcp", from, to });
const CLOSE: ChangePorts = {
  ...ADD,
  kind: "close-ports",
  id: "close-ports routedip/ingress/vip web",
  reason: "PortsUnneeded",
  ports: [range(1, 1000)],
  before: ["tcp/1-1000"],
  after: [],
  awaited: [],
  replaced: [{ ports: range(80), family: "IPv4" }],
};

test.for([
  ["is left while nothing else lets in what an object needs", [range(1, 1000)], "skipped", ["tcp/1-1000"]],
  ["is closed once the narrower one is there", [range(1, 1000), range(80)], "applied", ["tcp/80"]],
] as const)("a wide rule %s", async ([, open, outcome, left]) => {
  const { clock, provider, context } = scene();
  await clock.settle(provider.openPorts(ID, open));
  const result = await clock.settle(changePorts(CLOSE, context));
  expect(result).toMatchObject({ outcome, firewall: { fact: { kind: "known" } } });
  const read = await clock.settle(provider.getFirewall(ID));
  expect(read?.rules.map(({ ports }) => portText(ports))).toEqual(left);
});

test.for([
  ["IPv4", "0.0.0.0/0", "applied"],
  ["IPv4", "::/0", "skipped"],
  ["IPv6", "::/0", "applied"],
  ["IPv6", "0.0.0.0/0", "skipped"],
] as const)(
  "of a wide rule that an %s address needs: beside a narrower one of a person from %s its removal is %s",
  async ([family, source, outcome]) => {
    const { clock, provider, context } = scene(source);
    await clock.settle(provider.openPorts(ID, [range(1, 1000)]));
    const close: ChangePorts = { ...CLOSE, replaced: [{ ports: range(80), family }] };
    expect(await clock.settle(changePorts(close, context))).toMatchObject({ outcome });
  },
);

const OPEN: ChangePorts = {
  ...CLOSE,
  kind: "open-ports",
  id: "open-ports routedip/ingress/vip web",
  reason: "PortsClosed",
  ports: [range(80)],
  before: [],
  after: ["tcp/80"],
};

test.for(["0.0.0.0/0", "::/0"])(
  "ports whose opening fails are not open by a rule of a person from %s alone",
  async (source) => {
    const { clock, provider, context } = scene(source);
    provider.beforeCall = (operation, subject) => {
      if (operation !== "open-ports") return undefined;
      const facts = { provider: "digitalocean", failure: "unavailable", operation, subject, status: 503 } as const;
      return { throw: new ProviderError({ ...facts, message: "no answer", isAmbiguous: true }) };
    };
    expect(await clock.settle(changePorts(OPEN, context))).toMatchObject({ outcome: "failed" });
  },
);
