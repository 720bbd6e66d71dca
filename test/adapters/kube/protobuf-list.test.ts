import { describe, expect, test } from "vitest";
import {
  envelope,
  listOf,
  messageField,
  numberField,
  sayProtobuf,
  secondsField,
  textField,
  timeField,
} from "./protobuf-writer.ts";
import { list } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const condition = (status: string): Buffer =>
  Buffer.concat([textField(1, "Ready"), textField(2, status), timeField(3, "2026-08-01T11:00:00Z")]);
const metadata = (name: string, ...more: readonly Buffer[]): Buffer => messageField(1, textField(1, name), ...more);
const named = (name: string): Buffer => metadata(name);

describe("lists in protobuf", () => {
  test("nodes, pods, Services and EndpointSlices are asked for in protobuf or JSON, everything else in JSON", async () => {
    await withServer([list("List", [])], async ({ reader, writer, asked }) => {
      await reader.listNodes();
      await writer.listPods({ namespace: "", label: "a" });
      await reader.listServices();
      await reader.listEndpointSlices({ namespace: "a", name: "b" });
      await reader.listPools();
      const both = "application/vnd.kubernetes.protobuf, application/json";
      expect(asked.map(({ headers }) => headers.accept)).toEqual([both, both, both, both, "application/json"]);
    });
  });

  test("a node has all that its JSON has", async () => {
    const entry = (field: number, key: string, value: string): Buffer =>
      messageField(field, textField(1, key), textField(2, value));
    const node = Buffer.concat([
      metadata(
        "n",
        textField(6, "42"),
        timeField(9, "2026-08-01T12:00:00Z"),
        entry(11, "role", "web"),
        entry(12, "flipop.digitalocean.com/ipv4-reserved-ip", "192.0.2.1"),
        entry(12, "flipop.digitalocean.com/pool", "a/b"),
      ),
      messageField(
        2,
        textField(3, "digitalocean://5"),
        messageField(
          5,
          textField(1, "k"),
          textField(2, ""),
          textField(3, "NoExecute"),
          timeField(4, "2026-08-01T10:00:00Z"),
        ),
      ),
      messageField(
        3,
        messageField(4, textField(1, "Ready"), textField(2, "True"), timeField(4, "2026-08-01T11:00:00Z")),
        messageField(5, textField(1, "Hostname"), textField(2, "n")),
        messageField(5, textField(1, "ExternalIP"), textField(2, "198.51.100.1")),
      ),
    ]);
    await withServer([sayProtobuf(listOf("NodeList", [node]))], async ({ reader }) => {
      expect(await reader.listNodes()).toEqual([
        {
          name: "n",
          resourceVersion: "42",
          providerID: "digitalocean://5",
          labels: { role: "web" },
          taints: [{ key: "k", value: "", effect: "NoExecute", timeAddedMs: Date.parse("2026-08-01T10:00:00Z") }],
          ready: { isReady: true, sinceMs: Date.parse("2026-08-01T11:00:00Z") },
          isDeleting: true,
          addresses: [{ type: "ExternalIP", address: "198.51.100.1" }],
          addressAnnotation: "192.0.2.1",
          poolAnnotation: "a/b",
        },
      ]);
    });
  });

  test("a pod has all that its JSON has, its probe time is not taken for the transition, and an unbound one is dropped", async () => {
    const deleted = [timeField(9, "2026-08-01T12:00:30Z"), numberField(10, 30)];
    const bound = Buffer.concat([
      metadata("a", textField(3, "web"), ...deleted),
      messageField(2, textField(10, "n")),
      messageField(3, textField(1, "Running"), messageField(2, condition("False"))),
    ]);
    const unbound = Buffer.concat([metadata("b", textField(3, "web")), messageField(2, textField(10, ""))]);
    await withServer([sayProtobuf(listOf("PodList", [bound, unbound]))], async ({ reader }) => {
      expect(await reader.listPods({ namespace: "web", label: "" })).toEqual([
        {
          namespace: "web",
          name: "a",
          nodeName: "n",
          phase: "Running",
          ready: { isReady: false },
          deletedAtMs: Date.parse("2026-08-01T12:00:00Z"),
        },
      ]);
    });
  });

  test.for<[string, number | bigint, number | undefined]>([
    ["1960", -315_619_200, Date.UTC(1960, 0, 1)],
    ["the year 1, which is Go's zero", -62_135_596_800, undefined],
    ["the end of 9999", 253_402_300_799, Date.UTC(9999, 11, 31, 23, 59, 59)],
    ["a second that no calendar has", 2n ** 63n - 1n, undefined],
    ["a second before all calendars", -(2n ** 63n), undefined],
  ])("a node that changed in %s is read, and so are all others", async ([, seconds, sinceMs]) => {
    const node = (name: string, since: Buffer): Buffer => {
      const ready = [textField(1, "Ready"), textField(2, "True"), since];
      return Buffer.concat([named(name), messageField(3, messageField(4, ...ready))]);
    };
    const items = [node("a", secondsField(4, seconds)), node("b", timeField(4, "2026-08-01T11:00:00Z"))];
    await withServer([sayProtobuf(listOf("NodeList", items))], async ({ reader }) => {
      const [odd, other] = await reader.listNodes();
      expect(odd?.ready).toEqual({ isReady: true, ...(sinceMs === undefined ? {} : { sinceMs }) });
      expect(odd).not.toHaveProperty("unreadable");
      expect(other?.ready.sinceMs).toBe(Date.UTC(2026, 7, 1, 11));
    });
  });

  test.for<[string, readonly Buffer[], object]>([
    ["of a time that nobody can tell", [secondsField(9, 2n ** 63n - 1n)], { isReady: false }],
    ["of a time that is nothing", [messageField(9)], { isReady: false }],
    [
      "in the past, with a negative time to end",
      [timeField(9, "2026-08-01T11:00:00Z"), numberField(10, -30)],
      { isReady: true, deletedAtMs: Date.UTC(2026, 7, 1, 11) },
    ],
    [
      "with more time to end than anybody has",
      [timeField(9, "2026-08-01T11:00:00Z"), numberField(10, 2n ** 63n - 1n)],
      { isReady: true, deletedAtMs: Date.UTC(2026, 7, 1, 11) },
    ],
  ])("a pod with a deletionTimestamp %s is being deleted, and so is a node", async ([, deletion, life]) => {
    const ready = messageField(2, textField(1, "Ready"), textField(2, "True"));
    const pod = [metadata("p", textField(3, "web"), ...deletion), messageField(2, textField(10, "n"))];
    const script = [
      sayProtobuf(listOf("PodList", [Buffer.concat([...pod, messageField(3, textField(1, "Running"), ready)])])),
      sayProtobuf(listOf("NodeList", [metadata("n", ...deletion)])),
    ];
    await withServer(script, async ({ reader }) => {
      const [read, ...others] = await reader.listPods({ namespace: "web", label: "" });
      expect(others).toEqual([]);
      const { ready: readiness, deletedAtMs } = read ?? { ready: undefined, deletedAtMs: undefined };
      expect({ ...readiness, ...(deletedAtMs === undefined ? {} : { deletedAtMs }) }).toEqual(life);
      expect(read).not.toHaveProperty("isUnreadable");
      expect((await reader.listNodes())[0]?.isDeleting).toBe(true);
    });
  });

  test("pages follow each other by their token, also when one of them comes in JSON", async () => {
    const script = [
      sayProtobuf(listOf("NodeList", [named("c")], "t1")),
      list("NodeList", [{ metadata: { name: "b" } }], "t2"),
      sayProtobuf(listOf("NodeList", [named("a")])),
    ];
    await withServer(script, async ({ reader, asked }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a", "b", "c"]);
      expect(asked.map(({ url }) => new URL(url, "http://x").searchParams.get("continue"))).toEqual([null, "t1", "t2"]);
    });
  });

  test("a refusal in protobuf is understood: a list that expires starts again", async () => {
    const status = (reason: string, message: string): Buffer =>
      envelope("Status", textField(2, "Failure"), textField(3, message), textField(4, reason));
    const script = [
      sayProtobuf(listOf("NodeList", [named("gone")], "t1")),
      sayProtobuf(status("Expired", "The provided continue parameter is too old."), 410),
      sayProtobuf(status("Forbidden", "nodes is forbidden"), 403),
    ];
    await withServer(script, async ({ reader, asked }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({
        failure: "forbidden",
        message:
          'Cannot list nodes: nodes is forbidden (403). Grant the verb "list" on "nodes" (see cronjob/rbac.yaml).',
      });
      expect(asked).toHaveLength(3);
    });
  });

  test.for<[string, Buffer]>([
    ["that ends within an item", listOf("NodeList", [named("a").subarray(0, -1)])],
    ["that ends within the list", listOf("NodeList", [named("a")]).subarray(0, -20)],
    ["that is another kind of object", envelope("Node", named("a"))],
    ["without a kind", Buffer.from("k8s\0")],
  ])("an answer %s fails the whole list as malformed", async ([, body]) => {
    await withServer([sayProtobuf(body)], async ({ reader }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({ failure: "malformed", status: 200 });
    });
  });
});
