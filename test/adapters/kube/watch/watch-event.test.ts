import { describe, expect, test } from "vitest";
import { POD_FIELDS } from "../../../../src/adapters/kube/pod.ts";
import type { Fields } from "../../../../src/adapters/kube/protobuf.ts";
import { jsonEvent, openEvent, type RawEvent, readEvent } from "../../../../src/adapters/kube/watch/watch-source.ts";
import { envelope, messageField, numberField, textField } from "../protobuf-writer.ts";

describe("an event in protobuf", () => {
  test("has its type, and of its object what is asked for", () => {
    const metadata = messageField(1, textField(1, "p"), textField(3, "web"), textField(6, "42"));
    const pod = envelope("Pod", metadata, messageField(2, textField(10, "worker-1")));
    expect(protobufEvent(wrapped("MODIFIED", pod), POD_FIELDS)).toEqual({
      type: "MODIFIED",
      object: { metadata: { name: "p", namespace: "web", resourceVersion: "42" }, spec: { nodeName: "worker-1" } },
    });
  });

  test("that is an error carries its Status as an answer", () => {
    const status = envelope("Status", textField(3, "too old"), textField(4, "Expired"), numberField(6, 410));
    expect(protobufEvent(wrapped("ERROR", status), POD_FIELDS).refusal).toMatchObject({ status: 410, body: status });
  });

  test("is the same whatever comes first", () => {
    const pod = envelope("Pod", messageField(1, textField(1, "p")));
    const turned = Buffer.concat([messageField(2, messageField(1, pod)), textField(1, "ADDED")]);
    expect(protobufEvent(turned, POD_FIELDS)).toEqual(protobufEvent(wrapped("ADDED", pod), POD_FIELDS));
  });

  test("that ends too early is refused, wherever that is", () => {
    const frame = wrapped("ADDED", envelope("Pod", messageField(1, textField(1, "p"))));
    for (let end = 0; end < frame.length; end += 1)
      expect(() => openEvent(frame.subarray(0, end)), `${end} bytes`).toThrow();
  });

  test.for([
    ["no object", messageFreeEvent()],
    ["an object without its envelope", wrapped("ADDED", Buffer.from("pod"))],
    ["no event at all", Buffer.from("<html>")],
  ] as const)("with %s is refused", ([, frame]) => {
    expect(() => protobufEvent(frame, POD_FIELDS)).toThrow();
  });
});

describe("an event in JSON", () => {
  test("that is an error without a code counts as one of the server's own", () => {
    const event = jsonEvent(Buffer.from('{"type":"ERROR","object":{"kind":"Status","message":"odd"}}'));
    expect(event.refusal).toMatchObject({ status: 500 });
  });

  test.for(["[]", "{}", '{"type":"ADDED"}', '{"object":{}}', "<html>", '{"type":"ADDED","object":'])(
    "that is %s is refused",
    (text) => {
      expect(() => jsonEvent(Buffer.from(text))).toThrow();
    },
  );
});

function protobufEvent(frame: Buffer, fields: Fields): RawEvent {
  return readEvent(openEvent(frame), fields);
}

function wrapped(type: string, object: Buffer): Buffer {
  return Buffer.concat([textField(1, type), messageField(2, messageField(1, object))]);
}

function messageFreeEvent(): Buffer {
  return textField(1, "ADDED");
}
