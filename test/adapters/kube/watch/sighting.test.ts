import { describe, expect, test } from "vitest";
import { POD_FIELDS } from "../../../../src/adapters/kube/protobuf-fields.ts";
import { decodeMessage } from "../../../../src/adapters/kube/protobuf-message.ts";
import { identityOf, packedIdentity } from "../../../../src/adapters/kube/watch/sighting.ts";
import { messageField, numberField, textField } from "../protobuf-writer.ts";

const NAME = textField(1, "web-0");
const NAMESPACE = textField(3, "shop");
const VERSION = textField(6, "42");
const LABELS = messageField(11, textField(1, "app"), textField(2, "web"));
const SPEC = messageField(2, textField(10, "worker-1"), numberField(4, 30));

describe("the identity of an object in protobuf", () => {
  test.for<[string, readonly Buffer[]]>([
    ["as the server sends it", [messageField(1, NAME, NAMESPACE, VERSION, LABELS), SPEC]],
    ["with its fields in another order", [SPEC, messageField(1, LABELS, VERSION, NAMESPACE, NAME)]],
    [
      "with fields that nobody knows between",
      [numberField(99, 1), messageField(1, numberField(7, 300), NAME, VERSION)],
    ],
    ["in no namespace", [messageField(1, NAME, textField(3, ""), VERSION)]],
    ["without a version", [messageField(1, NAME)]],
    ["with an empty name", [messageField(1, textField(1, ""), VERSION)]],
    ["without metadata", [SPEC]],
  ])("%s is that of the whole object", ([, fields]) => {
    const message = Buffer.concat(fields);
    expect(packedIdentity(message)).toEqual(identityOf(decodeMessage(message, POD_FIELDS)));
  });

  test("is never that of another, wherever the bytes end too early", () => {
    const message = Buffer.concat([messageField(1, NAME, NAMESPACE, VERSION)]);
    for (let end = 1; end < message.length; end += 1)
      expect(() => packedIdentity(message.subarray(0, end)), `${end} bytes`).toThrow("cut off");
  });
});
