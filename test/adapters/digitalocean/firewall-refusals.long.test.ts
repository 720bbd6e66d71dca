import { describe, expect, test } from "vitest";
import { createClient } from "../../../src/adapters/digitalocean/api.ts";
import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import type { PortRange } from "../../../src/model/firewall.ts";
import type { FirewallProvider } from "../../../src/ports/providers.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { errorJSON } from "./api-objects.ts";
import type { Reply } from "./scripted-server.ts";
import { dropletPage, firewallJSON, firewallPage, id, linesOf, withFirewallServer } from "./with-firewall-server.ts";
import { failureOf, token } from "./with-server.ts";

type Call = (firewalls: FirewallProvider) => Promise<unknown>;

const http: PortRange = { protocol: "tcp", from: 80, to: 80 };
const list: Call = (firewalls) => firewalls.listFirewalls();
const read: Call = (firewalls) => firewalls.getFirewall(id);
const tagged: Call = (firewalls) => firewalls.machinesWithTag("k8s");
const open: Call = (firewalls) => firewalls.openPorts(id, [http]);
const close: Call = (firewalls) => firewalls.closePorts(id, [http]);
const add: Call = (firewalls) => firewalls.addMachines(id, ["42"]);
const remove: Call = (firewalls) => firewalls.removeMachines(id, ["42"]);

const reads = [
  ["firewalls", "", list],
  ["firewall", id, read],
  ["tagged-machines", "k8s", tagged],
] as const;
const writes = [
  ["open-ports", id, open],
  ["close-ports", id, close],
  ["add-machines", id, add],
  ["remove-machines", id, remove],
] as const;

const notFound: Reply = { status: 404, json: errorJSON("not_found", "The resource you requested could not be found.") };
const forbidden: Reply = { status: 403, json: errorJSON("Forbidden", "You are not authorized") };
const serverError: Reply = { status: 503, json: errorJSON("server_error", "Out of order") };

describe("refusals about firewalls", () => {
  test.for([
    ["scope firewall:read", "list the firewalls (page 1)", list],
    ["scope firewall:read", `read the firewall ${id}`, read],
    ["scopes droplet:read and tag:read", 'list the droplets with the tag "k8s" (page 1)', tagged],
    ["scope firewall:update", `open tcp/80 in the firewall ${id}`, open],
    ["scope firewall:update", `close tcp/80 in the firewall ${id}`, close],
    ["scope firewall:update", `add droplet 42 to the firewall ${id}`, add],
    ["scope firewall:update", `remove droplet 42 from the firewall ${id}`, remove],
  ] as const)("a token without the %s may not %s, and is told so", async ([scope, doing, call]) => {
    await withFirewallServer(forbidden, async ({ firewalls, server }) => {
      const error = await failureOf(call(firewalls));
      expect(error).toMatchObject({ failure: "forbidden", status: 403, isAmbiguous: false });
      expect(error.message).toBe(
        `DigitalOcean does not allow this token to ${doing}: You are not authorized (403). Give the token the ${scope}.`,
      );
      expect(server.requests).toHaveLength(1);
    });
  });

  test("a firewall that is not there is undefined, and a tag that is not there has no machines", async () => {
    await withFirewallServer(notFound, async ({ firewalls }) => {
      expect(await firewalls.getFirewall(id)).toBeUndefined();
      expect(await firewalls.machinesWithTag("k8s")).toEqual(new Set());
      expect(await failureOf(firewalls.listFirewalls())).toMatchObject({ failure: "not-found" });
    });
  });

  test.for(writes)(
    "%s is not found when the firewall is gone, and says what to do",
    async ([operation, subject, call]) => {
      await withFirewallServer(notFound, async ({ firewalls }) => {
        const error = await failureOf(call(firewalls));
        expect(error).toMatchObject({ failure: "not-found", status: 404, operation, subject, isAmbiguous: false });
        expect(error.message).toContain(`account has no firewall ${id}`);
      });
    },
  );

  test("a 404 that is a proxy's page does not make a firewall gone", async () => {
    const html: Reply = { status: 404, text: "<html>no such host</html>", headers: { "content-type": "text/html" } };
    await withFirewallServer(html, async ({ firewalls }) => {
      for (const call of [read, tagged, open]) {
        expect(await failureOf(call(firewalls))).toMatchObject({ failure: "malformed", isAmbiguous: false });
      }
    });
  });

  test.for([
    [400, "refused", "error parsing request body"],
    [422, "refused", "Firewall must have no more than 10 droplets."],
    [422, "busy", "Firewall already has a pending event."],
    [409, "busy", "A change is in progress."],
    [409, "refused", "Conflict."],
    [401, "unauthorized", "Unable to authenticate you"],
  ] as const)("%i is %s for: %s", async ([status, failure, message]) => {
    await withFirewallServer({ status, json: errorJSON("x", message) }, async ({ firewalls, server }) => {
      const error = await failureOf(add(firewalls));
      expect(error).toMatchObject({ failure, status, operation: "add-machines", subject: id, isAmbiguous: false });
      expect(error.message).toContain(`${message} (${status})`);
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe("answers about firewalls that do not arrive", () => {
  test.for(reads)("%s is repeated once after a 5xx", async ([operation, subject, call]) => {
    await withFirewallServer(serverError, async ({ firewalls, server }) => {
      const error = await failureOf(call(firewalls));
      expect(error).toMatchObject({ failure: "unavailable", operation, subject, isAmbiguous: false });
      expect(server.requests).toHaveLength(2);
    });
  });

  test("a read goes on after one 5xx", async () => {
    await withFirewallServer([serverError, { json: firewallPage([firewallJSON()]) }], async ({ firewalls }) => {
      expect(await firewalls.listFirewalls()).toHaveLength(1);
    });
  });

  for (const [how, reply] of [
    ["after a 5xx", serverError],
    ["when the connection breaks", { fault: "drop" }],
  ] as const) {
    test.for(writes)(
      `%s is not repeated ${how}, and leaves open whether it took effect`,
      async ([operation, , call]) => {
        await withFirewallServer(reply, async ({ firewalls, server }) => {
          const error = await failureOf(call(firewalls));
          expect(error).toMatchObject({ failure: "unavailable", operation, subject: id, isAmbiguous: true });
          expect(error.message).toContain("it may have taken effect all the same");
          expect(server.requests).toHaveLength(1);
        });
      },
    );
  }

  test.for([
    ["firewalls", list, firewallPage([firewallJSON()])],
    ["firewall", read, { firewall: firewallJSON() }],
    ["droplets", tagged, dropletPage([])],
  ] as const)("%s that break off are never taken for none", async ([, call, json]) => {
    await withFirewallServer({ json, fault: "cut" }, async ({ firewalls }) => {
      expect(await failureOf(call(firewalls))).toMatchObject({ failure: "unavailable", isAmbiguous: false });
    });
  });
});

describe("the rate limit", () => {
  test("of one adapter stops the others of the same token, until it is over", async () => {
    const tooMany: Reply = {
      status: 429,
      json: errorJSON("too_many_requests", "API rate limit exceeded."),
      headers: { "retry-after": "20" },
    };
    await withFirewallServer(tooMany, async ({ server }) => {
      const clock = new FakeClock();
      const options = { token, baseURL: server.url, userAgent: "flipop/0", clock };
      const caller = createClient(options);
      const addresses = openDigitalOcean(options, caller).addresses;
      const firewalls = openDigitalOcean(options, caller).firewalls;
      expect(await failureOf(addresses.listPage(1))).toMatchObject({ failure: "rate-limited", status: 429 });
      for (const [, , call] of [...reads, ...writes]) {
        expect(await failureOf(call(firewalls))).toMatchObject({ failure: "rate-limited", status: 0 });
      }
      expect(server.requests).toHaveLength(1);
      await clock.advance(20_000);
      expect(await failureOf(open(firewalls))).toMatchObject({ failure: "rate-limited", status: 429 });
      expect(await failureOf(addresses.listPage(1))).toMatchObject({ failure: "rate-limited", status: 0 });
      expect(linesOf(server)).toEqual([expect.any(String), ["POST ID/rules", expect.anything()]]);
      expect(firewalls.calls()).toEqual(addresses.calls());
    });
  });
});
