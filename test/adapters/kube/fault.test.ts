import { describe, expect, test } from "vitest";
import { cutOff, failure, hangUp, list, type Say } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const ok = list("NodeList", [{ metadata: { name: "a" } }]);

describe("an answer that is no answer", () => {
  test("a body that stalls is a timeout after the deadline, headers or not", async () => {
    const stall: Say = (response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write('{"kind":');
    };
    const silent: Say = () => undefined;
    for (const say of [stall, silent]) {
      await withServer(
        [say],
        async ({ reader, url }) => {
          const error = await rejection(reader.listNodes());
          expect(error).toMatchObject({ failure: "timeout", status: 0 });
          expect(error.message).toBe(
            `Cannot list nodes: no complete answer from ${url} within 0.3 s. Try again, or allow more with --request-timeout.`,
          );
        },
        { requestTimeoutMs: 300 },
      );
    }
  });

  test("a page of HTML is malformed and not quoted", async () => {
    const html: Say = (response) => {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
      response.end("<html>secret</html>");
    };
    await withServer([html], async ({ reader, url, asked }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ failure: "malformed", status: 200 });
      expect(error.message).toBe(
        `Cannot list nodes: the answer is text/html, not JSON (200). Check that ${url} is the API server itself, not a login page or proxy.`,
      );
      expect(asked).toHaveLength(1);
    });
  });

  test("an error page of a proxy keeps its status and is not quoted", async () => {
    const html: Say = (response) => {
      response.writeHead(403, { "Content-Type": "text/html" });
      response.end("<html>secret</html>");
    };
    await withServer([html], async ({ reader }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ failure: "forbidden", status: 403 });
      expect(error.message).toContain("the answer is text/html, not that of a Kubernetes API (403)");
      expect(error.message).not.toContain("secret");
    });
  });

  test.for([414, 431])(
    "a request that is too long (%i) is told as such, since the server says nothing else",
    async (status) => {
      const tooLong: Say = (response) => {
        response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" });
        response.end(`${status} too large`);
      };
      await withServer([tooLong], async ({ reader }) => {
        const error = await rejection(reader.listPods({ namespace: "", label: "app=web" }));
        expect(error).toMatchObject({ failure: "invalid", status });
        expect(error.message).toBe(
          `Cannot list pods: the request's URL or headers are too long for the server (${status}).`,
        );
      });
    },
  );

  test("a redirect is not followed and is malformed", async () => {
    const away: Say = (response) => {
      response.writeHead(302, { Location: "https://login.example.test/?token=secret" });
      response.end();
    };
    await withServer([away], async ({ reader, asked }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ failure: "malformed", status: 302 });
      expect(error.message).not.toContain("secret");
      expect(asked).toHaveLength(1);
    });
  });

  test("JSON that ends early is malformed and says after how many bytes", async () => {
    const short: Say = (response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end('{"kind":"NodeList","metadata":{},"items":[{"metadata":{"name":"a');
    };
    await withServer([short], async ({ reader }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ failure: "malformed" });
      expect(error.message).toContain("the answer is cut off after 64 bytes (200)");
    });
  });

  test.for([
    ["an object without items", {}],
    ["items that are no list", { metadata: {}, items: {} }],
    ["no object at all", [1]],
  ] as const)("a list that is %s is malformed, not empty", async ([, json]) => {
    await withServer([{ json }], async ({ reader }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({ failure: "malformed" });
    });
  });

  test.for([
    ["ends without an answer", hangUp],
    ["is cut in the middle", cutOff],
  ] as const)("a connection that always %s is unavailable after four tries", async ([, say]) => {
    await withServer([say], async ({ reader, asked, url }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ failure: "unavailable", status: 0 });
      expect(error.message).toBe(
        `Cannot list nodes: ${url} broke the connection before the answer was complete. Try again.`,
      );
      expect(asked).toHaveLength(4);
    });
  });
});

describe("a refusal", () => {
  const forbidden = 'nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the cluster scope';
  test.for([
    [
      "403 names the permission",
      failure(403, "Forbidden", forbidden),
      "forbidden",
      `Cannot list nodes: ${forbidden} (403). Grant the verb "list" on "nodes" (see cronjob/rbac.yaml).`,
    ],
    [
      "403 of the host's agent names its own role",
      failure(403, "Forbidden", forbidden.replace("x", "system:serviceaccount:flipop-host:flipop-host")),
      "forbidden",
      `Cannot list nodes: ${forbidden.replace("x", "system:serviceaccount:flipop-host:flipop-host")} (403). Grant the verb "list" on "nodes" (see cronjob/host/rbac.yaml).`,
    ],
    [
      "401 names the credentials",
      failure(401, "Unauthorized", "Unauthorized"),
      "unauthorized",
      'Cannot list nodes: Unauthorized (401). The credentials of context "test" of test.yaml are not accepted: log in again, or renew the token or certificate.',
    ],
    [
      "400 is invalid",
      failure(400, "BadRequest", "unable to parse."),
      "invalid",
      "Cannot list nodes: unable to parse (400).",
    ],
  ] as const)("%s", async ([, say, kind, message]) => {
    await withServer([say], async ({ reader }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ name: "KubeError", failure: kind, operation: "list nodes", subject: "" });
      expect(error.message).toBe(message);
    });
  });

  test("a read without its CRD is missing-resource and names the file to apply", async () => {
    const plain: Say = (response) => {
      response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" });
      response.end("404 page not found\n");
    };
    for (const say of [plain, failure(404, "NotFound", "the server could not find the requested resource")]) {
      await withServer([say], async ({ reader }) => {
        const listed = await rejection(reader.listPools());
        expect(listed).toMatchObject({ failure: "missing-resource", status: 404 });
        expect(listed.message).toContain("Cannot list floatingippools.flipop.digitalocean.com: ");
        expect(listed.message).toMatch(/kubectl apply -f cronjob\/crds\/floatingippools\.yaml$/);
        expect(await rejection(reader.readPool({ namespace: "a", name: "b" }))).toMatchObject({
          failure: "missing-resource",
        });
        const place = { namespace: "a", name: "b" };
        const reads = [
          ["nodednsrecordsets", () => reader.listRecordSets()],
          ["nodednsrecordsets", () => reader.readRecordSet(place)],
          ["routedips", () => reader.listRoutedIPs()],
          ["routedips", () => reader.readRoutedIP(place)],
          ["routedipissuers", () => reader.listRoutedIPIssuers()],
        ] as const;
        for (const [plural, read] of reads) {
          const error = await rejection(read());
          expect(error).toMatchObject({ failure: "missing-resource", status: 404 });
          expect(error.message).toContain(`${plural}.flipop.digitalocean.com`);
          expect(error.message.endsWith(`kubectl apply -f cronjob/crds/${plural}.yaml`)).toBe(true);
        }
      });
    }
  });

  test("a forbidden status patch names the subresource, its group and the object", async () => {
    const script = [{ json: { metadata: { namespace: "a", name: "b" } } }, failure(403, "Forbidden", "no")];
    await withServer(script, async ({ writer }) => {
      const pool = await writer.readPool({ namespace: "a", name: "b" });
      if (pool === undefined) throw new Error("no pool");
      const error = await rejection(writer.patchPoolStatus(pool.meta, pool.status));
      expect(error.message).toBe(
        "Cannot patch floatingippools.flipop.digitalocean.com/status a/b: no (403). " +
          'Grant the verb "patch" on "floatingippools.flipop.digitalocean.com/status" (see cronjob/rbac.yaml).',
      );
      expect(error).toMatchObject({
        operation: "patch floatingippools.flipop.digitalocean.com/status",
        subject: "a/b",
      });
    });
  });

  test.for([
    [
      'nodes is forbidden: User "system:anonymous" cannot list',
      'No credentials were given: set the user of context "test"',
      "forbidden",
    ],
    [
      'events "a" is forbidden: unable to create: namespace a is being terminated',
      "Wait until the namespace is gone, or use another.",
      "terminating",
    ],
  ] as const)("a 403 that is no missing permission says what to do instead: %s", async ([message, fix, kind]) => {
    await withServer([failure(403, "Forbidden", message)], async ({ reader }) => {
      const error = await rejection(reader.listNodes());
      expect(error).toMatchObject({ failure: kind });
      expect(error.message).toContain(`${message} (403). ${fix}`);
    });
  });

  const policy = "ValidatingAdmissionPolicy 'frozen' with binding 'all' denied request: not this one";
  const webhook = 'admission webhook "frozen.example.com" denied the request: not this one';
  const rule =
    "No permission is missing: a rule of the cluster refuses it for this object. Change the rule, or exempt flipop from it.";

  test.for([
    [403, "Forbidden", `nodes "n1" is forbidden: ${policy}`, "denied"],
    [401, "Unauthorized", `nodes "n1" is forbidden: ${policy}`, "denied"],
    [422, "Invalid", `nodes "n1" is forbidden: ${policy}`, "invalid"],
    [403, "", webhook, "denied"],
    [404, "", webhook, "denied"],
    [409, "", webhook, "denied"],
    [400, "", webhook, "invalid"],
    [403, "Forbidden", 'nodes "n1" is forbidden: node "n2" is not allowed to modify node "n1"', "denied"],
  ] as const)(
    "admission that refuses one object with %d is no missing permission: %s %s",
    async ([status, reason, message, kind]) => {
      await withServer([failure(status, reason, message)], async ({ writer }) => {
        const error = await rejection(writer.annotateNode("n1", { address: "192.0.2.8", pool: "ns/web" }));
        expect(error).toMatchObject({ failure: kind, status, operation: "patch nodes", subject: "n1" });
        expect(error.message).toBe(`Cannot patch nodes n1: ${message} (${status}). ${rule}`);
      });
    },
  );

  test.for([
    'nodes "n1" is forbidden: User "flipop" cannot patch resource "nodes" in API group "" at the cluster scope',
    'nodes "n1" is forbidden: User "" cannot patch resource "nodes" in API group "" at the cluster scope: denied by policy',
  ])("an authorizer that refuses says who may not do it: %s", async (message) => {
    await withServer([failure(403, "Forbidden", message)], async ({ writer }) => {
      const error = await rejection(writer.annotateNode("n1", { address: "192.0.2.8", pool: "ns/web" }));
      expect(error).toMatchObject({ failure: "forbidden" });
      expect(error.message).toContain('Grant the verb "patch" on "nodes"');
    });
  });

  test("a Lease in a namespace that does not exist says how to create it", async () => {
    await withServer([failure(404, "NotFound", 'namespaces "ops" not found')], async ({ writer }) => {
      const lease = { namespace: "ops", name: "b", holder: "me", durationSeconds: 15, transitions: 0, annotations: {} };
      const error = await rejection(writer.createLease({ ...lease, acquireTimeMs: 1, renewTimeMs: 1 }));
      expect(error.message).toBe(
        'Cannot create leases.coordination.k8s.io ops/b: namespaces "ops" not found (404). ' +
          "Create the namespace first: kubectl create namespace ops",
      );
    });
  });
});

describe("requests", () => {
  test("all use one kept-alive connection and say who they are", async () => {
    await withServer([ok], async ({ reader, asked }) => {
      await reader.listNodes();
      await reader.listNodes();
      expect(asked.map(({ socket }) => socket)).toEqual([0, 0]);
      expect(asked[0]?.headers).toMatchObject({ "user-agent": "flipop/1.2.3" });
    });
  });

  test("a reader has no method that writes, of its own or inherited", async () => {
    await withServer([ok], async ({ reader, writer }) => {
      const methods = [
        "patchPoolStatus",
        "setPoolFinalizer",
        "notePoolAcquisitions",
        "patchRecordSetStatus",
        "setRecordSetFinalizer",
        "annotateNode",
        "createEvent",
        "createLease",
        "replaceLease",
      ];
      expect(methods.filter((method) => method in reader)).toEqual([]);
      expect(methods.filter((method) => method in writer)).toEqual(methods);
    });
  });
});
