import { describe, expect, test } from "vitest";
import { POD_FIELDS } from "../../../../src/adapters/kube/pod.ts";
import { decodeMessage } from "../../../../src/adapters/kube/protobuf.ts";
import { identityOf, packedIdentity } from "../../../../src/adapters/kube/watch/watched-store.ts";
import { messageField, numberField, textField } from "../protobuf-writer.ts";

const NAME = textField(1, "web-0");
const NAMESPACE = textField(3, "shop");
const VERSION = textField(6, "42");
const LABELS = messageField(11, textField(1, "app"), textField(2, "web"));
const METADATA = Buffer.concat([NAME, NAMESPACE, VERSION, LABELS]);
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

  test.for([
    ["whole", (end: number, whole: Buffer) => whole.subarray(0, end)],
    ["within its metadata", (end: number) => messageField(1, METADATA.subarray(0, end))],
  ] as const)("is never that of another, wherever the bytes end too early, the object %s", ([, cut]) => {
    const whole = messageField(1, METADATA);
    const read = [];
    for (let end = 1; end < METADATA.length; end += 1) {
      // Right behind the name nothing shows that there was more.
      if (end === NAME.length) continue;
      const identity = packedIdentity(cut(end, whole));
      read.push(identity);
      if (identity !== undefined) expect(identity, `${end} bytes`).toMatchObject({ key: "shop\0web-0" });
    }
    expect(read[0]).toBeUndefined();
  });

  test("is that of the last fields where some come twice, and of all parts of metadata that comes in parts", () => {
    const twice = Buffer.concat([
      messageField(1, textField(1, "old"), NAMESPACE, NAME),
      SPEC,
      messageField(1, textField(6, "41"), VERSION),
    ]);
    expect(packedIdentity(twice)).toEqual({ key: "shop\0web-0", version: "42" });
    expect(packedIdentity(twice)).toEqual(identityOf(decodeMessage(twice, POD_FIELDS)));
  });
});
