import { describe, expect, test } from "vitest";
import { openDigitalOceanReaders } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { PortRange } from "../../../src/model/firewall.ts";
import type { FirewallProvider } from "../../../src/ports/providers.ts";
import { dropletJSON } from "./api-objects.ts";
import {
  anybody,
  dropletPage,
  firewallJSON,
  firewallPage,
  id,
  linesOf,
  withFirewallServer,
} from "./with-firewall-server.ts";
import { token } from "./with-server.ts";

const http: PortRange = { protocol: "tcp", from: 80, to: 80 };
const done = { status: 204 };

describe("requests about firewalls", () => {
  test("a list asks for 200 at a time and goes on until it has as many as it says", async () => {
    const all = Array.from({ length: 401 }, (_, at) =>
      firewallJSON({ id: id.slice(0, -4) + (5000 - at).toString(10), name: `f${at}` }),
    );
    const pages = [0, 200, 400].map((from) => ({ json: firewallPage(all.slice(from, from + 200), 401) }));
    await withFirewallServer(pages, async ({ firewalls, server }) => {
      const ids = (await firewalls.listFirewalls()).map((firewall) => firewall.id);
      expect(ids).toHaveLength(401);
      expect(ids).toEqual(ids.toSorted());
      expect(linesOf(server)).toEqual([1, 2, 3].map((page) => `GET /v2/firewalls?page=${page}&per_page=200`));
    });
  });

  test("a full page is the last one when the total says so", async () => {
    const all = Array.from({ length: 200 }, (_, at) => firewallJSON({ id: id.slice(0, -4) + (1000 + at) }));
    await withFirewallServer({ json: firewallPage(all) }, async ({ firewalls, server }) => {
      expect(await firewalls.listFirewalls()).toHaveLength(200);
      expect(server.requests).toHaveLength(1);
    });
  });

  test("one firewall is read by its id, in whatever case it is written", async () => {
    await withFirewallServer({ json: { firewall: firewallJSON() } }, async ({ firewalls, server }) => {
      expect(await firewalls.getFirewall(id.toUpperCase())).toMatchObject({ id });
      expect(linesOf(server)).toEqual(["GET ID"]);
    });
  });

  test("droplets are asked for by tag", async () => {
    const droplets = [{ ...dropletJSON(42, []), tags: ["k8s:abc"] }];
    await withFirewallServer({ json: dropletPage(droplets) }, async ({ firewalls, server }) => {
      expect(await firewalls.machinesWithTag("k8s:abc")).toEqual(new Set(["42"]));
      const query = new URLSearchParams(server.requests[0]?.path.split("?")[1]);
      expect(Object.fromEntries(query)).toEqual({ page: "1", per_page: "200", tag_name: "k8s:abc" });
    });
  });

  test.for([
    [http, "80"],
    [{ protocol: "udp", from: 8000, to: 9000 }, "8000-9000"],
    [{ protocol: "tcp", from: 1, to: 65_535 }, "1-65535"],
    [{ protocol: "icmp", from: 0, to: 0 }, "0"],
  ] as const)("%j is opened and closed as one and the same rule with the ports %s", async ([range, ports]) => {
    await withFirewallServer(done, async ({ firewalls, server }) => {
      await firewalls.openPorts(id, [range]);
      await firewalls.closePorts(id, [range]);
      const rules = { inbound_rules: [{ protocol: range.protocol, ports, sources: anybody }] };
      expect(linesOf(server)).toEqual([
        ["POST ID/rules", rules],
        ["DELETE ID/rules", rules],
      ]);
    });
  });

  test("several ports, and several machines, are one call", async () => {
    await withFirewallServer(done, async ({ firewalls, server }) => {
      await firewalls.openPorts(id, [http, { ...http, from: 443, to: 443 }]);
      await firewalls.addMachines(id, ["42", "7"]);
      await firewalls.removeMachines(id, ["42"]);
      expect(linesOf(server)).toEqual([
        ["POST ID/rules", { inbound_rules: [expect.anything(), expect.anything()] }],
        ["POST ID/droplets", { droplet_ids: [42, 7] }],
        ["DELETE ID/droplets", { droplet_ids: [42] }],
      ]);
    });
  });

  test("nothing to change is no call", async () => {
    await withFirewallServer(done, async ({ firewalls, server }) => {
      await firewalls.openPorts(id, []);
      await firewalls.closePorts(id, []);
      await firewalls.addMachines(id, []);
      await firewalls.removeMachines(id, []);
      expect(server.requests).toHaveLength(0);
    });
  });

  test.for([
    ["another path", (firewalls: FirewallProvider) => firewalls.getFirewall("../droplets"), "../droplets"],
    ["a path", (firewalls: FirewallProvider) => firewalls.openPorts(`${id}/rules`, [http]), `${id}/rules`],
    ["no id", (firewalls: FirewallProvider) => firewalls.closePorts("", [http]), ""],
    ["a machine that is no number", (firewalls: FirewallProvider) => firewalls.addMachines(id, ["7", "x"]), "x"],
    ["a machine 0", (firewalls: FirewallProvider) => firewalls.removeMachines(id, ["0"]), "0"],
    ["an empty tag", (firewalls: FirewallProvider) => firewalls.machinesWithTag(""), ""],
  ] as const)("%s is refused before anything is sent", async ([, call, subject]) => {
    await withFirewallServer(done, async ({ firewalls, server }) => {
      const refused = { failure: "refused", status: 0, subject, isAmbiguous: false };
      await expect(call(firewalls)).rejects.toMatchObject(refused);
      expect(server.requests).toHaveLength(0);
    });
  });

  test("every request carries the token and our user agent, and counts under its own name", async () => {
    const reply = (method: string, path: string): object => {
      if (method !== "GET") return done;
      if (path.startsWith("/v2/droplets")) return { json: dropletPage([]) };
      return { json: path.includes("?") ? firewallPage([]) : { firewall: firewallJSON() } };
    };
    await withFirewallServer(
      ({ method, path }) => reply(method, path),
      async ({ firewalls, server }) => {
        await firewalls.listFirewalls();
        await firewalls.getFirewall(id);
        await firewalls.machinesWithTag("k8s");
        await firewalls.openPorts(id, [http]);
        await firewalls.closePorts(id, [http]);
        await firewalls.addMachines(id, ["42"]);
        await firewalls.removeMachines(id, ["42"]);
        for (const { headers } of server.requests) {
          expect(headers).toMatchObject({ authorization: `Bearer ${token}`, "user-agent": "flipop/0 (test)" });
        }
        expect(firewalls.calls().map(({ operation, count }) => `${operation} ${count}`)).toEqual([
          "add-machines 1",
          "close-ports 1",
          "firewall 1",
          "firewalls 1",
          "open-ports 1",
          "remove-machines 1",
          "tagged-machines 1",
        ]);
      },
    );
  });

  test("the reader reads, and has no method that writes", async () => {
    await withFirewallServer({ json: firewallPage([firewallJSON()]) }, async ({ server }) => {
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock: SYSTEM_CLOCK };
      const reader = openDigitalOceanReaders(options).firewalls;
      expect(await reader.listFirewalls()).toMatchObject([{ id, name: "web" }]);
      const names = ["calls", "durations", "firewallLimits", "getFirewall", "listFirewalls", "machinesWithTag", "name"];
      expect(Object.keys(reader).sort()).toEqual([...names, "rateLimit"]);
      expect(reader.firewallLimits).toEqual({ rules: 50, machines: 10 });
    });
  });
});
