import { expect, test } from "vitest";
import { bodyOf } from "../../../src/sandbox/kubernetes/request-body.ts";

/** A field of a protobuf message: a number, or what begins with its length. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === "number") return Buffer.from([...varint(number * 8), ...varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

/** What a client in Go sends. */
function envelope(kind: string, ...fields: readonly Buffer[]): Buffer {
  const head = message(field(1, "v1"), field(2, kind));
  return message(Buffer.from("k8s\0"), field(1, head), field(2, message(...fields)), field(3, ""), field(4, ""));
}

function read(body: Buffer, type = "application/vnd.kubernetes.protobuf"): unknown {
  const headers = { "content-type": type };
  return bodyOf({ method: "POST", path: "/", query: new URLSearchParams(), headers, body, malformed: "no JSON" });
}

const named = field(1, message(field(1, "x"), field(3, ""), field(8, "")));

test.for<[what: string, body: Buffer, read: unknown]>([
  [
    "a Namespace",
    envelope("Namespace", named, field(2, ""), field(3, field(1, ""))),
    { kind: "Namespace", metadata: { name: "x" }, spec: {} },
  ],
  [
    "labels, whatever their names",
    envelope(
      "Namespace",
      field(1, message(field(11, message(field(1, "__proto__"), field(2, "a"))), field(11, field(1, "b")))),
    ),
    { kind: "Namespace", metadata: { labels: JSON.parse('{ "__proto__": "a", "b": "" }') } },
  ],
  [
    "a Deployment of zero replicas",
    envelope("Deployment", named, field(2, message(field(1, 0), field(4, field(1, "")), field(5, 0), field(7, 1)))),
    { kind: "Deployment", metadata: { name: "x" }, spec: { replicas: 0, strategy: {}, paused: true } },
  ],
  [
    "a Service with ports by number and by name",
    envelope(
      "Service",
      field(
        2,
        message(
          field(1, message(field(3, 80), field(4, message(field(1, 0), field(2, 8080))))),
          field(1, message(field(3, 300), field(4, message(field(1, 1), field(3, "web"))))),
        ),
      ),
    ),
    {
      kind: "Service",
      spec: {
        ports: [
          { port: 80, targetPort: 8080 },
          { port: 300, targetPort: "web" },
        ],
      },
    },
  ],
  [
    "a Lease that is given back",
    envelope(
      "Lease",
      field(2, message(field(1, ""), field(2, 15), field(4, message(field(1, 1_767_323_045), field(2, 6_789_000))))),
    ),
    { kind: "Lease", spec: { holderIdentity: "", leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.006789Z" } },
  ],
  [
    "a list of texts with an empty one",
    envelope("DeleteOptions", field(1, 0), field(5, ""), field(5, "All")),
    { kind: "DeleteOptions", gracePeriodSeconds: 0, dryRun: ["", "All"] },
  ],
])("%s in protobuf is read as its JSON", ([, body, expected]) => {
  expect(read(body)).toEqual(expected);
});

test.for<[what: string, body: Buffer, code: number, message: string]>([
  [
    "a kind that nobody sends",
    envelope("Pod", named),
    415,
    "the sandbox does not read a Pod in protobuf: write it to a file, and kubectl apply -f that",
  ],
  [
    "a field that is not known",
    envelope("Service", field(2, field(14, field(1, "x")))),
    415,
    "the sandbox does not read field 14 of a ServiceSpec in protobuf: write it to a file, and kubectl apply -f that",
  ],
  [
    "a body that is cut off",
    envelope("Namespace", named).subarray(0, -9),
    400,
    "the body is no protobuf: the message is cut off",
  ],
  [
    "a number in the place of a text's length",
    envelope("Service", field(2, field(1, field(4, field(9, 1))))),
    415,
    "the sandbox does not read field 9 of a IntOrString in protobuf: write it to a file, and kubectl apply -f that",
  ],
  [
    "bytes of something else",
    Buffer.from("nonsense"),
    400,
    "the body is no protobuf: it does not begin as Kubernetes' does",
  ],
  [
    "a text in the place of a flag",
    envelope("Deployment", field(2, field(7, "yes"))),
    400,
    "the body is no protobuf: a flag is no message",
  ],
])("%s is refused", ([, body, code, text]) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ code, message: text }));
});

test("what is zero is let pass, known or not", () => {
  expect(read(envelope("Service", field(2, message(field(14, ""), field(20, 0)))))).toEqual({
    kind: "Service",
    spec: {},
  });
});

test("a body in YAML is read where the request says so, and a broken one is refused", () => {
  const yaml = Buffer.from("metadata:\n  name: x\n");
  expect(read(yaml, "application/yaml")).toEqual({ metadata: { name: "x" } });
  expect(read(yaml, "application/apply-patch+yaml; charset=utf-8")).toEqual({ metadata: { name: "x" } });
  expect(() => read(Buffer.from("a: {"), "application/yaml")).toThrow(expect.objectContaining({ code: 400 }));
  expect(() => read(yaml, "application/json")).toThrow(expect.objectContaining({ code: 400, message: "no JSON" }));
});
