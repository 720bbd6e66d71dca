import { describe, expect, test } from "vitest";
import { errorJSON } from "./api-objects.ts";
import { failureOf, token, withServer } from "./with-server.ts";

const ip = "203.0.113.1";
const html = { text: "<html>Bad Gateway</html>", headers: { "content-type": "text/html" } };

describe("refusals", () => {
  test.for([
    [
      401,
      "unauthorized",
      "Unable to authenticate you",
      "DigitalOcean did not accept the token when asked to assign 203.0.113.1 to droplet 42: Unable to authenticate you (401). Check the token and its expiry.",
    ],
    [
      403,
      "forbidden",
      "You are not authorized",
      "DigitalOcean does not allow this token to assign 203.0.113.1 to droplet 42: You are not authorized (403). Give the token the scope reserved_ip:update.",
    ],
    [404, "not-found", "Not here.", "DigitalOcean refused to assign 203.0.113.1 to droplet 42: Not here. (404)"],
    [
      409,
      "busy",
      "Another event is in progress.",
      "DigitalOcean refused to assign 203.0.113.1 to droplet 42: Another event is in progress. (409)",
    ],
    [409, "refused", "Conflict.", "DigitalOcean refused to assign 203.0.113.1 to droplet 42: Conflict. (409)"],
    [
      422,
      "busy",
      "Droplet already has a pending event",
      "DigitalOcean refused to assign 203.0.113.1 to droplet 42: Droplet already has a pending event (422)",
    ],
    [
      422,
      "busy",
      "The floating IP already has a pending event.",
      "DigitalOcean refused to assign 203.0.113.1 to droplet 42: The floating IP already has a pending event. (422)",
    ],
    [
      422,
      "refused",
      "Droplet already has a reserved IP.",
      "DigitalOcean refused to assign 203.0.113.1 to droplet 42: Droplet already has a reserved IP. (422)",
    ],
    [400, "refused", "Bad request.", "DigitalOcean refused to assign 203.0.113.1 to droplet 42: Bad request. (400)"],
  ] as const)("with status %i are %s when the server says: %s", async ([status, failure, message, text]) => {
    await withServer({ status, json: errorJSON("an_id", message) }, async ({ provider, server }) => {
      const error = await failureOf(provider.assign(ip, "42"));
      expect(error).toMatchObject({ failure, status, isAmbiguous: false, operation: "assign", subject: ip });
      expect(error).toMatchObject({ provider: "digitalocean", message: text, notBeforeMs: undefined });
      expect(server.requests).toHaveLength(1);
    });
  });

  test.for([500, 502, 503, 504, 408])("with status %i leave open whether a write took effect", async (status) => {
    await withServer({ status, json: errorJSON("server_error", "Unexpected server-side error") }, async (stage) => {
      const error = await failureOf(stage.provider.assign(ip, "42"));
      expect(error).toMatchObject({ failure: "unavailable", status, isAmbiguous: true });
      expect(error.message).toBe(
        `DigitalOcean failed to assign 203.0.113.1 to droplet 42: Unexpected server-side error (${status}); it may have taken effect all the same`,
      );
      expect(stage.server.requests).toHaveLength(1);
    });
  });

  test("name the scope that each operation needs", async () => {
    await withServer({ status: 403, json: errorJSON("forbidden", "No.") }, async ({ provider }) => {
      const calls: readonly (readonly [string, Promise<unknown>])[] = [
        ["reserved_ip:read", provider.listPage(1)],
        ["reserved_ip:read", provider.getAddress(ip)],
        ["reserved_ip:read", provider.actionState({ ip, actionID: "7" })],
        ["droplet:read", provider.machineAddresses("42")],
        ["reserved_ip:update", provider.assign(ip, "42")],
        ["reserved_ip:update", provider.unassign(ip)],
        ["reserved_ip:create", provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] })],
        ["reserved_ip:create", provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] })],
        ["reserved_ip:delete", provider.delete(ip)],
      ];
      const errors = await Promise.all(calls.map(([, call]) => failureOf(call)));
      for (const [at, [scope]] of calls.entries()) {
        expect(errors[at]?.failure).toBe("forbidden");
        expect(errors[at]?.message).toContain(`Give the token the scope ${scope}.`);
      }
    });
  });

  test("say what could not be done, whichever call it was", async () => {
    await withServer({ status: 400, json: errorJSON("bad", "No.") }, async ({ provider }) => {
      const promises = [
        provider.listPage(2),
        provider.getAddress(ip),
        provider.machineAddresses("42"),
        provider.addressLimit(),
        provider.actionState({ ip, actionID: "7" }),
        provider.unassign(ip),
        provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] }),
        provider.create({ machineID: "42" }, { uid: "uid", knownIPs: [] }),
        provider.delete(ip),
      ];
      const errors = await Promise.all(promises.map(failureOf));
      expect(errors.map((error) => [error.operation, error.subject, error.message])).toEqual([
        ["list", "", "DigitalOcean refused to list the reserved IPs (page 2): No. (400)"],
        ["get", ip, "DigitalOcean refused to read 203.0.113.1: No. (400)"],
        ["machine", "42", "DigitalOcean refused to read droplet 42: No. (400)"],
        ["limit", "", "DigitalOcean refused to read the account's limit of reserved IPs: No. (400)"],
        ["action", ip, "DigitalOcean refused to read action 7 of 203.0.113.1: No. (400)"],
        ["unassign", ip, "DigitalOcean refused to unassign 203.0.113.1: No. (400)"],
        ["create", "", 'DigitalOcean refused to create a reserved IP in region "nyc3": No. (400)'],
        ["create", "42", "DigitalOcean refused to create a reserved IP for droplet 42: No. (400)"],
        ["delete", ip, "DigitalOcean refused to delete 203.0.113.1: No. (400)"],
      ]);
    });
  });

  test("take the request id from the header before the body", async () => {
    const json = errorJSON("unprocessable_entity", "No.", "from-body");
    const replies = [
      { status: 422, json, headers: { "x-request-id": "from-header" } },
      { status: 422, json },
    ];
    await withServer(replies, async ({ provider }) => {
      const errors = [await failureOf(provider.unassign(ip)), await failureOf(provider.unassign(ip))];
      expect(errors.map((error) => error.requestID)).toEqual(["from-header", "from-body"]);
      expect(errors[0]?.message).toBe("DigitalOcean refused to unassign 203.0.113.1: No. (422)");
    });
  });

  test("take the text from the API's other error model", async () => {
    const json = { error: "Invalid request", messages: ["droplet is unknown"], root_causes: [] };
    await withServer({ status: 422, json, isOffSpec: true }, async ({ provider }) => {
      const { message } = await failureOf(provider.unassign(ip));
      expect(message).toBe("DigitalOcean refused to unassign 203.0.113.1: Invalid request; droplet is unknown (422)");
    });
  });

  test("that are HTML say so and keep their status", async () => {
    await withServer({ status: 502, ...html }, async ({ provider }) => {
      const error = await failureOf(provider.unassign(ip));
      expect(error).toMatchObject({ failure: "unavailable", status: 502, isAmbiguous: true });
      expect(error.message).toContain('HTML instead of JSON: "<html>Bad Gateway</html>" (502)');
    });
  });

  test("that break off keep their status", async () => {
    const json = errorJSON("unprocessable_entity", "Droplet already has a reserved IP.");
    await withServer({ status: 422, json, fault: "cut" }, async ({ provider }) => {
      const error = await failureOf(provider.unassign(ip));
      expect(error).toMatchObject({ failure: "refused", status: 422, isAmbiguous: false });
      expect(error.message).toContain("the answer broke off (422)");
    });
  });

  test("never show the token, nor more than 200 characters of the server's words", async () => {
    const message = `Bearer ${token}\n is wrong ${"x".repeat(1000)}`;
    await withServer({ status: 422, json: errorJSON(token, message, token) }, async ({ provider }) => {
      const error = await failureOf(provider.unassign(ip));
      expect(error.message).toContain("Bearer [redacted] is wrong xxx");
      expect(error.requestID).toBe("[redacted]");
      expect(error.message.length).toBeLessThan(300);
    });
  });

  test("with a claims challenge are not answered by sending a write again", async () => {
    const headers = { "www-authenticate": 'Bearer realm="x", claims="abc"' };
    const reply = { status: 401, json: errorJSON("unauthorized", "No."), headers };
    await withServer(reply, async ({ provider, server }) => {
      expect((await failureOf(provider.assign(ip, "42"))).failure).toBe("unauthorized");
      expect(server.requests).toHaveLength(1);
    });
  });

  test.for([
    ["assign", (provider) => provider.assign("203.0.113.01", "42"), '"203.0.113.01" is not an IPv4 address'],
    ["get", (provider) => provider.getAddress("../account"), '"../account" is not an IPv4 address'],
    ["delete", (provider) => provider.delete(""), '"" is not an IPv4 address'],
    ["assign", (provider) => provider.assign(ip, "abc"), '"abc" is not a droplet id'],
    ["assign", (provider) => provider.assign(ip, "9007199254740993"), '"9007199254740993" is not a droplet id'],
    [
      "create",
      (provider) => provider.create({ machineID: "042" }, { uid: "uid", knownIPs: [] }),
      '"042" is not a droplet id',
    ],
    ["machine", (provider) => provider.machineAddresses("-1"), '"-1" is not a droplet id'],
  ] satisfies readonly [string, (provider: Provider) => Promise<unknown>, string][])(
    "of our own keep a %s that cannot be sent from being sent: %o",
    async ([operation, call, reason]) => {
      await withServer([], async ({ provider, server }) => {
        const error = await failureOf(call(provider));
        expect(error).toMatchObject({ failure: "refused", status: 0, operation, isAmbiguous: false });
        expect(error.message).toContain(reason);
        expect(server.requests).toEqual([]);
        expect(provider.calls()).toEqual([]);
      });
    },
  );
});

type Provider = Parameters<Parameters<typeof withServer>[1]>[0]["provider"];
