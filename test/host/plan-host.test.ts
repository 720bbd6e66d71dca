import { describe, expect, test } from "vitest";
import { type HostPlan, planHost } from "../../src/host/plan-host.ts";
import type { HostState } from "../../src/ports/host.ts";
import { present } from "./fake-host.ts";

const IP = "203.0.113.7";
const V6 = "2001:db8::7";

function state(some: Partial<HostState> = {}): HostState {
  return { addresses: [], interfaces: ["lo", "eth0", "eth1"], defaults: { 4: "eth0", 6: "eth0" }, ...some };
}

/** A plan as text: what is added, removed, kept, somebody else's, and what cannot be. */
function text({ steps, kept, foreign, blocked }: HostPlan): readonly string[] {
  return [
    ...steps.map((step) =>
      step.kind === "add" ? `+ ${step.ip} ${step.interface}` : `- ${step.address.ip} ${step.address.interface}`,
    ),
    ...kept.map(({ ip, interface: on }) => `= ${ip} ${on}`),
    ...foreign.map(({ ip, interface: on }) => `foreign ${ip} ${on}`),
    ...blocked.map(({ ip, why }) => `! ${ip} ${why}`),
  ];
}

interface Row {
  readonly title: string;
  readonly ips: readonly string[];
  readonly state?: Partial<HostState>;
  readonly chosen?: string;
  readonly plan: readonly string[];
}

const NO_ROUTE = "the host has no default route that shows its interface: name it by --interface";

describe("planHost", () => {
  test.for<Row>([
    {
      title: "adds what is lacking on the interface of the default route",
      ips: [IP, V6],
      plan: [`+ ${IP} eth0`, `+ ${V6} eth0`],
    },
    {
      title: "takes the route of the address's own family",
      ips: [IP, V6],
      state: { defaults: { 4: "eth0", 6: "eth1" } },
      plan: [`+ ${IP} eth0`, `+ ${V6} eth1`],
    },
    {
      title: "takes the route of the other family where there is none of its own",
      ips: [V6],
      state: { defaults: { 4: "eth1" } },
      plan: [`+ ${V6} eth1`],
    },
    {
      title: "does nothing where all is as it should be",
      ips: [IP],
      state: { addresses: [present(IP, "eth0", true)] },
      plan: [`= ${IP} eth0`],
    },
    {
      title: "adds before it removes",
      ips: [IP],
      state: { addresses: [present("203.0.113.8", "eth0", true)] },
      plan: [`+ ${IP} eth0`, "- 203.0.113.8 eth0"],
    },
    {
      title: "leaves alone what somebody else put there, asked for or not",
      ips: [IP],
      state: { addresses: [present(IP, "lo", false), present("203.0.113.8", "eth0", false)] },
      plan: [`foreign ${IP} lo`],
    },
    {
      title: "keeps its own beside the same address of somebody else on another interface",
      ips: [IP],
      state: { addresses: [present(IP, "lo", false), present(IP, "eth0", true)] },
      plan: [`= ${IP} eth0`],
    },
    {
      title: "keeps an address where it is when the default route leads elsewhere by now",
      ips: [IP],
      state: { addresses: [present(IP, "eth0", true)], defaults: { 4: "eth1" } },
      plan: [`= ${IP} eth0`],
    },
    {
      title: "brings an address to the interface that a person chooses",
      ips: [IP],
      state: { addresses: [present(IP, "eth0", true)] },
      chosen: "eth1",
      plan: [`+ ${IP} eth1`, `- ${IP} eth0`],
    },
    {
      title: "keeps an address where it is while the chosen interface is not there",
      ips: [IP],
      state: { addresses: [present(IP, "eth0", true)] },
      chosen: "eth7",
      plan: [`! ${IP} there is no interface eth7; there are lo, eth0, eth1`],
    },
    { title: "says that there is no default route", ips: [IP], state: { defaults: {} }, plan: [`! ${IP} ${NO_ROUTE}`] },
    {
      title: "removes all that is its own where nothing is asked for",
      ips: [],
      state: { addresses: [present(IP, "eth0", true), present(V6, "eth1", true), present("10.0.0.2", "eth0", false)] },
      plan: [`- ${IP} eth0`, `- ${V6} eth1`],
    },
  ])("$title", ({ ips, state: some, chosen, plan }) => {
    expect(text(planHost(ips, state(some), chosen))).toEqual(plan);
  });
});
