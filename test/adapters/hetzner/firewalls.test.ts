import { describe, expect, test } from "vitest";
import { RULE_MARK } from "../../../src/adapters/hetzner/firewall-answers.ts";
import { openHetznerReaders } from "../../../src/adapters/hetzner/hetzner.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import { NotSent } from "../../../src/model/errors.ts";
import { FIREWALL_LABEL, type PortRange } from "../../../src/model/firewall.ts";
import { REASONS } from "../../../src/model/reason.ts";
import type { FirewallState, RuleState } from "../../../src/sandbox/hetzner/project-state.ts";
import { knownFirewall } from "../../contract/firewall-provider-world.ts";
import { type HetznerProject, inProject } from "./project.ts";

const HTTP: PortRange = { protocol: "tcp", from: 80, to: 80 };
const OWNED = { [FIREWALL_LABEL]: "true" };
const SSH: RuleState = {
  ...{ direction: "in", protocol: "tcp", port: "22", source_ips: ["192.0.2.0/24"] },
  ...{ destination_ips: [], description: "the office" },
};
const OUT: RuleState = {
  ...{ direction: "out", protocol: "udp", port: "53", source_ips: [] },
  ...{ destination_ips: ["0.0.0.0/0"], description: null },
};
const OPENED: RuleState = { ...SSH, port: "80", source_ips: ["0.0.0.0/0", "::/0"], description: RULE_MARK };

/** A project with the firewall `web` (38), which is flipop's own, and `base` (39), which server 42 and 43 are behind. */
function projectWith(web: object, more: object = {}): object {
  return {
    servers: [{ id: 42 }, { id: 43 }, { id: 44 }],
    firewalls: [
      { id: 38, name: "web", labels: OWNED, ...web },
      { id: 39, name: "base", servers: [42, 43] },
    ],
    ...more,
  };
}

function webOf({ sandbox }: HetznerProject): FirewallState {
  const [web] = sandbox.project().state.firewalls;
  if (web === undefined) throw new Error("the firewall is gone");
  return web;
}

function writesOf({ calls }: HetznerProject): readonly string[] {
  return calls.filter((call) => call.startsWith("POST"));
}

describe("rules", () => {
  test("of others are written again as they are, in their order, with what was opened or without what was closed", () =>
    inProject(projectWith({ rules: [SSH, OUT] }), async (project) => {
      const { firewalls } = project.hetzner;
      await firewalls.openPorts("38", [HTTP, { protocol: "icmp", from: 0, to: 0 }]);
      expect(webOf(project).rules).toEqual([SSH, OUT, OPENED, { ...OPENED, protocol: "icmp", port: null }]);
      await firewalls.closePorts("38", [HTTP]);
      expect(webOf(project).rules).toEqual([SSH, OUT, { ...OPENED, protocol: "icmp", port: null }]);
      expect(writesOf(project)).toHaveLength(2);
    }));

  test("that are as they should be are not written", () =>
    inProject(projectWith({ rules: [OPENED] }), async (project) => {
      await project.hetzner.firewalls.openPorts("38", [HTTP]);
      await project.hetzner.firewalls.closePorts("38", [{ ...HTTP, from: 81, to: 81 }]);
      expect(writesOf(project)).toEqual([]);
    }));

  test("are read right before they are written: what came meanwhile stays", () =>
    inProject(projectWith({}), async (project) => {
      const { firewalls } = project.hetzner;
      await firewalls.listFirewalls();
      project.sandbox.edit(({ firewalls: [web] }) => web?.rules.push(structuredClone(SSH)));
      await firewalls.openPorts("38", [HTTP]);
      expect(webOf(project).rules).toEqual([SSH, OPENED]);
    }));

  test("are not written, nor are servers, where this run may not write any more once they were read", () =>
    inProject(projectWith({ rules: [OPENED], servers: [42] }), async (project) => {
      const reads: number[] = [];
      const mayWrite = (): boolean => {
        reads.push(project.calls.length);
        return false;
      };
      const { firewalls } = project.again({ mayWrite });
      for (const change of [
        () => firewalls.openPorts("38", [{ ...HTTP, from: 81, to: 81 }]),
        () => firewalls.closePorts("38", [HTTP]),
        () => firewalls.addMachines("38", ["43"]),
        () => firewalls.removeMachines("38", ["42"]),
      ])
        await expect(change()).rejects.toThrow(NotSent);
      expect(writesOf(project)).toEqual([]);
      expect(reads).toEqual([1, 2, 4, 6]);
    }));

  test("are not written where the label is missing, or says no", async () => {
    for (const labels of [{}, { [FIREWALL_LABEL]: "" }, { [FIREWALL_LABEL]: "false" }, { owned: "true" }])
      await inProject(projectWith({ labels, rules: [OPENED], servers: [42] }), async (project) => {
        const { firewalls } = project.hetzner;
        expect(await knownFirewall(firewalls, "38")).toMatchObject({ isUnlabelled: true });
        for (const change of [
          () => firewalls.openPorts("38", [{ ...HTTP, to: 81 }]),
          () => firewalls.closePorts("38", [HTTP]),
          () => firewalls.addMachines("38", ["43"]),
          () => firewalls.removeMachines("38", ["42"]),
        ])
          await expect(change()).rejects.toMatchObject({
            failure: "refused",
            message: expect.stringContaining(`no label ${FIREWALL_LABEL}=true`),
          });
        expect(writesOf(project)).toEqual([]);
      });
  });

  test("more than 50 are refused before anything is sent", () =>
    inProject(
      projectWith({ rules: Array.from({ length: 50 }, (_, at) => ({ ...SSH, port: String(at + 1) })) }),
      async (project) => {
        await expect(project.hetzner.firewalls.openPorts("38", [HTTP])).rejects.toMatchObject({
          failure: "refused",
          message: expect.stringContaining("it would have 51 rules, and can have 50"),
        });
        expect(writesOf(project)).toEqual([]);
      },
    ));

  test("the advice to the refusal names the label that is looked for", () => {
    expect(REASONS.FirewallNotOwned.advice).toContain(`${FIREWALL_LABEL}=true`);
  });
});

describe("rules with a field that flipop does not know", () => {
  const strange = {
    id: 38,
    name: "web",
    labels: OWNED,
    created: "2026-01-01T00:00:00Z",
    rules: [{ ...SSH, schedule: "nightly" }],
    applied_to: [],
  };

  test("are never lost: the firewall is read, and not written", () =>
    inProject(projectWith({}), async (project) => {
      const body = { firewall: strange };
      project.faults.add({ server: "hetzner", method: "GET", path: "^/v1/firewalls/38$", status: 200, body });
      await expect(project.hetzner.firewalls.openPorts("38", [HTTP])).rejects.toMatchObject({
        failure: "refused",
        message: expect.stringContaining('the field "schedule"'),
      });
      expect(writesOf(project)).toEqual([]);
    }));
});

describe("servers", () => {
  test("are not put behind their first firewall, and not taken from their last, whatever was known before", () =>
    inProject(projectWith({ servers: [43] }), async (project) => {
      const { firewalls } = project.hetzner;
      await expect(firewalls.addMachines("38", ["42", "44"])).rejects.toMatchObject({
        failure: "refused",
        message: expect.stringContaining("no other firewall is in force at server 44"),
      });
      await firewalls.removeMachines("38", ["43"]);
      await firewalls.addMachines("38", ["43"]);
      project.sandbox.edit((state) => {
        state.firewalls = state.firewalls.filter(({ name }) => name === "web");
      });
      await expect(firewalls.removeMachines("38", ["43"])).rejects.toMatchObject({ failure: "refused" });
      expect(webOf(project).servers).toEqual([43]);
      expect(writesOf(project)).toHaveLength(2);
    }));

  test("another firewall that is not in force yet is none", () =>
    inProject(
      projectWith({}, { settings: { action_delay_ms: 20_000 } }),
      async ({ hetzner, again, clock, sandbox }) => {
        sandbox.edit(({ firewalls }) =>
          firewalls.push({ id: 40, name: "own", labels: { ...OWNED } } as Partial<FirewallState> as FirewallState),
        );
        await hetzner.firewalls.addMachines("40", ["42"]);
        const seen = await knownFirewall(again().firewalls, "38");
        expect(seen.othersAt).toEqual(
          new Map([
            ["42", { inForce: 1, pending: 1 }],
            ["43", { inForce: 1, pending: 0 }],
            ["44", { inForce: 0, pending: 0 }],
          ]),
        );
        await clock.advance(20_000);
        expect((await knownFirewall(hetzner.firewalls, "38")).othersAt?.get("42")).toEqual({ inForce: 2, pending: 0 });
      },
    ));

  test("show a change to another process, too, until they have it", () =>
    inProject(
      projectWith({ servers: [42] }, { settings: { action_delay_ms: 20_000 } }),
      async ({ hetzner, again, clock }) => {
        await hetzner.firewalls.openPorts("38", [HTTP]);
        for (const { firewalls } of [hetzner, again()])
          expect(await knownFirewall(firewalls, "38")).toMatchObject({ isWaiting: false, pendingMachineIDs: ["42"] });
        await clock.advance(20_000);
        for (const { firewalls } of [hetzner, again()])
          expect(await knownFirewall(firewalls, "38")).toMatchObject({ pendingMachineIDs: [], failedMachineIDs: [] });
      },
    ));

  test("where an action ends in an error have failed, for the process that began it, until the next change", () =>
    inProject(projectWith({}, { settings: { fail_next_actions: 1 } }), async ({ hetzner, again }) => {
      await hetzner.firewalls.addMachines("38", ["42"]);
      expect(await knownFirewall(hetzner.firewalls, "38")).toMatchObject({
        pendingMachineIDs: [],
        failedMachineIDs: ["42"],
      });
      expect(await knownFirewall(again().firewalls, "38")).toMatchObject({ pendingMachineIDs: ["42"] });
      await hetzner.firewalls.openPorts("38", [HTTP]);
      expect(await knownFirewall(hetzner.firewalls, "38")).toMatchObject({
        pendingMachineIDs: [],
        failedMachineIDs: [],
      });
    }));

  test("are believed once their action cannot be read for 10 seconds: they say themselves whether they have the change", () =>
    inProject(projectWith({}), async ({ hetzner: { firewalls }, clock, faults }) => {
      faults.add({ server: "hetzner", path: "/actions$", method: "GET", status: 503, times: 0 });
      await firewalls.addMachines("38", ["42"]);
      expect(await knownFirewall(firewalls, "38")).toMatchObject({
        ...{ machineIDs: ["42"], pendingMachineIDs: ["42"], failedMachineIDs: [] },
      });
      await clock.advance(10_000);
      expect(await knownFirewall(firewalls, "38")).toMatchObject({ machineIDs: ["42"], pendingMachineIDs: [] });
    }));

  test("that do not show a firewall that names them count as pending", () =>
    inProject(projectWith({ servers: [42], selectors: ["role=web"] }), async ({ hetzner, sandbox }) => {
      sandbox.edit(({ servers }) => {
        for (const server of servers)
          if (server.id !== 44) Object.assign(server, { ipv4: null, labels: { role: "web" } });
      });
      // Without a public network nothing is shown there.
      expect(await knownFirewall(hetzner.firewalls, "38")).toMatchObject({
        machineIDs: ["42"],
        pendingMachineIDs: ["42"],
      });
    }));

  test("are found by a label selector, and those that it does not select are left out", () =>
    inProject(
      {
        servers: [
          { id: 1, labels: { role: "web", tier: "a" } },
          { id: 2, labels: { role: "db" } },
        ],
      },
      async (project) => {
        const { firewalls } = project.hetzner;
        expect(await firewalls.machinesWithTag("role=web,tier")).toEqual(new Set(["1"]));
        const servers = project.sandbox
          .project()
          .state.servers.map(({ id, labels }) => ({ id, labels, public_net: { firewalls: [] } }));
        const body = { servers, meta: { pagination: { next_page: null, total_entries: 2, last_page: 1 } } };
        project.faults.add({ server: "hetzner", method: "GET", path: "^/v1/servers$", status: 200, body });
        expect(await firewalls.machinesWithTag("role=web")).toEqual(new Set(["1"]));
        await expect(firewalls.machinesWithTag("")).rejects.toMatchObject({ failure: "refused" });
      },
    ));
});

describe("refusals", () => {
  test("a firewall that something runs on is busy", () =>
    inProject(projectWith({ servers: [42], locked: true }), async ({ hetzner }) => {
      await expect(hetzner.firewalls.openPorts("38", [HTTP])).rejects.toMatchObject({ failure: "busy", status: 423 });
    }));

  test.each(["web", "0", "-1", "", "9007199254740993", "0d1e8f9a-0000-4000-8000-000000000000"])(
    "%j is no id of a firewall, and nothing is sent",
    (id) =>
      inProject({}, async ({ hetzner, calls }) => {
        await expect(hetzner.firewalls.getFirewall(id)).rejects.toMatchObject({ failure: "refused" });
        await expect(hetzner.firewalls.openPorts(id, [HTTP])).rejects.toMatchObject({ failure: "refused" });
        expect(calls).toEqual([]);
      }),
  );

  test("an answer about another firewall, or one without rules, is unusable", async () => {
    for (const firewall of [
      { id: 7, name: "web", rules: [], applied_to: [] },
      { id: 38, name: "web", applied_to: [] },
    ])
      await inProject(projectWith({}), async ({ hetzner, faults }) => {
        faults.add({ server: "hetzner", method: "GET", path: "^/v1/firewalls/38$", status: 200, body: { firewall } });
        await expect(hetzner.firewalls.openPorts("38", [HTTP])).rejects.toMatchObject({ failure: "malformed" });
      });
  });
});

test("readers have no method that could write", () => {
  const { firewalls } = openHetznerReaders({ token: "t", userAgent: "flipop-test", clock: SYSTEM_CLOCK });
  expect(Object.keys(firewalls)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(?:open|close|add|remove)/)]),
  );
});
