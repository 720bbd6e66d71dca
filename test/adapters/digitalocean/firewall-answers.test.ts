import { describe, expect, test } from "vitest";
import type { Firewall } from "../../../src/model/firewall.ts";
import type { FirewallProvider } from "../../../src/ports/providers.ts";
import { dropletJSON } from "./api-objects.ts";
import {
  anybody,
  dropletPage,
  firewallJSON,
  firewallPage,
  id,
  ruleJSON,
  withFirewallServer,
} from "./with-firewall-server.ts";
import { failureOf } from "./with-server.ts";

const read = (firewalls: FirewallProvider): Promise<unknown> => firewalls.getFirewall(id);
const list = (firewalls: FirewallProvider): Promise<unknown> => firewalls.listFirewalls();
const tagged = (firewalls: FirewallProvider): Promise<unknown> => firewalls.machinesWithTag("k8s");

async function decoded(more: object, isOffSpec = false): Promise<Firewall | undefined> {
  let firewall: Firewall | undefined;
  await withFirewallServer({ json: { firewall: firewallJSON(more) }, isOffSpec }, async ({ firewalls }) => {
    firewall = await firewalls.getFirewall(id);
  });
  return firewall;
}

async function decodedRules(...rules: readonly object[]): Promise<unknown> {
  const isOffSpec = rules.some(
    (rule) => !("sources" in rule) || !/^(tcp|udp|icmp)$/.test(String(rule["protocol" as never])),
  );
  return (await decoded({ inbound_rules: rules }, isOffSpec))?.rules;
}

describe("a firewall", () => {
  test("is shown in canonical form, whatever order it came in", async () => {
    const rules = [
      ruleJSON("udp", "53"),
      ruleJSON("tcp", "443"),
      ruleJSON("tcp", "22", { addresses: ["192.0.2.0/24"] }),
      ruleJSON("tcp", "22"),
    ];
    const outbound = [{ protocol: "tcp", ports: "0", destinations: anybody }];
    const facts = { outbound_rules: outbound, droplet_ids: [7, 42, 7], tags: ["web", "k8s"] };
    const shown = await decoded({ inbound_rules: rules, ...facts });
    expect(shown).toEqual({
      id,
      name: "web",
      rules: [
        { ports: { protocol: "tcp", from: 22, to: 22 }, openTo: ["IPv4", "IPv6"], isPlain: true },
        { ports: { protocol: "tcp", from: 22, to: 22 }, openTo: [], isPlain: false },
        { ports: { protocol: "tcp", from: 443, to: 443 }, openTo: ["IPv4", "IPv6"], isPlain: true },
        { ports: { protocol: "udp", from: 53, to: 53 }, openTo: ["IPv4", "IPv6"], isPlain: true },
      ],
      ruleCount: 5,
      machineIDs: ["42", "7"],
      tags: ["k8s", "web"],
      isWaiting: false,
      pendingMachineIDs: [],
      failedMachineIDs: [],
    });
    expect(await decoded({ inbound_rules: rules.toReversed(), ...facts })).toEqual(shown);
  });

  test("may have null, or nothing, for every list", async () => {
    const none = { inbound_rules: null, outbound_rules: null, droplet_ids: null, tags: null };
    const progress = { isWaiting: false, pendingMachineIDs: [], failedMachineIDs: [] };
    const empty = { id, name: "web", rules: [], ruleCount: 0, machineIDs: [], tags: [], ...progress };
    expect(await decoded(none)).toEqual(empty);
    const gone = { ...none, inbound_rules: undefined, pending_changes: undefined, status: undefined };
    expect(await decoded(gone)).toEqual(empty);
  });

  test("has an id in lower case", async () => {
    expect(await decoded({ id: id.toUpperCase() })).toMatchObject({ id });
  });

  test("may have an id that is no UUID, which is taken as it is", async () => {
    const listed = [firewallJSON({ id: "FW-1" }), firewallJSON()];
    await withFirewallServer({ json: firewallPage(listed) }, async ({ firewalls }) => {
      const found = await firewalls.listFirewalls();
      expect(found.map((firewall) => firewall.id)).toEqual(["FW-1", id]);
    });
  });

  const change = (id: number | null | undefined, status: string | null = "waiting", removing = false): object => ({
    ...(id === undefined ? {} : { droplet_id: id }),
    removing,
    status,
  });
  test.for([
    // status, pending changes → pending machines, failed machines, the whole firewall
    ["succeeded", [], [], [], false],
    ["failed", [], [], [], false],
    [undefined, undefined, [], [], false],
    [null, null, [], [], false],
    ["waiting", [], [], [], true],
    ["waiting", undefined, [], [], true],
    ["enqueued", [], [], [], true],
    ["waiting", [change(42)], ["42"], [], false],
    ["enqueued", [change(42)], ["42"], [], false],
    ["succeeded", [change(42)], ["42"], [], false],
    ["failed", [change(42)], ["42"], [], false],
    [undefined, [change(42)], ["42"], [], false],
    ["waiting", [change(42, "waiting", true), change(7), change(42)], ["42", "7"], [], false],
    ["failed", [change(42, "failed")], [], ["42"], false],
    ["waiting", [change(42, "failed")], [], ["42"], true],
    ["waiting", [change(42, "failed"), change(7)], ["7"], ["42"], false],
    ["waiting", [change(42, "failed"), change(42)], ["42"], [], false],
    ["succeeded", [change(42, "succeeded")], [], [], false],
    ["waiting", [change(42, "succeeded")], [], [], true],
    ["waiting", [change(42, "queued")], ["42"], [], false],
    ["waiting", [change(42, null)], ["42"], [], false],
    ["waiting", [change(undefined)], [], [], true],
    ["waiting", [change(null)], [], [], true],
    ["waiting", [change(0), change(7)], ["7"], [], true],
    ["failed", [change(undefined, "failed")], [], [], false],
  ] as const)(
    "with the status %s and the pending changes %j is pending at %j, failed at %j, and waiting as a whole: %s",
    async ([status, changes, pendingMachineIDs, failedMachineIDs, isWaiting]) => {
      expect(await decoded({ status, pending_changes: changes }, true)).toMatchObject({
        isWaiting,
        pendingMachineIDs,
        failedMachineIDs,
      });
    },
  );

  test("with a pending change for a droplet that is no number cannot be read", async () => {
    const read = decoded({ pending_changes: [{ droplet_id: "42" }] }, true);
    await expect(read).rejects.toThrow('pending_changes[0].droplet_id is "42", not a numeric id');
  });
});

const BOTH = ["IPv4", "IPv6"];

describe("a rule", () => {
  test.for([
    ["tcp", "80", 80, 80, true],
    ["tcp", "8000-9000", 8000, 9000, true],
    ["udp", "1-65535", 1, 65_535, true],
    ["udp", "0", 1, 65_535, false],
    ["udp", "all", 1, 65_535, false],
    ["tcp", "", 1, 65_535, false],
    ["tcp", "80-80", 80, 80, false],
    ["icmp", "0", 0, 0, true],
    ["icmp", "", 0, 0, true],
    ["icmp", "all", 0, 0, true],
  ] as const)("for %s with the ports %j is for %i to %i, and in our form: %s", async (row) => {
    const [protocol, ports, from, to, isPlain] = row;
    const rules = await decodedRules(ruleJSON(protocol, ports));
    expect(rules).toEqual([{ ports: { protocol, from, to }, openTo: ["IPv4", "IPv6"], isPlain }]);
  });

  test.for([
    ["both families", anybody, BOTH, true],
    ["both families the other way round", { addresses: ["::/0", "0.0.0.0/0"] }, BOTH, true],
    ["empty lists beside them", { ...anybody, tags: [], droplet_ids: [], kubernetes_ids: [] }, BOTH, true],
    ["IPv4 alone", { addresses: ["0.0.0.0/0"] }, ["IPv4"], false],
    ["IPv6 alone", { addresses: ["::/0"] }, ["IPv6"], false],
    ["one more address", { addresses: ["0.0.0.0/0", "::/0", "192.0.2.1"] }, BOTH, false],
    ["a tag beside them", { ...anybody, tags: ["web"] }, BOTH, false],
    ["a kind that is not known yet beside them", { ...anybody, vpc_uuid: "x" }, BOTH, false],
    ["an office", { addresses: ["192.0.2.0/24"] }, [], false],
    ["a tag alone", { tags: ["web"] }, [], false],
    ["nobody", {}, [], false],
  ] as const)(
    "for %s is open to whom it should be, and plain as it should be",
    async ([, sources, openTo, isPlain]) => {
      expect(await decodedRules(ruleJSON("tcp", "80", sources))).toMatchObject([{ openTo, isPlain }]);
    },
  );

  test("without sources is open to nobody", async () => {
    const rule = { protocol: "tcp", ports: "80" };
    expect(await decodedRules(rule)).toMatchObject([{ openTo: [], isPlain: false }]);
  });

  test("that denies opens nothing, one that allows does", async () => {
    const rules = await decodedRules(
      ruleJSON("tcp", "80", anybody, { action: "deny" }),
      ruleJSON("tcp", "81", anybody, { action: "allow" }),
    );
    expect(rules).toMatchObject([
      { openTo: [], isPlain: false },
      { openTo: ["IPv4", "IPv6"], isPlain: true },
    ]);
  });

  test("of a protocol that is not known is counted and not shown", async () => {
    const rules = [ruleJSON("sctp", "x"), ruleJSON("tcp", "80")];
    expect(await decoded({ inbound_rules: rules }, true)).toMatchObject({ ruleCount: 2, rules: [{}] });
  });
});

describe("a tag filter that does not filter", () => {
  test("makes no droplet look tagged, and case does not matter", async () => {
    const droplets = [["k8s"], ["K8S", "web"], ["web"], []].map((tags, at) => ({ ...dropletJSON(at + 1, []), tags }));
    await withFirewallServer({ json: dropletPage(droplets) }, async ({ firewalls }) => {
      expect(await firewalls.machinesWithTag("k8s")).toEqual(new Set(["1", "2"]));
    });
  });
});

describe("malformed answers about firewalls", () => {
  const of = (more: object): object => ({ firewall: firewallJSON(more) });
  const rule = (more: object): object =>
    of({ inbound_rules: [ruleJSON("tcp", "80"), { ...ruleJSON("tcp", "80"), ...more }] });
  for (const [call, json, reason] of [
    [read, {}, "firewall is missing, not an object"],
    [read, { firewall: null }, "firewall is null, not an object"],
    [read, of({ id: "../web" }), 'firewall.id is "../web", not the id of a firewall'],
    [read, of({ id: id.replace("bb", "aa") }), `firewall.id is ${id.replace("bb", "aa")}, not ${id}`],
    [read, of({ name: null }), "firewall.name is null, not text"],
    [read, of({ inbound_rules: {} }), "firewall.inbound_rules is an object, not a list"],
    [read, of({ outbound_rules: 3 }), "firewall.outbound_rules is 3, not a list"],
    [read, of({ droplet_ids: ["42"] }), 'firewall.droplet_ids[0] is "42", not a numeric id'],
    [read, of({ tags: [7] }), "firewall.tags[0] is 7, not text"],
    [read, of({ status: true }), "firewall.status is true, not text"],
    [read, of({ pending_changes: "none" }), 'firewall.pending_changes is "none", not a list'],
    [read, rule({ protocol: undefined }), "firewall.inbound_rules[1].protocol is missing, not text"],
    [read, rule({ ports: 80 }), "firewall.inbound_rules[1].ports is 80, not text"],
    [read, rule({ ports: "80,443" }), 'firewall.inbound_rules[1].ports is "80,443", not a port or a range of ports'],
    [read, rule({ ports: "70000" }), 'firewall.inbound_rules[1].ports is "70000", not a port or a range of ports'],
    [read, rule({ action: 1 }), "firewall.inbound_rules[1].action is 1, not text"],
    [read, rule({ sources: [] }), "firewall.inbound_rules[1].sources is a list, not an object"],
    [read, rule({ sources: { addresses: [4] } }), "firewall.inbound_rules[1].sources.addresses[0] is 4, not text"],
    [list, {}, "firewalls is missing, not a list"],
    [list, { firewalls: null, meta: { total: 0 } }, "firewalls is null, not a list"],
    [list, { firewalls: [] }, "meta is missing, not an object"],
    [list, firewallPage([], 3), "firewalls is empty although meta.total is 3"],
    [list, firewallPage([firewallJSON()], 3), "the pages hold 1 firewalls although meta.total is 3"],
    [list, firewallPage([firewallJSON(), {}]), "firewalls[1].id is missing, not the id of a firewall"],
    [tagged, dropletPage([], 3), "droplets is empty although meta.total is 3"],
    [tagged, dropletPage([{ id: 42 }]), "droplets[0].tags is missing, not a list"],
    [tagged, dropletPage([{ id: "x", tags: [] }]), 'droplets[0].id is "x", not a numeric id'],
  ] as const) {
    test(`say that ${reason}`, async () => {
      await withFirewallServer({ json, isOffSpec: true }, async ({ firewalls, server }) => {
        const error = await failureOf(call(firewalls));
        expect(error).toMatchObject({ failure: "malformed", status: 200, isAmbiguous: false });
        expect(error.message).toContain(`: ${reason} (200)`);
        expect(server.requests).toHaveLength(1);
      });
    });
  }
});

describe("pages that change while they are read", () => {
  const all = Array.from({ length: 201 }, (_, at) => firewallJSON({ id: id.slice(0, -4) + (1000 + at) }));
  const next = { links: { pages: { next: "https://api.digitalocean.com/v2/firewalls?page=2" } } };
  const droplets = Array.from({ length: 201 }, (_, at) => ({ ...dropletJSON(at + 1, []), tags: ["k8s"] }));
  test.for([
    [
      "a total that sinks to what was seen",
      list,
      [firewallPage(all.slice(0, 200), 450), firewallPage(all.slice(200), 201)],
      "meta.total changed from 450 to 201 between pages",
    ],
    [
      "a firewall that is shown twice beside as many as there are",
      list,
      [firewallPage(all.slice(0, 200), 201), firewallPage(all.slice(199), 201)],
      "is shown twice",
    ],
    [
      "a total of droplets that sinks to what was seen",
      tagged,
      [dropletPage(droplets.slice(0, 200), 450), dropletPage(droplets.slice(200), 201)],
      "meta.total changed from 450 to 201 between pages",
    ],
    [
      "a total that counts the first page only, beside a page that follows",
      list,
      [{ ...firewallPage(all.slice(0, 200), 200), ...next }, firewallPage(all.slice(200), 200)],
      "the pages hold 201 firewalls although meta.total is 200",
    ],
    [
      "a page that is shown again, and names a next one for ever",
      list,
      [
        { ...firewallPage(all.slice(0, 3), 3), ...next },
        { ...firewallPage(all.slice(0, 3), 3), ...next },
      ],
      "page 2 shows nothing new although more pages follow",
    ],
  ] as const)("are an error, never the whole: %s", async ([, call, pages, reason]) => {
    const replies = pages.map((json) => ({ json }));
    await withFirewallServer(replies, async ({ firewalls }) => {
      const error = await failureOf(call(firewalls));
      expect(error.failure).toBe("malformed");
      expect(error.message).toContain(reason);
    });
  });
});
